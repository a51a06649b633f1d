"""Words that labels favour beyond what their topics predict.

Topics are shared by all labels, so a label's own vocabulary shows in them only in part. For
predicting labels from words the rest matters too: word i occurs N_ji times in the documents of
label j, where topics alone expect E_ji. The ratio has a Gamma(a, a) prior and so the posterior
mean (N_ji + a) / (E_ji + a).
"""

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray

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
