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
_MOST_LEVERAGE = 0.99


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
        sum_m r_mj^2 N_m.
    degrees : float array of shape [J]
        The number of groups that say as much, if all said the same, less 1; at least 1.
    """

    total: FloatArray
    degrees: FloatArray


def measure_leverage(clusters: Clusters, own: OwnColumns) -> Leverage:
    """The leverage of groups, given what is a column's own."""
    total, squares = np.zeros((2, clusters.design.shape[1]))
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
    shape = regression.coefficients.shape
    among, chance, alike = np.zeros((3, *shape))
    pairs, possible = np.zeros((2, shape[1]))
    for rows, starts in clusters.parts():
        design = clusters.design[rows]
        columns, lengths = own.of(design), clusters.lengths[rows, None]
        share = regression.proportions(design)
        residual = clusters.tokens[rows] - lengths * share
        scale = np.sqrt(lengths * share * (1.0 - share))
        chance += (columns**2).T @ scale**2
        by_group = np.add.reduceat(columns**2 * lengths, starts, axis=0) / leverage.total
        remains = 1.0 - np.minimum(by_group, _MOST_LEVERAGE)
        pairs += (np.add.reduceat(residual, starts, axis=0) ** 2).sum(axis=0)
        pairs -= (residual**2).sum(axis=0)
        possible += (np.add.reduceat(scale, starts, axis=0) ** 2).sum(axis=0)
        possible -= (scale**2).sum(axis=0)
        for number, (first, last) in enumerate(
            zip(starts, [*starts[1:], len(columns)], strict=True)
        ):
            one = columns[first:last].T
            among += (one @ residual[first:last]) ** 2 / remains[number][:, None]
            alike += (one @ scale[first:last]) ** 2
    alike -= chance
    correlation = np.maximum(pairs / np.maximum(possible, 1e-300), 0.0)
    chance = np.maximum(chance, 1e-300)
    floor = dispersion + correlation * np.maximum(alike, 0.0) / chance
    return np.asarray(np.maximum(among / chance, floor))
