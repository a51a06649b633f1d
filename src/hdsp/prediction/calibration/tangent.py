"""A function's derivatives by its weights, which stand for columns of a design.

For each topic they are other columns. The plain twin is in ``tests/reference/calibration.py``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.prediction.calibration.clusters import MOST_LEVERAGE, Clusters, Likeness
from hdsp.prediction.calibration.functions import chunks
from hdsp.prediction.calibration.regression import Regression
from hdsp.scaling import Design, FunctionColumns


@dataclass(frozen=True, eq=False)
class Tangent:
    """A function's derivatives by its weights, as columns of a design of each topic.

    Attributes
    ----------
    part : FunctionColumns
        The function.
    weights : float array of shape [T, B]
        Where derivatives are taken.
    mean : float array of shape [B, T]
        What the intercept explains of the derivatives, beside the other columns.
    others : float array of shape [J, B, T]
        What the columns outside of the function explain of them.
    about : float array of shape [B, T]
        The information about each weight.
    centred, alone : float array of shape [B, T]
        The shares of it that the intercept leaves, and that other columns and weights leave.
    block : float array of shape [T, B, B]
        The information about the weights together, beside the intercept and other columns.
    """

    part: FunctionColumns
    weights: FloatArray
    mean: FloatArray
    others: FloatArray
    about: FloatArray
    centred: FloatArray
    alone: FloatArray
    block: FloatArray

    def own(self, design: Design) -> FloatArray:
        """The parts of derivatives that are the function's own, [B, M, T]."""
        return _own(self.part, self.weights, self.mean, self.others, design)


def _own(
    part: FunctionColumns, weights: FloatArray, mean: FloatArray, others: FloatArray, design: Design
) -> FloatArray:
    gradient = part.function.log_scale_gradient(weights, design[:, part.columns])
    n_columns, *shape = others.shape
    explained = design @ others.reshape(n_columns, -1)
    explained = np.asarray(explained).reshape(-1, *shape).transpose(1, 0, 2)
    return np.asarray(gradient - mean[:, None, :] - explained)


def measure_tangent(
    regression: Regression,
    part: FunctionColumns,
    design: Design,
    lengths: FloatArray,
    exclusive: BoolArray,
    ridge: float,
    most_others: int,
) -> Tangent:
    """The derivatives of a function at the regression's weights, and what is known by them.

    Parameters
    ----------
    regression : Regression
        The regression.
    part : FunctionColumns
        The function.
    design : sparse array of shape [G, J]
        The design.
    lengths : float array of shape [G]
        Tokens of each row.
    exclusive : bool array of shape [J]
        Columns that exclude each other, of which nothing is taken away.
    ridge : float
        As in `own_shares`.
    most_others : int
        With more columns outside of the function, what they explain is left in it.
    """
    columns = part.columns
    weights = regression.coefficients[columns].T
    n_own, n_topics = len(columns), len(weights)
    total = max(float(lengths.sum()), 1e-300)
    others = np.setdiff1d(np.arange(design.shape[1]), columns)
    if len(others) > most_others:
        others = others[:0]
    middle = np.asarray(csr_array(design, dtype=np.float64).T @ lengths)[others] / total
    square, about, mean = np.zeros((3, n_own, n_topics))
    joint = np.zeros((len(others), n_own, n_topics))
    gram = -total * np.outer(middle, middle)
    for rows in chunks(len(lengths)):
        gradient = part.function.log_scale_gradient(weights, design[rows][:, columns])
        share = regression.proportions(design[rows])
        spread = lengths[rows, None] * share * (1.0 - share)
        square += np.einsum("jgk,g->jk", gradient**2, lengths[rows])
        about += np.einsum("jgk,gk->jk", gradient**2, spread)
        mean += np.einsum("jgk,g->jk", gradient, lengths[rows]) / total
        if len(others):
            rest = csr_array(design[rows][:, others], dtype=np.float64)
            weighted = csr_array(rest.multiply(lengths[rows, None])).T
            gram += (weighted @ rest).toarray()
            flat = gradient.transpose(1, 0, 2).reshape(rest.shape[0], -1)
            joint += np.asarray(weighted @ flat).reshape(joint.shape)
    explained = np.zeros((design.shape[1], n_own, n_topics))
    if len(others):
        joint -= total * middle[:, None, None] * mean
        np.fill_diagonal(gram, gram.diagonal() + ridge)
        explained[others] = np.linalg.solve(gram, joint.reshape(len(others), -1)).reshape(
            joint.shape
        )
    own_mean = mean - np.einsum("j,jbk->bk", middle, explained[others])
    left = np.tile(ridge * np.eye(n_own), (n_topics, 1, 1))
    block = np.zeros_like(left)
    for rows in chunks(len(lengths)):
        own = _own(part, weights, own_mean, explained, design[rows])
        share = regression.proportions(design[rows])
        spread = lengths[rows, None] * share * (1.0 - share)
        left += np.einsum("igk,jgk,g->kij", own, own, lengths[rows], optimize=True)
        block += np.einsum("igk,jgk,gk->kij", own, own, spread, optimize=True)
    square = np.maximum(square, 1e-300)
    centred = np.clip(1.0 - total * mean**2 / square, 0.0, 1.0)
    inverse = np.linalg.inv(left)
    alone = np.clip(1.0 / np.einsum("kjj->jk", inverse) / square, 0.0, 1.0)
    for shares in (centred, alone):
        shares[exclusive[columns]] = 1.0
    return Tangent(part, weights, own_mean, explained, about, centred, alone, block)


def tangent_scores(
    regression: Regression, clusters: Clusters, tangent: Tangent
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How the scores of a function's weights vary between groups, as `scores_by_group`."""
    n_topics, n_own = tangent.weights.shape
    total = np.full((n_own, n_topics), 1e-300)
    for rows, _ in clusters.parts():
        own = tangent.own(clusters.design[rows])
        total += np.einsum("jmk,m->jk", own**2, clusters.lengths[rows])
    among, alike = np.zeros((n_topics, n_own, n_own)), np.zeros((n_own, n_topics))
    likeness = Likeness(n_topics)
    for rows, starts in clusters.parts():
        own, lengths = tangent.own(clusters.design[rows]), clusters.lengths[rows, None]
        share = regression.proportions(clusters.design[rows])
        residual = clusters.tokens[rows] - lengths * share
        scale = np.sqrt(lengths * share * (1.0 - share))
        likeness.add(residual, scale, starts)
        held = np.add.reduceat(own**2 * lengths, starts, axis=1) / total[:, None]
        score = np.add.reduceat(own * residual, starts, axis=1)
        score /= np.sqrt(1.0 - np.minimum(held, MOST_LEVERAGE))
        among += np.einsum("igk,jgk->kij", score, score)
        alike += (np.add.reduceat(own * scale, starts, axis=1) ** 2).sum(axis=1)
    return among, alike, likeness.correlation
