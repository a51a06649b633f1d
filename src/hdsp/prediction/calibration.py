"""Proportions from labels by penalised multinomial regression, fitted once after inference.

The weights of a scaling function match moments of rho pi, not of the proportions themselves;
with several labels on a document that is not the same. Regressing the tokens that documents give
to topics on their labels predicts held-out words much better.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import Threads, sparse_product
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design

# The penalty on squared coefficients, in tokens; see docs/quality.md for how little it matters.
_RIDGE = 30.0
_MAX_ITER = 60
_DOCUMENT_RANGE = 64


@dataclass(frozen=True, eq=False)
class Calibration:
    """theta_k proportional to exp(intercept_k + r . coefficients_k).

    Attributes
    ----------
    intercept : [T]
    coefficients : [J, T]
    """

    intercept: FloatArray
    coefficients: FloatArray

    def proportions(self, design: Design) -> FloatArray:
        """Expected proportions given labels, [M, T]; rows sum to 1."""
        return _softmax(np.asarray(design @ self.coefficients) + self.intercept)


def fit_calibration(
    design: Design, token_counts: FloatArray, threads: Threads, ridge: float = _RIDGE
) -> Calibration:
    """Regress expected token counts on labels.

    Maximises sum_mk n_mk ln theta_mk - ridge / 2 |coefficients|^2 by L-BFGS.

    Parameters
    ----------
    design : [M, J]
    token_counts : [M, T] n_mk, the tokens of document m that topic k is expected to hold
    """
    n_topics = token_counts.shape[1]
    overall = token_counts.sum(axis=0, dtype=np.float64) + 1e-3
    start = np.log(overall / overall.sum())
    if design.nnz == 0:
        return Calibration(start, np.zeros((design.shape[1], n_topics)))
    by_document = csr_array(design, dtype=np.float32)
    by_label = csr_array(by_document.T)
    targets = np.ascontiguousarray(token_counts, dtype=np.float32)
    lengths = targets.sum(axis=1)
    residuals = np.empty_like(targets)
    losses = np.empty(len(targets))

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        table = flat.reshape(-1, n_topics).astype(np.float32)
        threads.run(
            kernels.softmax_residuals,
            len(targets),
            _DOCUMENT_RANGE,
            by_document.indptr,
            by_document.indices,
            by_document.data,
            table[1:],
            table[0],
            targets,
            lengths,
            residuals,
            losses,
        )
        gradient = np.empty((len(table), n_topics))
        gradient[0] = residuals.sum(axis=0, dtype=np.float64)
        gradient[1:] = sparse_product(by_label, residuals, threads) + ridge * table[1:]
        penalty = 0.5 * ridge * (flat[n_topics:] ** 2).sum()
        return float(losses.sum() + penalty), gradient.ravel()

    flat = np.concatenate([start, np.zeros(design.shape[1] * n_topics)])
    found = minimize(loss, flat, jac=True, method="L-BFGS-B", options={"maxiter": _MAX_ITER})
    table = found.x.reshape(-1, n_topics)
    return Calibration(table[0], table[1:])


def _softmax(score: FloatArray) -> FloatArray:
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))
