"""A random sample of documents that stands for all of them.

What follows a fit (calibration, the regressions of labels, the concentration for new documents)
needs some thousands of documents, not all. Every document draws a key; those with the smallest
keys are a uniform sample of all documents, whatever order they come in, and those with the
smallest keys among the documents of a label are a uniform sample of that label's documents, of
which a rare label would otherwise have none.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.execution.executor import Step
from hdsp.model.data import Block
from hdsp.numerics import BoolArray, FloatArray, csr_entries
from hdsp.scaling.functions import Design
from hdsp.storage.codec import Limits

# Documents in the uniform sample.
MOST_DOCUMENTS = 40_000
# Documents of each label, at least, if there are so many.
_PER_LABEL = 50
# The sample's largest key is below this many times its expected value, with certainty in practice.
_LIKELY = 1.2


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the documents that were seen.

    Attributes
    ----------
    counts : sparse array of shape [S, V]
        Their words.
    design : sparse array of shape [S, J]
        Their labels.
    keys : float array of shape [S]
        Their keys, uniform between 0 and 1.
    """

    counts: Annotated[csr_array, Limits("s w", 0.0)]
    design: Annotated[csr_array, Limits("s J")]
    keys: Annotated[FloatArray, Limits("s", 0.0, 1.0)]

    @classmethod
    def empty(cls, n_words: int, n_labels: int) -> "Sample":
        """A sample of nothing."""
        return cls(csr_array((0, n_words)), csr_array((0, n_labels)), np.zeros(0))

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, counts: csr_array, design: Design, keys: FloatArray) -> "Sample":
        """The sample of these documents and those seen before.

        Parameters
        ----------
        counts : sparse array of shape [M, V]
            Further documents.
        design : sparse array of shape [M, J]
            Their labels.
        keys : float array of shape [M]
            Their keys, drawn uniformly between 0 and 1.
        """
        chosen = np.flatnonzero(keys <= self._limits(design))
        words, labels = (csr_array(part[chosen], dtype=np.float32) for part in (counts, design))
        return self + Sample(words, labels, keys[chosen])

    def __add__(self, other: "Sample") -> "Sample":
        """The sample of all documents that either was drawn from."""
        both = Sample(
            csr_array(vstack([self.counts, other.counts], format="csr")),
            csr_array(vstack([self.design, other.design], format="csr")),
            np.concatenate([self.keys, other.keys]),
        )
        return both.take(both.keys <= both._limits(both.design))

    def take(self, rows: BoolArray) -> "Sample":
        """Some of the documents."""
        if rows.all():
            return self
        chosen = np.flatnonzero(rows)
        return Sample(
            csr_array(self.counts[chosen]), csr_array(self.design[chosen]), self.keys[chosen]
        )

    def aged(self, factor: float) -> "Sample":
        """The sample when documents are worth so many times less: it keeps fewer of them."""
        older = replace(self, keys=self.keys * factor)
        return older.take(older.keys <= 1.0)

    def uniform(self, most: int | None = None) -> BoolArray:
        """Which documents, `most` of them at most, are a uniform sample of all seen, [S]."""
        return np.asarray(self.keys <= _smallest(self.keys, most or MOST_DOCUMENTS))

    def weights(self) -> FloatArray:
        """How many documents each stands for, [S]: the inverse of its chance to be drawn."""
        return np.asarray(1.0 / np.maximum(self._limits(self.design), 1e-12))

    def _limits(self, design: Design, least: float | None = None) -> FloatArray:
        """The key up to which documents with these labels stay, [M], and `least` for all.

        By default that is the largest key of the uniform sample.
        """
        smallest = _smallest(self.keys, MOST_DOCUMENTS) if least is None else least
        limits = np.full(design.shape[0], smallest)
        rows, labels, _ = csr_entries(csr_array(design))
        np.maximum.at(limits, rows, self._label_limits()[labels])
        return limits

    def _label_limits(self) -> FloatArray:
        """The key up to which documents are among the first of each label, [J]."""
        rows, labels, _ = csr_entries(self.design)
        rows = rows[np.lexsort((self.keys[rows], labels))]
        n_documents = np.bincount(labels, minlength=self.design.shape[1])
        full = n_documents >= _PER_LABEL
        limits = np.ones(len(full))
        last = np.cumsum(n_documents) - n_documents + _PER_LABEL - 1
        limits[full] = self.keys[rows[last[full]]]
        return limits


def _smallest(keys: FloatArray, number: int) -> float:
    """The largest of the smallest so many keys; 1 if there are fewer."""
    return float(np.partition(keys, number - 1)[number - 1]) if len(keys) >= number else 1.0


@dataclass(frozen=True, eq=False)
class Survey:
    """What must be known of all documents before a fit; surveys of parts add.

    Attributes
    ----------
    sample : Sample
        Some of the documents; their design are the values of labels.
    word_tokens : float array of shape [V]
        Tokens of each word.
    carriers : float array of shape [n_labels]
        How many documents have a value of each label.
    """

    sample: Sample
    word_tokens: FloatArray
    carriers: FloatArray

    def __add__(self, other: "Survey") -> "Survey":
        return Survey(
            self.sample + other.sample,
            self.word_tokens + other.word_tokens,
            self.carriers + other.carriers,
        )


@dataclass(frozen=True, eq=False)
class SurveyDocuments(Step):
    """Surveys the documents of a block.

    Attributes
    ----------
    seed : int
        Decides the keys of documents, with the position of the block in the corpus.
    n_documents : int
        The number of all documents: of a large corpus, a block gives away few.
    """

    seed: int
    n_documents: int

    def __call__(self, block: Block, kept: None) -> tuple[None, Survey]:
        """The survey of the block."""
        shape = (block.n_documents, len(block.by_word[0]) - 1)
        counts = csr_array((block.counts, block.indices, block.indptr), shape=shape)
        keys = document_keys(self.seed, block.rows.start, block.n_documents)
        likely = _LIKELY * MOST_DOCUMENTS / self.n_documents
        sample = Sample(counts, csr_array(block.design), keys)
        return None, Survey(
            sample.take(keys <= sample._limits(sample.design, likely)),
            np.asarray(counts.sum(axis=0), dtype=np.float64),
            block.carriers,
        )


def document_keys(seed: int, first: int, n_documents: int) -> FloatArray:
    """The keys of documents that come after `first` others."""
    return np.random.default_rng([seed, first]).random(n_documents)
