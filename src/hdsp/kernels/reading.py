"""What new documents are read by: proportions by CVB0, and softmax regression.

Each token's topic is judged by the other tokens of its document. The responsibilities gamma_ik of
word i, which occurs c_i times in a document of N tokens, and the tokens n_k of topics solve

    gamma_ik = phi_ik (beta p_k + n_k - o_i gamma_ik) / (b_k Z_i),  n_k = sum_i c_i gamma_ik  (22)

where Z_i makes sum_k gamma_ik = 1, and b_k = E[rho_k] + N / xi as in the document step (11, 12).
The c_i tokens of a word share one gamma_ik, and each leaves out its own share alone: o_i = 1, or
c_i if a count is a fraction below 1.

With x_ik = phi_ik / (b_k Z_i) and a_k = beta p_k + n_k, (22) means gamma_ik = a_k x_ik /
(1 + o_i x_ik). Hence n_k = R_k a_k with R_k = sum_i c_i x_ik / (1 + o_i x_ik), or n_k =
beta p_k R_k / (1 - R_k). Most topics have almost no tokens of a document, and the Z_i hardly depend
on them: they are the background, solved by the last formula. The other topics, the active ones, are
iterated in a tile, and the two take turns.
"""

import numpy as np
from numba import njit

from hdsp.kernels.documents import _gather, _solve_tangent
from hdsp.kernels.special import DEVICE, PART, fast_exp, fill, kernel, scratch, smallest

_SMALLEST_NORM = 1e-30
# Words of a tile are padded to whole vector registers.
_LANES = 8
# Turns of background and active topics. The first two are rough: one update without background,
# and one that stops at this many times the tolerance.
_TURNS, _FIRST_TURN = 5, 10.0
# A topic whose R_k is this near to 1 is active, however few tokens it has.
_ACTIVE_R = 0.9
# An extrapolation is at most this many times as long as a plain update, leaves a topic at least
# this share of its tokens, and is not made after this many updates of a turn.
_LONGEST_STEP, _LEAST_SHARE, _EXTRAPOLATED = 8.0, 0.1, 40


@kernel
def predict_documents(
    first, last, indptr, indices, counts, table, prior, rate, lengths, max_iter, tol, least, out
):
    """Proportions of documents ``first`` to ``last``: theta_k in proportion to a_k / b_k.

    Plain twin: ``tests/reference/cvb0.py``.

    Parameters
    ----------
    first, last : int
        The documents.
    indptr, indices, counts : arrays
        CSR rows of words.
    table : float array of shape [V, K]
        E[phi], padded with zeros.
    prior : float array of shape [K]
        The products beta p_k, padded with zeros.
    rate : float array of shape [M, K]
        E[rho_mk], padded with ones.
    lengths : float array of shape [M]
        N_m.
    max_iter : int
        Updates of a document per turn, at most.
    tol : float
        The change of a document's tokens, as a share of its length, at which it stops.
    least : float
        The share of a document's tokens from which a topic is active; 0 for all topics.
    out : float array of shape [M, T]
        Proportions theta, written; rows sum to 1. A document without words has the prior's means.

    Returns
    -------
    int
        Updates, summed over documents.
    """
    n_topics = table.shape[1]
    real = table.dtype.type
    zero, one = real(0.0), real(1.0)
    # Newton squares the error: a step this small leaves rounding.
    tolerance = real(1e-3) if table.itemsize == 4 else real(1e-7)
    longest = _LANES
    for m in range(first, last):
        longest = max(longest, _LANES + indptr[m + 1] - indptr[m])
    # gamma_ij and phi_ij of the active topics j
    joint = np.empty((n_topics, longest), table.dtype)
    tile = np.empty((n_topics, longest), table.dtype)
    active = np.empty(n_topics, np.int64)
    is_active = np.empty(n_topics, np.bool_)
    n = scratch(n_topics, table.dtype)
    a = scratch(n_topics, table.dtype)
    scale = scratch(n_topics, table.dtype)
    weight = scratch(n_topics, table.dtype)
    returned = scratch(n_topics, table.dtype)
    ratio = scratch(n_topics, table.dtype)
    before = scratch(n_topics, table.dtype)
    between = scratch(n_topics, table.dtype)
    c = scratch(longest, table.dtype)
    own = scratch(longest, table.dtype)
    background = scratch(longest, table.dtype)
    norm = scratch(longest, table.dtype)
    prior_total = zero
    for k in range(n_topics):
        prior_total += prior[k]
    made = 0
    for m in range(first, last):
        words, word_counts = indices[indptr[m] : indptr[m + 1]], counts[indptr[m] : indptr[m + 1]]
        rho, length, per_xi = rate[m], lengths[m], zero
        fill(n, zero)
        if length > zero:
            stop = words.shape[0]
            n_words = -(-stop // _LANES) * _LANES
            for i in range(n_words):
                c[i] = word_counts[i] if i < stop else zero
                own[i] = min(c[i], one)
                norm[i] = one
            # Weights are relative to the topic with the lowest rate, so that none overflows.
            lowest = smallest(rho)
            upper = prior_total / lowest * real(1.001)
            xi = zero
            for k in range(n_topics):
                xi += prior[k] / rho[k]
                a[k] = prior[k]
                is_active[k] = False
            n_active = 0
            for turn in range(_TURNS):
                per_xi = length / xi
                for k in range(n_topics):
                    scale[k] = lowest / (rho[k] + per_xi)
                if turn < 2:
                    for k in range(n_topics):
                        weight[k] = scale[k] * a[k]
                    _gather(0, stop, words, word_counts, table, weight, norm, returned)
                    for i in range(stop):
                        norm[i] = norm[i] / c[i] if c[i] > zero else one
                if turn == 0:
                    for k in range(n_topics):
                        a[k] = prior[k] + weight[k] * returned[k]
                    xi = _solve_tangent(length, prior_total, a, rho, xi, upper, tolerance)
                    continue
                for k in range(n_topics):
                    weight[k] = zero if is_active[k] else a[k]
                _return_tokens(
                    words, table, c, own, scale, norm, weight, ratio, returned, background
                )
                known = n_active
                n_active, moved, growth = _solve_background(
                    prior, returned, n, a, active, is_active, n_active, real(least) * length
                )
                if turn > 2 and moved <= tol * length:
                    break
                for j in range(known, n_active):
                    k, phi, gamma = active[j], tile[j], joint[j]
                    for i in range(n_words):
                        phi[i] = table[words[i], k] if i < stop else zero
                        x = phi[i] * scale[k] * norm[i]
                        gamma[i] = a[k] * x / (one + own[i] * x)
                    for i in range(stop):
                        background[i] -= gamma[i]
                for i in range(n_words):
                    background[i] = (
                        max(growth * background[i], real(_SMALLEST_NORM)) / norm[i]
                        if i < stop
                        else one
                    )
                enough = tol * length * (real(_FIRST_TURN) if turn == 1 else one)
                for step in range(max_iter):
                    for j in range(n_active):
                        before[j] = between[j]
                        between[j] = n[active[j]]
                    moved = _update_active(
                        n_active,
                        n_words,
                        active,
                        scale,
                        prior,
                        c,
                        own,
                        background,
                        tile,
                        joint,
                        norm,
                        n,
                    )
                    made += 1
                    if step % 2 == 1 and step < _EXTRAPOLATED and moved > enough:
                        _extrapolate(n_active, active, before, between, n)
                    for j in range(n_active):
                        a[active[j]] = prior[active[j]] + n[active[j]]
                    xi = _solve_tangent(length, prior_total, a, rho, xi, upper, tolerance)
                    per_xi = length / xi
                    for j in range(n_active):
                        scale[active[j]] = lowest / (rho[active[j]] + per_xi)
                    if moved <= enough:
                        break
        total = 0.0
        for k in range(out.shape[1]):
            theta = np.float64(prior[k] + n[k]) / np.float64(rho[k] + per_xi)
            out[m, k] = theta
            total += theta
        for k in range(out.shape[1]):
            out[m, k] /= total
    return made


@njit(**DEVICE)
def _return_tokens(words, table, counts, own, scale, norm, shape, ratio, returned, background):
    """R_k of all topics, and the share of each word that `shape`, the a_k of some, make up.

    `norm` [W] is 1 / Z_i, and `ratio` [K] is overwritten.
    """
    real = table.dtype.type
    one = real(1.0)
    fill(returned, real(0.0))
    for i in range(words.shape[0]):
        row, count, part, factor = table[words[i]], counts[i], own[i], norm[i]
        for k in range(ratio.shape[0]):
            x = row[k] * (scale[k] * factor)
            ratio[k] = x / (one + part * x)
        for k in range(ratio.shape[0]):
            returned[k] += count * ratio[k]
        total = real(0.0)
        for k in range(ratio.shape[0]):
            total += shape[k] * ratio[k]
        background[i] = total


@njit(**PART)
def _solve_background(prior, returned, n, a, active, is_active, n_active, least):
    """Solve the topics of the background by R_k = `returned`, and list those that become active.

    Returns the number of active topics, the tokens moved, and the growth of the background.
    """
    real = a.dtype.type
    one, near = real(1.0), real(_ACTIVE_R)
    moved = real(0.0)
    earlier = later = real(_SMALLEST_NORM)
    for k in range(a.shape[0]):
        if not is_active[k]:
            part = returned[k]
            tokens = part * a[k] if part >= near else prior[k] * part / (one - part)
            moved += abs(tokens - n[k])
            n[k] = tokens
            if part >= near or tokens >= least:
                is_active[k] = True
                active[n_active] = k
                n_active += 1
            else:
                earlier += part * a[k]
                a[k] = prior[k] + tokens
                later += part * a[k]
    return n_active, moved, later / earlier


@njit(**DEVICE)
def _update_active(
    n_active, n_words, active, scale, prior, counts, own, background, tile, joint, norm, n
):
    """One update of equation 22 on a tile [active topics, words]; the tokens moved.

    Replaces `joint`, the responsibilities, and `n`.
    """
    real = norm.dtype.type
    zero, one = real(0.0), real(1.0)
    for i in range(n_words):
        norm[i] = background[i]
    # One loop for each array that is written: the compiler gives up on loops that write several.
    for j in range(n_active):
        k, gamma, phi = active[j], joint[j], tile[j]
        factor, prior_k, n_k = scale[k], prior[k], n[k]
        for i in range(n_words):
            gamma[i] = phi[i] * (factor * (prior_k + max(n_k - own[i] * gamma[i], zero)))
    for j in range(n_active):
        gamma = joint[j]
        for i in range(n_words):
            norm[i] += gamma[i]
    for i in range(n_words):
        norm[i] = one / norm[i]
    moved = zero
    for j in range(n_active):
        k, gamma, tokens = active[j], joint[j], zero
        for i in range(n_words):
            gamma[i] *= norm[i]
        for i in range(n_words):
            tokens += counts[i] * gamma[i]
        moved += abs(tokens - n[k])
        n[k] = tokens
    return moved


@njit(**DEVICE)
def _extrapolate(n_active, active, before, between, n):
    """Move `n`, two updates after `before`, on in the direction of both (SQUAREM)."""
    real = n.dtype.type
    speed = turn = real(0.0)
    for j in range(n_active):
        change = between[j] - before[j]
        bend = n[active[j]] - between[j] - change
        speed += change * change
        turn += bend * bend
    if turn > real(0.0):
        step = min(max(np.sqrt(speed / turn), real(1.0)), real(_LONGEST_STEP))
        for j in range(n_active):
            change = between[j] - before[j]
            tokens = n[active[j]]
            bend = tokens - between[j] - change
            value = before[j] + step * (change + change + step * bend)
            n[active[j]] = max(value, real(_LEAST_SHARE) * tokens)


@kernel
def add_softmax_loss(first, last, indptr, indices, values, lengths, weights, gradient):
    """``sum_m N_m ln sum_k exp(r_m w_k)`` of rows `first` to `last`; adds its gradient.

    Rows come as CSR arrays, `lengths` [M] are N, `weights` and `gradient` [J, T]. Plain twin:
    ``tests/reference/softmax.py``.
    """
    n_topics = weights.shape[1]
    real = weights.dtype.type
    score = scratch(n_topics, weights.dtype)
    total = 0.0
    for m in range(first, last):
        if lengths[m] == real(0.0):
            continue
        fill(score, real(0.0))
        for i in range(indptr[m], indptr[m + 1]):
            row = weights[indices[i]]
            value = values[i]
            for k in range(n_topics):
                score[k] += value * row[k]
        top = score[0]
        for k in range(n_topics):
            top = max(top, score[k])
        mass = real(0.0)
        for k in range(n_topics):
            # Single precision has no smaller share.
            score[k] = fast_exp(max(score[k] - top, real(-80.0)))
            mass += score[k]
        total += lengths[m] * (top + np.log(mass))
        for i in range(indptr[m], indptr[m + 1]):
            row = gradient[indices[i]]
            scale = values[i] * lengths[m] / mass
            for k in range(n_topics):
                row[k] += scale * score[k]
    return total
