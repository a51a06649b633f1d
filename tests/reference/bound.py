"""The whole bound from its definition (equations 6 to 10), dense and in float64."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, psi
from scipy.stats import gamma

from tests.reference.topics import word_table


@dataclass(frozen=True)
class Documents:
    """q(pi) and q(z) in full: a_mk, b_mk [M, T], xi_m [M] and gamma_mik [M, V, T]."""

    shape: np.ndarray
    rate: np.ndarray
    tangent: np.ndarray
    responsibility: np.ndarray


def full_documents(problem, state, solution):
    """a, b, xi and gamma of a solution that was found with `state`."""
    (block,) = problem.blocks
    documents = solution.documents
    expected_rate = problem.scaling.expected_rate(state.scaling, problem.design)
    joint = word_table(state.topics)[None] * solution.weight[:, None, : state.n_topics]
    total = joint.sum(axis=2, keepdims=True)
    return Documents(
        shape=documents.token_counts[:, : state.n_topics] + state.prior_shape,
        rate=expected_rate + (block.lengths / documents.tangent)[:, None],
        tangent=documents.tangent,
        responsibility=joint / total,
    )


def seed_rows(priors):
    """What each seeded topic's words have beyond eta, [S, V]."""
    return [] if priors.seeds is None else priors.seeds.toarray()


def bound_terms(counts, problem, state, documents):
    """The bound, term by term, for dense counts [M, V] and `Documents`."""
    a, b, xi = documents.shape, documents.rate, documents.tangent
    lengths = counts.sum(axis=1)
    mean = a / b
    log_mean = psi(a) - np.log(b)
    topics = state.topics.astype(float)
    log_phi = psi(topics) - psi(topics.sum(axis=0))
    weight = state.topic_weight
    beta, alpha, eta = (
        state.document_concentration,
        state.corpus_concentration,
        problem.priors.topic_prior,
    )
    prior_shape = beta * weight
    rate = problem.scaling.expected_rate(state.scaling, problem.design)
    log_rate = problem.scaling.expected_log_rate(state.scaling, problem.design)

    gamma_ = documents.responsibility
    joint = log_phi[None] + log_mean[:, None] - np.log(np.where(gamma_ > 0, gamma_, 1.0))
    words = np.einsum("mi,mik,mik->", counts, gamma_, joint)
    tangent = -(lengths * (np.log(xi) + (mean.sum(axis=1) - xi) / xi)).sum()
    prior = (
        prior_shape * log_rate + (prior_shape - 1) * log_mean - rate * mean - gammaln(prior_shape)
    ).sum()
    entropy = (a - np.log(b) + gammaln(a) + (1 - a) * psi(a)).sum()
    prior_words = np.full(topics.shape, eta)
    for extra, topic in zip(seed_rows(problem.priors), state.seeded, strict=True):
        prior_words[:, topic] += extra
    dirichlet = gammaln(prior_words.sum(axis=0)) - gammaln(prior_words).sum(axis=0)
    dirichlet += ((prior_words - 1) * log_phi).sum(axis=0)
    dirichlet -= gammaln(topics.sum(axis=0)) - gammaln(topics).sum(axis=0)
    dirichlet -= ((topics - 1) * log_phi).sum(axis=0)
    sticks = (np.log(alpha) + (alpha - 1) * np.log1p(-state.sticks)).sum()
    concentrations = 0.0
    for value, hyper in (
        (alpha, problem.priors.corpus_concentration),
        (beta, problem.priors.document_concentration),
    ):
        if hyper is not None:
            concentrations += gamma.logpdf(value, hyper[0], scale=1 / hyper[1])
    return {
        "words": words,
        "tangent": tangent,
        "proportions": prior + entropy,
        "topics": dirichlet.sum(),
        "scaling": problem.scaling.prior_terms(state.scaling).sum(),
        "sticks": sticks,
        "concentrations": concentrations,
    }
