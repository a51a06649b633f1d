"""One sweep over the labels of a scaling function: one label at a time, all topics at once.

Both kernels work on `load` [M, K], the expected rate of each document's topics times their
exposure, and keep it up to date as they change one label's weights after another. The labels come
by column (`indptr`, `documents`, `values`: the CSC form of the design).
"""

import numpy as np
from numba import njit

from hdsp.kernels.special import DEVICE, fill, kernel, scratch


@kernel
def sweep_gamma_weights(indptr, documents, load, label_shape, prior_rate, label_rate):
    """Update b'_kj of each label in turn (equation 15).

    `label_shape` [J, K] holds the new a'_kj, and `label_rate` [J, K] b'_kj, which is replaced;
    `load` must have been computed with `label_shape` / `label_rate`.
    Plain twin: ``tests/reference/scaling.py``.
    """
    n_topics = load.shape[1]
    total = scratch(n_topics, np.float64)
    factor = scratch(n_topics, load.dtype)
    for j in range(indptr.shape[0] - 1):
        fill(total, 0.0)
        i = indptr[j]
        # Four at a time in their own precision, since each change of precision takes as long.
        while i + 4 <= indptr[j + 1]:
            row0 = load[documents[i]]
            row1 = load[documents[i + 1]]
            row2 = load[documents[i + 2]]
            row3 = load[documents[i + 3]]
            for k in range(n_topics):
                total[k] += (row0[k] + row1[k]) + (row2[k] + row3[k])
            i += 4
        while i < indptr[j + 1]:
            row0 = load[documents[i]]
            for k in range(n_topics):
                total[k] += row0[k]
            i += 1
        for k in range(n_topics):
            old = label_rate[j, k]
            new = prior_rate + total[k] * old / label_shape[j, k]
            label_rate[j, k] = new
            factor[k] = old / new
        for i in range(indptr[j], indptr[j + 1]):
            row = load[documents[i]]
            for k in range(n_topics):
                row[k] *= factor[k]


@njit(**DEVICE)
def _loads_after(first, last, documents, values, load, step, widening, out):
    """Sums over one label's documents of ``load_mk exp(r_m step_k + r_m^2 widening_k / 2)``."""
    fill(out, 0.0)
    for i in range(first, last):
        row = load[documents[i]]
        r = values[i]
        for k in range(out.shape[0]):
            out[k] += row[k] * np.exp(r * (step[k] + 0.5 * r * widening[k]))


@kernel
def sweep_normal_weights(
    indptr, documents, values, load, prior_shape, variance, label_weights, label_spread
):
    """One step with halving on mean and variance of w_kj of each label in turn (equation 16).

    The mean takes Newton's step, and the variance goes to 1 over the curvature. `prior_shape` [K]
    is beta p_k, `label_weights` and `label_spread` [J, K] are replaced; `load` must have been
    computed with them.
    Plain twin: ``tests/reference/scaling.py``.
    """
    n_topics = load.shape[1]
    gradient = scratch(n_topics, np.float64)
    curvature = scratch(n_topics, np.float64)
    before = scratch(n_topics, np.float64)
    after = scratch(n_topics, np.float64)
    step = scratch(n_topics, np.float64)
    widening = scratch(n_topics, np.float64)
    factor = scratch(n_topics, load.dtype)
    for j in range(indptr.shape[0] - 1):
        first = indptr[j]
        last = indptr[j + 1]
        fill(gradient, 0.0)
        fill(curvature, 0.0)
        fill(before, 0.0)
        value_sum = 0.0
        largest = 0.0
        indicator = True
        for i in range(first, last):
            r = values[i]
            value_sum += r
            largest = max(largest, abs(r))
            indicator = indicator and r == 1.0
            row = load[documents[i]]
            for k in range(n_topics):
                loaded = r * row[k]
                before[k] += row[k]
                gradient[k] -= loaded
                curvature[k] += r * loaded
        if largest == 0.0:
            fill(label_weights[j], 0.0)
            fill(label_spread[j], variance)
            continue
        # A longer step would only say "far"; the next sweep continues from there.
        limit = 5.0 / largest
        for k in range(n_topics):
            precision = curvature[k] + 1.0 / variance
            slope = gradient[k] + value_sum * prior_shape[k] - label_weights[j, k] / variance
            step[k] = max(-limit, min(limit, slope / precision))
            widening[k] = 1.0 / precision - label_spread[j, k]
        for _ in range(40):
            if indicator:
                for k in range(n_topics):
                    after[k] = before[k] * np.exp(step[k] + 0.5 * widening[k])
            else:
                _loads_after(first, last, documents, values, load, step, widening, after)
            settled = True
            for k in range(n_topics):
                gain = value_sum * prior_shape[k] * step[k] - (after[k] - before[k])
                gain -= step[k] * (label_weights[j, k] + 0.5 * step[k]) / variance
                gain += 0.5 * (np.log1p(widening[k] / label_spread[j, k]) - widening[k] / variance)
                if gain < 0.0:
                    step[k] *= 0.5
                    widening[k] *= 0.5
                    settled = False
            if settled:
                break
        for k in range(n_topics):
            label_weights[j, k] += step[k]
            label_spread[j, k] += widening[k]
            factor[k] = np.exp(step[k] + 0.5 * widening[k])
        for i in range(first, last):
            row = load[documents[i]]
            if indicator:
                for k in range(n_topics):
                    row[k] *= factor[k]
            else:
                r = values[i]
                for k in range(n_topics):
                    row[k] *= np.exp(r * (step[k] + 0.5 * r * widening[k]))
