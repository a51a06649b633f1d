"""Versions of topics: which words the groups of documents use differently, and their tokens.

To the document step a word of group g is a word of its own, so that it knows nothing of groups:
word i of group g is the word ``i (G + 1) + g``, and g = 0 are documents without a group. What
versions are is told in `hdsp.model.differing`.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling import Design

# No label tells groups.
NO_CONTENT: IntArray = np.empty(0, dtype=np.int64)
# kappa before any word is known to differ.
_STRENGTH = 100.0


@dataclass(frozen=True, eq=False)
class Versions:
    """The versions of topics.

    Attributes
    ----------
    tokens : float array of shape [V (G + 1), T]
        Expected tokens of each word, group and topic.
    columns : int array of shape [G]
        The columns of the design that tell documents' groups.
    spread : float array of shape [V]
        By how much the tokens of a word vary more than by chance, as documents repeat it.
    words, topics : int arrays of shape [F]
        The words of topics that groups use differently; all others are common.
    shared : float array of shape [F]
        Dirichlet parameters of the differing words' shares of their topic, for all groups.
    common : float array of shape [T]
        Those of the common words together.
    strength : float
        The tokens kappa that the shared shares count in every group.
    """

    tokens: FloatArray
    columns: IntArray
    spread: FloatArray
    words: IntArray
    topics: IntArray
    shared: FloatArray
    common: FloatArray
    strength: float = _STRENGTH

    @classmethod
    def none(
        cls, spread: FloatArray, n_topics: int, columns: IntArray, dtype: np.dtype[np.floating]
    ) -> "Versions":
        """Versions before anything is known of them: all words are common."""
        return cls(
            np.zeros((len(spread) * (len(columns) + 1), n_topics), dtype=dtype),
            columns,
            spread,
            NO_CONTENT,
            NO_CONTENT,
            np.empty(0),
            np.ones(n_topics),
        )

    @property
    def n_groups(self) -> int:
        """G + 1: with the documents that have no group."""
        return len(self.columns) + 1

    @property
    def n_topics(self) -> int:
        """T."""
        return int(self.tokens.shape[1])

    def by_group(self) -> FloatArray:
        """The tokens, [V, G + 1, T]."""
        return self.tokens.reshape(-1, self.n_groups, self.n_topics)

    def pooled(self) -> FloatArray:
        """The tokens of all groups together, [V, T]."""
        return np.asarray(self.by_group().sum(axis=1))

    def take(self, order: IntArray) -> "Versions":
        """The topics in another order, or some of them."""
        place = np.full(self.n_topics, -1)
        place[order] = np.arange(len(order))
        kept = place[self.topics] >= 0
        return replace(
            self,
            tokens=np.ascontiguousarray(self.tokens[:, order]),
            words=self.words[kept],
            topics=place[self.topics[kept]],
            shared=self.shared[kept],
            common=self.common[order],
        )

    def expand(self, counts: csr_array, design: Design) -> csr_array:
        """Counts [M, V] as counts of the groups' words, [M, V (G + 1)]."""
        return expand_counts(counts, design, self.columns)


def word_spread(counts: csr_array) -> FloatArray:
    """The tokens of a word in a document that has it, [V]; 1 at least."""
    tokens = np.asarray(counts.sum(axis=0), dtype=np.float64)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.maximum(tokens / np.maximum(documents, 1), 1.0)


def expand_counts(counts: csr_array, design: Design, columns: IntArray) -> csr_array:
    """Counts [M, V] as counts of the words of documents' groups, [M, V (G + 1)].

    `columns` [G] of the design are 1 where a document belongs to a group.
    """
    n_groups = len(columns) + 1
    member = csr_array(csr_array(design)[:, columns])
    group = np.asarray(member @ np.arange(1, n_groups, dtype=np.float64)).astype(np.int64)
    places = counts.indices * n_groups + np.repeat(group, np.diff(counts.indptr))
    return csr_array(
        (counts.data, places.astype(counts.indices.dtype), counts.indptr),
        shape=(counts.shape[0], counts.shape[1] * n_groups),
    )
