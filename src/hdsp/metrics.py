"""Measures of fitted topics: pure functions on arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.special import entr

from hdsp.checks import check_tolerance, check_top_words, normalised_components
from hdsp.numerics import FloatArray, IntArray

__all__ = [
    "effective_topics",
    "exclusivity",
    "frex",
    "match_topics",
    "npmi",
    "stability",
    "topic_diversity",
    "topic_top_words",
]

# Pairs of words and documents counted at a time.
_CELLS = 2**24


def topic_top_words(components: FloatArray, n: int = 10) -> IntArray:
    """Return the indices of each topic's heaviest words, heaviest first.

    Parameters
    ----------
    components : float array of shape [T, V]
        Non-negative weights, normalised or not.
    n : int, default=10
        Number of words per topic.

    Returns
    -------
    int array of shape [T, min(n, V)]
        Word indices. Ties keep the order of the vocabulary.

    Examples
    --------
    >>> import numpy as np
    >>> topic_top_words(np.array([[0.1, 0.7, 0.2], [0.5, 0.0, 0.5]]), n=2)
    array([[1, 2],
           [0, 2]])
    """
    weights = np.asarray(components, dtype=np.float64)
    if weights.ndim != 2:
        raise ValueError(
            f"components must be a matrix [T, V], got {weights.ndim} dimension(s). "
            "Pass one topic as `components[None, :]`."
        )
    if n < 1:
        raise ValueError(f"n must be an integer >= 1, got {n}.")
    n_words = weights.shape[1]
    if n < n_words // 4:
        # Sort only words at least as heavy as the n-th. Partition from the heavy side: among the
        # many equal weights of absent words it is slow.
        threshold = -np.partition(-weights, n - 1, axis=1)[:, n - 1]
        rows: list[IntArray] = []
        for row, least in zip(weights, threshold, strict=True):
            heavy = np.flatnonzero(row >= least)
            rows.append(heavy[np.argsort(-row[heavy], kind="stable")][:n])
        return np.array(rows)
    return np.asarray(np.argsort(-weights, axis=1, kind="stable")[:, :n])


def npmi(top_words: IntArray, counts: Any, eps: float = 0.0) -> FloatArray:
    """Return the mean normalised pointwise mutual information of each topic's word pairs.

    With P(i) the share of documents that contain word i and P(i, j) the share that contain both,

        NPMI(i, j) = ln( P(i, j) / (P(i) P(j)) ) / -ln P(i, j),

    from -1 (never together) through 0 (independent) to 1 (only together). A pair that never
    co-occurs counts -1, the limit; a pair that co-occurs in every document counts 0.

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic, distinct within a row, n >= 2: see `topic_top_words`.
    counts : sparse or dense array of shape [M, V]
        Word counts of the reference documents.
    eps : float, default=0.0
        Added to every P(i, j). Other libraries use 1e-12.

    Returns
    -------
    float array of shape [T]
        One mean per topic, over n (n - 1) / 2 pairs.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[1, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 4]])
    >>> npmi(np.array([[0, 1], [0, 2]]), counts)
    array([ 1., -1.])
    """
    together, n_documents = co_documents(top_words, counts, owner="npmi")
    check_tolerance(eps, "eps", "npmi")
    alone = np.diagonal(together, axis1=1, axis2=2)
    first, second = np.triu_indices(together.shape[1], k=1)
    counted = (together[:, first, second], alone[:, first], alone[:, second])
    pairs = pair_npmi(*counted, n_documents=n_documents, eps=eps)
    return np.asarray(pairs.mean(axis=1))


def topic_diversity(top_words: IntArray) -> float:
    """Return the share of distinct words among all topics' top words.

    1 if no two topics share a top word, 1 / T if all T topics list the same words.

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic: see `topic_top_words`.

    Returns
    -------
    float
        From 1 / T to 1.

    Examples
    --------
    >>> import numpy as np
    >>> topic_diversity(np.array([[0, 1], [1, 2]]))
    0.75
    """
    top_words = np.asarray(top_words)
    if top_words.ndim != 2 or top_words.size == 0:
        raise ValueError(
            f"top_words must be a matrix [T, n] with at least one word, got shape "
            f"{top_words.shape}. Use topic_top_words(components, n=10)."
        )
    return float(np.unique(top_words).size / top_words.size)


def exclusivity(components: FloatArray, n: int = 10) -> FloatArray:
    """Return the mean exclusivity of each topic's top words.

    Rows are normalised to distributions over words, φ. The exclusivity of word i in topic k is the
    topic's share of the word, φ_ki / Σ_j φ_ji: 1 for a word that no other topic uses, 1 / T for a
    word that all T topics use alike. Higher is better, but more topics make every share smaller,
    and words that are rare by chance are exclusive too: read it together with a coherence.

    Parameters
    ----------
    components : float array of shape [T, V]
        Non-negative weights, normalised or not.
    n : int, default=10
        Number of top words per topic.

    Returns
    -------
    float array of shape [T]
        Mean exclusivity of each topic.

    Examples
    --------
    >>> import numpy as np
    >>> exclusivity(np.array([[0.8, 0.2, 0.0], [0.0, 0.2, 0.8]]), n=2)
    array([0.75, 0.75])
    """
    components = normalised_components(components, name="components", owner="exclusivity")
    top_words = topic_top_words(components, n)
    return np.asarray(np.take_along_axis(_shares(components), top_words, axis=1).mean(axis=1))


def frex(components: FloatArray, weight: float = 0.5) -> FloatArray:
    """Return FREX scores: high for words that are frequent in a topic and exclusive to it.

    Within a topic, words are ranked by weight and by exclusivity (see `exclusivity`), from 1 / V
    for the last to 1 for the first; equal values share their mean rank. The score is the weighted
    harmonic mean of both ranks,

        FREX_ki = 1 / ( weight / rank(exclusivity_ki) + (1 - weight) / rank(φ_ki) ),

    in (0, 1] [1]_. ``topic_top_words(frex(components), n)`` gives words to name a topic by.

    The weight is the weight of *exclusivity*, as in the function `exclusivity` of R's stm. stm's
    `calcfrex` and topica's `frex` take the weight of frequency: pass them ``1 - weight``. stm's
    exclusivity of a topic is the sum of the scores, at weight 0.7, of its ten heaviest words.

    Parameters
    ----------
    components : float array of shape [T, V]
        Non-negative weights, normalised or not.
    weight : float, default=0.5
        Weight of exclusivity, from 0 (rank by frequency) to 1 (rank by exclusivity).

    Returns
    -------
    float array of shape [T, V]
        One score for each word of each topic.

    References
    ----------
    .. [1] Bischof and Airoldi, Summarizing topical content with word frequency and exclusivity,
       ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> components = np.array([[5.0, 4.0, 1.0, 0.0], [5.0, 0.0, 1.0, 4.0]])
    >>> topic_top_words(frex(components), n=2)
    array([[1, 0],
           [3, 0]])
    """
    components = normalised_components(components, name="components", owner="frex")
    if not 0 <= weight <= 1:
        raise ValueError(
            f"weight must be between 0 and 1, got {weight}. It is the weight of exclusivity."
        )
    n_words = components.shape[1]
    from scipy.stats import rankdata

    frequent = rankdata(components, axis=1) / n_words
    exclusive = rankdata(_shares(components), axis=1) / n_words
    return np.asarray(1 / (weight / exclusive + (1 - weight) / frequent))


def effective_topics(weights: FloatArray) -> float:
    """Return the effective number of topics, the exponential of the entropy of their shares.

    T topics of equal share count T; a hundred topics of which three have almost all the weight
    count little more than three (the Hill number of order 1). Two copies of a topic count as two.

    Parameters
    ----------
    weights : float array of shape [T]
        Non-negative weights, such as shares of the tokens, normalised or not.

    Returns
    -------
    float
        From 1 to T.

    Examples
    --------
    >>> import numpy as np
    >>> round(effective_topics(np.array([4.0, 4.0, 4.0, 0.0])), 6)
    3.0
    >>> round(effective_topics(np.array([0.98, 0.01, 0.01])), 2)
    1.12
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            "weights must be a vector [T] of finite values >= 0, "
            f"got {np.array2string(weights, threshold=6)}."
        )
    if (total := weights.sum()) == 0:
        raise ValueError("weights must not all be zero.")
    return float(np.exp(entr(weights / total).sum()))


def match_topics(truth: FloatArray, found: FloatArray) -> tuple[IntArray, FloatArray]:
    """Pair every true topic with a fitted topic so that the total distance is smallest.

    The distance of two topics is their total variation, half the sum of absolute differences: 0 for
    equal topics, 1 for topics without a common word. Each fitted topic is used at most once (the
    Hungarian method).

    Parameters
    ----------
    truth : float array of shape [K, V]
        Topics to recover, non-negative.
    found : float array of shape [T, V]
        Topics of a fitted model, non-negative.

    Returns
    -------
    indices : int array of shape [K]
        The row of `found` paired with each row of `truth`; -1 without a partner, if T < K.
    distances : float array of shape [K]
        Total variation of each pair; 1 for a true topic without a partner.

    Examples
    --------
    >>> import numpy as np
    >>> indices, distances = match_topics(
    ...     np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
    ...     np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 0.0]]),
    ... )
    >>> indices, distances
    (array([1, 0]), array([0.  , 0.25]))
    """
    truth = normalised_components(truth, name="truth", owner="match_topics")
    found = normalised_components(found, name="found", owner="match_topics")
    if truth.shape[1] != found.shape[1]:
        raise ValueError(
            "Topics must have the same words in the same order, "
            f"got {truth.shape[1]} and {found.shape[1]} words."
        )
    distance = 0.5 * cdist(truth, found, metric="cityblock")
    paired, partners = linear_sum_assignment(distance)
    indices = np.full(len(truth), -1)
    distances = np.ones(len(truth))
    indices[paired] = partners
    distances[paired] = distance[paired, partners]
    return indices, distances


def stability(runs: Sequence[FloatArray]) -> FloatArray:
    """Return how closely each topic of the first run recurs in the others.

    The topics of the first run are paired with the topics of every other run by `match_topics`. The
    stability of a topic is the mean over the other runs of 1 - total variation distance to its
    partner, from 0 (no common word, or no partner) to 1 (the same topic every time).

    Parameters
    ----------
    runs : sequence of float array of shape [T_r, V]
        `components_` of two or more fits over the same words, with different seeds or on resampled
        documents. Numbers of topics may differ.

    Returns
    -------
    float array of shape [T_0]
        One value for each topic of ``runs[0]``.

    Notes
    -----
    Leave out unused topics: they are little more than the prior in every run, and so look stable.
    Seeds show only how the fit depends on its start; resample the documents to see how it depends
    on them too.

    Examples
    --------
    >>> import numpy as np
    >>> first = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> second = np.array([[0.0, 0.0, 1.0, 1.0], [2.0, 1.0, 1.0, 0.0]])
    >>> stability([first, second])
    array([0.75, 1.  ])
    """
    components = [
        normalised_components(run, name=f"runs[{index}]", owner="stability")
        for index, run in enumerate(runs)
    ]
    if len(components) < 2:
        raise ValueError(f"runs must contain at least two fits, got {len(components)}.")
    reference, *others = components
    return np.asarray(np.mean([1 - match_topics(reference, run)[1] for run in others], axis=0))


def co_documents(top_words: IntArray, counts: Any, owner: str) -> tuple[FloatArray, int]:
    """Count documents that contain both words of each pair, [T, n, n], and all documents."""
    top_words = np.asarray(top_words)
    presence = sp.csr_array(counts)
    check_top_words(top_words, owner, n_words=presence.shape[1])
    n_documents = presence.shape[0]
    if n_documents == 0:
        raise ValueError("counts must have at least one document, got 0 rows.")
    used, position = np.unique(top_words, return_inverse=True)
    presence = presence[:, used]
    together = np.zeros((*top_words.shape, top_words.shape[1]))
    size = min(max(_CELLS // len(used) // 64, 1), -(-n_documents // 64)) * 64
    for first in range(0, n_documents, size):
        part = presence[first : first + size].tocoo()
        # One bit per document, so that documents with both words are counted 64 at a time.
        contains = np.zeros((len(used), size), dtype=bool)
        contains[part.col, part.row] = part.data > 0
        bits = np.packbits(contains, axis=1).view(np.uint64)
        for topic, words in enumerate(position.reshape(top_words.shape)):
            word_bits = bits[words]
            both = np.bitwise_count(word_bits[:, None] & word_bits)
            together[topic] += both.sum(axis=2, dtype=np.int64)
    return together, n_documents


def pair_npmi(
    both: FloatArray, left: FloatArray, right: FloatArray, *, n_documents: int, eps: float
) -> FloatArray:
    """Return NPMI from document frequencies of both words of a pair, and of each word."""
    joint = both / n_documents + eps
    independent = (left / n_documents) * (right / n_documents)
    value = np.zeros_like(joint)
    value[(joint == 0) | (independent == 0)] = -1.0
    regular = (joint > 0) & (joint < 1) & (independent > 0)
    value[regular] = np.log(joint[regular] / independent[regular]) / -np.log(joint[regular])
    return value


def _shares(components: FloatArray) -> FloatArray:
    """Return each topic's share of every word, [T, V]: 0 for a word without weight anywhere."""
    totals = components.sum(axis=0)
    return np.asarray(components / np.where(totals > 0, totals, 1.0))
