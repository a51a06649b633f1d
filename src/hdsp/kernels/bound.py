"""Terms of the bound: of q(phi), of documents, and the entropies that merges of topics lose."""

import numpy as np
from numba import njit

from hdsp.kernels.special import DEVICE, digamma_and_log_gamma, fast_log, kernel, scratch

# Tokens of less than this share of the prior shape enter by a second-order expansion.
_SMALL_SHARE = 1e-4
# Fewer tokens than this are rounding.
_SMALLEST_COUNT = 1e-12


@njit(**DEVICE)
def _fill_prior_functions(prior_shape, out):
    """psi, ln Gamma and the derivative of psi at a0, [3, K]; zeros where a0 is padding."""
    for k in range(prior_shape.shape[0]):
        out[0, k] = out[1, k] = out[2, k] = 0.0
        a0 = np.float64(prior_shape[k])
        if a0 > 0.0:
            out[0, k], out[1, k] = digamma_and_log_gamma(a0)
            above, _ = digamma_and_log_gamma(a0 * (1.0 + 1e-5))
            below, _ = digamma_and_log_gamma(a0 * (1.0 - 1e-5))
            out[2, k] = (above - below) / (2e-5 * a0)


@kernel
def dirichlet_terms(first, last, topics, topic_prior, out):
    """``out[i] = sum_k ln G(l_ik) - ln G(eta) + (eta - l_ik) psi(l_ik)`` for words of q(phi).

    Plain twin: ``tests/reference/terms.py``.
    """
    eta = np.float64(topic_prior)
    alone = scratch(1, topics.dtype)
    alone[0] = topic_prior
    prior = np.empty((3, 1))
    _fill_prior_functions(alone, prior)
    for i in range(first, last):
        total = 0.0
        for k in range(topics.shape[1]):
            n = np.float64(topics[i, k] - topic_prior)
            if abs(n) <= _SMALL_SHARE * eta:
                total -= 0.5 * n * n * prior[2, 0]
            else:
                psi, log_gamma = digamma_and_log_gamma(eta + n)
                total += log_gamma - prior[1, 0] - n * psi
        out[i] = total


@kernel
def fill_document_terms(
    first,
    last,
    size,
    indptr,
    counts,
    lengths,
    prior_shape,
    rate,
    token_counts,
    xi,
    weight,
    token_weight,
    words,
    tangent,
    proportions,
    log_proportion,
):
    """Terms (6) to (9) of the bound without E[ln rho], of documents ``first`` to ``last``.

    Takes what `solve_documents` writes. Writes the terms `words`, `tangent` and `proportions` [M],
    and adds E[ln pi_mk] to ``log_proportion[first // size]`` [K], so that ranges can be summed in
    order. Plain twin: ``tests/reference/terms.py``.
    """
    n_topics = prior_shape.shape[0]
    real = token_counts.dtype.type
    zero = real(0.0)
    one = real(1.0)
    log_sum = log_proportion[first // size]
    prior = np.empty((3, n_topics))
    _fill_prior_functions(prior_shape, prior)
    log_rate = scratch(n_topics, token_counts.dtype)
    for m in range(first, last):
        n = token_counts[m]
        rho = rate[m]
        e = weight[m]
        length = lengths[m]
        per_xi = length / xi[m]
        shape_sum = mean_sum = load = pull = zero
        # sum_k n_k (ln b_k + ln e_k); a topic without weight has no tokens either
        carried = zero
        for k in range(n_topics):
            log_rate[k] = fast_log(rho[k] + per_xi)
        for k in range(n_topics):
            a = prior_shape[k] + n[k]
            mean = a / (rho[k] + per_xi)
            log_b = log_rate[k]
            shape_sum += a
            mean_sum += mean
            load += rho[k] * mean
            pull += prior_shape[k] * log_b
            log_e = fast_log(e[k] if e[k] > zero else one)
            carried += n[k] * (log_b + log_e)
        for k in range(n_topics):
            log_sum[k] -= log_rate[k]
        log_norms = 0.0
        block = zero
        for i in range(indptr[m], indptr[m + 1]):
            block += counts[i] * (fast_log(counts[i]) - fast_log(token_weight[i]))
        log_norms += block
        gap = 0.0
        weighted = 0.0
        for k in range(n_topics):
            n_k = np.float64(n[k])
            a0 = np.float64(prior_shape[k])
            if n_k <= _SMALL_SHARE * a0:
                psi = prior[0, k] + n_k * prior[2, k]
                gap -= 0.5 * n_k * n_k * prior[2, k]
            else:
                psi, log_gamma = digamma_and_log_gamma(a0 + n_k)
                gap += log_gamma - prior[1, k] - n_k * psi
            log_sum[k] += psi
            weighted += n_k * psi
        words[m] = log_norms + weighted - carried
        tangent[m] = -length * (np.log(np.float64(xi[m])) + np.float64(mean_sum) / xi[m] - 1.0)
        proportions[m] = gap + shape_sum - pull - load


@kernel
def sum_pair_entropies(
    first, last, size, indptr, indices, token_weight, weight, table, token_counts, pairs, out
):
    """The entropy of words that is lost where two topics become one, for each pair of topics.

    With t_j = c_i gamma_ij: the sum of ``t_j ln t_j + t_k ln t_k - (t_j + t_k) ln (t_j + t_k)``
    over the words of documents `first` to `last`. It is added to ``out[first // size]`` [Q], so
    that ranges can be summed in order. Plain twin: ``tests/reference/terms.py``.
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
