"""Coefficients of many labels, drawn to inner products of label vectors and topic vectors.

Estimates of coefficients are b_j . a_k with errors of known variances, where b_j ~ Normal(0, I) and
a_kr ~ Normal(0, lambda_r). The posterior is taken to factorise over labels and topics, and lambda_r
is learned: dimensions that estimates do not show shrink to nothing (Bishop, 1999; Lim and Teh,
2007). The plain twin is in ``tests/reference/low_rank.py``.
"""

from dataclasses import dataclass

import numpy as np

from hdsp.labels import LowRank
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import LabelSpace

# As many dimensions as are tried where the rank is to be learned, and rounds of updates.
_MOST_DIMENSIONS = 12
_ROUNDS = 8
# A dimension whose part of the variance is less, beside the largest, is removed.
_LEAST_PART = 1e-2
_SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """The inner products that coefficients of some columns are drawn to.

    Attributes
    ----------
    terms : tuple of (int array, int)
        For each term its columns, and the dimensions that it may have.
    observed : float array of shape [J, T]
        Tokens of topics by column of the design, to which `draw_to` adds.
    plain : float array of shape [J, T]
        The same as they are.
    """

    terms: tuple[tuple[IntArray, int], ...]
    observed: FloatArray
    plain: FloatArray

    @classmethod
    def of(cls, space: LabelSpace, observed: FloatArray) -> "InnerProducts | None":
        """The inner products of a space, with the tokens that are overwritten; None of none."""
        terms = tuple(_limited(space, observed.shape[1]))
        return cls(terms, observed, observed.copy()) if terms else None

    def draw_to(self, middle: FloatArray, penalty: FloatArray) -> None:
        """Let penalties [J, T], which draw coefficients to 0, draw them to the `middle` [J, T].

        Their slope at 0 becomes a part of what is observed.
        """
        self.observed[:] = self.plain + penalty * middle

    def learn(
        self,
        coefficients: FloatArray,
        expected: FloatArray,
        about: FloatArray,
        noise: FloatArray,
        deviation: FloatArray,
    ) -> FloatArray:
        """The middle that coefficients are drawn to, [J, T]: 0 but for the terms' columns.

        Estimates are a step away from coefficients. Of topics that a label is expected to lack, one
        token would say too much: the information about them is in the middle of what it is there,
        and what it would be without labels.

        Parameters
        ----------
        coefficients : float array of shape [J, T]
            As they are now.
        expected : float array of shape [J, T]
            The tokens of topics that they lead one to expect, by column.
        about : float array of shape [J, T]
            The information about coefficients.
        noise : float array of shape [J, T]
            The ratio of the variance of estimates to the inverse of the information.
        deviation : float array of shape [J, 1]
            How far coefficients may be from their inner products.
        """
        middle = np.zeros(coefficients.shape)
        for columns, rank in self.terms:
            told = np.maximum(about[columns], _SMALLEST)
            estimate = coefficients[columns] + (self.plain - expected)[columns] / told
            error = noise[columns] / told + deviation[columns] ** 2
            labels, topics = factorise(estimate, error, rank)
            middle[columns] = labels @ topics.T
        return middle


def _limited(space: LabelSpace, n_topics: int) -> list[tuple[IntArray, int]]:
    """The columns of terms whose weights are inner products, and the dimensions these may have.

    Of as many dimensions as topics or labels any weights are inner products: such a term is plain.
    """
    found = []
    for term, part in zip(space.terms, space.slices, strict=True):
        columns = np.arange(part.start, part.stop)
        full = min(n_topics, len(columns))
        if isinstance(term, LowRank) and full > 1 and (term.rank is None or term.rank < full):
            found.append((columns, min(term.rank or _MOST_DIMENSIONS, full - 1)))
    return found


def variance_groups(space: LabelSpace, n_topics: int) -> IntArray:
    """The group of each column, [J]; labels of a full rank have variances of their own."""
    groups = space.groups
    limited = [int(columns[0]) for columns, _ in _limited(space, n_topics)]
    for term, part in zip(space.terms, space.slices, strict=True):
        if isinstance(term, LowRank) and part.start < part.stop and part.start not in limited:
            own = np.arange(part.stop - part.start)
            groups = np.where(groups > groups[part.start], groups + len(own) - 1, groups)
            groups[part] += own
    return groups


def factorise(estimate: FloatArray, error: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Vectors of labels [J, R] and topics [T, R], of at most `rank` dimensions.

    `estimate` [J, T] are estimates of their inner products, and `error` [J, T] the variances of
    these.
    """
    precision = 1.0 / error
    # It begins with estimates that are shrunk by their errors.
    _, size, right = np.linalg.svd(estimate * precision / (precision + 1.0), full_matrices=False)
    rank = min(rank, len(size))
    topics = right[:rank].T * (size[:rank] / np.sqrt(len(estimate)))
    spread: FloatArray = np.zeros((len(topics), rank, rank))
    scale = np.maximum((topics**2).mean(axis=0), _SMALLEST)
    labels: FloatArray = np.zeros((len(estimate), rank))
    for _ in range(_ROUNDS):
        labels, spread = _posterior(estimate, precision, topics, spread, np.ones(len(scale)))
        topics, spread = _posterior(estimate.T, precision.T, labels, spread, 1.0 / scale)
        scale = (topics**2 + np.einsum("krr->kr", spread)).mean(axis=0)
        kept = scale >= _LEAST_PART * scale.max()
        labels, topics, scale = labels[:, kept], topics[:, kept], scale[kept]
        spread = spread[:, kept][:, :, kept]
    return labels, topics


def _posterior(
    estimate: FloatArray,
    precision: FloatArray,
    others: FloatArray,
    spread: FloatArray,
    prior: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Means [N, R] and covariances [N, R, R] of vectors, given those of the other side."""
    second = others[:, :, None] * others[:, None, :] + spread
    information = (precision @ second.reshape(len(second), -1)).reshape(-1, len(prior), len(prior))
    found = np.linalg.inv(information + np.diag(prior))
    return np.einsum("nrs,ns->nr", found, (precision * estimate) @ others), found
