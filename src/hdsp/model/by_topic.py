"""The bound as a sum over topics, while documents' responsibilities stay as they are.

With q(phi_k) and q(pi_mk) at their optimum for the tokens n that topics hold, and the tangents
xi_m fixed, the bound (6) to (10) is a sum over topics of

    ln B(eta + n_k) - ln B(eta)                                     words and q(phi)
    + sum_m ln G(a_mk) - ln G(beta p_k) - a_mk ln b_mk + beta p_k E[ln rho_mk]    proportions
    + E[ln p(w_k)] - E[ln q(w_k)]                                   labels' weights

plus the entropy of the responsibilities, N_m (1 - ln xi_m) of each document, and the densities of
sticks and concentrations, which moves leave out (`BoundTerms.comparable`). So what happens to one
topic, or to two that become one, can be evaluated exactly without the others.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.documents import expected_rates
from hdsp.model.problem import Problem
from hdsp.model.seeds import prior_totals, seed_word_terms
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Parameters, take_topics

# Topics per task of a thread; fixed, so that results do not depend on the number of threads.
_TOPIC_RANGE = 8


@dataclass(frozen=True, eq=False)
class TopicParts:
    """Some topics: what they hold, and their part of the global state.

    Attributes
    ----------
    topic_words : float array of shape [Q, V]
        Expected tokens of each word, sum_m c_mi gamma_mik.
    token_counts : float array of shape [M, Q]
        Expected tokens in each document, sum_i c_mi gamma_mik.
    prior_shape : float array of shape [Q]
        The prior shape beta p_k.
    scaling : mapping of str to array
        The scaling function's parameters for these topics.
    seed_sets : int array of shape [Q]
        The seed set that steers each topic, or -1.
    """

    topic_words: FloatArray
    token_counts: FloatArray
    prior_shape: FloatArray
    scaling: Parameters
    seed_sets: IntArray

    def take(self, chosen: IntArray) -> "TopicParts":
        """Some of these topics."""
        return TopicParts(
            self.topic_words[chosen],
            self.token_counts[:, chosen],
            self.prior_shape[chosen],
            take_topics(self.scaling, chosen),
            self.seed_sets[chosen],
        )


def join_parts(parts: list[TopicParts]) -> TopicParts:
    """Concatenate several sets of topics."""
    return TopicParts(
        np.concatenate([part.topic_words for part in parts]),
        np.concatenate([part.token_counts for part in parts], axis=1),
        np.concatenate([part.prior_shape for part in parts]),
        {name: np.concatenate([part.scaling[name] for part in parts]) for name in parts[0].scaling},
        np.concatenate([part.seed_sets for part in parts]),
    )


def topic_bound(problem: Problem, parts: TopicParts, tangent: FloatArray) -> FloatArray:
    """Each topic's own part of the bound, [Q], with the tangents xi_m [M] fixed."""
    return (
        word_terms(problem, parts.topic_words, parts.seed_sets)
        + proportion_terms(problem, parts.token_counts, parts.prior_shape, parts.scaling, tangent)
        + problem.scaling.prior_terms(parts.scaling)
    )


def word_terms(problem: Problem, topic_words: FloatArray, seed_sets: IntArray) -> FloatArray:
    """ln B(eta + n_k) - ln B(eta), [Q], of topics with `topic_words` [Q, V]."""
    out = np.empty(len(topic_words))
    prior, seeds = problem.priors.topic_prior, problem.priors.seeds
    run_ranges(
        kernels.sum_log_gamma,
        len(out),
        _TOPIC_RANGE,
        np.ascontiguousarray(topic_words),
        prior,
        out,
    )
    out += seed_word_terms(topic_words, prior, seeds, seed_sets)
    steered = np.flatnonzero(seed_sets >= 0)
    own = None if seeds is None else seeds[seed_sets[steered]]
    prior_total = prior_totals(problem.n_words, len(out), prior, own, steered)
    total = topic_words.sum(axis=1, dtype=np.float64)
    return np.asarray(out + gammaln(prior_total) - gammaln(prior_total + total))


def proportion_terms(
    problem: Problem,
    token_counts: FloatArray,
    prior_shape: FloatArray,
    scaling: Parameters,
    tangent: FloatArray,
) -> FloatArray:
    """The proportions' part of the bound, [Q], of topics with `token_counts` [M, Q].

    `problem` may be the whole corpus or some of its documents.
    """
    n_topics = len(prior_shape)
    rate = expected_rates(problem.scaling, scaling, problem.design, n_topics, problem.dtype)
    out = np.empty(n_topics)
    run_ranges(
        kernels.sum_proportion_terms,
        n_topics,
        _TOPIC_RANGE,
        np.ascontiguousarray(token_counts),
        prior_shape,
        rate,
        problem.lengths / tangent.astype(np.float64),
        out,
    )
    if problem.design.nnz:
        out += prior_shape * problem.scaling.log_rate_total(scaling, problem.design)
    return out


def fitted_scaling(
    problem: Problem, parts: TopicParts, tangent: FloatArray, n_updates: int
) -> TopicParts:
    """The same topics with their labels' weights fitted to what they hold (equations 15, 16)."""
    if problem.design.nnz == 0:
        return parts
    per_xi = (problem.lengths / tangent)[:, None]
    scaling = parts.scaling
    for _ in range(n_updates):
        rate = problem.scaling.expected_rate(scaling, problem.design)
        mean = (parts.prior_shape + parts.token_counts) / (rate + per_xi)
        scaling = problem.scaling.update(
            scaling, problem.design, parts.prior_shape, mean.astype(problem.dtype)
        )
    return replace(parts, scaling=scaling)
