"""The data of a fit: documents in blocks, their label design, priors and the scaling function.

Blocks are in memory, or are read from a corpus when they are needed, in this process or another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.corpus import Corpus
from hdsp.corpus.stored import Shard, StoredCorpus
from hdsp.model.priors import Priors
from hdsp.model.versions import NO_CONTENT, expand_counts
from hdsp.numerics import BLOCK_DOCUMENTS, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import Design, DesignLimits, ScalingFunction

# Shards that a process keeps while their documents are taken in a random order.
SHARDS_AT_ONCE = 8
_FLOAT32: np.dtype[np.floating] = np.dtype(np.float32)
_ALL = slice(None)
_Real = np.dtype[np.floating] | type[np.floating]


@dataclass(frozen=True, eq=False)
class Block:
    """A run of consecutive documents, in document order and in word order.

    Attributes
    ----------
    rows : slice
        The documents' rows in the corpus.
    indptr, indices, counts : arrays
        The words of each document (CSR).
    lengths : float array of shape [M]
        The document lengths N_m.
    by_word : tuple of int arrays
        The same entries in word order (CSC): where words begin, the documents that have them, and
        the positions of entries in document order.
    design : sparse array of shape [M, J]
        Label values.
    """

    rows: slice
    indptr: IntArray
    indices: IntArray
    counts: FloatArray
    lengths: FloatArray
    by_word: tuple[IntArray, IntArray, IntArray]
    design: Design

    @property
    def n_documents(self) -> int:
        """M."""
        return len(self.lengths)

    @cached_property
    def label_total(self) -> FloatArray:
        """The sum of each label's values, [J]."""
        return np.asarray(self.design.sum(axis=0, dtype=np.float64))

    @cached_property
    def carriers(self) -> FloatArray:
        """The documents that have each label, [J]."""
        return np.bincount(self.design.indices, minlength=self.design.shape[1]).astype(np.float64)

    @cached_property
    def limits(self) -> DesignLimits:
        """The limits of the design."""
        return DesignLimits.of(self.design)

    def load(self) -> "Block":
        """The block itself: it is in memory."""
        return self


class BlockSource(Protocol):
    """A block that can be loaded wherever it is needed, in this process or another one."""

    def load(self) -> Block:
        """Read the block."""


@dataclass(frozen=True, eq=False)
class Data:
    """All that stays fixed while a model is fitted: documents, labels and priors.

    Attributes
    ----------
    blocks : sequence of BlockSource
        The documents, in blocks that are in memory or are read when a pass comes to them.
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    priors : Priors
        Hyperparameters.
    n_documents, n_words, n_labels : int
        M, V and J.
    content : int array of shape [G]
        The columns of the design whose documents have their own versions of topics, if any.
    dtype : dtype, default=float32
        The floating-point type of the document step; float64 in some tests.
    """

    blocks: Sequence[BlockSource]
    scaling: ScalingFunction
    priors: Priors
    n_documents: int
    n_words: int
    n_labels: int
    content: IntArray = field(default_factory=NO_CONTENT.copy)
    dtype: np.dtype[np.floating] = _FLOAT32


@dataclass(frozen=True, eq=False)
class Problem(Data):
    """Data in memory.

    Attributes
    ----------
    blocks : tuple of Block
        The documents, in blocks.
    counts : sparse array of shape [M, V]
        The documents, unchanged.
    design : sparse array of shape [M, J]
        Label values of all documents.
    """

    blocks: tuple[Block, ...]
    counts: csr_array = field(kw_only=True)
    design: Design = field(kw_only=True)

    @cached_property
    def lengths(self) -> FloatArray:
        """The document lengths N_m, [M]."""
        return np.concatenate([block.lengths for block in self.blocks])

    @property
    def n_tokens(self) -> float:
        """The sum of all counts."""
        return float(sum(block.lengths.sum(dtype=np.float64) for block in self.blocks))

    def entries(self, rows: IntArray | slice = _ALL) -> csr_array:
        """The counts of some documents in the types that the document step takes.

        With versions of topics, counts of the groups' words (`hdsp.model.versions`).
        """
        return _entries(self.counts[rows], self.design[rows], self.content, self.dtype)

    def take(self, rows: IntArray) -> "Problem":
        """Some of the documents as a problem of their own."""
        return make_problem(
            self.counts[rows],
            self.design[rows],
            self.scaling,
            self.priors.for_part(len(rows) / self.n_documents),
            self.dtype,
            content=self.content,
        )


def make_problem(
    counts: csr_array,
    design: Design,
    scaling: ScalingFunction,
    priors: Priors,
    dtype: _Real = np.float32,
    block_size: int = BLOCK_DOCUMENTS,
    content: IntArray = NO_CONTENT,
) -> Problem:
    """The problem of fitting topics to `counts` [M, V] with labels `design` [M, J].

    Documents of the columns `content` [G] of the design have their own versions of topics. Blocks
    are of about `block_size` documents, and equally large.
    """
    (n_documents, n_words), n_labels = counts.shape, design.shape[1]
    design = csr_array(design, dtype=dtype)
    n_blocks = max(round(n_documents / block_size), 1)
    ends = [n_documents * n // n_blocks for n in range(n_blocks + 1)]
    blocks = tuple(
        make_block(counts[first:last], design[first:last], first, content, dtype)
        for first, last in pairwise(ends)
    )
    sizes, real = (n_documents, n_words, n_labels), np.dtype(dtype)
    return Problem(blocks, scaling, priors, *sizes, content, real, counts=counts, design=design)


def make_block(
    counts: csr_array,
    design: Design,
    first: int = 0,
    content: IntArray = NO_CONTENT,
    dtype: _Real = np.float32,
) -> Block:
    """The block of documents `counts` [M, V] with labels `design` [M, J].

    `first` is the place of its first document in the corpus, and `content` [G] the columns of
    the design whose documents have their own versions of topics.
    """
    entries = _entries(counts, design, content, dtype)
    places = np.arange(entries.nnz, dtype=np.int32)
    columns = csr_array((places, entries.indices, entries.indptr), shape=entries.shape).tocsc()
    starts, documents = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
    return Block(
        rows=slice(first, first + counts.shape[0]),
        indptr=entries.indptr.astype(np.int64),
        indices=entries.indices,
        counts=entries.data,
        lengths=np.asarray(counts.sum(axis=1)).astype(dtype),
        by_word=(starts, documents, columns.data),
        design=csr_array(design, dtype=dtype),
    )


def _entries(counts: csr_array, design: Design, content: IntArray, dtype: _Real) -> csr_array:
    counts = expand_counts(counts, design, content)
    return csr_array(
        (counts.data.astype(dtype), counts.indices.astype(np.int32), counts.indptr),
        shape=counts.shape,
    )


# A part of a corpus: a shard, which is read where it is needed, or documents in memory.
Readable = Shard | Corpus


def readable_parts(corpus: Corpus) -> tuple[Readable, ...]:
    """The shards of a corpus on disk, or parts of one in memory."""
    return corpus.shards if isinstance(corpus, StoredCorpus) else tuple(corpus.parts())


@dataclass(frozen=True)
class Encoding:
    """How labels become a design, and which columns tell groups with versions, [G].

    By its key a process recognises an encoding that another process sent.
    """

    space: LabelDesign = field(compare=False)
    content: IntArray = field(default_factory=NO_CONTENT.copy, compare=False)
    key: str = field(default_factory=lambda: uuid4().hex)

    def read(self, part: Readable) -> tuple[csr_array, Design]:
        """Counts and design of a part of the corpus, as compactly as the document step takes."""
        corpus = part.read() if isinstance(part, Shard) else part
        design = self.space.encode(corpus.labels)
        return csr_array(corpus.counts, dtype=np.float32), csr_array(design, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class StoredBlock:
    """A part of a corpus, or chosen documents of several parts, as a block.

    Attributes
    ----------
    parts : tuple of Readable
        The parts.
    encoding : Encoding
        How labels become a design.
    first : int, default=0
        The position of its first document in the corpus.
    rows : tuple of int arrays or None, default=None
        The chosen rows of each part; None takes all.
    """

    parts: tuple[Readable, ...]
    encoding: Encoding
    first: int = 0
    rows: tuple[IntArray, ...] | None = None

    def load(self) -> Block:
        """Read the documents; parts of which rows are chosen stay in this process for a while."""
        if self.rows is None:
            counts, design = self.encoding.read(self.parts[0])
        else:
            read = [_read(part, self.encoding) for part in self.parts]
            chosen = list(zip(read, self.rows, strict=True))
            counts = csr_array(vstack([own[rows] for (own, _), rows in chosen], format="csr"))
            design = csr_array(vstack([own[rows] for (_, own), rows in chosen], format="csr"))
        return make_block(counts, design, self.first, self.encoding.content)


@lru_cache(maxsize=SHARDS_AT_ONCE)
def _read(part: Readable, encoding: Encoding) -> tuple[csr_array, Design]:
    return encoding.read(part)


def forget_shards() -> None:
    """Forget the shards that this process keeps."""
    _read.cache_clear()


def stored_blocks(parts: Sequence[Readable], encoding: Encoding) -> tuple[StoredBlock, ...]:
    """Every part of a corpus as a block."""
    starts = np.cumsum([0, *[part.n_documents for part in parts]])[:-1].tolist()
    return tuple(
        StoredBlock((part,), encoding, first) for part, first in zip(parts, starts, strict=True)
    )
