"""The topics that hold next to nothing, in closed form, and which ones are not among them."""

from typing import Any

from numba import njit

from hdsp.kernels.special import DEVICE, PART, fill

SMALLEST_NORM = 1e-30
# A topic is active if it holds this share of the tokens, or if its R_k is this near to 1.
ACTIVE_SHARE = 2e-3
_ACTIVE_R = 0.9


@njit(**PART)
def solve_background(prior: Any, topics: Any, active: Any, n_active: Any, least: Any) -> Any:
    """Solve the topics of the background by R_k, and list those that become active.

    Returns the number of active topics, the tokens moved, and the growth of what the topics hold
    that stay in the background.
    """
    n, a, reproduced, is_active = topics.n, topics.a, topics.reproduced, topics.is_active
    topic = active.topic
    kind = a.dtype.type
    change = kind(0.0)
    held_before = held_after = kind(SMALLEST_NORM)
    for k in range(a.shape[0]):
        if not is_active[k]:
            part = reproduced[k]
            near = part >= kind(_ACTIVE_R)
            value = part * a[k] if near else prior[k] * part / (kind(1.0) - part)
            change += abs(value - n[k])
            n[k] = value
            if near or value >= least:
                is_active[k] = True
                topic[n_active] = k
                n_active += 1
            else:
                held_before += part * a[k]
                a[k] = prior[k] + value
                held_after += part * a[k]
    return n_active, change, held_after / held_before


@njit(**PART)
def fill_tile(
    document: Any, table: Any, words: Any, topics: Any, active: Any, first: Any, n_active: Any
) -> None:
    """Take the active topics from `first` on into the tile, and out of the background."""
    indices, n_words, prior, rho = document.words, document.n_words, document.prior, document.rho
    own, token_weight, background = words.own, words.token_weight, words.background
    n, a, scale = topics.n, topics.a, topics.scale
    topic, tile, joint = active.topic, active.phi, active.joint
    few_n, few_prior, few_rho = active.n, active.prior, active.rho
    stop = indices.shape[0]
    zero = table.dtype.type(0.0)
    one = table.dtype.type(1.0)
    for i in range(stop):
        row = table[indices[i]]
        for j in range(first, n_active):
            tile[j, i] = row[topic[j]]
    for j in range(first, n_active):
        for i in range(stop, n_words):
            tile[j, i] = zero
        k = topic[j]
        few_n[j] = n[k]
        few_prior[j] = prior[k]
        few_rho[j] = rho[k]
        for i in range(n_words):
            value = tile[j, i] * scale[k]
            joint[j, i] = a[k] * value / (one + own[i] * token_weight[i] * value)
        for i in range(n_words):
            background[i] -= joint[j, i]


@njit(**PART)
def drop_topics(n_words: Any, active: Any, n_active: Any, is_active: Any, least: Any) -> Any:
    """Return topics with fewer than `least` tokens to the background; how many are left."""
    topic, n, prior, rho = active.topic, active.n, active.prior, active.rho
    tile, joint = active.phi, active.joint
    j = 0
    while j < n_active:
        if n[j] >= least:
            j += 1
            continue
        is_active[topic[j]] = False
        n_active -= 1
        topic[j] = topic[n_active]
        n[j] = n[n_active]
        prior[j] = prior[n_active]
        rho[j] = rho[n_active]
        for i in range(n_words):
            tile[j, i] = tile[n_active, i]
            joint[j, i] = joint[n_active, i]
    return n_active


@njit(**DEVICE)
def mix_background(document: Any, table: Any, topics: Any, background: Any) -> None:
    """``background[i] = sum_k phi_ik scale_k a_k`` over the topics that are not active."""
    a, scale, weight, is_active = topics.a, topics.scale, topics.weight, topics.is_active
    n_topics = table.shape[1]
    floor = table.dtype.type(SMALLEST_NORM)
    for k in range(n_topics):
        weight[k] = table.dtype.type(0.0) if is_active[k] else scale[k] * a[k]
    stop, indices = document.words.shape[0], document.words
    i = 0
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
        background[i] = sum0
        background[i + 1] = sum1
        background[i + 2] = sum2
        background[i + 3] = sum3
        i += 4
    while i < stop:
        row0 = table[indices[i]]
        sum0 = floor
        for k in range(n_topics):
            sum0 += row0[k] * weight[k]
        background[i] = sum0
        i += 1


@njit(**DEVICE)
def reproduce(document: Any, table: Any, words: Any, topics: Any) -> None:
    """R_k of all topics, and the background: ``Z_i sum_k gamma_ik`` over those not active.

    x_ik = phi_ik scale_k / Z_i.
    """
    a, scale, is_active = topics.a, topics.scale, topics.is_active
    shape, inverse, out = topics.weight, topics.inverse, topics.reproduced
    own, token_weight, background = words.own, words.token_weight, words.background
    indices, stop = document.words, document.words.shape[0]
    n_topics = table.shape[1]
    zero = table.dtype.type(0.0)
    one = table.dtype.type(1.0)
    for k in range(n_topics):
        shape[k] = zero if is_active[k] else a[k]
    fill(out, zero)
    # Two words share a division, and the last word of an odd number has itself for a partner.
    for i in range(0, stop, 2):
        other = min(i + 1, stop - 1)
        row0 = table[indices[i]]
        row1 = table[indices[other]]
        weight0 = token_weight[i]
        weight1 = token_weight[other] if other > i else zero
        own0 = own[i]
        own1 = own[other]
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
        background[i] = held0 / weight0 if weight0 > zero else zero
        if other > i:
            background[other] = held1 / weight1 if weight1 > zero else zero
