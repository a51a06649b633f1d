"""Updates of label weights, written for reading: one label at a time, dense."""

import numpy as np


def sweep_gamma_weights(design, exposure, shape, prior_rate, rate):
    """Equation 15: new b' [T, J] from a' [T, J], one label after another."""
    rate = rate.copy()
    for j in range(design.shape[1]):
        mean = shape / rate
        carriers = design[:, j] == 1
        others = design.copy()
        others[:, j] = 0
        rates = np.exp(others @ np.log(mean).T)
        rate[:, j] = prior_rate + (rates * exposure)[carriers].sum(axis=0)
    return rate


def sweep_normal_weights(design, exposure, prior_shape, variance, weights):
    """Equation 16: one Newton step with halving on each w_kj, [T, J], in turn.

    Returns the weights, and the inverse of the curvature each step was taken with.
    """
    weights = weights.copy()
    spread = np.full_like(weights, variance)

    def objective(k, w):
        linear = design @ w
        fit = (prior_shape[k] * linear - np.exp(linear) * exposure[:, k]).sum()
        return fit - (w**2).sum() / (2 * variance)

    for j in range(design.shape[1]):
        r = design[:, j]
        if not r.any():
            weights[:, j] = 0.0
            continue
        limit = 5.0 / np.abs(r).max()
        for k in range(len(weights)):
            load = np.exp(design @ weights[k]) * exposure[:, k]
            gradient = (r * (prior_shape[k] - load)).sum() - weights[k, j] / variance
            curvature = (r**2 * load).sum() + 1 / variance
            spread[k, j] = 1 / curvature
            step = np.clip(gradient / curvature, -limit, limit)
            before = objective(k, weights[k])
            trial = weights[k].copy()
            trial[j] += step
            while objective(k, trial) < before and abs(step) > 1e-12:
                step /= 2
                trial[j] = weights[k, j] + step
            weights[k, j] += step
    return weights, spread
