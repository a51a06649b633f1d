"""A corpus in the forms that other libraries want."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp.corpus import LabelSchema
from hdsp_studies.types import FloatArray, IntArray

# Below any share that a smoothed topic has, and far enough from zero for logarithms.
_LEAST_SHARE = 1e-12


def tokens(counts: csr_array) -> list[list[str]]:
    """Each document's tokens, as the positions of their words in the vocabulary.

    Positions rather than words, so that no library can drop, fold or cut one. Samplers know whole
    tokens only, so counts are rounded.
    """
    names = np.array([str(word) for word in range(counts.shape[1])], dtype=object)
    times = np.rint(counts.data).astype(np.int64)
    bounds = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    return [np.repeat(names[counts.indices[a:b]], times[a:b]).tolist() for a, b in bounds]


def nonempty_rows(counts: csr_array) -> IntArray:
    """Positions of the documents that have tokens."""
    return np.array([m for m, row in enumerate(tokens(counts)) if row], dtype=np.int64)


def word_shares(weights: FloatArray, places: IntArray, n_words: int) -> FloatArray:
    """Topics over our vocabulary, from those of a library.

    A word that the library did not see is as rare in a topic as the rarest that it did see.

    Parameters
    ----------
    weights : float array of shape [T, U]
        Weights of the words that the library knows.
    places : int array of shape [U]
        Positions of these words in the vocabulary.
    n_words : int
        Size of the vocabulary, V.

    Returns
    -------
    float array of shape [T, V]
        Positive; rows sum to 1.
    """
    least = np.maximum(weights.min(axis=1, keepdims=True), 0.0)
    shares = np.repeat(least, n_words, axis=1)
    shares[:, places] = weights
    return normalised(np.maximum(shares, _LEAST_SHARE * weights.sum(axis=1, keepdims=True)))


def topica_topics(model: Any, train: Corpus) -> tuple[FloatArray, FloatArray]:
    """The topics of a fitted model of topica over our vocabulary, [T, V], and their tokens, [T]."""
    places = np.array([int(word) for word in model.vocabulary], dtype=np.int64)
    lengths = np.asarray(train.counts.sum(axis=1)).ravel()
    topics = word_shares(np.asarray(model.topic_word), places, train.n_words)
    return topics, lengths @ np.asarray(model.doc_topic)


def normalised(weights: FloatArray) -> FloatArray:
    """Rows divided by their sums; a row without weight becomes even."""
    weights = np.asarray(weights, dtype=np.float64)
    total = weights.sum(axis=1, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[1])
    np.divide(weights, total, out=even, where=total > 0)
    return even


def with_narrow_indices(matrix: csr_array) -> csr_array:
    """The same matrix with 32-bit indices, the only ones that scikit-learn's trees and LDA take."""
    arrays = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return csr_array(arrays, shape=matrix.shape)


def labels_in_use(labels: Labels, least: int = 1) -> Labels:
    """Labels without the columns that fewer than `least` documents carry.

    A part of a corpus names the columns of the whole; a model that is fitted to the part has not
    seen those that its documents lack.

    Parameters
    ----------
    labels : Labels
        Labels of some documents.
    least : int, default=1
        Least number of documents that must carry a column.

    Returns
    -------
    Labels
        The same documents' labels.
    """
    blocks = []
    for block in labels.blocks:
        carriers = np.bincount(block.values.indices, minlength=len(block.columns))
        keep = np.flatnonzero(carriers >= least)
        if len(keep):
            names = tuple(block.columns[j] for j in keep)
            blocks.append(replace(block, columns=names, values=csr_array(block.values[:, keep])))
    return Labels(tuple(blocks), len(labels))


@dataclass(frozen=True)
class KnownLabels:
    """The labels that training documents carry.

    It encodes the labels of other documents, and ignores those that training did not see.

    Attributes
    ----------
    schema : LabelSchema
        The label space of the training documents.
    """

    schema: LabelSchema

    @classmethod
    def of(cls, labels: Labels) -> Self:
        """The labels that training documents carry."""
        return cls(LabelSchema.of(labels_in_use(labels)))

    @property
    def n_labels(self) -> int:
        """Number of columns J."""
        return self.schema.n_labels

    def is_number(self) -> list[bool]:
        """For each of the J columns, whether it holds numbers."""
        return [block.kind == "number" for block in self.schema.blocks for _ in block.columns]

    def design(self, labels: Labels) -> csr_array:
        """Tags and categories as 0 and 1, numbers standardised, [M, J]."""
        return self.schema.encode(labels, warn=False)

    def tags(self, labels: Labels) -> list[list[str]]:
        """Each document's tags and categories, as positions of columns; numbers are left out."""
        design = self.design(labels)
        number = np.array(self.is_number(), dtype=np.bool_)
        bounds = zip(design.indptr[:-1], design.indptr[1:], strict=True)
        return [[str(j) for j in design.indices[a:b] if not number[j]] for a, b in bounds]
