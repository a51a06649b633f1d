"""Effective number: how many topics does a model really use?"""

import numpy as np
from scipy.special import entr

from hdsp.numerics import FloatArray


def effective_topics(weights: FloatArray) -> float:
    """Return the effective number of topics, the exponential of the entropy of their shares.

    T topics of equal share count T; topics without weight count nothing; a hundred topics of which
    three hold nearly everything count little more than three. Ecologists call it the Hill number
    of order 1. It says how the weight is spread, not whether the topics differ: two copies of one
    topic count as two.

    Parameters
    ----------
    weights : float array of shape [T]
        A non-negative weight for every topic, such as its share of the tokens. They need not sum
        to one.

    Returns
    -------
    float
        From 1 to T. A plain twin is `tests/reference/measures.py`.

    Examples
    --------
    >>> import numpy as np
    >>> round(effective_topics(np.array([4.0, 4.0, 4.0, 0.0])), 6)
    3.0
    >>> round(effective_topics(np.array([0.98, 0.01, 0.01])), 2)
    1.12
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(
            f"`weights` of effective_topics must be a vector [T]. Got shape {weights.shape}. "
            "Pass the mean of proportions over documents, `proportions.mean(axis=0)`."
        )
    improper = ~np.isfinite(weights) | (weights < 0)
    if improper.any():
        topic = int(np.argmax(improper))
        raise ValueError(
            "`weights` of effective_topics must be finite and not negative. "
            f"Got {weights[topic]} at topic {topic}. Pass shares or counts, not their logarithms."
        )
    total = weights.sum()
    if total == 0:
        raise ValueError(
            "`weights` of effective_topics must have some weight. "
            f"Got only zeros for {weights.size} topic(s). Pass the weights of a fitted model."
        )
    return float(np.exp(entr(weights / total).sum()))
