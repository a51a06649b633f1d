"""Multinomial regression on sparse labels, one label at a time, all topics at once."""

from typing import Any

from numba import njit

from hdsp.kernels.special import DEVICE, fast_exp, fill, kernel, scratch

_NEWTON_STEPS = 3
_LARGEST_STEP = 2.0
# exp(x) <= 1 + x + 0.7183 x^2 for |x| <= 1
_QUADRATIC = 0.7182818284590452


@njit(**DEVICE)
def _rescale(row: Any, length: Any) -> None:
    """Scale a row of expected counts to its document's length."""
    total = row.dtype.type(0.0)
    for k in range(row.shape[0]):
        total += row[k]
    factor = length / total
    for k in range(row.shape[0]):
        row[k] *= factor


@kernel
def sweep_softmax_weights(
    indptr: Any,
    documents: Any,
    values: Any,
    lengths: Any,
    observed: Any,
    ridge: Any,
    expected: Any,
    weights: Any,
) -> None:
    """Update v_jk of ``theta_m = softmax(u + r_m v)`` for every label in turn, never uphill.

    The labels come column-major (`indptr`, `documents`, `values`). `expected` [M, T] holds
    N_m theta_mk and is kept up to date, `observed` [J, T] is sum_m r_mj n_mk, `weights` [J, T] is
    replaced. Since ln(1 + x) <= x, the loss rises by no more than
    ``sum_m N_m theta_mk (exp(r_mj d) - 1) - d observed_jk + ridge ((v + d)^2 - v^2) / 2`` summed
    over topics, each of which has its own minimum: by Newton's method for 0/1 labels, and by a
    quadratic bound of the exponential for numbers. Plain twin: ``tests/reference/softmax.py``.
    """
    n_topics = expected.shape[1]
    kind = expected.dtype.type
    load = scratch(n_topics, expected.dtype)
    curvature = scratch(n_topics, expected.dtype)
    step = scratch(n_topics, expected.dtype)
    factor = scratch(n_topics, expected.dtype)
    ridge = kind(ridge)
    limit = kind(_LARGEST_STEP)
    for j in range(indptr.shape[0] - 1):
        first = indptr[j]
        last = indptr[j + 1]
        fill(load, kind(0.0))
        fill(curvature, kind(0.0))
        largest = kind(0.0)
        indicator = True
        for i in range(first, last):
            r = values[i]
            largest = max(largest, abs(r))
            indicator = indicator and r == kind(1.0)
            row = expected[documents[i]]
            for k in range(n_topics):
                load[k] += r * row[k]
                curvature[k] += r * r * row[k]
        if largest == kind(0.0):
            continue
        v = weights[j]
        target = observed[j]
        fill(step, kind(0.0))
        if indicator:
            for _ in range(_NEWTON_STEPS):
                for k in range(n_topics):
                    raised = load[k] * fast_exp(step[k])
                    slope = raised - target[k] + ridge * (v[k] + step[k])
                    move = slope / (raised + ridge)
                    step[k] -= max(-limit, min(limit, move))
        else:
            reach = kind(1.0) / largest
            for k in range(n_topics):
                slope = load[k] - target[k] + ridge * v[k]
                move = slope / (kind(2.0 * _QUADRATIC) * curvature[k] + ridge)
                step[k] = -max(-reach, min(reach, move))
        for k in range(n_topics):
            v[k] += step[k]
            factor[k] = fast_exp(step[k])
        for i in range(first, last):
            m = documents[i]
            row = expected[m]
            if indicator:
                for k in range(n_topics):
                    row[k] *= factor[k]
            else:
                r = values[i]
                for k in range(n_topics):
                    row[k] *= fast_exp(r * step[k])
            _rescale(row, lengths[m])
