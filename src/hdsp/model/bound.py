"""The bound, itemised (equations 6 to 10)."""

import numpy as np
from scipy.special import gammaln, psi

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.differing import version_terms
from hdsp.model.documents import WORD_RANGE
from hdsp.model.problem import BlockProblem, Priors
from hdsp.model.seeds import prior_totals, seed_bound
from hdsp.model.state import BoundTerms, GlobalState, Statistics
from hdsp.numerics import log_gamma_density


def elbo(problem: BlockProblem, state: GlobalState, statistics: Statistics) -> BoundTerms:
    """The bound at `state`, from the statistics of documents fitted with it."""
    alpha = state.corpus_concentration
    priors = problem.priors
    concentrations = 0.0
    if priors.corpus_concentration is not None:
        concentrations += log_gamma_density(alpha, *priors.corpus_concentration)
    if priors.document_concentration is not None:
        beta = state.document_concentration
        concentrations += log_gamma_density(beta, *priors.document_concentration)
    return statistics.bound + BoundTerms(
        topics=topic_terms(state, priors),
        scaling=float(problem.scaling.prior_terms(state.scaling).sum()),
        sticks=float(
            len(state.sticks) * np.log(alpha) + (alpha - 1.0) * np.log1p(-state.sticks).sum()
        ),
        concentrations=concentrations,
    )


def topic_terms(state: GlobalState, priors: Priors) -> float:
    """E[ln p(phi)] - E[ln q(phi)] of all topics, with the terms of their versions (34).

    For one topic, with L = sum_i lambda_i and H = sum_i eta_i: ln Gamma(H) - ln Gamma(L)
    + (L - H) psi(L) + sum_i (ln Gamma(lambda_i) - ln Gamma(eta_i)
    + (eta_i - lambda_i) psi(lambda_i)).
    """
    topics, topic_prior = state.topics, priors.topic_prior
    n_words, n_topics = topics.shape
    gap = np.empty(n_words)
    run_ranges(
        kernels.dirichlet_terms,
        n_words,
        WORD_RANGE,
        np.ascontiguousarray(topics),
        topics.dtype.type(topic_prior),
        gap,
    )
    total = topics.sum(axis=0, dtype=np.float64)
    prior_total = prior_totals(n_words, n_topics, topic_prior, priors.seeds, state.seeded)
    whole = gammaln(prior_total) - gammaln(total) + (total - prior_total) * psi(total)
    seeds = seed_bound(topics, topic_prior, priors.seeds, state.seeded)
    terms = float(gap.sum() + whole.sum()) + seeds
    if state.versions is None:
        return terms
    return terms + version_terms(state, priors)
