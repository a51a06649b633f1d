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


def sweep_normal_weights(design, exposure, prior_shape, variance, weights, spread):
    """Equation 16: one step with halving on mean and variance of each w_kj in turn, [T, J] each."""
    weights, spread = weights.copy(), spread.copy()

    def objective(k, w, v):
        linear = design @ w
        load = np.exp(linear + design**2 @ v / 2) * exposure[:, k]
        divergence = (np.log(variance / v) + (v + w**2) / variance - 1).sum() / 2
        return (prior_shape[k] * linear - load).sum() - divergence

    for j in range(design.shape[1]):
        r = design[:, j]
        if not r.any():
            weights[:, j], spread[:, j] = 0.0, variance
            continue
        limit = 5.0 / np.abs(r).max()
        for k in range(len(weights)):
            w, v = weights[k].copy(), spread[k].copy()
            load = np.exp(design @ w + design**2 @ v / 2) * exposure[:, k]
            gradient = (r * (prior_shape[k] - load)).sum() - w[j] / variance
            precision = (r**2 * load).sum() + 1 / variance
            step = np.array([np.clip(gradient / precision, -limit, limit), 1 / precision - v[j]])
            before = objective(k, w, v)
            for _ in range(40):
                w[j], v[j] = weights[k, j] + step[0], spread[k, j] + step[1]
                if objective(k, w, v) >= before:
                    break
                step /= 2
            weights[k, j] += step[0]
            spread[k, j] += step[1]
    return weights, spread
