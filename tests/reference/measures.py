"""Plain twins of the measures in `hdsp.metrics`, written for reading."""

from itertools import combinations, permutations
from math import exp, log, prod

import numpy as np


def npmi(top_words, counts):
    """Mean NPMI over the pairs of each topic's words; `counts` is dense [M, V]."""
    documents = [set(np.flatnonzero(row)) for row in counts]

    def share(*words):
        return sum(set(words) <= document for document in documents) / len(documents)

    def pair(i, j):
        joint = share(i, j)
        if joint == 0:
            return -1.0
        if joint == 1:
            return 0.0
        return log(joint / (share(i) * share(j))) / -log(joint)

    return np.array(
        [np.mean([pair(i, j) for i, j in combinations(topic, 2)]) for topic in top_words]
    )


def shares(components):
    """Each topic's share of every word, rows normalised first."""
    topics = [[x / sum(row) for x in row] for row in components]
    totals = [sum(column) for column in zip(*topics, strict=True)]
    return [[x / t if t else 0.0 for x, t in zip(row, totals, strict=True)] for row in topics]


def exclusivity(components, n=10):
    """Mean share of each topic in its n heaviest words."""

    def heaviest(row):
        return sorted(range(len(row)), key=lambda word: (-row[word], word))[:n]

    return np.array(
        [
            np.mean([share[word] for word in heaviest(row)])
            for row, share in zip(components, shares(components), strict=True)
        ]
    )


def frex(components, weight=0.5):
    """Weighted harmonic mean of two ranks: mean rank of equals, over the number of words."""

    def rank(row, x):
        return (sum(y < x for y in row) + (sum(y == x for y in row) + 1) / 2) / len(row)

    return np.array(
        [
            [
                1 / (weight / rank(share, share[word]) + (1 - weight) / rank(row, row[word]))
                for word in range(len(row))
            ]
            for row, share in zip(components, shares(components), strict=True)
        ]
    )


def effective_topics(weights):
    """Product of s^-s over shares s, which is the exponential of their entropy."""
    return prod((w / sum(weights)) ** (-w / sum(weights)) for w in weights if w > 0)


def stability(runs):
    """Mean common probability of each topic of the first run with its partners, all tried."""
    reference, *others = [[[x / sum(row) for x in row] for row in run] for run in runs]

    def common(left, right):
        return sum(min(x, y) for x, y in zip(left, right, strict=True))

    def best(other):
        # `None` is no partner; with enough topics to go round nobody is left without.
        partners = [*other, *[None] * max(len(reference) - len(other), 0)]
        return max(
            (
                [0.0 if b is None else common(a, b) for a, b in zip(reference, chosen, strict=True)]
                for chosen in permutations(partners, len(reference))
            ),
            key=sum,
        )

    return np.mean([best(other) for other in others], axis=0)


def hill_number(shares, order):
    """Hill number of an order other than 1; its limit at order 1 is `effective_topics`."""
    return exp(log(sum(s**order for s in shares if s > 0)) / (1 - order))
