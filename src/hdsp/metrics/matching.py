"""Matching: which found topic is which true one, and does one come back in another fit?"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from hdsp.checks import normalised_components
from hdsp.numerics import FloatArray, IntArray


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


def stability(runs: Sequence[FloatArray]) -> FloatArray:
    """Return how closely each topic of the first run is found again in the others.

    The topics of the first run are paired with those of each other run so that the total distance
    is least (see `match_topics`). A topic's stability is the mean over the other runs of
    1 - total variation distance to its partner: the probability that two topics have in common,
    from 0 (no common word, or no partner left in a run of fewer topics) to 1 (the same topic every
    time). It judges the first run; put another first to judge that one.

    Parameters
    ----------
    runs : sequence of float array of shape [T_r, V]
        `components_` of two or more fits, with different seeds or on resampled documents, over the
        same words. Numbers of topics may differ. Rows need not be normalised.

    Returns
    -------
    float array of shape [T_0]
        One value for each topic of ``runs[0]``. A plain twin is `tests/reference/measures.py`.

    Notes
    -----
    A topic that no document uses is little more than the prior in every run, and so looks stable:
    leave unused topics out. Seeds show only how the fit depends on its start; resample the
    documents to see how it depends on them too. Where two pairings are equally good, either may be
    taken.

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
        raise ValueError(
            f"`runs` of stability must hold at least two fits. Got {len(components)}. "
            "Fit the model again with another `random_state`."
        )
    reference, *others = components
    for index, other in enumerate(others, start=1):
        if other.shape[1] != reference.shape[1]:
            raise ValueError(
                "`runs` of stability must share a vocabulary. "
                f"Got {reference.shape[1]} words in runs[0] and {other.shape[1]} in runs[{index}]. "
                "Align their columns first."
            )
    common = [1 - match_topics(reference, other)[1] for other in others]
    return np.asarray(np.mean(common, axis=0))
