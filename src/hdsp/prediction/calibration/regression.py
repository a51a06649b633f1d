"""Penalised multinomial regression of topics' tokens on labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import csr_arrays, sparse_product
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design

_SWEEPS = 40
# Keeps the logarithm finite for a topic that holds nothing.
_SMALLEST_COUNT = 1e-3


@dataclass(frozen=True, eq=False)
class Regression:
    """Proportions theta_k proportional to exp(u_k + r . v_k).

    Attributes
    ----------
    intercept : float array of shape [T]
        The intercepts u_k.
    coefficients : float array of shape [J, T]
        The coefficients v_jk.
    """

    intercept: FloatArray
    coefficients: FloatArray

    def proportions(self, design: Design) -> FloatArray:
        """Expected proportions given labels, [M, T]; rows sum to 1."""
        return normalised_exp(np.asarray(design @ self.coefficients) + self.intercept)


def regress(
    design: Design,
    tokens: FloatArray,
    ridge: float | FloatArray,
    n_sweeps: int = _SWEEPS,
    overwrite: bool = False,
) -> Regression:
    """The maximum of sum_gk n_gk ln theta_gk - sum_jk ridge_jk v_jk^2 / 2, for tokens n [G, T].

    A single `ridge` is the penalty of all coefficients; otherwise it is [J, 1] or [J, T].
    """
    return next(regression_path(design, tokens, (ridge,), (n_sweeps,), overwrite))


def regression_path(
    design: Design,
    tokens: FloatArray,
    ridges: Iterable[float | FloatArray],
    n_sweeps: Sequence[int],
    overwrite: bool = False,
) -> Iterator[Regression]:
    """`regress` for several penalties, each continued from the one before.

    Coordinate descent over labels, with so many sweeps for each penalty. With `overwrite` the
    array `tokens` is used as working space.
    """
    observed_total = tokens.sum(axis=0, dtype=np.float64) + _SMALLEST_COUNT
    intercept = np.log(observed_total / observed_total.sum())
    n_topics = tokens.shape[1]
    if design.nnz == 0:
        for _ in ridges:
            yield Regression(intercept, np.zeros((design.shape[1], n_topics)))
        return
    lengths = tokens.sum(axis=1)
    # Documents without words carry no information, and have no proportions to scale.
    with_words = lengths > 0
    if not with_words.all():
        design, tokens, lengths = design[with_words], tokens[with_words], lengths[with_words]
    lengths = lengths.astype(np.float32)
    by_label = csr_array(csr_array(design, dtype=np.float32).T)
    tokens = tokens.astype(np.float32, copy=False)
    observed = sparse_product(by_label, tokens)
    share = np.exp(intercept).astype(np.float32)
    expected = np.multiply(lengths[:, None], share, out=tokens if overwrite else None)
    coefficients = np.zeros((design.shape[1], n_topics), dtype=np.float32)
    arrays = csr_arrays(by_label)
    for ridge, number in zip(ridges, n_sweeps, strict=True):
        penalty = np.ascontiguousarray(np.broadcast_to(ridge, coefficients.shape), dtype=np.float32)
        for _ in range(number):
            kernels.sweep_softmax_weights(
                *arrays,
                lengths,
                observed,
                penalty,
                expected,
                coefficients,
            )
            # The intercept is a label that every document carries, without a penalty.
            total = expected.sum(axis=0, dtype=np.float64) + _SMALLEST_COUNT
            step = np.log(observed_total / total)
            intercept = intercept + step
            expected *= np.exp(step).astype(np.float32)
            expected *= (lengths / np.maximum(expected.sum(axis=1), 1e-30))[:, None]
        yield Regression(intercept, coefficients.astype(np.float64))
