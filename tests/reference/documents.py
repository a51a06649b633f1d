"""The document step, written for reading: float64, one document at a time, equations 11 to 13."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import psi


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
