"""Rows of proportions from rows of logarithms."""

import numpy as np

from hdsp.numerics.types import FloatArray


def normalised_exp(score: FloatArray) -> FloatArray:
    """exp(score) with rows scaled to sum to 1, [M, T]; scores of any size do not overflow.

    Examples
    --------
    >>> import numpy as np
    >>> normalised_exp(np.log([[1.0, 3.0]]) + 1000.0).round(6).tolist()
    [[0.25, 0.75]]
    """
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))
