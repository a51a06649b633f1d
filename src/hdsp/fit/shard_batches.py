"""Batches of documents for stochastic steps, in a random order."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from hdsp.execution.executor import Executor, InProcess
from hdsp.model import Block, BlockSource
from hdsp.model.data import SHARDS_AT_ONCE, Encoding, Readable, StoredBlock, forget_shards
from hdsp.numerics import IntArray

# Documents per block of a batch: enough for threads to share.
BATCH_BLOCK = 2_048


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


@dataclass(frozen=True, eq=False)
class ShardBatches:
    """Batches of documents that are read from shards, some shards at a time.

    A batch has documents of several shards, so that a corpus that is sorted, by date or by label,
    does not come in that order.

    Attributes
    ----------
    shards : sequence of Readable
        The documents.
    encoding : Encoding
        How labels become a design.
    batch_size : int
        Documents per batch.
    """

    shards: Sequence[Readable]
    encoding: Encoding
    batch_size: int

    def epoch(self, rng: np.random.Generator) -> Iterator[Sequence[BlockSource]]:
        """Batches of documents of a few randomly chosen shards, then of others."""
        order = rng.permutation(len(self.shards))
        n_groups = -(-len(order) // SHARDS_AT_ONCE)
        for group in np.array_split(order, n_groups):
            shards = [self.shards[number] for number in group]
            home = np.repeat(np.arange(len(shards)), [shard.n_documents for shard in shards])
            row = np.concatenate([np.arange(shard.n_documents) for shard in shards])
            mixed = rng.permutation(len(home))
            for first in range(0, len(mixed), self.batch_size):
                chosen = mixed[first : first + self.batch_size]
                yield [
                    self._block(shards, home[part], row[part])
                    for part in np.array_split(chosen, -(-len(chosen) // BATCH_BLOCK))
                ]
        forget_shards()

    def _block(self, shards: list[Readable], home: IntArray, row: IntArray) -> StoredBlock:
        numbers = [number for number in range(len(shards)) if (home == number).any()]
        rows = tuple(np.sort(row[home == number]) for number in numbers)
        parts = tuple(shards[number] for number in numbers)
        return StoredBlock(parts, self.encoding, rows=rows)
