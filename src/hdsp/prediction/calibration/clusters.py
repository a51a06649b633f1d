"""The variance of coefficients where documents come in groups that are not independent.

In place of the overdispersion o_k of single documents stands that of whole groups: with the
residuals e_mk = N_m (found - expected proportion) and the part r_mj of a column that the intercept
and other columns leave,

    o_jk = sum_g (sum_{m in g} r_mj e_mk)^2 / (1 - h_gj) / sum_m r_mj^2 N_m theta_mk (1 - theta_mk)

where h_gj is the share of group g in sum_m r_mj^2 N_m (equation 25 of docs/model.md). A label of a
few groups fits these closely and shows too little of how groups differ: it has at least the
variance that documents of a group would give it if they were as alike as in all groups.
The plain twin is in ``tests/reference/calibration.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration.regression import Regression
from hdsp.prediction.calibration.variance import OwnColumns
from hdsp.scaling import Design

_CHUNK = 2_048
# Of a group that alone carries a label, so much of the label's leverage is taken at most.
MOST_LEVERAGE = 0.99


@dataclass(frozen=True, eq=False)
class Clusters:
    """Documents in groups.

    Attributes
    ----------
    design : sparse array of shape [M, J]
        The design of documents, those of a group next to each other.
    tokens : float array of shape [M, T]
        Their tokens by topic.
    lengths : float array of shape [M]
        Their tokens.
    ends : int array of shape [G]
        Where groups end.
    """

    design: Design
    tokens: FloatArray
    lengths: FloatArray
    ends: IntArray

    @classmethod
    def of(cls, design: Design, tokens: FloatArray, codes: IntArray) -> "Clusters":
        """Sort documents by the `codes` [M] of their groups; those below 0 are alone."""
        _, group = np.unique(codes, return_inverse=True)
        order = np.argsort(group, kind="stable")
        alone = codes[order] < 0
        last = np.append(np.diff(group[order]) > 0, True) | alone
        tokens = tokens[order].astype(np.float64)
        ends = np.flatnonzero(last) + 1
        return cls(csr_array(design[order]), tokens, tokens.sum(axis=1), ends)

    def parts(self) -> Iterator[tuple[slice, IntArray]]:
        """Yield runs of documents with the beginnings of the groups in each, some at a time.

        A group is in one run.
        """
        starts = np.concatenate([[0], self.ends[:-1]])
        first = 0
        while first < len(self.ends):
            stop = int(np.searchsorted(self.ends, starts[first] + _CHUNK, side="right"))
            stop = max(stop, first + 1)
            yield slice(starts[first], self.ends[stop - 1]), starts[first:stop] - starts[first]
            first = stop


@dataclass(frozen=True, eq=False)
class Leverage:
    """How much groups say of each column.

    Attributes
    ----------
    total : float array of shape [J]
        What all say, sum_m r_mj^2 N_m.
    degrees : float array of shape [J]
        The number of groups that say as much, if all said the same, less 1; at least 1.
    """

    total: FloatArray
    degrees: FloatArray

    def remaining(self, columns: FloatArray, lengths: FloatArray, starts: IntArray) -> FloatArray:
        """What the groups of some documents leave to others, 1 - h_gj, [G, J]."""
        by_group = np.add.reduceat(columns**2 * lengths, starts, axis=0) / self.total
        return np.asarray(1.0 - np.minimum(by_group, MOST_LEVERAGE))


class Likeness:
    """How alike documents of a group are: the mean product of two residuals, by their scales."""

    def __init__(self, n_topics: int) -> None:
        self.products, self.possible = np.zeros((2, n_topics))

    def add(self, residual: FloatArray, scale: FloatArray, starts: IntArray) -> None:
        """Add the pairs of whole groups, whose documents begin at `starts`."""
        for total, values in ((self.products, residual), (self.possible, scale)):
            total += (np.add.reduceat(values, starts, axis=0) ** 2).sum(axis=0)
            total -= (values**2).sum(axis=0)

    @property
    def correlation(self) -> FloatArray:
        """At least 0, [T]."""
        return np.maximum(self.products / np.maximum(self.possible, 1e-300), 0.0)


def measure_leverage(clusters: Clusters, own: OwnColumns) -> Leverage:
    """The leverage of groups, given what is a column's own."""
    total, squares = np.zeros((2, own.n_columns))
    for rows, starts in clusters.parts():
        columns = own.of(clusters.design[rows])
        by_group = np.add.reduceat(columns**2 * clusters.lengths[rows, None], starts, axis=0)
        total += by_group.sum(axis=0)
        squares += (by_group**2).sum(axis=0)
    effective = total**2 / np.maximum(squares, 1e-300)
    return Leverage(np.maximum(total, 1e-300), np.maximum(effective - 1.0, 1.0))


def clustered_dispersion(
    regression: Regression,
    clusters: Clusters,
    own: OwnColumns,
    leverage: Leverage,
    dispersion: FloatArray,
) -> FloatArray:
    """The ratio o_jk of the variance by groups to the multinomial one, [J, T].

    Parameters
    ----------
    regression : Regression
        The regression.
    clusters : Clusters
        The documents.
    own : OwnColumns
        What is a column's own.
    leverage : Leverage
        How much groups say of each column.
    dispersion : float array of shape [T]
        The overdispersion of single documents, of which no o_jk is less.
    """
    among, chance, alike = np.zeros((3, *regression.coefficients.shape))
    likeness = Likeness(among.shape[1])
    for rows, starts in clusters.parts():
        columns, lengths = own.of(clusters.design[rows]), clusters.lengths[rows, None]
        share = regression.proportions(clusters.design[rows])
        residual = clusters.tokens[rows] - lengths * share
        scale = np.sqrt(lengths * share * (1.0 - share))
        likeness.add(residual, scale, starts)
        chance += (columns**2).T @ scale**2
        remains = leverage.remaining(columns, lengths, starts)
        for number, piece in enumerate(_pieces(starts, len(columns))):
            one = columns[piece].T
            among += (one @ residual[piece]) ** 2 / remains[number][:, None]
            alike += (one @ scale[piece]) ** 2
    chance = np.maximum(chance, 1e-300)
    floor = dispersion + likeness.correlation * np.maximum(alike - chance, 0.0) / chance
    return np.asarray(np.maximum(among / chance, floor))


def mean_dispersion(
    regression: Regression, clusters: Clusters, dispersion: FloatArray
) -> FloatArray:
    """The same ratio for the mean of all documents, [T]."""
    among, chance = np.zeros((2, len(regression.intercept)))
    for rows, starts in clusters.parts():
        lengths, share = clusters.lengths[rows, None], regression.proportions(clusters.design[rows])
        residual = clusters.tokens[rows] - lengths * share
        among += (np.add.reduceat(residual, starts, axis=0) ** 2).sum(axis=0)
        chance += (lengths * share * (1.0 - share)).sum(axis=0)
    n_groups = len(clusters.ends)
    among *= n_groups / max(n_groups - 1, 1)
    return np.asarray(np.maximum(among / np.maximum(chance, 1e-300), dispersion))


def _pieces(starts: IntArray, n_rows: int) -> Iterator[slice]:
    """The rows of each group."""
    return map(slice, starts.tolist(), [*starts[1:].tolist(), n_rows])


def scores_by_group(
    regression: Regression, clusters: Clusters, own: OwnColumns
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How the scores of a block of columns vary between groups.

    Returns
    -------
    among : float array of shape [T, B, B]
        Sums over groups of the products of scores, corrected for leverage.
    alike : float array of shape [B, T]
        Their squares if documents of a group differed from what is expected by as much.
    correlation : float array of shape [T]
        How alike documents of a group are, at least 0.
    """
    leverage = measure_leverage(clusters, own)
    n_topics, n_columns = clusters.tokens.shape[1], len(leverage.total)
    among, alike = np.zeros((n_topics, n_columns, n_columns)), np.zeros((n_columns, n_topics))
    likeness = Likeness(n_topics)
    for rows, starts in clusters.parts():
        columns, lengths = own.of(clusters.design[rows]), clusters.lengths[rows, None]
        share = regression.proportions(clusters.design[rows])
        residual = clusters.tokens[rows] - lengths * share
        scale = np.sqrt(lengths * share * (1.0 - share))
        likeness.add(residual, scale, starts)
        remains = np.sqrt(leverage.remaining(columns, lengths, starts))
        for number, piece in enumerate(_pieces(starts, len(columns))):
            score = columns[piece].T @ residual[piece] / remains[number][:, None]
            among += np.einsum("ik,jk->kij", score, score)
            alike += (columns[piece].T @ scale[piece]) ** 2
    return among, alike, likeness.correlation
