"""Exclusivity: which words belong to one topic rather than to all?"""

import numpy as np

from hdsp.checks import normalised_components
from hdsp.metrics.coherence import topic_top_words
from hdsp.numerics import FloatArray


def exclusivity(components: FloatArray, n: int = 10) -> FloatArray:
    """Return the mean exclusivity of each topic's top words.

    Rows are normalised to distributions over words, φ. The exclusivity of word i in topic k is the
    topic's share of it, φ_ki / Σ_j φ_ji: 1 for a word that no other topic uses, 1 / T for one that
    all T topics use alike, 0 for one without weight anywhere. All topics count alike, however much
    of the corpus they hold. Higher is better, but more topics make every share smaller, and words
    that are rare by chance are exclusive too: read it beside a coherence.

    Parameters
    ----------
    components : float array of shape [T, V]
        A non-negative weight for every topic and word. Rows need not be normalised.
    n : int, default=10
        Top words per topic. A vocabulary smaller than `n` gives all its words.

    Returns
    -------
    float array of shape [T]
        A plain twin is `tests/reference/measures.py`.

    See Also
    --------
    frex : Scores that weigh exclusivity against frequency. A sum of them is stm's exclusivity.

    Examples
    --------
    >>> import numpy as np
    >>> exclusivity(np.array([[0.8, 0.2, 0.0], [0.0, 0.2, 0.8]]), n=2)
    array([0.75, 0.75])
    """
    components = normalised_components(components, name="components", owner="exclusivity")
    if n < 1:
        raise ValueError(
            f"`n` of exclusivity must be at least 1. Got {n}. Ask for one word or more."
        )
    top_words = topic_top_words(components, n)
    return np.asarray(np.take_along_axis(_shares(components), top_words, axis=1).mean(axis=1))


def frex(components: FloatArray, weight: float = 0.5) -> FloatArray:
    """Return the FREX score of every word in every topic: frequent there and exclusive to it.

    Within a topic, words are ranked by weight and by exclusivity (see `exclusivity`), from 1 / V
    for the last to 1 for the first; equal values share their mean rank. The score is the weighted
    harmonic mean of both ranks,

        FREX_ki = 1 / ( weight / rank(exclusivity_ki) + (1 - weight) / rank(φ_ki) ),

    in (0, 1], so a word must do well on both [1]_. ``topic_top_words(frex(components), n)`` gives
    words to name a topic by, often better than its heaviest ones.

    The weight is that of *exclusivity*, as in the function `exclusivity` of R's stm. stm's
    `calcfrex` and topica's `frex` take the weight of frequency: pass them ``1 - weight``. stm's
    exclusivity of a topic is the sum of the scores, at weight 0.7, of its ten heaviest words. stm
    can also shrink the exclusivity of rare words; this function does not.

    Parameters
    ----------
    components : float array of shape [T, V]
        A non-negative weight for every topic and word. Rows need not be normalised.
    weight : float, default=0.5
        Weight of exclusivity, from 0 (rank by frequency) to 1 (rank by exclusivity).

    Returns
    -------
    float array of shape [T, V]
        A plain twin is `tests/reference/measures.py`.

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
            f"`weight` of frex must lie in 0 ... 1. Got {weight}. Give the weight of exclusivity; "
            "frequency has the rest."
        )
    n_words = components.shape[1]
    from scipy.stats import rankdata

    frequent = rankdata(components, axis=1) / n_words
    exclusive = rankdata(_shares(components), axis=1) / n_words
    return np.asarray(1 / (weight / exclusive + (1 - weight) / frequent))


def _shares(components: FloatArray) -> FloatArray:
    """Return each topic's share of every word, [T, V]: 0 for a word without weight anywhere."""
    totals = components.sum(axis=0)
    return np.asarray(components / np.where(totals > 0, totals, 1.0))
