"""Softmax regression on sparse labels, and tokens shared out among topics."""

from typing import Any

import numpy as np

from hdsp.kernels.special import fast_exp, fill, kernel, scratch


@kernel
def add_softmax_loss(
    first: Any,
    last: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    lengths: Any,
    weights: Any,
    gradient: Any,
) -> Any:
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


@kernel
def share_tokens(
    first: Any,
    last: Any,
    indptr: Any,
    indices: Any,
    counts: Any,
    proportions: Any,
    word_share: Any,
    out: Any,
) -> None:
    """``out[m, k] = theta_mk sum_i c_mi phi_ki / sum_l theta_ml phi_li``: an E step.

    `proportions` and `out` [M, T], `word_share` [V, T]. Plain twin: ``tests/reference/softmax.py``.
    """
    n_topics = proportions.shape[1]
    real = proportions.dtype.type
    for m in range(first, last):
        theta = proportions[m]
        found = out[m]
        fill(found, real(0.0))
        for i in range(indptr[m], indptr[m + 1]):
            row = word_share[indices[i]]
            mixed = real(1e-30)
            for k in range(n_topics):
                mixed += theta[k] * row[k]
            scale = counts[i] / mixed
            for k in range(n_topics):
                found[k] += scale * row[k]
        for k in range(n_topics):
            found[k] *= theta[k]
