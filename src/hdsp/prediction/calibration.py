"""Proportions from labels by penalised multinomial regression, fitted once after inference.

The weights of a scaling function match moments of rho pi, not of the proportions themselves;
with several labels on a document that is not the same. Regressing the tokens that documents give
to topics on their labels predicts held-out words much better.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import Threads, sparse_product
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Design

# The penalty on squared coefficients, in tokens; see docs/quality.md for how little it matters.
_RIDGE = 30.0
_SWEEPS = 40
# Keeps the logarithm finite for a topic that holds nothing.
_SMALLEST_COUNT = 1e-3


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

    def of_topics(self, topics: IntArray) -> "Calibration":
        """The same for some of the topics, in their order."""
        return Calibration(self.intercept[topics], self.coefficients[:, topics])

    def proportions(self, design: Design) -> FloatArray:
        """Expected proportions given labels, [M, T]; rows sum to 1."""
        return normalised_exp(np.asarray(design @ self.coefficients) + self.intercept)


def fit_calibration(
    design: Design, token_counts: FloatArray, threads: Threads, ridge: float = _RIDGE
) -> Calibration:
    """Regress expected token counts on labels.

    Maximises sum_mk n_mk ln theta_mk - ridge / 2 |coefficients|^2, one label after another.

    Parameters
    ----------
    design : [M, J]
    token_counts : [M, T] n_mk, the tokens of document m that topic k is expected to hold;
        padding with zeros does no harm
    """
    observed_total = token_counts.sum(axis=0, dtype=np.float64) + _SMALLEST_COUNT
    intercept = np.log(observed_total / observed_total.sum())
    n_topics = token_counts.shape[1]
    if design.nnz == 0:
        return Calibration(intercept, np.zeros((design.shape[1], n_topics)))
    design, targets = _merge_equal_labels(design, token_counts, threads)
    lengths = targets.sum(axis=1)
    # Documents without words say nothing, and have no proportions to scale.
    spoken = lengths > 0
    design, targets, lengths = design[spoken], targets[spoken], lengths[spoken]
    by_label = csr_array(csr_array(design, dtype=np.float32).T)
    observed = sparse_product(by_label, targets, threads)
    expected = lengths[:, None] * np.exp(intercept).astype(np.float32)
    coefficients = np.zeros((design.shape[1], n_topics), dtype=np.float32)
    for _ in range(_SWEEPS):
        kernels.sweep_softmax_weights(
            by_label.indptr,
            by_label.indices,
            by_label.data,
            lengths,
            observed,
            ridge,
            expected,
            coefficients,
        )
        # The intercept is a label that every document carries, without a penalty.
        step = np.log(observed_total / (expected.sum(axis=0, dtype=np.float64) + _SMALLEST_COUNT))
        intercept += step
        expected *= np.exp(step).astype(np.float32)
        expected *= (lengths / np.maximum(expected.sum(axis=1), 1e-30))[:, None]
    return Calibration(intercept, coefficients.astype(np.float64))


def _merge_equal_labels(
    design: Design, token_counts: FloatArray, threads: Threads
) -> tuple[Design, FloatArray]:
    """Documents with the same labels as one, with the sum of their tokens.

    They have the same proportions, so nothing is lost; with categories alone, few are left.
    """
    # Equal rows have equal projections, and others differ in one of two.
    directions = np.random.default_rng(0).normal(size=(design.shape[1], 2))
    keys = csr_array(design, dtype=np.float64) @ directions
    # As complex numbers, which NumPy sorts by both parts, and much faster than rows.
    keys = keys[:, 0] + 1j * keys[:, 1]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == design.shape[0]:
        return design, np.ascontiguousarray(token_counts, dtype=np.float32)
    member = csr_array(
        (
            np.ones(len(group), dtype=np.float32),
            np.argsort(group, kind="stable").astype(np.int32),
            np.concatenate([[0], np.cumsum(np.bincount(group))]),
        ),
        shape=(len(first), len(group)),
    )
    counts = np.ascontiguousarray(token_counts, dtype=np.float32)
    return design[first], sparse_product(member, counts, threads)
