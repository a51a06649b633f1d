"""Multinomial regression on sparse labels: one label at a time, all topics at once."""

from typing import Any

import numpy as np

from hdsp.kernels.special import fast_exp, fill, kernel, scratch

_NEWTON_STEPS = 3
_LARGEST_STEP = 2.0
# Of rows that many labels have changed; single precision has room for some more.
_SMALLEST_SCALE = 1e-15
# Keeps a topic finite that holds nothing.
_SMALLEST_TOTAL = 1e-3
# exp(x) <= 1 + x + 0.7183 x^2 for |x| <= 1
_QUADRATIC = 0.7182818284590452


@kernel
def sweep_softmax_weights(
    indptr: Any,
    documents: Any,
    values: Any,
    lengths: Any,
    observed: Any,
    ridge: Any,
    expected: Any,
    label_weights: Any,
) -> None:
    """Update v_jk of ``theta_m = softmax(u + r_m v)`` for each label in turn; the loss never rises.

    The labels come by column (`indptr`, `documents`, `values`). `expected` [M, T] holds
    N_m theta_mk and is kept up to date, `observed` [J, T] is sum_m r_mj n_mk, and `label_weights`
    [J, T] is replaced; `ridge` [J, T] are their penalties. Since ln(1 + x) <= x, the loss rises by
    no more than
    ``sum_m N_m theta_mk (exp(r_mj d) - 1) - d observed_jk + ridge ((v + d)^2 - v^2) / 2`` summed
    over topics, each of which has its own minimum: by Newton's method for 0/1 labels, and with a
    quadratic in place of the exponential for numbers. Plain twin: ``tests/reference/softmax.py``.
    """
    n_topics = expected.shape[1]
    real = expected.dtype.type
    load = scratch(n_topics, expected.dtype)
    curvature = scratch(n_topics, expected.dtype)
    step = scratch(n_topics, expected.dtype)
    factor = scratch(n_topics, expected.dtype)
    # Rows of `expected` are rescaled to the lengths of documents at the end, until when they are to
    # be multiplied by these.
    scale = scratch(lengths.shape[0], expected.dtype)
    fill(scale, real(1.0))
    limit = real(_LARGEST_STEP)
    for j in range(indptr.shape[0] - 1):
        first = indptr[j]
        last = indptr[j + 1]
        fill(load, real(0.0))
        largest = real(0.0)
        indicator = True
        for i in range(first, last):
            r = values[i]
            largest = max(largest, abs(r))
            indicator = indicator and r == real(1.0)
            row = expected[documents[i]]
            scaled = r * scale[documents[i]]
            for k in range(n_topics):
                load[k] += scaled * row[k]
        if largest == real(0.0):
            continue
        v = label_weights[j]
        target = observed[j]
        penalty = ridge[j]
        fill(step, real(0.0))
        if indicator:
            for _ in range(_NEWTON_STEPS):
                for k in range(n_topics):
                    raised = load[k] * fast_exp(step[k])
                    slope = raised - target[k] + penalty[k] * (v[k] + step[k])
                    move = slope / (raised + penalty[k])
                    step[k] -= max(-limit, min(limit, move))
        else:
            fill(curvature, real(0.0))
            for i in range(first, last):
                row = expected[documents[i]]
                squared = values[i] * values[i] * scale[documents[i]]
                for k in range(n_topics):
                    curvature[k] += squared * row[k]
            reach = real(1.0) / largest
            for k in range(n_topics):
                slope = load[k] - target[k] + penalty[k] * v[k]
                move = slope / (real(2.0 * _QUADRATIC) * curvature[k] + penalty[k])
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
            total = real(0.0)
            for k in range(n_topics):
                total += row[k]
            scale[m] = lengths[m] / total
            if scale[m] < real(_SMALLEST_SCALE) or scale[m] > real(1.0 / _SMALLEST_SCALE):
                for k in range(n_topics):
                    row[k] *= scale[m]
                scale[m] = real(1.0)
    for m in range(lengths.shape[0]):
        row = expected[m]
        for k in range(n_topics):
            row[k] *= scale[m]


@kernel
def update_softmax_intercept(lengths: Any, observed: Any, expected: Any, intercept: Any) -> None:
    """Update u_k of ``theta_m = softmax(u + r_m v)``: a label that every document has, unpenalised.

    `observed` [T] are the tokens of topics; `intercept` [T] is replaced, and `expected` [M, T] kept
    up to date. Plain twin: ``tests/reference/softmax.py``.
    """
    n_topics = expected.shape[1]
    total = scratch(n_topics, np.float64)
    factor = scratch(n_topics, expected.dtype)
    fill(total, 0.0)
    for m in range(lengths.shape[0]):
        row = expected[m]
        for k in range(n_topics):
            total[k] += row[k]
    for k in range(n_topics):
        step = np.log(observed[k] / (total[k] + _SMALLEST_TOTAL))
        intercept[k] += step
        factor[k] = np.exp(step)
    for m in range(lengths.shape[0]):
        row = expected[m]
        for k in range(n_topics):
            row[k] *= factor[k]
        length = expected.dtype.type(1e-30)
        for k in range(n_topics):
            length += row[k]
        scale = lengths[m] / length
        for k in range(n_topics):
            row[k] *= scale
