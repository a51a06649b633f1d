"""The frozen problem: documents in blocks, their label design, priors and the scaling function."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Design, ScalingFunction

# Documents of a block: enough to keep threads busy and the word pass efficient, few enough that
# a block's temporary arrays stay small beside the corpus.
BLOCK_SIZE = 8192


@dataclass(frozen=True)
class Priors:
    """The hyperparameters that are not learned.

    Attributes
    ----------
    topic_prior : eta, the Dirichlet parameter of every word in a topic
    corpus_concentration, document_concentration : (shape, rate) of the gamma priors of alpha and
        beta, or None where the concentration keeps its initial value
    """

    topic_prior: float
    corpus_concentration: tuple[float, float] | None
    document_concentration: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Block:
    """A run of consecutive documents, in document order and in word order.

    Attributes
    ----------
    indptr, indices, counts : the words of each document (CSR)
    lengths : [M] N_m
    word_indptr, documents, positions : the same entries by word (CSC); `positions` leads back to
        the entry in document order
    design : [M, J] label values
    """

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


def make_block(counts: csr_array, design: Design, dtype: np.dtype[np.floating]) -> Block:
    """A block of the documents `counts` [M, V] with labels `design` [M, J]."""
    order = csr_array(
        (np.arange(counts.nnz, dtype=np.int32), counts.indices, counts.indptr), shape=counts.shape
    ).tocsc()
    return Block(
        indptr=counts.indptr.astype(np.int64),
        indices=counts.indices.astype(np.int32),
        counts=counts.data.astype(dtype),
        lengths=np.asarray(counts.sum(axis=1)).astype(dtype),
        word_indptr=order.indptr.astype(np.int64),
        documents=order.indices.astype(np.int32),
        positions=order.data,
        design=design,
    )


def make_blocks(
    counts: csr_array, design: Design, dtype: np.dtype[np.floating], size: int = BLOCK_SIZE
) -> tuple[Block, ...]:
    """Cut a corpus into blocks of `size` documents."""
    return tuple(
        make_block(counts[first : first + size], design[first : first + size], dtype)
        for first in range(0, counts.shape[0], size)
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """All that stays fixed while a model is fitted.

    Attributes
    ----------
    blocks : the documents
    design : [M, J] label values of all documents
    n_words, n_topics : V and T
    scaling : the scaling function, bound to the design's columns
    priors : hyperparameters
    dtype : of the document step; float32 unless a test wants rounding out of the way
    """

    blocks: tuple[Block, ...]
    design: Design
    n_words: int
    n_topics: int
    scaling: ScalingFunction
    priors: Priors
    dtype: np.dtype[np.floating]

    @property
    def n_documents(self) -> int:
        """M."""
        return int(self.design.shape[0])

    @property
    def n_tokens(self) -> float:
        """The sum of all counts."""
        return float(sum(block.lengths.sum(dtype=np.float64) for block in self.blocks))

    @property
    def lengths(self) -> FloatArray:
        """N_m of all documents, [M]."""
        return np.concatenate([block.lengths for block in self.blocks])

    def with_topics(self, n_topics: int) -> "Problem":
        """The same documents and priors with another number of topics."""
        return replace(self, n_topics=n_topics)

    def block_rows(self) -> Iterator[tuple[Block, slice]]:
        """Each block with the rows of the corpus it holds."""
        first = 0
        for block in self.blocks:
            yield block, slice(first, first + block.n_documents)
            first += block.n_documents


def make_problem(
    counts: csr_array,
    design: Design,
    n_topics: int,
    scaling: ScalingFunction,
    priors: Priors,
    dtype: type[np.floating] = np.float32,
) -> Problem:
    """The problem of fitting `n_topics` topics to `counts` [M, V] with labels `design` [M, J]."""
    kind = np.dtype(dtype)
    design = csr_array(design, dtype=kind)
    return Problem(
        blocks=make_blocks(counts, design, kind),
        design=design,
        n_words=int(counts.shape[1]),
        n_topics=n_topics,
        scaling=scaling,
        priors=priors,
        dtype=kind,
    )
