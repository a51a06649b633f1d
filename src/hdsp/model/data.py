"""The data of a fit: documents in blocks, their label design, priors and the scaling function.

Blocks are in memory, or are read from a corpus when they are needed, in this process or another.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.corpus import Corpus
from hdsp.corpus.stored import StoredCorpus
from hdsp.model.priors import Priors
from hdsp.model.versions import NO_CONTENT, expand_counts
from hdsp.numerics import BLOCK_DOCUMENTS, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import Design, DesignLimits, ScalingFunction

# Shards that a process keeps while their documents are taken in a random order.
SHARDS_AT_ONCE = 8
_FLOAT32: np.dtype[np.floating] = np.dtype(np.float32)


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
    word_indptr, documents, positions : int arrays
        The same entries by word (CSC); `positions` leads back to the entry in document order.
    design : sparse array of shape [M, J]
        Label values.
    """

    rows: slice
    indptr: IntArray
    indices: IntArray
    counts: FloatArray
    lengths: FloatArray
    word_indptr: IntArray
    documents: IntArray
    positions: IntArray
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
    """

    blocks: Sequence[BlockSource]
    scaling: ScalingFunction
    priors: Priors
    n_documents: int
    n_words: int
    n_labels: int
    content: IntArray = field(default_factory=NO_CONTENT.copy)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The floating-point type of the document step."""
        return _FLOAT32


@dataclass(frozen=True, eq=False)
class Problem(Data):
    """Data in memory.

    Attributes
    ----------
    blocks : tuple of Block
        The documents, in blocks.
    counts : sparse array of shape [M, V]
        The documents, unchanged.
    entries : sparse array of shape [M, V]
        The same counts in the types that the document step takes; its data have `dtype`. With
        versions of topics, counts of the groups' words (`hdsp.model.versions`).
    lengths : float array of shape [M]
        The document lengths N_m.
    design : sparse array of shape [M, J]
        Label values of all documents.
    """

    blocks: tuple[Block, ...]
    counts: csr_array = field(kw_only=True)
    entries: csr_array = field(kw_only=True)
    lengths: FloatArray = field(kw_only=True)
    design: Design = field(kw_only=True)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The floating-point type of the document step: float32, or float64 in some tests."""
        return self.entries.dtype  # type: ignore[no-any-return]

    @property
    def n_tokens(self) -> float:
        """The sum of all counts."""
        return float(sum(block.lengths.sum(dtype=np.float64) for block in self.blocks))

    def take(self, rows: IntArray) -> "Problem":
        """Some of the documents as a problem of their own."""
        part = replace(
            self,
            counts=self.counts[rows],
            entries=self.entries[rows],
            lengths=self.lengths[rows],
            design=self.design[rows],
            n_documents=len(rows),
            priors=self.priors.for_part(len(rows) / self.n_documents),
        )
        return part.cut()

    def cut(self, block_size: int = BLOCK_DOCUMENTS) -> "Problem":
        """The same problem in blocks of about so many documents, which are equally large."""
        n_blocks = max(round(self.n_documents / block_size), 1)
        ends = [self.n_documents * n // n_blocks for n in range(n_blocks + 1)]
        return replace(
            self,
            blocks=tuple(
                _make_block(self.entries, self.lengths, self.design, slice(*rows))
                for rows in pairwise(ends)
            ),
        )


def _make_block(entries: csr_array, lengths: FloatArray, design: Design, rows: slice) -> Block:
    part = entries[rows]
    order = csr_array(
        (np.arange(part.nnz, dtype=np.int32), part.indices, part.indptr), shape=part.shape
    ).tocsc()
    stored = slice(entries.indptr[rows.start], entries.indptr[rows.stop])
    return Block(
        rows=rows,
        indptr=part.indptr.astype(np.int64),
        # Parts of the whole corpus' arrays, not copies.
        indices=entries.indices[stored],
        counts=entries.data[stored],
        lengths=lengths[rows],
        word_indptr=order.indptr.astype(np.int64),
        documents=order.indices.astype(np.int32),
        positions=order.data,
        design=design[rows],
    )


def make_block(
    counts: csr_array, design: Design, first: int = 0, content: IntArray = NO_CONTENT
) -> Block:
    """The block of documents `counts` [M, V] with labels `design` [M, J].

    `first` is the place of its first document in the corpus, and `content` [G] the columns of
    the design whose documents have their own versions of topics.
    """
    entries = _entries(counts, design, content, np.float32)
    lengths = np.asarray(counts.sum(axis=1)).astype(np.float32)
    rows = slice(0, counts.shape[0])
    block = _make_block(entries, lengths, csr_array(design, dtype=np.float32), rows)
    return replace(block, rows=slice(first, first + rows.stop))


def _entries(
    counts: csr_array,
    design: Design,
    content: IntArray,
    dtype: np.dtype[np.floating] | type[np.floating],
) -> csr_array:
    """The counts in the types that the document step takes."""
    if len(content):
        counts = expand_counts(counts, design, content)
    return csr_array(
        (counts.data.astype(dtype), counts.indices.astype(np.int32), counts.indptr),
        shape=counts.shape,
    )


def make_problem(
    counts: csr_array,
    design: Design,
    scaling: ScalingFunction,
    priors: Priors,
    dtype: type[np.floating] = np.float32,
    block_size: int = BLOCK_DOCUMENTS,
    content: IntArray = NO_CONTENT,
) -> Problem:
    """The problem of fitting topics to `counts` [M, V] with labels `design` [M, J].

    Documents of the columns `content` [G] of the design have their own versions of topics.
    """
    whole = Problem(
        (),
        scaling,
        priors,
        counts.shape[0],
        counts.shape[1],
        design.shape[1],
        content,
        counts=counts,
        entries=_entries(counts, design, content, dtype),
        lengths=np.asarray(counts.sum(axis=1)).astype(dtype),
        design=csr_array(design, dtype=dtype),
    )
    return whole.cut(block_size)


class Readable(Hashable, Protocol):
    """A part of a corpus, such as a shard: a value that can be pickled, compared and read."""

    @property
    def n_documents(self) -> int:
        """Number of its documents."""

    def read(self) -> Corpus:
        """Read the documents."""


@dataclass(frozen=True)
class _CorpusPart:
    """Some documents of a corpus in memory, in place of a shard; parts differ by number."""

    number: int
    corpus: Corpus = field(compare=False)

    @property
    def n_documents(self) -> int:
        return self.corpus.n_documents

    def read(self) -> Corpus:
        return self.corpus


def readable_parts(corpus: Corpus) -> tuple[Readable, ...]:
    """The shards of a corpus on disk, or parts of one in memory."""
    if isinstance(corpus, StoredCorpus):
        return corpus.shards
    return tuple(_CorpusPart(number, part) for number, part in enumerate(corpus.parts()))


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
        corpus = part.read()
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
