"""What a document's words say for a label, against the documents that lack it.

For a tag or level, every word has the log ratio of its probability in the label's documents and in
the others. Either probability is that of the documents' topics times the ratio of `label_words`,
which corrects topics by the words that were counted. For a number, a word has a slope: how its
logarithm changes with the number.

Words of one document repeat and resemble each other, so that evidence does not add up as if they
were independent: a word that occurs c times counts ln(1 + c), and the sum is divided by the square
root of its length.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray

# So many labels at once, to save memory.
_CHUNK = 256
_SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Words and topics of documents, in all and by label.

    Attributes
    ----------
    words : sparse array of shape [J, V]
        Tokens of each word in the documents of each label; sums weighted by the value of a number.
        Empty where words were not counted: then topics alone are evidence.
    topics : float array of shape [J, T]
        The same sums of the tokens that topics are expected to hold.
    all_words : float array of shape [V]
        Tokens of each word in all documents.
    all_topics : float array of shape [T]
        Tokens of each topic in all documents.
    observed : float array of shape [J]
        The share of the documents whose value of a number is known; not used for other labels.
    """

    words: csr_array
    topics: FloatArray
    all_words: FloatArray
    all_topics: FloatArray
    observed: FloatArray

    def without(self, counts: csr_array, design: csr_array, expected: FloatArray) -> "LabelCounts":
        """The counts without some documents.

        Parameters
        ----------
        counts : sparse array of shape [M, V]
            The documents to leave out.
        design : sparse array of shape [M, J]
            Their labels.
        expected : float array of shape [M, T]
            The tokens of topics that their labels lead one to expect.
        """
        by_label = csr_array(csr_array(design, dtype=np.float64).T)
        words = self.words
        if words.nnz:
            words = csr_array(words - by_label @ counts)
        return LabelCounts(
            words,
            self.topics - by_label @ expected,
            np.maximum(self.all_words - np.asarray(counts.sum(axis=0)), 0.0),
            np.maximum(self.all_topics - expected.sum(axis=0), 0.0),
            self.observed,
        )

    def block(self, columns: slice) -> "LabelCounts":
        """The counts of a block of labels."""
        return LabelCounts(
            self.words[columns],
            self.topics[columns],
            self.all_words,
            self.all_topics,
            self.observed[columns],
        )

    def among_levels(self) -> "LabelCounts":
        """The counts of levels of a category, with the documents that have one of them as all."""
        all_words = self.all_words
        if self.words.nnz:
            all_words = np.asarray(self.words.sum(axis=0))
        return LabelCounts(
            self.words, self.topics, all_words, self.topics.sum(axis=0), self.observed
        )


def word_evidence(
    counts: csr_array, labels: LabelCounts, word_share: FloatArray, number: bool
) -> FloatArray:
    """The evidence of documents' words for each label, [M, C].

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        The documents.
    labels : LabelCounts
        Training counts of the C labels.
    word_share : float array of shape [V, T]
        E[phi].
    number : bool
        Whether the labels are numbers.
    """
    damped = csr_array(counts, dtype=np.float64, copy=True)
    damped.data = np.log1p(damped.data)
    length = np.sqrt(np.maximum(np.asarray(damped.sum(axis=1)), 1.0))
    n_labels = labels.topics.shape[0]
    found = np.zeros((counts.shape[0], n_labels))
    weights = _slopes if number else _log_ratios
    for first in range(0, n_labels, _CHUNK):
        some = slice(first, first + _CHUNK)
        found[:, some] = damped @ weights(labels.block(some), word_share).T
    found /= length[:, None]
    return found


def _log_ratios(labels: LabelCounts, word_share: FloatArray) -> FloatArray:
    """ln p(word | with the label) - ln p(word | without it), [C, V]."""
    expected = np.maximum(labels.topics, 0.0) @ word_share.T
    others = np.maximum(labels.all_topics - labels.topics, 0.0) @ word_share.T
    if labels.words.nnz == 0:
        return _log_shares(expected, expected) - _log_shares(others, others)
    found = labels.words.toarray()
    np.maximum(found, 0.0, out=found)
    rest = labels.all_words - found
    np.maximum(rest, 0.0, out=rest)
    ratios = _log_shares(found, expected)
    ratios -= _log_shares(rest, others)
    return ratios


def _log_shares(found: FloatArray, expected: FloatArray) -> FloatArray:
    """Log probabilities of words that were found so often where topics expect so many, [C, V]."""
    # In place, since arrays of all words take longer to make than to fill.
    share, other = found + STRENGTH, expected + STRENGTH
    share /= other
    share *= np.maximum(expected, _SMALLEST, out=other)
    share /= share.sum(axis=1, keepdims=True)
    return np.asarray(np.log(share, out=share))


def _slopes(labels: LabelCounts, word_share: FloatArray) -> FloatArray:
    """How the logarithm of a word's probability changes with a number, [C, V].

    sum_m x_m (c_mi - N_m f_i) over sum_m x_m^2 N_m f_i, where f_i is the word's share of all
    tokens; x is standardised, so that its square is 1 on average. Topics say what to expect
    before words are counted, worth `STRENGTH` tokens.
    """
    total = max(float(labels.all_words.sum()), _SMALLEST)
    share = labels.all_words / total
    known = np.maximum(labels.observed, _SMALLEST)[:, None] * total * share
    by_topics = labels.topics @ word_share.T
    by_topics -= labels.topics.sum(axis=1, keepdims=True) * share
    by_topics /= np.maximum(known, _SMALLEST)
    if labels.words.nnz == 0:
        return by_topics
    found = labels.words.toarray()
    found -= found.sum(axis=1, keepdims=True) * share
    return np.asarray((found + STRENGTH * by_topics) / (known + STRENGTH))


# The prior's weight a, in tokens; benchmarks/labels.py shows others.
STRENGTH = 2.0
# Beyond this many pairs of labels and words, label words are not counted.
_MOST_PAIRS = 50_000_000


def count_label_words(counts: csr_array, labels: csr_array, chosen: IntArray) -> csr_array:
    """Tokens of each word in the documents of each label, [n_labels, V]; empty if too large.

    Tokens are weighted by the values of a number; `labels` [M, n_labels] are the values, and labels
    that are not `chosen` are left out.
    """
    n_labels = labels.shape[1]
    if len(chosen) * counts.shape[1] > _MOST_PAIRS:
        return csr_array((n_labels, counts.shape[1]))
    weight = np.zeros(n_labels)
    weight[chosen] = 1.0
    found = csr_array(csr_array(labels.multiply(weight), dtype=np.float64).T @ counts)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def label_word_ratios(
    label_words: csr_array, label_tokens: FloatArray, word_share: FloatArray
) -> FloatArray:
    """How many times more often labels use words than their topics predict, [C, V].

    Parameters
    ----------
    label_words : sparse array of shape [C, V]
        The counts of `count_label_words`.
    label_tokens : float array of shape [C, T]
        Expected tokens of each topic in the documents of each label.
    word_share : float array of shape [V, T]
        E[phi].
    """
    if label_words.nnz == 0:
        return np.ones((len(label_tokens), word_share.shape[0]))
    expected = label_tokens @ word_share.T
    return np.asarray((label_words.toarray() + STRENGTH) / (expected + STRENGTH))
