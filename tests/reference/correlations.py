"""Correlations of topics, written for reading."""

import numpy as np


def moments(counts, share, expected, mean):
    """Sums over documents of weights and of theta theta', theta, theta m' and m m'.

    From dense counts [M, V], E[phi] [V, T], expected proportions m [M, T] and their mean [T].
    """
    n_topics = share.shape[1]
    probability = share @ mean
    about = sum(np.outer(row, row) / p for row, p in zip(share, probability, strict=True))
    reading = np.linalg.solve(about, share.T / probability).T
    lengths = counts.sum(axis=1)
    weights = np.minimum(lengths / lengths.mean(), 1.0)
    both, across, products = np.zeros((3, n_topics, n_topics))
    found, total = np.zeros(n_topics), np.zeros(n_topics)
    for row, n, w, m in zip(counts, lengths, weights, expected, strict=True):
        words = np.flatnonzero(row)
        for i in words:
            for j in words:
                if i != j:
                    pair = row[i] * row[j] * np.outer(reading[i], reading[j])
                    both += w * pair / (n * (n - 1))
        theta = row @ reading / n
        across += w * np.outer(theta, m)
        products += w * np.outer(m, m)
        found += w * theta
        total += w * m
    weight = weights.sum()
    return [value / weight for value in (both, found, across, products, total)], reading


def with_equal_words(both, share, reading):
    """E[theta theta'], where `both` lacks pairs of equal words: the solution of a linear system."""
    n_topics = len(both)
    system = np.eye(n_topics**2)
    for b, phi in zip(reading, share, strict=True):
        system -= np.outer(np.outer(b, b).ravel(), np.outer(phi, phi).ravel())
    return np.linalg.solve(system, both.ravel()).reshape(n_topics, n_topics)


def absolute_deviations(covariance, products, added):
    """The sum over pairs of absolute correlations, for a_k."""
    size = np.sqrt(np.diag(covariance))
    total = 0.0
    for k in range(len(size)):
        for other in range(k):
            amount = covariance[k, other] + products[k, other] * (added[k] + added[other])
            total += abs(amount) / (size[k] * size[other])
    return total
