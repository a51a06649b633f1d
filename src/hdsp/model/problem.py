"""The frozen problem: documents in blocks, their label design, priors and the scaling function."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from hdsp.model.priors import Priors
from hdsp.model.versions import NO_CONTENT, expand_counts
from hdsp.numerics import BLOCK_DOCUMENTS, FloatArray, IntArray
from hdsp.scaling.functions import Design, DesignLimits, ScalingFunction

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


class BlockProblem(Protocol):
    """A problem whose documents are seen one block at a time."""

    @property
    def blocks(self) -> Sequence[BlockSource]:
        """The documents, in blocks."""

    @property
    def scaling(self) -> ScalingFunction:
        """The scaling function, bound to the columns of the blocks' designs."""

    @property
    def priors(self) -> Priors:
        """Hyperparameters."""

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The floating-point type of the document step."""

    @property
    def n_documents(self) -> int:
        """M."""

    @property
    def n_words(self) -> int:
        """V."""

    @property
    def n_labels(self) -> int:
        """J."""

    @property
    def content(self) -> IntArray:
        """The columns of the design that tell groups with versions of topics, [G]."""


@dataclass(frozen=True, eq=False)
class ShardedProblem:
    """A problem whose blocks are loaded when a pass comes to them.

    Attributes
    ----------
    blocks : sequence of BlockSource
        The documents, in blocks.
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    priors : Priors
        Hyperparameters.
    n_documents, n_words, n_labels : int
        M, V and J.
    dtype : numpy.dtype, default=float32
        The floating-point type of the document step.
    content : int array of shape [G]
        The columns of the design whose documents have their own versions of topics, if any.
    """

    blocks: Sequence[BlockSource]
    scaling: ScalingFunction
    priors: Priors
    n_documents: int
    n_words: int
    n_labels: int
    dtype: np.dtype[np.floating] = _FLOAT32
    content: IntArray = field(default_factory=NO_CONTENT.copy)


@dataclass(frozen=True, eq=False)
class Problem:
    """All that stays fixed while a model is fitted to documents in memory, with any topics.

    Attributes
    ----------
    counts : sparse array of shape [M, V]
        The documents, as they were given.
    entries : sparse array of shape [M, V]
        The same counts in the types that the document step takes; its data have `dtype`. With
        versions of topics, counts of the groups' words (`hdsp.model.versions`).
    lengths : float array of shape [M]
        The document lengths N_m.
    blocks : tuple of Block
        The same documents, cut into blocks.
    design : sparse array of shape [M, J]
        Label values of all documents.
    scaling : ScalingFunction
        Bound to the design's columns.
    priors : Priors
        Hyperparameters.
    content : int array of shape [G]
        The columns of the design whose documents have their own versions of topics, if any.
    """

    counts: csr_array
    entries: csr_array
    lengths: FloatArray
    blocks: tuple[Block, ...]
    design: Design
    scaling: ScalingFunction
    priors: Priors
    content: IntArray = field(default_factory=NO_CONTENT.copy)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The floating-point type of the document step: float32, or float64 in some tests."""
        return self.entries.dtype  # type: ignore[no-any-return]

    @property
    def n_documents(self) -> int:
        """M."""
        return int(self.design.shape[0])

    @property
    def n_words(self) -> int:
        """V."""
        return int(self.counts.shape[1])

    @property
    def n_labels(self) -> int:
        """J."""
        return int(self.design.shape[1])

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
            priors=self.priors.for_part(len(rows) / self.n_documents),
        )
        return part.cut()

    def cut(self, block_size: int = BLOCK_DOCUMENTS) -> "Problem":
        """The same problem in blocks of about so many documents, which are equally large."""
        n_blocks = max(round(self.n_documents / block_size), 1)
        ends = [self.n_documents * n // n_blocks for n in range(n_blocks + 1)]
        return replace(self, blocks=tuple(self.block(slice(*ends)) for ends in pairwise(ends)))

    def block(self, rows: slice) -> Block:
        """A run of the documents."""
        return _make_block(self.entries, self.lengths, self.design, rows)


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
        counts=counts,
        entries=_entries(counts, design, content, dtype),
        lengths=np.asarray(counts.sum(axis=1)).astype(dtype),
        blocks=(),
        design=csr_array(design, dtype=dtype),
        scaling=scaling,
        priors=priors,
        content=content,
    )
    return whole.cut(block_size)
