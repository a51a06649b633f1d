"""The bound, itemised (equations 6 to 10)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, psi

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.data import Data
from hdsp.model.documents import WORD_RANGE, expected_rates
from hdsp.model.priors import Priors, TopicPrior
from hdsp.model.state import BoundTerms, GlobalState, Statistics
from hdsp.model.versions import version_terms
from hdsp.numerics import FloatArray, IntArray, log_gamma_density
from hdsp.scaling.functions import Design, Parameters, ScalingFunction, take_topics


def elbo(problem: Data, state: GlobalState, statistics: Statistics) -> BoundTerms:
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
    prior = priors.of_topics(state.seeded)
    prior_total = prior.totals(n_words, n_topics)
    whole = gammaln(prior_total) - gammaln(total) + (total - prior_total) * psi(total)
    terms = float(gap.sum() + whole.sum()) + prior.seed_bound(topics)
    if state.versions is None:
        return terms
    return terms + version_terms(state.versions, topics, prior)


# Topics per task of a thread; fixed, so that results do not depend on the number of threads.
_TOPIC_RANGE = 8


@dataclass(frozen=True, eq=False)
class TopicWeights:
    """What documents know of some topics beside their words.

    Attributes
    ----------
    prior_shape : float array of shape [Q]
        The prior shape beta p_k.
    scaling : mapping of str to array
        The scaling function's parameters for these topics.
    """

    prior_shape: FloatArray
    scaling: Parameters

    def take(self, topics: IntArray | slice) -> "TopicWeights":
        """Some of these topics."""
        return TopicWeights(self.prior_shape[topics], take_topics(self.scaling, topics))

    def merged(self, pairs: IntArray) -> "TopicWeights":
        """One topic for each pair [Q, 2]: weights are sums, and labels' weights averages."""
        one, other = (self.take(topics) for topics in pairs.T)
        prior_shape = one.prior_shape + other.prior_shape
        share = one.prior_shape / prior_shape
        scaling = {
            name: value * share.reshape(-1, *[1] * (value.ndim - 1))
            + other.scaling[name] * (1.0 - share).reshape(-1, *[1] * (value.ndim - 1))
            for name, value in one.scaling.items()
        }
        return TopicWeights(prior_shape, scaling)


def word_terms(prior: TopicPrior, topic_words: FloatArray) -> FloatArray:
    """ln B(eta + n_k) - ln B(eta), [Q], of topics with `topic_words` [Q, V]."""
    out = np.empty(len(topic_words))
    words = np.ascontiguousarray(topic_words)
    run_ranges(kernels.sum_log_gamma, len(out), _TOPIC_RANGE, words, prior.eta, out)
    out += prior.seed_word_terms(topic_words)
    prior_total = prior.totals(topic_words.shape[1], len(out))
    total = topic_words.sum(axis=1, dtype=np.float64)
    return np.asarray(out + gammaln(prior_total) - gammaln(prior_total + total))


def proportion_terms(
    function: ScalingFunction,
    design: Design,
    per_xi: FloatArray,
    token_counts: FloatArray,
    topics: TopicWeights,
) -> FloatArray:
    """The proportions' part of the bound, [Q], in documents with labels `design` [M, J].

    `per_xi` [M] is N_m / xi_m, and `token_counts` [M, Q] what the topics hold.
    """
    n_topics = len(topics.prior_shape)
    rate = expected_rates(function, topics.scaling, design, n_topics, token_counts.dtype)
    out = np.empty(n_topics)
    run_ranges(
        kernels.sum_proportion_terms,
        n_topics,
        _TOPIC_RANGE,
        np.ascontiguousarray(token_counts),
        topics.prior_shape,
        rate,
        per_xi,
        out,
    )
    if design.nnz:
        out += topics.prior_shape * function.log_rate_total(topics.scaling, design)
    return out


def token_proportions(
    function: ScalingFunction,
    design: Design,
    per_xi: FloatArray,
    token_counts: FloatArray,
    topics: TopicWeights,
) -> FloatArray:
    """E[pi_mk] = a_mk / b_mk at its optimum for the tokens that topics hold, [M, Q]."""
    rate = function.expected_rate(topics.scaling, design)
    mean = (topics.prior_shape + token_counts) / (rate + per_xi[:, None])
    return mean.astype(token_counts.dtype)
