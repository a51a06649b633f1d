"""Proportions of new documents: each token's topic is judged by the other tokens (CVB0)."""

from typing import Any

import numpy as np

from hdsp.kernels.documents import _solve_tangent
from hdsp.kernels.special import kernel, largest, scratch, smallest

_SMALLEST_NORM = 1e-30


@kernel
def predict_documents(
    first: Any,
    last: Any,
    indptr: Any,
    indices: Any,
    counts: Any,
    table: Any,
    prior_shape: Any,
    rate: Any,
    lengths: Any,
    max_iter: Any,
    tol: Any,
    out: Any,
) -> int:
    """Proportions theta_k, in proportion to a_k / b_k, of documents ``first`` to ``last``.

    Plain twin: ``tests/reference/cvb0.py``.
    """
    n_topics = table.shape[1]
    kind = table.dtype.type
    zero, one = kind(0.0), kind(1.0)
    longest = 0
    for m in range(first, last):
        longest = max(longest, indptr[m + 1] - indptr[m])
    gamma = np.empty((max(longest, 1), n_topics), table.dtype)
    n = scratch(n_topics, table.dtype)
    a = scratch(n_topics, table.dtype)
    inverse = scratch(n_topics, table.dtype)
    new = scratch(n_topics, table.dtype)
    prior_total = zero
    for k in range(n_topics):
        prior_total += prior_shape[k]
    tolerance = kind(1e-3) if table.itemsize == 4 else kind(1e-7)
    iterations = 0
    for m in range(first, last):
        start, stop = indptr[m], indptr[m + 1]
        rho = rate[m]
        length = lengths[m]
        lowest = smallest(rho)
        upper = prior_total / lowest * kind(1.001)
        xi = prior_total / largest(rho)
        for k in range(n_topics):
            n[k] = zero
            inverse[k] = lowest / rho[k]
        if length > zero:
            for i in range(start, stop):
                row = table[indices[i]]
                total = kind(_SMALLEST_NORM)
                for k in range(n_topics):
                    new[k] = row[k] * prior_shape[k] * inverse[k]
                    total += new[k]
                for k in range(n_topics):
                    gamma[i - start, k] = new[k] / total
                    n[k] += counts[i] * (new[k] / total)
            for _ in range(max_iter):
                for k in range(n_topics):
                    a[k] = prior_shape[k] + n[k]
                xi = _solve_tangent(length, prior_total, a, rho, xi, upper, tolerance)
                for k in range(n_topics):
                    inverse[k] = lowest / (rho[k] + length / xi)
                change = zero
                for i in range(start, stop):
                    row = table[indices[i]]
                    c = counts[i]
                    own = min(c, one)
                    total = kind(_SMALLEST_NORM)
                    for k in range(n_topics):
                        left = max(n[k] - own * gamma[i - start, k], zero)
                        new[k] = row[k] * (prior_shape[k] + left) * inverse[k]
                        total += new[k]
                    scale = one / total
                    for k in range(n_topics):
                        value = new[k] * scale
                        step = value - gamma[i - start, k]
                        gamma[i - start, k] = value
                        n[k] = max(n[k] + c * step, zero)
                        change += c * abs(step)
                iterations += 1
                if change <= tol * length:
                    break
        total = zero
        for k in range(n_topics):
            a[k] = (prior_shape[k] + n[k]) * inverse[k]
            total += a[k]
        for k in range(n_topics):
            out[m, k] = a[k] / total
    return iterations
