"""The document step (equations 11 to 13) over a run of documents, and its gamma terms."""

from typing import Any

import numpy as np
from numba import njit

from hdsp.kernels.special import ARITHMETIC, digamma_and_log_gamma, exp_digamma

_SMALLEST_NORM = 1e-30
_SMALLEST_WEIGHT = 1e-20
_NEWTON_STEPS = 30
_NEARLY_NOTHING = 1e-4


@njit(nogil=True, **ARITHMETIC)
def _mean_of_counts(
    start: Any, stop: Any, indices: Any, counts: Any, table: Any, e: Any, out: Any
) -> None:
    """``out[k] = sum_i c_i / norm_i B_ik`` with ``norm_i = sum_k B_ik e_k`` (equation 13)."""
    n_topics = e.shape[0]
    floor = table.dtype.type(_SMALLEST_NORM)
    out[:] = 0
    i = start
    while i + 4 <= stop:
        row0 = table[indices[i]]
        row1 = table[indices[i + 1]]
        row2 = table[indices[i + 2]]
        row3 = table[indices[i + 3]]
        norm0 = norm1 = norm2 = norm3 = floor
        for k in range(n_topics):
            norm0 += row0[k] * e[k]
            norm1 += row1[k] * e[k]
            norm2 += row2[k] * e[k]
            norm3 += row3[k] * e[k]
        w0 = counts[i] / norm0
        w1 = counts[i + 1] / norm1
        w2 = counts[i + 2] / norm2
        w3 = counts[i + 3] / norm3
        for k in range(n_topics):
            out[k] += w0 * row0[k] + w1 * row1[k] + w2 * row2[k] + w3 * row3[k]
        i += 4
    while i < stop:
        row0 = table[indices[i]]
        norm0 = floor
        for k in range(n_topics):
            norm0 += row0[k] * e[k]
        w0 = counts[i] / norm0
        for k in range(n_topics):
            out[k] += w0 * row0[k]
        i += 1


@njit(nogil=True, **ARITHMETIC)
def _token_weights(
    start: Any, stop: Any, indices: Any, counts: Any, table: Any, e: Any, out: Any
) -> None:
    """``out[i] = c_i / norm_i``."""
    n_topics = e.shape[0]
    floor = table.dtype.type(_SMALLEST_NORM)
    for i in range(start, stop):
        row = table[indices[i]]
        norm = floor
        for k in range(n_topics):
            norm += row[k] * e[k]
        out[i] = counts[i] / norm


@njit(nogil=True, **ARITHMETIC)
def _solve_tangent(length: Any, shape: Any, rate: Any, xi: Any, lower: Any, tolerance: Any) -> Any:
    """The root of ``sum_k a_k / (rho_k xi + N) = 1`` (equation 12).

    Newton on the reciprocal of the sum, a weighted harmonic mean of linear functions: concave,
    so that every step from either side lands at or left of the root, and exact when rates agree.
    """
    one = shape.dtype.type(1.0)
    for _ in range(_NEWTON_STEPS):
        total = shape.dtype.type(0.0)
        slope = shape.dtype.type(0.0)
        for k in range(shape.shape[0]):
            inverse = one / (rate[k] * xi + length)
            share = shape[k] * inverse
            total += share
            slope += share * rate[k] * inverse
        step = total * (total - one) / slope
        new = max(xi + step, lower)
        done = abs(new - xi) <= tolerance * new
        xi = new
        if done:
            break
    return xi


@njit(nogil=True, cache=True, **ARITHMETIC)
def fit_documents(
    first: Any,
    last: Any,
    indptr: Any,
    indices: Any,
    counts: Any,
    table: Any,
    prior_shape: Any,
    rate: Any,
    lengths: Any,
    warm: Any,
    topic_weight: Any,
    max_iter: Any,
    tol: Any,
    shape: Any,
    xi: Any,
    weight: Any,
    token_weight: Any,
) -> int:
    """Fit q(pi) of documents ``first`` to ``last`` (equations 11 to 13).

    Plain twin: ``tests/reference/documents.py``.

    Parameters
    ----------
    indptr, indices, counts : CSR rows of the block's words
    table : [V, K] exp(E ln phi), word-major
    prior_shape : [K] beta p_k
    rate : [M, K] E[rho_mk]
    lengths : [M] N_m
    warm : whether `shape` and `xi` hold an earlier solution to go on from
    topic_weight : [K] where a document that is not warm starts
    max_iter, tol : inner iterations at most, and the change of a document's shape, as a share of
        its length, at which it stops
    shape, xi : [M, K] and [M], a_mk and xi_m, replaced
    weight : [M, K], exp(E ln pi_mk), written
    token_weight : c_i / norm_i for each stored count, written

    Returns
    -------
    The inner iterations made, summed over documents.
    """
    n_topics = table.shape[1]
    kind = table.dtype.type
    gathered = np.empty(n_topics, table.dtype)
    prior_total = kind(prior_shape.sum())
    newton_tolerance = kind(1e-6) if table.itemsize == 4 else kind(1e-13)
    iterations = 0
    for m in range(first, last):
        start = indptr[m]
        stop = indptr[m + 1]
        length = lengths[m]
        a = shape[m]
        e = weight[m]
        rho = rate[m]
        largest_rate = rho.max()
        lower = prior_total / largest_rate
        if warm:
            per_xi = length / xi[m]
            for k in range(n_topics):
                e[k] = exp_digamma(a[k]) / (rho[k] + per_xi)
        else:
            xi[m] = lower
            for k in range(n_topics):
                e[k] = topic_weight[k]
                a[k] = prior_shape[k]
        for _ in range(max_iter):
            iterations += 1
            _mean_of_counts(start, stop, indices, counts, table, e, gathered)
            change = kind(0.0)
            for k in range(n_topics):
                new = prior_shape[k] + e[k] * gathered[k]
                change += abs(new - a[k])
                a[k] = new
            xi[m] = _solve_tangent(length, a, rho, xi[m], lower, newton_tolerance)
            per_xi = length / xi[m]
            for k in range(n_topics):
                value = exp_digamma(a[k]) / (rho[k] + per_xi)
                e[k] = value if value > kind(_SMALLEST_WEIGHT) else kind(0.0)
            if change <= tol * length:
                break
        _token_weights(start, stop, indices, counts, table, e, token_weight)
    return iterations


@njit(nogil=True, cache=True, **ARITHMETIC)
def gamma_terms(
    first: Any, last: Any, size: Any, shape: Any, prior_shape: Any, digamma_sums: Any, gap: Any
) -> None:
    """The gamma-function terms of rows ``first`` to ``last`` of q(pi) or q(phi).

    Writes the sum of ``psi(a_mk)`` over the rows to ``digamma_sums[first // size, k]``, so that
    ranges can be summed in order, and
    ``gap[m] = sum_k ln Gamma(a_mk) - ln Gamma(a0_k) + (a0_k - a_mk) psi(a_mk)``.
    Where a is nearly a0 (a topic that holds nothing) the second-order expansion about a0 serves.
    Plain twin: ``tests/reference/documents.py``.
    """
    n_topics = shape.shape[1]
    digamma_sum = digamma_sums[first // size]
    prior_digamma = np.empty(n_topics)
    prior_log_gamma = np.empty(n_topics)
    prior_trigamma = np.empty(n_topics)
    for k in range(n_topics):
        prior_digamma[k] = prior_log_gamma[k] = prior_trigamma[k] = 0.0
        if prior_shape[k] > 0.0:
            a0 = float(prior_shape[k])
            prior_digamma[k], prior_log_gamma[k] = digamma_and_log_gamma(a0)
            above, _ = digamma_and_log_gamma(a0 * (1.0 + 1e-5))
            below, _ = digamma_and_log_gamma(a0 * (1.0 - 1e-5))
            prior_trigamma[k] = (above - below) / (2e-5 * a0)
    for m in range(first, last):
        total = 0.0
        for k in range(n_topics):
            a = float(shape[m, k])
            a0 = float(prior_shape[k])
            excess = a - a0
            if excess <= _NEARLY_NOTHING * a0:
                digamma_sum[k] += prior_digamma[k] + excess * prior_trigamma[k]
                total -= 0.5 * excess * excess * prior_trigamma[k]
            else:
                psi, log_gamma = digamma_and_log_gamma(a)
                digamma_sum[k] += psi
                total += log_gamma - prior_log_gamma[k] - excess * psi
        gap[m] = total
