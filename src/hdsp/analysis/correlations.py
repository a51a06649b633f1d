"""Correlations of topics over documents, with what lengths, words and a sum of 1 do taken away.

Proportions that are read from the words of a document are uncertain and drawn to what is expected:
their correlations are neither those of proportions in long documents nor unbiased. So moments are
taken from pairs of words. With E[phi] as known, theta_m is estimated without bias, though with much
noise, by weighted least squares, B x_m / N_m with B = (phi' P^-1 phi)^-1 phi' P^-1 and P the words'
mean probabilities; and theta theta' by the same of all pairs of tokens of different words. Equal
words are left out, since words repeat more than a multinomial says; what is thus missing,
sum_i b_i b_i' E[(phi_i theta)^2], follows from the moments (equations 37 and 38 of docs/model.md).

Proportions add up to 1, so that topics which know nothing of each other correlate by a covariance
-E[m_k m_l] (a_k + a_l), where m are the expected proportions. The a_k are those for which pairs
typically have no more than that: least absolute deviations. The plain twin is in
``tests/reference/correlations.py``.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import stdtrit

from hdsp import kernels
from hdsp.analysis.reading import folds
from hdsp.model.data import Problem
from hdsp.model.reading import group_share
from hdsp.model.state import GlobalState
from hdsp.numerics import BoolArray, FloatArray, IntArray, sample_rows
from hdsp.storage.codec import Limits

# Standard errors come from leaving out each of so many parts of the documents.
_PARTS = 12
_MOST_DOCUMENTS = 10_000
# Of three topics every correlation follows from the sum.
_FEWEST_TOPICS = 4
# Steps until typical pairs are found, and until they are found again without a part.
_STEPS, _STEPS_AGAIN = 12, 2
# Equal words are a small part of all pairs, so that few steps find what they add.
_MISSING_STEPS = 3
# Of a topic whose words are nearly those of a mixture of others, so that less than this part of the
# information about it is its own, nothing is known. The ridge keeps it from disturbing others.
_LEAST_OWN, _RIDGE = 0.02, 1e-3


@dataclass(frozen=True, eq=False)
class Correlations:
    """Correlations of pairs of topics, given labels and raw.

    Attributes
    ----------
    values : float array of shape [2, P]
        Of the pairs of the first topics, in the order of ``numpy.triu_indices``: of what labels
        leave, and raw.
    errors : float array of shape [2, P]
        Standard errors; 0 is unknown.
    degrees : int
        Their degrees of freedom.
    """

    values: Annotated[FloatArray, Limits("2 p", -1.0, 1.0)]
    errors: Annotated[FloatArray, Limits("2 p", 0.0)]
    degrees: Annotated[int, Limits(least=0)]

    @property
    def n_topics(self) -> int:
        """The number of topics whose correlations there are."""
        n_pairs = self.values.shape[1]
        return int((1.0 + np.sqrt(1.0 + 8.0 * n_pairs)) / 2.0) if n_pairs else 0

    def intervals(self, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values with their lower and upper limits, [2, P] each; NaN where they are unknown."""
        values = np.where(self.errors > 0, self.values, np.nan).astype(np.float64)
        half = stdtrit(max(self.degrees, 1), 0.5 + level / 2.0) * self.errors
        return values, np.clip(values - half, -1.0, 1.0), np.clip(values + half, -1.0, 1.0)


def correlate_topics(
    problem: Problem,
    state: GlobalState,
    expected: FloatArray,
    n_topics: int,
    groups: IntArray | None = None,
) -> Correlations:
    """Correlations of the first `n_topics` topics in documents, with standard errors.

    Documents shorter than the mean weigh by their length, others the same. Standard errors are
    those of the jackknife over twelve parts of the documents, which hold whole groups.

    Parameters
    ----------
    problem : Problem
        The documents.
    state : GlobalState
        The fitted state.
    expected : float array of shape [M, T]
        The proportions that labels lead one to expect.
    n_topics : int
        The topics in use, which are the first.
    groups : int array of shape [M] or None, default=None
        The group of each document, where documents of a group are not independent; -1 is a
        document of its own.
    """
    rows = sample_rows(problem.n_documents, _MOST_DOCUMENTS)
    rows = rows[problem.lengths[rows] > 1]
    part = folds(problem, groups, _PARTS)[rows]
    n_parts, pairs = len(np.unique(part)), np.triu_indices(n_topics, 1)
    values, errors = np.zeros((2, 2, len(pairs[0])), dtype=np.float32)
    if n_topics < _FEWEST_TOPICS or n_parts < 2:
        return Correlations(values, errors, 0)
    entries, lengths = problem.entries(rows), problem.lengths[rows].astype(np.float64)
    expected, n_versions = expected[rows, :n_topics], len(problem.content) + 1
    share = group_share(state)[:, :n_topics].astype(np.float32)
    reading, clear = _read_words(share, expected.mean(axis=0), n_versions)
    found = kernels.sparse_product(entries.astype(np.float32), reading).astype(np.float64)
    weight = np.minimum(lengths / lengths.mean(), 1.0)
    by_pair, squares = weight / (lengths * (lengths - 1.0)), entries.power(2)
    # Weighted sums of products of 1, expected proportions m and estimated ones theta, by part.
    means = np.hstack([np.ones((len(rows), 1)), expected, found / lengths[:, None]])
    sums = np.zeros((n_parts, means.shape[1], means.shape[1]))
    for number, own in enumerate(np.flatnonzero(part == one) for one in np.unique(part)):
        sums[number] = (weight[own, None] * means[own]).T @ means[own]
        # Of theta and theta without pairs of equal words.
        equal = np.asarray(squares[own].T @ by_pair[own]).astype(np.float32)
        used = np.flatnonzero(equal)
        both = (found[own] * by_pair[own, None]).T @ found[own]
        both -= (reading[used] * equal[used, None]).T @ reading[used]
        sums[number, -n_topics:, -n_topics:] = both
    total = sums.sum(axis=0)
    by_version = np.asarray(entries.T @ (weight / lengths)).reshape(-1, n_versions).sum(axis=0)
    among = np.tile(by_version / weight.sum(), len(share) // n_versions).astype(np.float32)
    # The mean products that pairs of equal words would add.
    missing = np.zeros((n_topics, n_topics))
    for _ in range(_MISSING_STEPS):
        now = (total[-n_topics:, -n_topics:] / weight.sum() + missing).astype(np.float32)
        twice = among * np.einsum("ik,ik->i", share @ now, share)
        missing = ((reading * twice[:, None]).T @ reading).astype(np.float64)
    for number, given_labels in enumerate((True, False)):
        value, weights = beyond_the_sum(*_covariance(total, missing, given_labels))
        others = [_covariance(total - own, missing, given_labels) for own in sums]
        again = np.array([beyond_the_sum(*own, weights)[0][pairs] for own in others])
        value, spread = value[pairs], np.sqrt((n_parts - 1) * again.var(axis=0))
        known = (spread < 1.0) & clear[pairs[0]] & clear[pairs[1]] & np.isfinite(value)
        values[number] = np.where(known, np.clip(value, -1.0, 1.0), 0.0)
        errors[number] = np.where(known, spread, 0.0)
    return Correlations(values, errors, n_parts - 1)


def _read_words(
    share: FloatArray, mean: FloatArray, n_versions: int
) -> tuple[FloatArray, BoolArray]:
    """The weights of words in estimated proportions, [V, T], and which topics words tell apart."""
    reading, clear = np.empty_like(share), np.ones(len(mean), dtype=np.bool_)
    for version in range(n_versions):
        own = share[version::n_versions].astype(np.float64)
        scaled = own / np.maximum(own @ mean, 1e-300)[:, None]
        about = scaled.T @ own
        about[np.diag_indices(len(mean))] *= 1.0 + _RIDGE
        inverse = np.linalg.inv(about)
        clear &= np.diag(inverse) * np.diag(about) < 1.0 / _LEAST_OWN
        reading[version::n_versions] = scaled @ inverse
    return reading, clear


def _covariance(
    sums: FloatArray, missing: FloatArray, given_labels: bool
) -> tuple[FloatArray, FloatArray]:
    """The covariance of proportions, or of what labels leave of them, and products of means."""
    n_topics = len(missing)
    sums = sums / sums[0, 0]
    m, theta = slice(1, n_topics + 1), slice(n_topics + 1, None)
    second = sums[theta, theta] + missing
    if not given_labels:
        products = np.outer(sums[0, theta], sums[0, theta])
        return second - products, products
    shift = sums[0, theta] - sums[0, m]
    left = second - sums[m, theta] - sums[theta, m] + sums[m, m]
    return left - np.outer(shift, shift), sums[m, m]


def beyond_the_sum(
    covariance: FloatArray, products: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Correlations beyond what a sum of 1 brings, and the weights of pairs for it, [T, T] each.

    The covariance of amounts is C_kl + E[m_k m_l] (a_k + a_l), with the a_k for which the sum of
    absolute correlations is least, by reweighted least squares.

    Parameters
    ----------
    covariance : float array of shape [T, T]
        Of proportions.
    products : float array of shape [T, T]
        The mean products E[m_k m_l] of expected proportions.
    weights : float array of shape [T, T] or None, default=None
        Those of a similar covariance, from which fewer steps are needed.
    """
    off = 1.0 - np.eye(len(covariance))
    plain, factor = (off * np.nan_to_num(_scale(own, covariance)) for own in (covariance, products))
    steps, weights = (_STEPS, off) if weights is None else (_STEPS_AGAIN, weights)
    for _ in range(steps):
        system = weights * factor**2
        system[np.diag_indices(len(system))] = system.sum(axis=1) * (1.0 + 1e-9) + 1e-12
        added = -np.linalg.solve(system, (weights * factor * plain).sum(axis=1))
        left = np.abs(plain + factor * (added[:, None] + added))
        weights = 1.0 / np.maximum(left, np.median(left) + 1e-12)
    amounts = covariance + products * (added[:, None] + added)
    return _scale(amounts, amounts), weights


def _scale(products: FloatArray, covariance: FloatArray) -> FloatArray:
    """Products [T, T] divided by standard deviations; NaN where there is no variance."""
    variance = np.diag(covariance)
    size = np.sqrt(np.where(variance > 0, variance, np.nan))
    return np.asarray(products / np.outer(size, size))
