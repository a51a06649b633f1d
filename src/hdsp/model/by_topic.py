"""The bound as a sum over topics, while documents' responsibilities stay as they are.

With q(phi_k) and q(pi_mk) at their optimum for the tokens n that topics hold, and the tangents
xi_m fixed, the bound (6) to (10) is a sum over topics of

    ln B(eta + n_k) - ln B(eta)                                     words and q(phi)
    + sum_m ln G(a_mk) - ln G(beta p_k) - a_mk ln b_mk + beta p_k E[ln rho_mk]    proportions
    + E[ln p(w_k)] - E[ln q(w_k)]                                   labels' weights

plus the entropy of the responsibilities, N_m (1 - ln xi_m) of each document, and the densities of
sticks and concentrations, which moves leave out (`BoundTerms.comparable`). So what happens to one
topic, or to two that become one, can be evaluated exactly without the others, and documents enter
by sums.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.documents import expected_rates
from hdsp.model.problem import Priors
from hdsp.model.seeds import prior_totals, seed_word_terms
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling import Design, Parameters, ScalingFunction, take_topics

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


def word_terms(priors: Priors, topic_words: FloatArray, seed_sets: IntArray) -> FloatArray:
    """ln B(eta + n_k) - ln B(eta), [Q], of topics with `topic_words` [Q, V].

    `seed_sets` [Q] tells the seed set that steers each topic, or -1.
    """
    out = np.empty(len(topic_words))
    prior, seeds = priors.topic_prior, priors.seeds
    run_ranges(
        kernels.sum_log_gamma, len(out), _TOPIC_RANGE, np.ascontiguousarray(topic_words), prior, out
    )
    out += seed_word_terms(topic_words, prior, seeds, seed_sets)
    steered = np.flatnonzero(seed_sets >= 0)
    own = None if seeds is None else seeds[seed_sets[steered]]
    prior_total = prior_totals(topic_words.shape[1], len(out), prior, own, steered)
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
