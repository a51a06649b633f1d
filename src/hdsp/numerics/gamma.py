"""Expectations under gamma and Dirichlet distributions."""

import numpy as np
from scipy.special import gammaln, psi

from hdsp.numerics.types import FloatArray


def expected_log_gamma(shape: FloatArray, rate: FloatArray) -> FloatArray:
    """E[ln x] of x ~ Gamma(shape, rate)."""
    return np.asarray(psi(shape) - np.log(rate))


def gamma_divergence(
    shape: FloatArray, rate: FloatArray, prior_shape: float, prior_rate: float
) -> FloatArray:
    """E[ln p(x)] - E[ln q(x)] for q = Gamma(shape, rate) and p = Gamma(prior_shape, prior_rate).

    The negative Kullback-Leibler divergence of q from p, elementwise; zero where they agree.
    """
    return np.asarray(
        prior_shape * (np.log(prior_rate) - np.log(rate))
        - gammaln(prior_shape)
        + gammaln(shape)
        + (prior_shape - shape) * psi(shape)
        + shape * (1.0 - prior_rate / rate)
    )


def log_gamma_density(x: float, shape: float, rate: float) -> float:
    """ln Gamma(x; shape, rate)."""
    return float(shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * np.log(x) - rate * x)
