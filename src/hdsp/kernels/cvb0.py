"""Proportions of new documents: each token's topic is judged by the other tokens (CVB0).

The responsibilities gamma_ik of word i, which occurs c_i times in a document of N tokens, and the
tokens n_k that topics hold solve

    gamma_ik = phi_ik (beta p_k + n_k - o_i gamma_ik) / (b_k Z_i),  n_k = sum_i c_i gamma_ik  (22)

where Z_i makes sum_k gamma_ik = 1, and b_k = E[rho_k] + N / xi as in the document step (11, 12).
The c_i tokens of a word are alike, so they share one gamma_ik, and each leaves out its own share
alone: o_i = 1, or c_i where a count is a fraction below 1.

With x_ik = phi_ik / (b_k Z_i) and a_k = beta p_k + n_k, (22) says that gamma_ik is
a_k x_ik / (1 + o_i x_ik). Hence n_k = R_k a_k with R_k = sum_i c_i x_ik / (1 + o_i x_ik),
or n_k = beta p_k R_k / (1 - R_k). Most topics hold next to nothing, and the Z_i hardly depend on
them: they are solved by the last formula, two or three times, and form the background while the
others, the active topics, are iterated in a tile.
"""

from typing import Any

import numpy as np
from numba import njit

from hdsp.kernels.documents import _gather, _solve_tangent
from hdsp.kernels.special import DEVICE, fill, kernel, scratch, smallest

_SMALLEST_NORM = 1e-30
# Words of a tile are padded to whole vector registers.
_LANES = 8
# A topic is active if it holds this share of the tokens, or if its R_k is this near to 1.
_ACTIVE_SHARE = 2e-3
_ACTIVE_R = 0.9
# The first round, whose background is rough, may stop at this many times the tolerance.
_FIRST_ROUND = 10.0
# The background follows a fifth of what active topics move at most: it holds that share of tokens.
_FOLLOWS = 5.0
# An extrapolation goes this many times as far as a plain update at most, leaves a topic at least
# this part of its tokens, and is the last one if the next update is this many times larger, or
# after this many updates: what has not settled by then may go in circles.
_LONGEST_STEP = 8.0
_LEAST_PART = 0.1
_WORSE = 4.0
_EXTRAPOLATED = 40


@njit(**DEVICE)
def _reproduce(
    start: Any,
    stop: Any,
    indices: Any,
    table: Any,
    scale: Any,
    shape: Any,
    token_weight: Any,
    own: Any,
    inverse: Any,
    out: Any,
    background: Any,
) -> None:
    """``out[k] = R_k``, and ``background[i] = Z_i sum_k gamma_ik``, topics with a zero shape apart.

    x_ik = phi_ik scale_k / Z_i, `token_weight` c_i / Z_i, `own` o_i / c_i.
    """
    n_topics = table.shape[1]
    zero = table.dtype.type(0.0)
    one = table.dtype.type(1.0)
    fill(out, zero)
    # Two words share a division, and the last word of an odd number has itself for a partner.
    for i in range(start, stop, 2):
        other = min(i + 1, stop - 1)
        row0 = table[indices[i]]
        row1 = table[indices[other]]
        weight0 = token_weight[i - start]
        weight1 = token_weight[other - start] if other > i else zero
        own0 = own[i - start]
        own1 = own[other - start]
        for k in range(n_topics):
            x0 = row0[k] * (scale[k] * weight0)
            x1 = row1[k] * (scale[k] * weight1)
            inverse[k] = one / ((one + own0 * x0) * (one + own1 * x1))
        for k in range(n_topics):
            x0 = row0[k] * (scale[k] * weight0)
            x1 = row1[k] * (scale[k] * weight1)
            out[k] += (x0 * (one + own1 * x1) + x1 * (one + own0 * x0)) * inverse[k]
        held0 = held1 = zero
        for k in range(n_topics):
            x0 = row0[k] * (scale[k] * weight0)
            x1 = row1[k] * (scale[k] * weight1)
            held0 += shape[k] * inverse[k] * x0 * (one + own1 * x1)
            held1 += shape[k] * inverse[k] * x1 * (one + own0 * x0)
        background[i - start] = held0 / weight0 if weight0 > zero else zero
        if other > i:
            background[other - start] = held1 / weight1 if weight1 > zero else zero


@njit(**DEVICE)
def _mix(start: Any, stop: Any, indices: Any, table: Any, weight: Any, out: Any) -> None:
    """``out[i] = sum_k phi_ik weight_k`` for the document's words."""
    n_topics = table.shape[1]
    floor = table.dtype.type(_SMALLEST_NORM)
    i = start
    while i + 4 <= stop:
        row0 = table[indices[i]]
        row1 = table[indices[i + 1]]
        row2 = table[indices[i + 2]]
        row3 = table[indices[i + 3]]
        sum0 = sum1 = sum2 = sum3 = floor
        for k in range(n_topics):
            sum0 += row0[k] * weight[k]
            sum1 += row1[k] * weight[k]
            sum2 += row2[k] * weight[k]
            sum3 += row3[k] * weight[k]
        out[i - start] = sum0
        out[i - start + 1] = sum1
        out[i - start + 2] = sum2
        out[i - start + 3] = sum3
        i += 4
    while i < stop:
        row0 = table[indices[i]]
        sum0 = floor
        for k in range(n_topics):
            sum0 += row0[k] * weight[k]
        out[i - start] = sum0
        i += 1


@njit(**DEVICE)
def _update_tile(
    n_active: Any,
    n_words: Any,
    tile: Any,
    counts: Any,
    own: Any,
    prior: Any,
    n: Any,
    scale: Any,
    background: Any,
    joint: Any,
    token_weight: Any,
    norm: Any,
    out: Any,
) -> None:
    """One update of equation 22 on a tile [active topics, words].

    ``joint[j, i]`` is gamma_ij Z_i, replaced, and ``token_weight[i]`` is c_i / Z_i, replaced;
    `background` is the other topics' part of Z_i. The tokens that topics then hold go to `out`.
    """
    zero = tile.dtype.type(0.0)
    for i in range(n_words):
        token_weight[i] *= own[i]
        norm[i] = background[i]
    # One loop for each array that is written: the compiler gives up on loops that write several.
    for j in range(n_active):
        phi, gamma = tile[j], joint[j]
        prior_j, n_j, scale_j = prior[j], n[j], scale[j]
        for i in range(n_words):
            others = max(n_j - token_weight[i] * gamma[i], zero)
            gamma[i] = phi[i] * (scale_j * (prior_j + others))
    j = 0
    while j + 4 <= n_active:
        row0, row1, row2, row3 = joint[j], joint[j + 1], joint[j + 2], joint[j + 3]
        for i in range(n_words):
            norm[i] += row0[i] + row1[i] + row2[i] + row3[i]
        j += 4
    while j < n_active:
        row0 = joint[j]
        for i in range(n_words):
            norm[i] += row0[i]
        j += 1
    for i in range(n_words):
        token_weight[i] = counts[i] / norm[i]
    j = 0
    while j + 4 <= n_active:
        row0, row1, row2, row3 = joint[j], joint[j + 1], joint[j + 2], joint[j + 3]
        sum0 = sum1 = sum2 = sum3 = zero
        for i in range(n_words):
            sum0 += row0[i] * token_weight[i]
            sum1 += row1[i] * token_weight[i]
            sum2 += row2[i] * token_weight[i]
            sum3 += row3[i] * token_weight[i]
        out[j] = sum0
        out[j + 1] = sum1
        out[j + 2] = sum2
        out[j + 3] = sum3
        j += 4
    while j < n_active:
        row0 = joint[j]
        sum0 = zero
        for i in range(n_words):
            sum0 += row0[i] * token_weight[i]
        out[j] = sum0
        j += 1


@njit(**DEVICE)
def _extrapolate(n_active: Any, before: Any, between: Any, n: Any) -> None:
    """Go on from `n`, two updates after `before`, in the direction of both (SQUAREM)."""
    zero = n.dtype.type(0.0)
    one = n.dtype.type(1.0)
    speed = turn = zero
    for j in range(n_active):
        change = between[j] - before[j]
        bend = n[j] - between[j] - change
        speed += change * change
        turn += bend * bend
    if turn > zero:
        step = min(max(np.sqrt(speed / turn), one), n.dtype.type(_LONGEST_STEP))
        for j in range(n_active):
            change = between[j] - before[j]
            bend = n[j] - between[j] - change
            value = before[j] + step * (change + change + step * bend)
            n[j] = max(value, n.dtype.type(_LEAST_PART) * n[j])


@njit(**DEVICE)
def _iterate(
    n_active: Any,
    n_words: Any,
    active: Any,
    tile: Any,
    counts: Any,
    own: Any,
    few_prior: Any,
    few_rho: Any,
    few_n: Any,
    background: Any,
    joint: Any,
    token_weight: Any,
    length: Any,
    prior_total: Any,
    a: Any,
    rho: Any,
    xi: Any,
    lowest: Any,
    upper: Any,
    newton_tolerance: Any,
    enough: Any,
    max_iter: Any,
    norm: Any,
    few_scale: Any,
    few_new: Any,
    before: Any,
    between: Any,
) -> Any:
    """Update the active topics until no more than `enough` tokens move; (xi, updates made).

    Replaces `few_n`, the tokens of active topics, their entries of `a`, and, as `_update_tile`
    does, `joint` and `token_weight`. The last five arguments are scratch.
    """
    kind = tile.dtype.type
    last_change = length
    extrapolating = True
    made = 0
    while made < max_iter:
        per_xi = length / xi
        for j in range(n_active):
            few_scale[j] = lowest / (few_rho[j] + per_xi)
        _update_tile(
            n_active,
            n_words,
            tile,
            counts,
            own,
            few_prior,
            few_n,
            few_scale,
            background,
            joint,
            token_weight,
            norm,
            few_new,
        )
        made += 1
        change = kind(0.0)
        for j in range(n_active):
            change += abs(few_new[j] - few_n[j])
        first_of_two = made % 2 == 1
        if first_of_two:
            extrapolating = extrapolating and change <= kind(_WORSE) * last_change
            for j in range(n_active):
                before[j] = few_n[j]
                between[j] = few_new[j]
        for j in range(n_active):
            few_n[j] = few_new[j]
        if change > enough and not first_of_two:
            last_change = change
            if extrapolating and made < min(max_iter, _EXTRAPOLATED):
                _extrapolate(n_active, before, between, few_n)
        for j in range(n_active):
            a[active[j]] = few_prior[j] + few_n[j]
        xi = _solve_tangent(length, prior_total, a, rho, xi, upper, newton_tolerance)
        if change <= enough:
            break
    return xi, made


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
    """Proportions of documents ``first`` to ``last``: theta_k in proportion to a_k / b_k.

    Every document starts from the prior. Plain twin: ``tests/reference/cvb0.py``.

    Parameters
    ----------
    first, last : int
        The documents.
    indptr, indices, counts : arrays
        CSR rows of words.
    table : float array of shape [V, K]
        E[phi], word-major; K = T padded with zeros.
    prior_shape : float array of shape [K]
        The products beta p_k, padded with zeros.
    rate : float array of shape [M, K]
        E[rho_mk], padded with ones.
    lengths : float array of shape [M]
        N_m.
    max_iter : int
        Updates of a document at most.
    tol : float
        The change of a document's tokens, as a share of its length, at which it stops.
    out : float array of shape [M, T]
        Proportions theta, written; rows sum to 1. A document without words has the prior's means.

    Returns
    -------
    int
        The updates made, summed over documents.
    """
    n_topics = table.shape[1]
    dtype = table.dtype
    kind = dtype.type
    zero = kind(0.0)
    one = kind(1.0)
    longest = 0
    for m in range(first, last):
        longest = max(longest, indptr[m + 1] - indptr[m])
    room = longest + _LANES
    tile = np.empty((n_topics, room), dtype)
    joint = np.empty((n_topics, room), dtype)
    word_counts = scratch(room, dtype)
    own = scratch(room, dtype)
    token_weight = scratch(room, dtype)
    norm = scratch(room, dtype)
    background = scratch(room, dtype)
    n = scratch(n_topics, dtype)
    a = scratch(n_topics, dtype)
    e = scratch(n_topics, dtype)
    # lowest / b_k
    scale = scratch(n_topics, dtype)
    reproduced = scratch(n_topics, dtype)
    inverse = scratch(n_topics, dtype)
    is_active = np.empty(n_topics, np.bool_)
    # The active topics, and their n, beta p and rho.
    active = np.empty(n_topics, np.uint64)
    few_n = scratch(n_topics, dtype)
    few_prior = scratch(n_topics, dtype)
    few_rho = scratch(n_topics, dtype)
    few_scale = scratch(n_topics, dtype)
    few_new = scratch(n_topics, dtype)
    before = scratch(n_topics, dtype)
    between = scratch(n_topics, dtype)
    prior_total = zero
    for k in range(n_topics):
        prior_total += prior_shape[k]
    # Newton squares the error: a step this small leaves rounding.
    newton_tolerance = kind(1e-3) if table.itemsize == 4 else kind(1e-7)
    iterations = 0
    for m in range(first, last):
        start = indptr[m]
        stop = indptr[m + 1]
        length = lengths[m]
        rho = rate[m]
        # Weights are taken relative to the topic with the lowest rate, so that none overflows.
        lowest = smallest(rho)
        per_xi = zero
        fill(n, zero)
        if length > zero:
            words = indices[start:stop]
            n_words = -(-(stop - start) // _LANES) * _LANES
            for i in range(start, stop):
                word_counts[i - start] = counts[i]
                own[i - start] = one / max(counts[i], one)
            for i in range(stop - start, n_words):
                word_counts[i] = zero
                own[i] = zero
                token_weight[i] = zero
            xi = zero
            for k in range(n_topics):
                xi += prior_shape[k] / rho[k]
            # Two updates of all topics that leave nothing out, only to see which will matter.
            for k in range(n_topics):
                e[k] = prior_shape[k] * (lowest / rho[k])
            _gather(0, stop - start, words, word_counts, table, e, token_weight, reproduced)
            for k in range(n_topics):
                n[k] = e[k] * reproduced[k]
                a[k] = prior_shape[k] + n[k]
            upper = prior_total / lowest * kind(1.001)
            xi = _solve_tangent(length, prior_total, a, rho, xi, upper, newton_tolerance)
            per_xi = length / xi
            for k in range(n_topics):
                scale[k] = lowest / (rho[k] + per_xi)
                e[k] = scale[k] * a[k]
                is_active[k] = False
            _gather(0, stop - start, words, word_counts, table, e, token_weight, reproduced)
            for k in range(n_topics):
                reproduced[k] *= scale[k]
            least = kind(_ACTIVE_SHARE) * length
            n_active = 0
            made = 2
            rounds = 0
            while True:
                # The topics of the background, by R_k, and those that leave it.
                known = n_active
                change = zero
                held_before = held_after = kind(_SMALLEST_NORM)
                for k in range(n_topics):
                    if not is_active[k]:
                        part = reproduced[k]
                        near = part >= kind(_ACTIVE_R)
                        value = part * a[k] if near else prior_shape[k] * part / (one - part)
                        change += abs(value - n[k])
                        n[k] = value
                        if near or value >= least:
                            is_active[k] = True
                            active[n_active] = k
                            n_active += 1
                        else:
                            held_before += part * a[k]
                            a[k] = prior_shape[k] + value
                            held_after += part * a[k]
                if (rounds > 1 and change <= tol * length) or made >= max_iter:
                    break
                for i in range(start, stop):
                    row = table[indices[i]]
                    for j in range(known, n_active):
                        tile[j, i - start] = row[active[j]]
                for j in range(known, n_active):
                    for i in range(stop - start, n_words):
                        tile[j, i] = zero
                    k = active[j]
                    few_n[j] = n[k]
                    few_prior[j] = prior_shape[k]
                    few_rho[j] = rho[k]
                    for i in range(n_words):
                        value = tile[j, i] * scale[k]
                        joint[j, i] = a[k] * value / (one + own[i] * token_weight[i] * value)
                    for i in range(n_words):
                        background[i] -= joint[j, i]
                growth = held_after / held_before
                if rounds == 0:
                    for k in range(n_topics):
                        e[k] = zero if is_active[k] else scale[k] * a[k]
                    _mix(start, stop, indices, table, e, background)
                    growth = one
                for i in range(n_words):
                    background[i] = max(background[i] * growth, kind(_SMALLEST_NORM))
                for i in range(stop - start, n_words):
                    background[i] = one
                enough = tol * length * (kind(_FIRST_ROUND) if rounds == 0 else one)
                xi, updates = _iterate(
                    n_active,
                    n_words,
                    active,
                    tile,
                    word_counts,
                    own,
                    few_prior,
                    few_rho,
                    few_n,
                    background,
                    joint,
                    token_weight,
                    length,
                    prior_total,
                    a,
                    rho,
                    xi,
                    lowest,
                    upper,
                    newton_tolerance,
                    enough,
                    max_iter - made,
                    norm,
                    few_scale,
                    few_new,
                    before,
                    between,
                )
                made += updates
                rounds += 1
                moved = zero
                for j in range(n_active):
                    moved += abs(few_n[j] - n[active[j]])
                for j in range(n_active):
                    n[active[j]] = few_n[j]
                per_xi = length / xi
                for k in range(n_topics):
                    scale[k] = lowest / (rho[k] + per_xi)
                settled = rounds > 1 and moved <= kind(_FOLLOWS) * tol * length
                if settled or made >= max_iter:
                    break
                if rounds == 1:
                    # Most topics that seemed to matter at first have lost their tokens by now.
                    j = 0
                    while j < n_active:
                        if few_n[j] >= least:
                            j += 1
                            continue
                        is_active[active[j]] = False
                        n_active -= 1
                        active[j] = active[n_active]
                        few_n[j] = few_n[n_active]
                        few_prior[j] = few_prior[n_active]
                        few_rho[j] = few_rho[n_active]
                        for i in range(n_words):
                            tile[j, i] = tile[n_active, i]
                            joint[j, i] = joint[n_active, i]
                for k in range(n_topics):
                    e[k] = zero if is_active[k] else a[k]
                _reproduce(
                    start,
                    stop,
                    indices,
                    table,
                    scale,
                    e,
                    token_weight,
                    own,
                    inverse,
                    reproduced,
                    background,
                )
                made += 1
            iterations += made
        total = 0.0
        for k in range(out.shape[1]):
            theta = np.float64(prior_shape[k] + n[k]) / np.float64(rho[k] + per_xi)
            out[m, k] = theta
            total += theta
        for k in range(out.shape[1]):
            out[m, k] /= total
    return iterations
