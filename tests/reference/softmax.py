"""Multinomial regression, written for reading."""

import numpy as np
from scipy.special import log_softmax


def penalised_loss(design, targets, ridge, intercept, coefficients):
    """- sum_mk n_mk ln theta_mk + sum_jk ridge_jk v_jk^2 / 2, from a dense design [M, J]."""
    log_share = log_softmax(design @ coefficients + intercept, axis=1)
    return -(targets * log_share).sum() + 0.5 * (ridge * coefficients**2).sum()


def sweep_softmax_weights(design, targets, ridge, intercept, coefficients):
    """One sweep over the labels: each by three Newton steps, or one bounded step for numbers."""
    coefficients = coefficients.copy()
    lengths = targets.sum(axis=1, keepdims=True)
    for j in range(design.shape[1]):
        r = design[:, [j]]
        carriers = r[:, 0] != 0
        if not carriers.any():
            continue
        expected = lengths * np.exp(log_softmax(design @ coefficients + intercept, axis=1))
        observed = (r * targets).sum(axis=0)
        v = coefficients[j]
        step = np.zeros_like(v)
        if (r[carriers] == 1).all():
            load = expected[carriers].sum(axis=0)
            for _ in range(3):
                raised = load * np.exp(step)
                slope = raised - observed + ridge[j] * (v + step)
                step -= np.clip(slope / (raised + ridge[j]), -2.0, 2.0)
        else:
            slope = (r * expected).sum(axis=0) - observed + ridge[j] * v
            curvature = 2 * (np.e - 2) * (r**2 * expected).sum(axis=0) + ridge[j]
            reach = 1 / np.abs(r).max()
            step = -np.clip(slope / curvature, -reach, reach)
        coefficients[j] = v + step
    return coefficients


def update_intercept(design, targets, intercept, coefficients):
    """The intercept under which each topic is expected to hold what it does, given the weights."""
    lengths = targets.sum(axis=1, keepdims=True)
    expected = lengths * np.exp(log_softmax(design @ coefficients + intercept, axis=1))
    return intercept + np.log(targets.sum(axis=0) / (expected.sum(axis=0) + 1e-3))
