"""Multinomial regression on sparse labels, row by row."""

from typing import Any

import numpy as np
from numba import njit

from hdsp.kernels.special import KERNEL, fast_exp, largest

# Scores this far below a row's largest have no share; exp() need not go further.
_FARTHEST = 70.0


@njit(**KERNEL)
def softmax_residuals(
    first: Any,
    last: Any,
    indptr: Any,
    labels: Any,
    values: Any,
    coefficients: Any,
    intercept: Any,
    targets: Any,
    lengths: Any,
    residuals: Any,
    losses: Any,
) -> None:
    """Fit and residuals of ``theta_m = softmax(intercept + r_m coefficients)`` to counts.

    Writes ``losses[m] = - sum_k n_mk ln theta_mk`` and ``residuals[m] = N_m theta_m - n_m``, the
    loss' gradient in the scores, for documents ``first`` to ``last``. `targets` [M, T] holds
    n_mk, `lengths` [M] its row sums. Plain twin: ``tests/reference/softmax.py``.
    """
    n_topics = intercept.shape[0]
    farthest = residuals.dtype.type(-_FARTHEST)
    for m in range(first, last):
        score = residuals[m]
        target = targets[m]
        for k in range(n_topics):
            score[k] = intercept[k]
        for i in range(indptr[m], indptr[m + 1]):
            row = coefficients[labels[i]]
            value = values[i]
            for k in range(n_topics):
                score[k] += value * row[k]
        highest = largest(score)
        fitted = residuals.dtype.type(0.0)
        for k in range(n_topics):
            score[k] = max(score[k] - highest, farthest)
            fitted += target[k] * score[k]
        total = residuals.dtype.type(0.0)
        for k in range(n_topics):
            score[k] = fast_exp(score[k])
            total += score[k]
        losses[m] = lengths[m] * np.log(np.float64(total)) - fitted
        scale = lengths[m] / total
        for k in range(n_topics):
            score[k] = score[k] * scale - target[k]
