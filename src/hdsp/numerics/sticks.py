"""Stick breaking: V_k in (0, 1) to weights p_k and back (equation 1)."""

import numpy as np

from hdsp.numerics.types import FloatArray


def weights_from_sticks(sticks: FloatArray) -> FloatArray:
    """p_k = V_k prod_{l<k} (1 - V_l), with the last stick taken whole.

    Parameters
    ----------
    sticks : float array of shape [T - 1]
        The proportions V_k, k < T.

    Returns
    -------
    float array of shape [T]
        Weights that sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> weights_from_sticks(np.array([0.5, 0.5])).tolist()
    [0.5, 0.25, 0.25]
    """
    left = np.concatenate([[1.0], np.cumprod(1.0 - sticks)])
    return np.asarray(np.concatenate([sticks, [1.0]]) * left)


def sticks_from_weights(weights: FloatArray) -> FloatArray:
    """The sticks [T - 1] that `weights_from_sticks` turns into `weights` [T].

    Examples
    --------
    >>> import numpy as np
    >>> sticks_from_weights(np.array([0.5, 0.25, 0.25])).tolist()
    [0.5, 0.5]
    """
    tail = np.cumsum(weights[::-1])[::-1]
    return weights[:-1] / tail[:-1]
