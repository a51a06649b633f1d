"""Matching: which found topic is which true one?"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.validation import normalised_components


def match_topics(truth: FloatArray, found: FloatArray) -> tuple[IntArray, FloatArray]:
    """Pair every true topic with a found one so that the total distance is least.

    Rows are normalised to distributions over words. The distance of two topics is their total
    variation, half the sum of absolute differences: 0 for equal topics, 1 for topics without
    a common word. Each found topic is used at most once (the Hungarian method).

    Parameters
    ----------
    truth : float array of shape [K, V]
        Topics to recover, non-negative.
    found : float array of shape [T, V]
        Topics of a fitted model, non-negative. With T > K the ones left over do not count.

    Returns
    -------
    indices : int array of shape [K]
        The row of `found` that was paired with each row of `truth`. With T < K some true topics
        have no partner: their index is -1.
    distances : float array of shape [K]
        Total variation of each pair; 1, the largest, for a true topic without a partner.

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
            "`truth` and `found` of match_topics must share a vocabulary. "
            f"Got {truth.shape[1]} and {found.shape[1]} words. Align their columns first."
        )
    distance = 0.5 * cdist(truth, found, metric="cityblock")
    paired, partners = linear_sum_assignment(distance)
    indices = np.full(len(truth), -1)
    distances = np.ones(len(truth))
    indices[paired] = partners
    distances[paired] = distance[paired, partners]
    return indices, distances
