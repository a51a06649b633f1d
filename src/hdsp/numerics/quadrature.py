"""The mean of a normalised vector of independent gamma variables (equation 21)."""

import numpy as np

from hdsp.numerics.types import FloatArray

# The integrand is analytic in a strip of half-width pi in ln t, so the trapezoid's error at this
# step is far below 1e-9; the limits below leave out less than exp(-_TAIL).
_STEP = 0.25
_TAIL = 20.0


def normalised_gamma_mean(shape: FloatArray, rate: FloatArray) -> FloatArray:
    """E[x_k / sum_j x_j] for independent x_k ~ Gamma(shape_k, rate_mk).

    Parameters
    ----------
    shape : float array of shape [K]
        Positive.
    rate : float array of shape [M, K]
        Positive.

    Returns
    -------
    float array of shape [M, K]
        Means; rows sum to 1.

    Examples
    --------
    Equal rates give the Dirichlet mean:

    >>> import numpy as np
    >>> normalised_gamma_mean(np.array([1.0, 3.0]), np.full((1, 2), 7.0)).round(6).tolist()
    [[0.25, 0.75]]
    """
    if len(rate) == 0:
        return np.empty(rate.shape)
    log_rate = np.log(rate)
    total = shape.sum()
    # Small t: the integrand is t sum(a / rho) at most. Large t: prod (rho_j / t)^a_j.
    start = -np.log((shape / rate).sum(axis=1)) - _TAIL
    stop = (log_rate @ shape) / total + _TAIL / total
    stop = np.maximum(stop, log_rate.max(axis=1) + _TAIL / total)
    # For small shapes that is far away; from here on the integrand is prod (rho_j / t)^a_j alone.
    reached = log_rate.max(axis=1) + 2.0 * _TAIL
    cut = bool((stop > reached).any())
    if cut:
        start = np.minimum(start, log_rate.min(axis=1) - _TAIL)
        stop = np.minimum(stop, reached)
    n_nodes = int(np.ceil((stop - start).max() / _STEP)) + 1
    mean = np.zeros_like(rate, dtype=np.float64)
    for node in range(n_nodes):
        log_t = (start + node * _STEP)[:, None]
        # ln(1 + t / rho), without overflow for large t
        log_ratio = np.logaddexp(0.0, log_t - log_rate)
        survival = np.exp(-(log_ratio @ shape))[:, None]
        mean += shape * np.exp(log_t - log_rate - log_ratio) * survival
    if cut:
        mean += shape * survival * (1.0 / (total * _STEP) - 0.5)
    return np.asarray(mean / mean.sum(axis=1, keepdims=True))
