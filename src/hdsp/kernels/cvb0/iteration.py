"""The active topics: updates of equation 22 in a tile, extrapolated."""

from typing import Any

import numpy as np
from numba import njit

from hdsp.kernels.documents import _solve_tangent
from hdsp.kernels.special import DEVICE, PART

# An extrapolation goes this many times as far as a plain update at most, leaves a topic at least
# this part of its tokens, and is the last one if the next update is this many times larger, or
# after this many updates: what has not settled by then may go in circles.
_LONGEST_STEP = 8.0
_LEAST_PART = 0.1
_WORSE = 4.0
_EXTRAPOLATED = 40


@njit(**PART)
def iterate(
    document: Any,
    words: Any,
    active: Any,
    n_active: Any,
    a: Any,
    xi: Any,
    enough: Any,
    max_iter: Any,
) -> Any:
    """Update the active topics until no more than `enough` tokens move; (xi, updates made).

    Replaces their entries of `a`, too.
    """
    kind = a.dtype.type
    topic, n, prior, rho = active.topic, active.n, active.prior, active.rho
    scale, new_n, before, between = active.scale, active.new_n, active.before, active.between
    length, prior_total, upper = document.length, document.prior_total, document.upper
    last_change = length
    extrapolating = True
    made = 0
    while made < max_iter:
        per_xi = length / xi
        for j in range(n_active):
            scale[j] = document.lowest / (rho[j] + per_xi)
        _update_tile(document.n_words, words, active, n_active)
        made += 1
        change = kind(0.0)
        for j in range(n_active):
            change += abs(new_n[j] - n[j])
        first_of_two = made % 2 == 1
        if first_of_two:
            extrapolating = extrapolating and change <= kind(_WORSE) * last_change
            for j in range(n_active):
                before[j] = n[j]
                between[j] = new_n[j]
        for j in range(n_active):
            n[j] = new_n[j]
        if change > enough and not first_of_two:
            last_change = change
            if extrapolating and made < min(max_iter, _EXTRAPOLATED):
                _extrapolate(n_active, before, between, n)
        for j in range(n_active):
            a[topic[j]] = prior[j] + n[j]
        xi = _solve_tangent(length, prior_total, a, document.rho, xi, upper, document.tolerance)
        if change <= enough:
            break
    return xi, made


@njit(**DEVICE)
def _update_tile(n_words: Any, words: Any, active: Any, n_active: Any) -> None:
    """One update of equation 22 on a tile [active topics, words].

    Replaces ``active.joint`` and ``words.token_weight``. The tokens that topics then hold go to
    ``active.new_n``.
    """
    counts, own, token_weight = words.counts, words.own, words.token_weight
    background, norm = words.background, words.norm
    prior, n, scale, out = active.prior, active.n, active.scale, active.new_n
    tile, joint = active.phi, active.joint
    zero = norm.dtype.type(0.0)
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
