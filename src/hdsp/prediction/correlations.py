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

import numpy as np
from scipy.special import stdtrit

from hdsp.kernels import sparse_product
from hdsp.model import GlobalState, Problem
from hdsp.model.completion import group_share
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import BoolArray, FloatArray, IntArray
from hdsp.prediction.calibration import Regression
from hdsp.prediction.calibration.cross_fit import folds

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

    values: FloatArray
    errors: FloatArray
    degrees: int

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


NO_CORRELATIONS = Correlations(np.zeros((2, 0)), np.zeros((2, 0)), 0)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Sums over documents: of weights, and of estimated and expected proportions' products."""

    weight: float
    both: FloatArray  # theta theta', without pairs of equal words
    found: FloatArray  # theta
    across: FloatArray  # theta m'
    expected: FloatArray  # m m'
    mean: FloatArray  # m

    def __add__(self, other: "_Moments") -> "_Moments":
        return _Moments(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )

    def __sub__(self, other: "_Moments") -> "_Moments":
        return _Moments(
            *(a - b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )

    def raw(self, missing: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The covariance of proportions, and the products of their means."""
        mean = self.found / self.weight
        products = np.outer(mean, mean)
        return self.both / self.weight + missing - products, products

    def given_labels(self, missing: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The covariance of what labels leave, and the mean products of what they expect."""
        expected, across = self.expected / self.weight, self.across / self.weight
        shift = (self.found - self.mean) / self.weight
        left = self.both / self.weight + missing - across - across.T + expected
        return left - np.outer(shift, shift), expected


def topic_correlations(
    problem: Problem,
    state: GlobalState,
    regression: Regression,
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
    regression : Regression
        The proportions that labels lead one to expect.
    n_topics : int
        The topics in use, which are the first.
    groups : int array of shape [M] or None, default=None
        The group of each document, where documents of a group are not independent; -1 is a
        document of its own.
    """
    part = folds(problem, groups, _PARTS)
    rows = sample_rows(problem.n_documents, _MOST_DOCUMENTS)
    rows = rows[problem.lengths[rows] > 1]
    sums: list[_Moments] = []
    if n_topics >= _FEWEST_TOPICS and len(rows):
        sums, missing, clear = _sum_by_part(problem, state, regression, n_topics, rows, part[rows])
    if len(sums) < 2:
        nothing = np.zeros((2, n_topics * (n_topics - 1) // 2), dtype=np.float32)
        return Correlations(nothing, nothing, 0)
    total = sum(sums[1:], start=sums[0])
    values, errors = [], []
    for moments in (_Moments.given_labels, _Moments.raw):
        value, weights = beyond_the_sum(*moments(total, missing))
        again = np.array(
            [beyond_the_sum(*moments(total - own, missing), weights)[0] for own in sums]
        )
        spread = np.sqrt(((again - again.mean(axis=0)) ** 2).sum(axis=0) * (1 - 1 / len(sums)))
        known = np.isfinite(value) & np.isfinite(spread) & (spread < 1.0) & np.outer(clear, clear)
        values.append(np.where(known, np.clip(value, -1.0, 1.0), 0.0))
        errors.append(np.where(known, spread, 0.0))
    pairs = np.triu_indices(n_topics, 1)
    return Correlations(
        np.array([own[pairs] for own in values], dtype=np.float32),
        np.array([own[pairs] for own in errors], dtype=np.float32),
        len(sums) - 1,
    )


def _sum_by_part(
    problem: Problem,
    state: GlobalState,
    regression: Regression,
    n_topics: int,
    rows: IntArray,
    part: IntArray,
) -> tuple[list[_Moments], FloatArray, BoolArray]:
    """Sums over each part of the documents `rows`, and what they lack.

    Returns
    -------
    sums : list
        One for each part that has documents.
    missing : float array of shape [T, T]
        The moments that pairs of equal words would add.
    clear : bool array of shape [T]
        Which topics words tell from mixtures of others.
    """
    entries, lengths = problem.entries[rows], problem.lengths[rows].astype(np.float64)
    expected = regression.proportions(problem.design[rows])[:, :n_topics]
    weight = np.minimum(lengths / lengths.mean(), 1.0)
    n_versions = len(problem.content) + 1
    share = group_share(state)[:, :n_topics].astype(np.float32)
    reading, clear = np.empty(share.shape, dtype=np.float32), np.ones(n_topics, dtype=np.bool_)
    for g in range(n_versions):
        words = slice(g, None, n_versions)
        own_share = share[words].astype(np.float64)
        scaled = own_share / np.maximum(own_share @ expected.mean(axis=0), 1e-300)[:, None]
        about = scaled.T @ own_share
        about[np.diag_indices(n_topics)] *= 1.0 + _RIDGE
        inverse = np.linalg.inv(about)
        clear &= np.diag(inverse) * np.diag(about) < 1.0 / _LEAST_OWN
        reading[words] = scaled.astype(np.float32) @ inverse.astype(np.float32)
    found = sparse_product(entries.astype(np.float32), reading).astype(np.float64)
    pairs = weight / (lengths * (lengths - 1.0))
    squares = entries.power(2)
    sums = []
    for number in np.unique(part):
        own = np.flatnonzero(part == number)
        w, m, theta = weight[own, None], expected[own], found[own] / lengths[own, None]
        equal = np.asarray(squares[own].T @ pairs[own]).astype(np.float32)
        used = np.flatnonzero(equal)
        repeated = (reading[used] * equal[used, None]).T @ reading[used]
        sums.append(
            _Moments(
                float(w.sum()),
                (found[own] * pairs[own, None]).T @ found[own] - repeated,
                (w * theta).sum(axis=0),
                (w * theta).T @ m,
                (w * m).T @ m,
                (w * m).sum(axis=0),
            )
        )
    total = sum(sums[1:], start=sums[0])
    by_version = np.asarray(entries.T @ (weight / lengths)).reshape(-1, n_versions).sum(axis=0)
    among = np.tile(by_version / by_version.sum(), len(share) // n_versions).astype(np.float32)
    missing = np.zeros((n_topics, n_topics))
    for _ in range(_MISSING_STEPS):
        now = (total.both / total.weight + missing).astype(np.float32)
        twice = among * np.einsum("ik,ik->i", share @ now, share)
        missing = ((reading * twice[:, None]).T @ reading).astype(np.float64)
    return sums, missing, clear


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
    variance = np.diag(covariance)
    scale = np.where(variance > 0, np.sqrt(np.maximum(variance, 1e-300)), np.inf)
    plain, factor = covariance / np.outer(scale, scale), products / np.outer(scale, scale)
    for matrix in (plain, factor):
        np.fill_diagonal(matrix, 0.0)
    steps = _STEPS_AGAIN if weights is not None else _STEPS
    if weights is None:
        weights = np.ones(plain.shape)
    for _ in range(steps):
        system = weights * factor**2
        aim = (weights * factor * plain).sum(axis=1)
        system[np.diag_indices(len(system))] = system.sum(axis=1) * (1.0 + 1e-9) + 1e-12
        added = -np.linalg.solve(system, aim)
        left = np.abs(plain + factor * (added[:, None] + added))
        weights = 1.0 / np.maximum(left, np.median(left) + 1e-12)
    amounts = covariance + products * (added[:, None] + added)
    variance = np.diag(amounts)
    size = np.sqrt(np.where(variance > 0, variance, np.nan))
    return amounts / np.outer(size, size), weights
