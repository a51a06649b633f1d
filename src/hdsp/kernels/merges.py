"""What proposals to merge topics are judged by."""

from typing import Any

import numpy as np

from hdsp.kernels.special import digamma_and_log_gamma, fill, kernel

# Fewer tokens than this are rounding.
_SMALLEST_COUNT = 1e-12


@kernel
def sum_log_gamma(first: Any, last: Any, word_counts: Any, prior: Any, out: Any) -> None:
    """``out[q] = sum_i ln G(prior + n_qi) - ln G(prior)`` for topics `first` to `last`.

    `word_counts` [Q, V] holds n. Plain twin: ``tests/reference/moves.py``.
    """
    _, log_prior = digamma_and_log_gamma(prior)
    for q in range(first, last):
        total = 0.0
        for i in range(word_counts.shape[1]):
            n = np.float64(word_counts[q, i])
            if n > 0.0:
                _, log_gamma = digamma_and_log_gamma(prior + n)
                total += log_gamma - log_prior
        out[q] = total


@kernel
def sum_proportion_terms(
    first: Any, last: Any, token_counts: Any, prior_shape: Any, rate: Any, per_xi: Any, out: Any
) -> None:
    """``out[q] = sum_m ln G(a_mq) - ln G(a0_q) - a_mq ln b_mq`` for topics `first` to `last`.

    With a = a0 + n and b = rho + N / xi (equation 11); `token_counts` [M, Q] holds n, `rate` [M, Q]
    rho and `per_xi` [M] N / xi. Plain twin: ``tests/reference/moves.py``.
    """
    n_topics = last - first
    log_prior = np.empty(n_topics)
    total = np.empty(n_topics)
    fill(total, 0.0)
    for j in range(n_topics):
        _, log_prior[j] = digamma_and_log_gamma(np.float64(prior_shape[first + j]))
    for m in range(token_counts.shape[0]):
        for j in range(n_topics):
            q = first + j
            n = np.float64(token_counts[m, q])
            a0 = np.float64(prior_shape[q])
            if n > 0.0:
                _, log_gamma = digamma_and_log_gamma(a0 + n)
                total[j] += log_gamma - log_prior[j]
            total[j] -= (a0 + n) * np.log(np.float64(rate[m, q]) + np.float64(per_xi[m]))
    for j in range(n_topics):
        out[first + j] = total[j]


@kernel
def sum_pair_entropies(
    first: Any,
    last: Any,
    size: Any,
    indptr: Any,
    indices: Any,
    token_weight: Any,
    weight: Any,
    table: Any,
    token_counts: Any,
    pairs: Any,
    out: Any,
) -> None:
    """The entropy of words that is lost where two topics become one, for each pair of topics.

    With t_j = c_i gamma_ij: the sum of ``t_j ln t_j + t_k ln t_k - (t_j + t_k) ln (t_j + t_k)``
    over the words of documents `first` to `last`. It is added to ``out[first // size]`` [Q], so
    that ranges can be summed in order. Plain twin: ``tests/reference/moves.py``.
    """
    row = out[first // size]
    for m in range(first, last):
        for q in range(pairs.shape[0]):
            j = pairs[q, 0]
            k = pairs[q, 1]
            if token_counts[m, j] <= 0.0 or token_counts[m, k] <= 0.0:
                continue
            total = 0.0
            for i in range(indptr[m], indptr[m + 1]):
                word = indices[i]
                one = np.float64(token_weight[i] * weight[m, j] * table[word, j])
                other = np.float64(token_weight[i] * weight[m, k] * table[word, k])
                if one > _SMALLEST_COUNT and other > _SMALLEST_COUNT:
                    both = one + other
                    total += one * np.log(one / both) + other * np.log(other / both)
            row[q] += total
