"""The document step, written for reading: float64, one document at a time, equations 11 to 13."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, psi


def solve_tangent(length, shape, rate):
    """The root xi of sum_k a_k / (rho_k xi + N) = 1 (equation 12), by bisection."""

    def excess(log_xi):
        return (shape / (rate * np.exp(log_xi) + length)).sum() - 1.0

    return float(np.exp(brentq(excess, -60.0, 60.0, xtol=1e-14)))


def fit_document(words, counts, table, prior_shape, rate, weight, n_iter):
    """`n_iter` updates of q(pi) of one document from exp(E ln pi) = `weight`.

    Returns the tokens that topics hold, xi, and exp(E ln pi).
    """
    length = counts.sum()
    for _ in range(n_iter):
        joint = table[words] * weight
        responsibility = joint / joint.sum(axis=1, keepdims=True)
        held = counts @ responsibility
        shape = prior_shape + held
        xi = solve_tangent(length, shape, rate)
        weight = np.exp(psi(shape)) / (rate + length / xi)
    return held, xi, weight


def gamma_terms(excess, prior_shape):
    """Sum over rows of psi(a), and each row's sum_k ln G(a) - ln G(a0) + (a0 - a) psi(a)."""
    shape = excess + prior_shape
    gap = gammaln(shape) - gammaln(prior_shape) - excess * psi(shape)
    return psi(shape).sum(axis=0), gap.sum(axis=1)
