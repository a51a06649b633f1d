"""Blocks that are read from a corpus when they are needed, in this process or another one."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.corpus import Corpus
from hdsp.corpus.stored import StoredCorpus
from hdsp.model.problem import Block, make_block
from hdsp.model.versions import NO_CONTENT
from hdsp.numerics import IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import Design

# Shards that a process keeps while their documents are drawn in a random order.
SHARDS_AT_ONCE = 8


class Readable(Hashable, Protocol):
    """A part of a corpus, such as a shard: a value that can be pickled, compared and read."""

    @property
    def n_documents(self) -> int:
        """Number of its documents."""

    def read(self) -> Corpus:
        """Read the documents."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """How labels become a design.

    Attributes
    ----------
    space : LabelDesign
        The labels of training.
    content : int array of shape [G]
        The columns of the design whose documents have their own versions of topics, if any.
    key : str
        By which a process knows the encoding again that another one sent.
    """

    space: LabelDesign
    content: IntArray = field(default_factory=NO_CONTENT.copy)
    key: str = field(default_factory=lambda: uuid4().hex)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def read(self, part: Corpus) -> tuple[csr_array, Design]:
        """Counts and design of a part of the corpus, as compactly as the document step takes."""
        design = self.space.encode(part.labels)
        return csr_array(part.counts, dtype=np.float32), csr_array(design, dtype=np.float32)


@dataclass(frozen=True)
class CorpusPart:
    """Some documents of a corpus in memory, in place of a shard.

    Attributes
    ----------
    corpus : Corpus
        The documents.
    number : int
        Position among the parts, from 0.
    """

    corpus: Corpus
    number: int

    @property
    def n_documents(self) -> int:
        """Number of its documents."""
        return self.corpus.n_documents

    def read(self) -> Corpus:
        """The documents."""
        return self.corpus


def readable_parts(corpus: Corpus) -> tuple[Readable, ...]:
    """The shards of a corpus on disk, or parts of one in memory."""
    if isinstance(corpus, StoredCorpus):
        return corpus.shards
    return tuple(CorpusPart(part, number) for number, part in enumerate(corpus.parts()))


@dataclass(frozen=True)
class ShardBlock:
    """A shard as a block.

    Attributes
    ----------
    shard : Readable
        The shard.
    encoding : Encoding
        How labels become a design.
    first : int, default=0
        The place of its first document in the corpus.
    """

    shard: Readable
    encoding: Encoding
    first: int = 0

    def load(self) -> Block:
        """Read the shard."""
        counts, design = self.encoding.read(self.shard.read())
        return make_block(counts, design, self.first, self.encoding.content)


def shard_blocks(shards: Sequence[Readable], encoding: Encoding) -> tuple[ShardBlock, ...]:
    """Every shard as a block."""
    starts = np.cumsum([0, *[shard.n_documents for shard in shards]])[:-1]
    return tuple(
        ShardBlock(shard, encoding, int(first)) for shard, first in zip(shards, starts, strict=True)
    )


@dataclass(frozen=True, eq=False)
class MixedBlock:
    """Documents of several shards as a block.

    Attributes
    ----------
    parts : tuple of pairs
        Shards, and the rows that are chosen from each.
    encoding : Encoding
        How labels become a design.
    """

    parts: tuple[tuple[Readable, IntArray], ...]
    encoding: Encoding

    def load(self) -> Block:
        """Read the shards, unless this process still has them, and choose the documents."""
        chosen = []
        for shard, rows in self.parts:
            counts, design = _read(shard, self.encoding)
            chosen.append((counts[rows], design[rows]))
        counts, design = (
            csr_array(vstack(part, format="csr")) for part in zip(*chosen, strict=True)
        )
        return make_block(counts, design, content=self.encoding.content)


@lru_cache(maxsize=SHARDS_AT_ONCE)
def _read(shard: Readable, encoding: Encoding) -> tuple[csr_array, Design]:
    return encoding.read(shard.read())


def forget_shards() -> None:
    """Forget the shards that this process keeps."""
    _read.cache_clear()
