"""Gamma-function terms of the bound, written for reading."""

import numpy as np
from scipy.special import gammaln, psi, xlogy


def dirichlet_terms(topics, topic_prior):
    """sum_k ln G(l_ik) - ln G(eta) + (eta - l_ik) psi(l_ik) by word, from l [V, T]."""
    gap = gammaln(topics) - gammaln(topic_prior) + (topic_prior - topics) * psi(topics)
    return gap.sum(axis=1)


def fill_document_terms(counts, table, prior_shape, rate, token_counts, xi, weight):
    """Words, tangent and proportions (without E[ln rho]) by document, and sum_m E[ln pi_mk].

    From dense counts [M, V], the table B [V, T], and each document's n, xi and e: the
    responsibilities are gamma_mik = B_ik e_mk / norm_mi.
    """
    lengths = counts.sum(axis=1)
    shape = prior_shape + token_counts
    b = rate + (lengths / xi)[:, None]
    mean, log_mean = shape / b, psi(shape) - np.log(b)
    norm = weight @ table.T
    log_ratio = log_mean - np.log(np.where(weight > 0, weight, 1.0))
    words = (counts * np.log(norm)).sum(axis=1) + (token_counts * log_ratio).sum(axis=1)
    tangent = -lengths * (np.log(xi) + mean.sum(axis=1) / xi - 1.0)
    prior = (prior_shape - 1) * log_mean - rate * mean - gammaln(prior_shape)
    entropy = shape - np.log(b) + gammaln(shape) + (1 - shape) * psi(shape)
    return words, tangent, (prior + entropy).sum(axis=1), log_mean.sum(axis=0)


def pair_entropies(tokens, pairs):
    """The change of -sum t ln t where two topics become one; `tokens` [M, V, T] = c gamma."""
    return np.array(
        [
            (xlogy(one, one) + xlogy(other, other) - xlogy(one + other, one + other)).sum()
            for one, other in ((tokens[..., j], tokens[..., k]) for j, k in pairs)
        ]
    )
