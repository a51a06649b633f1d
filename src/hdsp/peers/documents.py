"""A corpus in the forms that other libraries want."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Corpus, Labels, LabelSchema
from hdsp.numerics.types import FloatArray, IntArray

# Below any share that a smoothed topic has, and far enough from zero for logarithms.
_LEAST_SHARE = 1e-12


def tokens(counts: csr_array) -> list[list[str]]:
    """Each document's words, one by one, as their positions in the vocabulary.

    Positions rather than words: no library can then drop, fold or cut one. Samplers know whole
    tokens only, so that counts are rounded.
    """
    names = np.array([str(word) for word in range(counts.shape[1])], dtype=object)
    times = np.rint(counts.data).astype(np.int64)
    bounds = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    return [np.repeat(names[counts.indices[a:b]], times[a:b]).tolist() for a, b in bounds]


def spoken_rows(counts: csr_array) -> IntArray:
    """The documents that have tokens."""
    return np.array([m for m, row in enumerate(tokens(counts)) if row], dtype=np.int64)


def word_shares(weights: FloatArray, places: IntArray, n_words: int) -> FloatArray:
    """Topics over our vocabulary, [T, V], positive with rows that sum to 1.

    A word that the library did not see is as rare in a topic as the rarest that it did see.

    Parameters
    ----------
    weights : [T, U] of the words that the library knows
    places : [U] their positions in the vocabulary
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


def carried(labels: Labels, least: int = 1) -> Labels:
    """The labels without the columns that no document carries, or fewer than `least`.

    A part of a corpus names the columns of the whole: what its documents lack, a model fitted to
    them has not seen.
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
    """The labels that training documents carry: reads those of others, and ignores the rest."""

    schema: LabelSchema

    @classmethod
    def of(cls, labels: Labels) -> Self:
        """The labels of training documents."""
        return cls(LabelSchema.of(carried(labels)))

    @property
    def n_labels(self) -> int:
        """Number of columns J."""
        return self.schema.n_labels

    def is_number(self) -> list[bool]:
        """Which of the columns hold numbers, [J]."""
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
