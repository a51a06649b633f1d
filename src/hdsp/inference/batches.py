"""Batches of documents for stochastic steps, in a random order."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.execution import Executor, InProcess
from hdsp.model import Block, BlockSource, Problem, make_block
from hdsp.numerics.types import IntArray

# Documents per block of a batch: enough for threads to share.
BATCH_BLOCK = 2_048


class Batches(ABC):
    """Documents in batches, in another order in every pass."""

    @abstractmethod
    def epoch(self, rng: np.random.Generator) -> Iterator[Sequence[BlockSource]]:
        """The batches of one pass over the documents."""


@dataclass(frozen=True, eq=False)
class ChosenDocuments:
    """Some documents of a problem in memory, as a block."""

    problem: Problem
    rows: IntArray

    def load(self) -> Block:
        """Select the documents."""
        return make_block(
            csr_array(self.problem.counts[self.rows]),
            self.problem.design[self.rows],
            self.problem.dtype,
        )


@dataclass(frozen=True, eq=False)
class MemoryBatches(Batches):
    """Batches of documents in memory.

    Attributes
    ----------
    problem : Problem
        The documents.
    batch_size : int
        Documents per batch.
    """

    problem: Problem
    batch_size: int

    def epoch(self, rng: np.random.Generator) -> Iterator[Sequence[BlockSource]]:
        """Batches of randomly chosen documents; no document comes twice."""
        order = rng.permutation(self.problem.n_documents)
        for first in range(0, len(order), self.batch_size):
            chosen = np.sort(order[first : first + self.batch_size])
            yield [
                ChosenDocuments(self.problem, chosen[start : start + BATCH_BLOCK])
                for start in range(0, len(chosen), BATCH_BLOCK)
            ]


def loaded_ahead(
    batches: Iterator[Sequence[BlockSource]], executor: Executor
) -> Iterator[Sequence[BlockSource]]:
    """The batches; in this process each is read while the one before is fitted."""
    if not isinstance(executor, InProcess):
        yield from batches
        return
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(_load_next, batches)
        while (current := following.result()) is not None:
            following = reader.submit(_load_next, batches)
            yield current


def _load_next(batches: Iterator[Sequence[BlockSource]]) -> list[Block] | None:
    blocks = next(batches, None)
    return None if blocks is None else [block.load() for block in blocks]
