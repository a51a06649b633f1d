"""Diversity: do the topics have words of their own?"""

import numpy as np

from hdsp.checks import check_share, check_top_words
from hdsp.numerics import IntArray


def topic_diversity(top_words: IntArray) -> float:
    """Return the share of distinct words among all topics' top words.

    1 where no two topics share a top word, 1 / T where all T topics list the same words.

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
            "`top_words` of topic_diversity must be a matrix [T, n] with at least one word. "
            f"Got shape {top_words.shape}. Make it with topic_top_words(components, n=10)."
        )
    return float(np.unique(top_words).size / top_words.size)


def inverted_rbo(top_words: IntArray, p: float = 0.9) -> float:
    """Return one minus the mean rank-biased overlap of all pairs of topics.

    Where `topic_diversity` asks only whether words are shared, this asks how high up: two topics
    with the same first words are more alike than two with the same last words. With X_d the number
    of words common to the first d of both lists, the overlap of two lists of n words is

        RBO = (1 - p) Σ_{d = 1 ... n} p^{d-1} X_d / d  +  p^n X_n / n,

    the extrapolated form of Webber et al. [1]_ for lists of equal length: the agreement seen at
    depth n is taken to continue, so that equal lists have an RBO of exactly 1. The measure is 1
    where no two topics share a word, and 0 where all lists are equal [2]_.

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic, T >= 2, distinct within a row, heaviest first: see
        `topic_top_words`. Their order matters.
    p : float, default=0.9
        Weight on depth, between 0 and 1: each next rank counts p times as much. The smaller, the
        more the first words decide. At 0.9 the first 10 ranks carry 86 % of the weight.

    Returns
    -------
    float
        A plain twin is `tests/reference/measures.py`.

    References
    ----------
    .. [1] Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM Transactions
       on Information Systems 28(4), 2010.
    .. [2] Bianchi, Terragni and Hovy, Pre-training is a hot topic, ACL 2021.

    Examples
    --------
    >>> import numpy as np
    >>> round(inverted_rbo(np.array([[0, 1, 2], [0, 3, 4]])), 3)
    0.585
    >>> round(inverted_rbo(np.array([[1, 2, 0], [3, 4, 0]])), 3)
    0.73
    """
    top_words = np.asarray(top_words)
    check_top_words(top_words, owner="inverted_rbo", at_least=1)
    check_share(p, "p", "inverted_rbo")
    n_topics, n = top_words.shape
    if n_topics < 2:
        raise ValueError(
            f"`top_words` of inverted_rbo must have at least two topics to compare. Got {n_topics}."
            " Leave this measure out for a model with a single topic."
        )
    _, words = np.unique(top_words, return_inverse=True)
    words = words.reshape(top_words.shape)
    # All pairs at once: a word among the first d of f topics is common to f (f - 1) / 2 pairs.
    topics_with = np.zeros(words.max() + 1)
    overlap = 0.0
    for depth in range(1, n + 1):
        topics_with += np.bincount(words[:, depth - 1], minlength=topics_with.size)
        agreement = (topics_with * (topics_with - 1) / 2).sum() / depth
        overlap += (1 - p) * p ** (depth - 1) * agreement
    overlap += p**n * agreement
    return float(1 - overlap / (n_topics * (n_topics - 1) / 2))
