"""A pass: the document step (equations 11 to 13), the word table and the word counts (14)."""

import numpy as np
from numba import njit

from hdsp.kernels.special import DEVICE, exp_digamma, fill, kernel, largest, scratch, smallest

_SMALLEST_NORM = 1e-30
_SMALLEST_WEIGHT = 1e-20
_SMALLEST_ENTRY = 1e-20
_NEWTON_STEPS = 30
# Words of a tile are padded to whole vector registers.
_LANES = 8
# Filling a tile costs as much as this many iterations without one.
_ITERATIONS_OF_A_TILE = 2


@njit(**DEVICE)
def _gather(start, stop, indices, counts, table, e, token_weight, out):
    """``w_i = c_i / sum_k B_ik e_k`` and ``out[k] = sum_i w_i B_ik`` (equation 13)."""
    n_topics = e.shape[0]
    zero = table.dtype.type(0.0)
    floor = table.dtype.type(_SMALLEST_NORM)
    fill(out, zero)
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
        token_weight[i] = w0
        token_weight[i + 1] = w1
        token_weight[i + 2] = w2
        token_weight[i + 3] = w3
        for k in range(n_topics):
            out[k] += w0 * row0[k] + w1 * row1[k] + w2 * row2[k] + w3 * row3[k]
        i += 4
    while i < stop:
        row0 = table[indices[i]]
        norm0 = floor
        for k in range(n_topics):
            norm0 += row0[k] * e[k]
        w0 = counts[i] / norm0
        token_weight[i] = w0
        for k in range(n_topics):
            out[k] += w0 * row0[k]
        i += 1


@njit(**DEVICE)
def _fill_tile(start, stop, indices, table, active, n_active, tile):
    """``tile[j, i] = B_ik`` for the document's words i and its active topics k = active[j]."""
    for i in range(start, stop):
        row = table[indices[i]]
        for j in range(n_active):
            tile[j, i - start] = row[active[j]]


@njit(**DEVICE)
def _gather_tile(n_active, n_words, tile, counts, e, weights, out):
    """As `_gather`, on a tile [active topics, words]: the words run along vector registers."""
    floor = tile.dtype.type(_SMALLEST_NORM)
    for i in range(n_words):
        weights[i] = floor
    j = 0
    while j + 4 <= n_active:
        row0, row1, row2, row3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
        e0, e1, e2, e3 = e[j], e[j + 1], e[j + 2], e[j + 3]
        for i in range(n_words):
            weights[i] += e0 * row0[i] + e1 * row1[i] + e2 * row2[i] + e3 * row3[i]
        j += 4
    while j < n_active:
        row0 = tile[j]
        e0 = e[j]
        for i in range(n_words):
            weights[i] += e0 * row0[i]
        j += 1
    for i in range(n_words):
        weights[i] = counts[i] / weights[i]
    j = 0
    while j + 4 <= n_active:
        row0, row1, row2, row3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
        sum0 = sum1 = sum2 = sum3 = tile.dtype.type(0.0)
        for i in range(n_words):
            sum0 += row0[i] * weights[i]
            sum1 += row1[i] * weights[i]
            sum2 += row2[i] * weights[i]
            sum3 += row3[i] * weights[i]
        out[j] = sum0
        out[j + 1] = sum1
        out[j + 2] = sum2
        out[j + 3] = sum3
        j += 4
    while j < n_active:
        row0 = tile[j]
        sum0 = tile.dtype.type(0.0)
        for i in range(n_words):
            sum0 += row0[i] * weights[i]
        out[j] = sum0
        j += 1


@njit(**DEVICE)
def _solve_tangent(length, prior_total, shape, rate, xi, upper, tolerance):
    """The root of ``sum_k a_k / (rho_k xi + N) = 1`` (equation 12).

    Since ``sum_k a_k = N + beta``, it is the root of ``xi = beta / S(xi)`` with
    ``S = sum_k a_k rho_k / (rho_k xi + N)``, which takes no difference of large numbers. 1/S is a
    weighted harmonic mean of linear functions, so the difference of the two sides is convex:
    Newton lands at or right of the root and is exact when the rates agree. `upper` lies above it.
    """
    one = shape.dtype.type(1.0)
    for _ in range(_NEWTON_STEPS):
        total = shape.dtype.type(0.0)
        squares = shape.dtype.type(0.0)
        for k in range(shape.shape[0]):
            scaled = rate[k] / (rate[k] * xi + length)
            total += shape[k] * scaled
            squares += shape[k] * scaled * scaled
        slope = one - prior_total * squares / (total * total)
        new = upper
        if slope > tolerance:
            new = xi - (xi - prior_total / total) / slope
            if not shape.dtype.type(0.0) < new < upper:
                new = upper
        done = abs(new - xi) <= tolerance * new
        xi = new
        if done:
            break
    return xi


@njit(**DEVICE)
def _choose_active(prune, e, active):
    """The number of topics with e_k of at least `prune` times the largest, listed in `active`.

    0 if `active` has no room for them.
    """
    if active.shape[0] == 0:
        return 0
    threshold = largest(e) * e.dtype.type(prune)
    chosen = 0
    for k in range(e.shape[0]):
        if e[k] >= threshold:
            if chosen == active.shape[0]:
                return 0
            active[chosen] = k
            chosen += 1
    return chosen


@kernel
def solve_documents(
    first,
    last,
    indptr,
    indices,
    counts,
    table,
    prior_shape,
    rate,
    lengths,
    warm,
    topic_weight,
    max_iter,
    tol,
    prune,
    token_counts,
    xi,
    weight,
    token_weight,
):
    """Solve for q(pi) of documents ``first`` to ``last`` (equations 11 to 13).

    Plain twin: ``tests/reference/documents.py``.

    Parameters
    ----------
    first, last : int
        The range of documents.
    indptr, indices, counts : arrays
        CSR rows of the documents' words.
    table : float array of shape [V, K]
        Expectations B = exp(E ln phi).
    prior_shape : float array of shape [K]
        The products beta p_k.
    rate : float array of shape [M, K]
        E[rho_mk].
    lengths : float array of shape [M]
        Tokens N_m of each document.
    warm : bool
        Whether `token_counts` and `xi` hold an earlier solution to continue from.
    topic_weight : float array of shape [K]
        Where a document starts that does not continue.
    max_iter : int
        The largest number of inner iterations.
    tol : float
        The change of a document's tokens, as a share of its length, at which it stops.
    prune : float
        Topics with less than this share of a document's largest e_k get none of its tokens. Once
        they are half of all topics or more, the others are gathered into a tile. 0 keeps all.
    token_counts : float array of shape [M, K]
        Replaced by the tokens of each topic, a_mk - beta p_k.
    xi : float array of shape [M]
        Replaced by xi_m.
    weight : float array of shape [M, K]
        Replaced by e = exp(E ln pi) before the last iteration. It gives the last responsibilities
        gamma_mik = B_ik e_mk / norm_mi, and `token_counts` and q(pi) follow from those.
    token_weight : float array
        Replaced by c_i / norm_i for each stored count.

    Returns
    -------
    int
        Inner iterations, summed over documents.
    """
    n_topics = table.shape[1]
    real = table.dtype.type
    zero = real(0.0)
    least = real(_SMALLEST_WEIGHT)
    gathered = scratch(n_topics, table.dtype)
    a = scratch(n_topics, table.dtype)
    longest = 0
    for m in range(first, last):
        longest = max(longest, indptr[m + 1] - indptr[m])
    most_active = n_topics // 2 if prune > 0.0 else 0
    active = np.empty(most_active, np.uint64)
    tile = np.empty((most_active, longest + _LANES), table.dtype)
    tile_counts = scratch(longest + _LANES, table.dtype)
    tile_weights = scratch(longest + _LANES, table.dtype)
    # e, n, beta p and rho of the active topics
    active_e = scratch(most_active, table.dtype)
    active_n = scratch(most_active, table.dtype)
    active_prior = scratch(most_active, table.dtype)
    active_rho = scratch(most_active, table.dtype)
    prior_total = zero
    for k in range(n_topics):
        prior_total += prior_shape[k]
    # Newton squares the error: a step this small leaves rounding.
    newton_tolerance = real(1e-3) if table.itemsize == 4 else real(1e-7)
    iterations = 0
    for m in range(first, last):
        start = indptr[m]
        stop = indptr[m + 1]
        length = lengths[m]
        n = token_counts[m]
        e = weight[m]
        rho = rate[m]
        upper = prior_total / smallest(rho) * real(1.001)
        if warm:
            per_xi = length / xi[m]
            for k in range(n_topics):
                value = exp_digamma(prior_shape[k] + n[k]) / (rho[k] + per_xi)
                e[k] = value if value > least else zero
        else:
            xi[m] = prior_total / largest(rho)
            for k in range(n_topics):
                e[k] = topic_weight[k]
                n[k] = zero
        n_active = 0
        n_words = -(-(stop - start) // _LANES) * _LANES
        for iteration in range(max_iter):
            per_xi = length / xi[m]
            if n_active > 0:
                for j in range(n_active):
                    value = exp_digamma(active_prior[j] + active_n[j]) / (active_rho[j] + per_xi)
                    active_e[j] = value if value > least else zero
            else:
                if iteration > 0:
                    for k in range(n_topics):
                        value = exp_digamma(a[k]) / (rho[k] + per_xi)
                        e[k] = value if value > least else zero
                if iteration + _ITERATIONS_OF_A_TILE <= max_iter:
                    n_active = _choose_active(prune, e, active)
                if n_active > 0:
                    for i in range(stop - start, n_words):
                        tile_counts[i] = zero
                        for j in range(n_active):
                            tile[j, i] = zero
                    for i in range(start, stop):
                        tile_counts[i - start] = counts[i]
                    _fill_tile(start, stop, indices, table, active, n_active, tile)
                    for k in range(n_topics):
                        a[k] = prior_shape[k]
                    for j in range(n_active):
                        k = active[j]
                        active_e[j] = e[k]
                        active_n[j] = n[k]
                        active_prior[j] = prior_shape[k]
                        active_rho[j] = rho[k]
            change = zero
            if n_active > 0:
                _gather_tile(n_active, n_words, tile, tile_counts, active_e, tile_weights, gathered)
                for j in range(n_active):
                    change += abs(active_e[j] * gathered[j] - active_n[j])
                for j in range(n_active):
                    active_n[j] = active_e[j] * gathered[j]
                for j in range(n_active):
                    a[active[j]] = active_prior[j] + active_n[j]
            else:
                _gather(start, stop, indices, counts, table, e, token_weight, gathered)
                for k in range(n_topics):
                    change += abs(e[k] * gathered[k] - n[k])
                for k in range(n_topics):
                    n[k] = e[k] * gathered[k]
                    a[k] = prior_shape[k] + n[k]
            if length > zero:
                xi[m] = _solve_tangent(length, prior_total, a, rho, xi[m], upper, newton_tolerance)
            iterations += 1
            if change <= tol * length:
                break
        if n_active > 0:
            for i in range(start, stop):
                token_weight[i] = tile_weights[i - start]
            fill(e, zero)
            fill(n, zero)
            for j in range(n_active):
                e[active[j]] = active_e[j]
                n[active[j]] = active_n[j]
    return iterations


@kernel
def fill_word_table(first, last, topics, inverse_total, table):
    """``table[i, k] = exp(E ln phi_ki)`` for words ``first`` to ``last``.

    `topics` [V, K] holds the Dirichlet parameters, `inverse_total` [K] is
    ``exp(-psi(sum_i lambda_ki))``, zero for padding. Entries below 1e-20 become zero, because
    arithmetic on subnormal products is slow. Plain twin:
    ``tests/reference/topics.py``.
    """
    smallest = table.dtype.type(_SMALLEST_ENTRY)
    zero = table.dtype.type(0.0)
    for i in range(first, last):
        for k in range(topics.shape[1]):
            value = exp_digamma(topics[i, k]) * inverse_total[k]
            table[i, k] = value if value > smallest else zero


@kernel
def add_word_counts(
    first, last, word_indptr, documents, positions, token_weight, weight, table, out
):
    """Add a block's expected word counts ``sum_m c_mi gamma_mik`` to words ``first`` to ``last``.

    The block is read in word order (`word_indptr`, `documents`, `positions`: its CSC form, with
    positions into `token_weight`), so that each row of `out` has one writer and one order of
    summation for any number of threads. Plain twin: ``tests/reference/topics.py``.
    """
    n_topics = table.shape[1]
    gathered = scratch(n_topics, table.dtype)
    for i in range(first, last):
        start = word_indptr[i]
        stop = word_indptr[i + 1]
        if start == stop:
            continue
        fill(gathered, table.dtype.type(0.0))
        j = start
        while j + 4 <= stop:
            e0 = weight[documents[j]]
            e1 = weight[documents[j + 1]]
            e2 = weight[documents[j + 2]]
            e3 = weight[documents[j + 3]]
            w0 = token_weight[positions[j]]
            w1 = token_weight[positions[j + 1]]
            w2 = token_weight[positions[j + 2]]
            w3 = token_weight[positions[j + 3]]
            for k in range(n_topics):
                gathered[k] += w0 * e0[k] + w1 * e1[k] + w2 * e2[k] + w3 * e3[k]
            j += 4
        while j < stop:
            e0 = weight[documents[j]]
            w0 = token_weight[positions[j]]
            for k in range(n_topics):
                gathered[k] += w0 * e0[k]
            j += 1
        for k in range(n_topics):
            out[i, k] += gathered[k] * table[i, k]
