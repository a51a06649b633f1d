"""Inner products of label vectors and topic vectors, written for reading."""

import numpy as np


def posterior(estimate, error, others, other_spread, prior):
    """Means and covariances of the vectors of one side, given those of the other."""
    means, spreads = [], []
    for values, variances in zip(estimate, error, strict=True):
        information, aim = np.diag(prior), np.zeros(len(prior))
        for value, variance, mean, spread in zip(
            values, variances, others, other_spread, strict=True
        ):
            information = information + (np.outer(mean, mean) + spread) / variance
            aim = aim + value * mean / variance
        spreads.append(np.linalg.inv(information))
        means.append(spreads[-1] @ aim)
    return np.array(means), np.array(spreads)


def bound(estimate, error, labels, label_spread, topics, topic_spread, scale):
    """The bound on the evidence of estimates, up to a constant."""
    total = 0.0
    for j, (mean, spread) in enumerate(zip(labels, label_spread, strict=True)):
        total -= 0.5 * (mean @ mean + np.trace(spread) - np.linalg.slogdet(spread)[1])
        for k, (other, other_spread) in enumerate(zip(topics, topic_spread, strict=True)):
            second = np.sum(
                (np.outer(mean, mean) + spread) * (np.outer(other, other) + other_spread)
            )
            square = estimate[j, k] ** 2 - 2.0 * estimate[j, k] * mean @ other + second
            total -= 0.5 * square / error[j, k]
    for other, spread in zip(topics, topic_spread, strict=True):
        second = other**2 + np.diag(spread)
        total -= 0.5 * (np.sum(second / scale + np.log(scale)) - np.linalg.slogdet(spread)[1])
    return total
