"""The bound, term by term, and the terms of single topics."""

import numpy as np
from scipy.special import gammaln, psi

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.data import Data
from hdsp.model.documents import WORD_RANGE, BlockState
from hdsp.model.priors import Priors, TopicPrior
from hdsp.model.state import BoundTerms, GlobalState, Statistics, TopicWeights
from hdsp.model.versions import version_terms
from hdsp.numerics import FloatArray, log_gamma_density
from hdsp.scaling.functions import ScalingFunction

# Topics per task of a thread; fixed, so that results do not depend on the number of threads.
TERM_RANGE = 8


def elbo(problem: Data, state: GlobalState, statistics: Statistics) -> BoundTerms:
    """The bound at `state`, from the statistics of documents fitted with it."""
    alpha, beta = state.corpus_concentration, state.document_concentration
    priors, concentrations = problem.priors, 0.0
    for value, prior in (
        (alpha, priors.corpus_concentration),
        (beta, priors.document_concentration),
    ):
        concentrations += log_gamma_density(value, *prior) if prior else 0.0
    sticks = len(state.sticks) * np.log(alpha) + (alpha - 1.0) * np.log1p(-state.sticks).sum()
    return statistics.bound + BoundTerms(
        topics=topic_terms(state, priors),
        scaling=float(problem.scaling.prior_terms(state.scaling).sum()),
        sticks=float(sticks),
        concentrations=concentrations,
    )


def topic_terms(state: GlobalState, priors: Priors) -> float:
    """E[ln p(phi)] - E[ln q(phi)] of all topics, with the terms of their versions (34).

    For one topic, with L = sum_i lambda_i and H = sum_i eta_i: ln Gamma(H) - ln Gamma(L)
    + (L - H) psi(L) + sum_i (ln Gamma(lambda_i) - ln Gamma(eta_i)
    + (eta_i - lambda_i) psi(lambda_i)).
    """
    topics = np.ascontiguousarray(state.topics)
    n_words, n_topics = topics.shape
    gap, eta = np.empty(n_words), topics.dtype.type(priors.topic_prior)
    run_ranges(kernels.dirichlet_terms, n_words, WORD_RANGE, topics, eta, gap)
    total = topics.sum(axis=0, dtype=np.float64)
    prior = priors.of_topics(state.seeded)
    prior_total = prior.totals(n_words, n_topics)
    whole = gammaln(prior_total) - gammaln(total) + (total - prior_total) * psi(total)
    terms = float(gap.sum() + whole.sum()) + prior.seed_bound(topics)
    if state.versions is None:
        return terms
    return terms + version_terms(state.versions, topics, prior)


def word_terms(prior: TopicPrior, topic_words: FloatArray) -> FloatArray:
    """ln B(eta + n_k) - ln B(eta), [Q], of topics with `topic_words` [Q, V]."""
    n_topics, n_words = topic_words.shape

    def rise(first: int, last: int) -> FloatArray:
        tokens = topic_words[first:last].astype(np.float64)
        return np.asarray((gammaln(prior.eta + tokens) - gammaln(prior.eta)).sum(axis=1))

    terms = np.concatenate(run_ranges(rise, n_topics, TERM_RANGE))
    terms += prior.seed_word_terms(topic_words)
    prior_total = prior.totals(n_words, n_topics)
    total = topic_words.sum(axis=1, dtype=np.float64)
    return np.asarray(terms + gammaln(prior_total) - gammaln(prior_total + total))


def proportion_terms(
    function: ScalingFunction, kept: BlockState, tokens: FloatArray, topics: TopicWeights
) -> FloatArray:
    """The proportions' part of the bound, [Q], of topics that hold `tokens` [M, Q] of a block."""
    per_xi = kept.per_xi[:, None]

    def terms(first: int, last: int) -> FloatArray:
        some = topics.take(slice(first, last))
        shape = some.prior_shape + tokens[:, first:last]
        rate = function.expected_rate(some.scaling, kept.design) + per_xi
        rise = gammaln(shape) - gammaln(some.prior_shape) - shape * np.log(rate)
        return np.asarray(rise.sum(axis=0))

    total = np.concatenate(run_ranges(terms, len(topics.prior_shape), TERM_RANGE))
    if kept.design.nnz:
        total += topics.prior_shape * function.log_rate_total(topics.scaling, kept.design)
    return np.asarray(total)
