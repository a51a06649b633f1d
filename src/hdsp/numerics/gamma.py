"""Expectations under gamma and Dirichlet distributions."""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, psi

from hdsp.numerics.types import FloatArray


def expected_log_gamma(shape: FloatArray, rate: FloatArray) -> FloatArray:
    """E[ln x] of x ~ Gamma(shape, rate), [T, J]."""
    return by_distinct_columns(psi, shape) - np.log(rate)


def by_distinct_columns(
    function: Callable[[FloatArray], FloatArray], values: FloatArray
) -> FloatArray:
    """``function(values)`` of a matrix [T, J], elementwise, computed once for equal columns.

    The shapes of label weights differ only by the number of documents that carry a label, so that
    thousands of labels have a handful of distinct columns.
    """
    if values.ndim != 2 or len(values) == 0:
        return np.asarray(function(values))
    _, first, column = np.unique(values[0], return_index=True, return_inverse=True)
    distinct = values[:, first]
    if 2 * len(first) > values.shape[1] or not np.array_equal(distinct[:, column], values):
        return np.asarray(function(values))
    return np.asarray(function(distinct))[:, column]


def gamma_divergence(
    shape: FloatArray, rate: FloatArray, prior_shape: float, prior_rate: float
) -> FloatArray:
    """E[ln p(x)] - E[ln q(x)] for q = Gamma(shape, rate) and p = Gamma(prior_shape, prior_rate).

    The negative Kullback-Leibler divergence of q from p, elementwise; zero where they agree.
    """
    return np.asarray(
        prior_shape * (np.log(prior_rate) - np.log(rate))
        - gammaln(prior_shape)
        + by_distinct_columns(gammaln, shape)
        + (prior_shape - shape) * by_distinct_columns(psi, shape)
        + shape * (1.0 - prior_rate / rate)
    )


def log_gamma_density(x: float, shape: float, rate: float) -> float:
    """ln Gamma(x; shape, rate)."""
    return float(shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * np.log(x) - rate * x)
