"""One document after another, by turns of background and active topics."""

from typing import Any

import numpy as np
from numba import njit

from hdsp.kernels.cvb0.active_set import (
    ACTIVE_SHARE,
    SMALLEST_NORM,
    drop_topics,
    fill_tile,
    mix_background,
    reproduce,
    solve_background,
)
from hdsp.kernels.cvb0.iteration import iterate
from hdsp.kernels.cvb0.workspace import Document, name_arrays, pad_words
from hdsp.kernels.documents import _gather, _solve_tangent
from hdsp.kernels.special import PART, UNCOUNTED, fill, kernel, smallest

# The first round, whose background is rough, may stop at this many times the tolerance.
_FIRST_ROUND = 10.0
# The background follows a fifth of what active topics move at most: it holds that share of tokens.
_FOLLOWS = 5.0
# A literal would have a type of its own, for which functions are compiled once more.
_ZERO = np.int64(0)


@kernel(**UNCOUNTED)
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
    memory: Any,
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
    memory : tuple of arrays
        What `make_memory` returns for these documents.

    Returns
    -------
    int
        The updates made, summed over documents.
    """
    kind = table.dtype.type
    zero = kind(0.0)
    # Newton squares the error: a step this small leaves rounding.
    tolerance = kind(1e-3) if table.itemsize == 4 else kind(1e-7)
    words, topics, active = name_arrays(memory)
    prior_total = zero
    for k in range(prior_shape.shape[0]):
        prior_total += prior_shape[k]
    iterations = 0
    for m in range(first, last):
        start, stop, rho = indptr[m], indptr[m + 1], rate[m]
        per_xi = zero
        fill(topics.n, zero)
        if lengths[m] > zero:
            lowest = smallest(rho)
            document = Document(
                indices[start:stop],
                pad_words(counts[start:stop], words),
                lengths[m],
                prior_shape,
                prior_total,
                rho,
                lowest,
                prior_total / lowest * kind(1.001),
                tolerance,
            )
            xi, made = _solve_document(document, table, words, topics, active, max_iter, tol)
            per_xi = lengths[m] / xi
            iterations += made
        total = 0.0
        for k in range(out.shape[1]):
            theta = np.float64(prior_shape[k] + topics.n[k]) / np.float64(rho[k] + per_xi)
            out[m, k] = theta
            total += theta
        for k in range(out.shape[1]):
            out[m, k] /= total
    return iterations


@njit(**PART)
def _solve_document(
    document: Any, table: Any, words: Any, topics: Any, active: Any, max_iter: Any, tol: Any
) -> Any:
    """Solve for ``topics.n``; (xi, updates made)."""
    kind = table.dtype.type
    n_words, length, rho, lowest = document.n_words, document.length, document.rho, document.lowest
    topic, few_n, n, scale = active.topic, active.n, topics.n, topics.scale
    background = words.background
    least = kind(ACTIVE_SHARE) * length
    enough = tol * length
    xi = _start(document, table, words, topics)
    made = 2
    rounds = 0
    n_active = _ZERO
    while True:
        known = n_active
        n_active, change, growth = solve_background(document.prior, topics, active, n_active, least)
        if (rounds > 1 and change <= enough) or made >= max_iter:
            break
        fill_tile(document, table, words, topics, active, known, n_active)
        if rounds == 0:
            mix_background(document, table, topics, background)
            growth = kind(1.0)
        for i in range(n_words):
            background[i] = max(background[i] * growth, kind(SMALLEST_NORM))
        # Words that do not occur must not be divided by zero.
        for i in range(document.words.shape[0], n_words):
            background[i] = kind(1.0)
        stop_at = enough * (kind(_FIRST_ROUND) if rounds == 0 else kind(1.0))
        xi, updates = iterate(
            document, words, active, n_active, topics.a, xi, stop_at, max_iter - made
        )
        made += updates
        rounds += 1
        moved = kind(0.0)
        for j in range(n_active):
            moved += abs(few_n[j] - n[topic[j]])
        for j in range(n_active):
            n[topic[j]] = few_n[j]
        settled = rounds > 1 and moved <= kind(_FOLLOWS) * tol * length
        if settled or made >= max_iter:
            break
        if rounds == 1:
            # Most topics that seemed to matter at first have lost their tokens by now.
            n_active = drop_topics(n_words, active, n_active, topics.is_active, least)
        per_xi = length / xi
        for k in range(table.shape[1]):
            scale[k] = lowest / (rho[k] + per_xi)
        reproduce(document, table, words, topics)
        made += 1
    return xi, made


@njit(**PART)
def _start(document: Any, table: Any, words: Any, topics: Any) -> Any:
    """Make two updates of all topics that leave nothing out, to see which will matter; xi."""
    indices, prior, rho = document.words, document.prior, document.rho
    length, prior_total, lowest = document.length, document.prior_total, document.lowest
    counts, token_weight = words.counts, words.token_weight
    n, a, scale, weight = topics.n, topics.a, topics.scale, topics.weight
    reproduced, is_active = topics.reproduced, topics.is_active
    n_topics, stop = table.shape[1], indices.shape[0]
    xi = table.dtype.type(0.0)
    for k in range(n_topics):
        xi += prior[k] / rho[k]
    for k in range(n_topics):
        weight[k] = prior[k] * (lowest / rho[k])
    _gather(_ZERO, stop, indices, counts, table, weight, token_weight, reproduced)
    for k in range(n_topics):
        n[k] = weight[k] * reproduced[k]
        a[k] = prior[k] + n[k]
    xi = _solve_tangent(length, prior_total, a, rho, xi, document.upper, document.tolerance)
    per_xi = length / xi
    for k in range(n_topics):
        scale[k] = lowest / (rho[k] + per_xi)
        weight[k] = scale[k] * a[k]
        is_active[k] = False
    _gather(_ZERO, stop, indices, counts, table, weight, token_weight, reproduced)
    for k in range(n_topics):
        reproduced[k] *= scale[k]
    return xi
