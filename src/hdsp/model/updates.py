"""The global step: each function returns a new state whose bound is no lower."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, gammaln, logit, psi

from hdsp.kernels import run_ranges
from hdsp.model.data import Data, Problem
from hdsp.model.documents import BlockState, mean_proportions
from hdsp.model.priors import Priors
from hdsp.model.state import GlobalState, Statistics
from hdsp.model.versions import learn_versions
from hdsp.numerics import FloatArray, weights_from_sticks
from hdsp.scaling.functions import DesignLimits, Parameters, ScalingFunction, take_topics

# V_k stays this far from 0 and 1 on the logit scale; p_k below 1e-8 of what is left is no topic.
_LARGEST_LOGIT = 18.0
# Topics whose E[pi] is in memory at once while the scaling function is updated.
_TOPIC_RANGE = 32


def global_step(
    problem: Data, state: GlobalState, statistics: Statistics, scaling: Parameters | None = None
) -> GlobalState:
    """One update of everything but the documents, which were fitted with `state`.

    `scaling` are label weights that have been updated already; None updates them from the scaling
    function's own sums, in smaller steps that never lower the bound.
    """
    if scaling is None:
        scaling = update_scaling_from_sums(problem, state, statistics.scaling, statistics.limits)
    state = replace(update_topics(problem, state, statistics), scaling=scaling)
    # This depends on the new weights, so it cannot be summed during the pass.
    log_total = statistics.log_proportion + log_rate_total(problem, scaling, statistics)
    return update_weights(problem, state, log_total)


def log_rate_total(problem: Data, scaling: Parameters, statistics: Statistics) -> FloatArray:
    """sum_m E[ln rho_mk], [T].

    E[ln rho] is linear in the labels for functions that can be updated from sums, so that the
    labels' totals are enough; others are fitted to documents in memory.
    """
    if isinstance(problem, Problem):
        return problem.scaling.log_rate_total(scaling, problem.design)
    return problem.scaling.log_rate_total(scaling, csr_array(statistics.label_total[None, :]))


def update_weights(problem: Data, state: GlobalState, log_total: FloatArray) -> GlobalState:
    """Sticks and both concentrations, for the sums S_k [T] of equation 17."""
    state = update_sticks(problem, state, log_total)
    state = update_corpus_concentration(problem, state)
    return update_document_concentration(problem, state, log_total)


def update_topics(
    problem: Data, state: GlobalState, statistics: Statistics, learn: bool = True
) -> GlobalState:
    """lambda_ki = eta_ki + sum_m c_mi gamma_mik (equation 14).

    With versions of topics, `learn` also updates which words differ, and kappa.
    """
    if state.versions is not None:
        return update_versions(problem.priors, state, statistics.word_counts, learn)
    prior = problem.priors.of_topics(state.seeded)
    return replace(state, topics=prior.add_to(statistics.word_counts))


def update_versions(
    priors: Priors, state: GlobalState, tokens: FloatArray, learn: bool = True
) -> GlobalState:
    """The words of topics and their versions, for tokens [V (G + 1), T] of the groups' words."""
    assert state.versions is not None
    prior = priors.of_topics(state.seeded)
    versions = learn_versions(state.versions, prior, tokens, learn)
    return replace(state, topics=prior.add_to(versions.pooled()), versions=versions)


def expected_tokens(state: GlobalState, priors: Priors) -> FloatArray:
    """What topics hold beyond their prior, [V, T], in float64: `update_topics` backwards."""
    return priors.of_topics(state.seeded).add_to(state.topics.astype(np.float64), -1.0)


def update_scaling(problem: Problem, state: GlobalState, kept: Sequence[BlockState]) -> Parameters:
    """The labels' weights (equations 15 and 16), some topics at a time.

    `kept` are the blocks' documents, fitted with `state`.
    """
    if problem.design.nnz == 0:
        return state.scaling
    prior_shape = state.prior_shape

    def update(first: int, last: int) -> Parameters:
        topics = slice(first, last)
        return problem.scaling.update(
            take_topics(state.scaling, topics),
            problem.design,
            prior_shape[topics],
            expected_proportions(problem.scaling, state, kept, topics),
        )

    parts = run_ranges(update, state.n_topics, _TOPIC_RANGE)
    return {name: np.concatenate([part[name] for part in parts]) for name in state.scaling}


def update_scaling_from_sums(
    problem: Data, state: GlobalState, sums: Parameters, limits: DesignLimits
) -> Parameters:
    """The labels' weights from `Statistics.scaling` and `Statistics.limits` of all documents."""
    if not sums:
        return state.scaling
    return problem.scaling.update_from_statistics(state.scaling, sums, state.prior_shape, limits)


def expected_proportions(
    scaling: ScalingFunction, state: GlobalState, kept: Sequence[BlockState], topics: slice
) -> FloatArray:
    """E[pi_mk] = a_mk / b_mk of some topics, [M, T']; unnormalised, as the model has them."""
    parameters, shape = take_topics(state.scaling, topics), state.prior_shape
    return np.concatenate(
        [
            mean_proportions(
                scaling.expected_rate(parameters, block.design),
                shape,
                block.lengths,
                block.documents,
                topics.start,
            )
            for block in kept
        ]
    )


def update_sticks(problem: Data, state: GlobalState, log_total: FloatArray) -> GlobalState:
    """V by L-BFGS on its logit (equation 17).

    Parameters
    ----------
    problem : Problem
        What is fitted.
    state : GlobalState
        Where the sticks start.
    log_total : float array of shape [T]
        The sums S_k = sum_m (E[ln pi_mk] + E[ln rho_mk]).
    """
    if state.n_topics == 1:
        return state
    start = np.clip(logit(state.sticks), -_LARGEST_LOGIT, _LARGEST_LOGIT)

    def loss(logits: FloatArray) -> tuple[float, FloatArray]:
        sticks = expit(logits)
        value, gradient = stick_objective(
            sticks,
            log_total,
            problem.n_documents,
            state.corpus_concentration,
            state.document_concentration,
        )
        return -value, -gradient * sticks * (1.0 - sticks)

    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_LARGEST_LOGIT, _LARGEST_LOGIT)] * len(start),
        options={"maxiter": 100},
    )
    if not found.fun <= loss(start)[0]:
        return state
    return replace(state, sticks=expit(found.x))


def stick_objective(
    sticks: FloatArray,
    log_total: FloatArray,
    n_documents: int,
    corpus_concentration: float,
    document_concentration: float,
) -> tuple[float, FloatArray]:
    """The sticks' part of the bound and its gradient in V (equation 17)."""
    weight = np.maximum(weights_from_sticks(sticks), 1e-300)
    prior_shape = document_concentration * weight
    value = prior_shape @ log_total - n_documents * gammaln(prior_shape).sum()
    value += (corpus_concentration - 1.0) * np.log1p(-sticks).sum()
    pull = prior_shape * (log_total - n_documents * psi(prior_shape))
    after = np.cumsum(pull[::-1])[::-1][1:]
    gradient = pull[:-1] / sticks - (after + corpus_concentration - 1.0) / (1.0 - sticks)
    return float(value), np.asarray(gradient)


def update_corpus_concentration(problem: Data, state: GlobalState) -> GlobalState:
    """alpha at its maximum under a gamma prior (equation 18)."""
    prior = problem.priors.corpus_concentration
    if prior is None or state.n_topics == 1:
        return state
    numerator = state.n_topics - 2.0 + prior[0]
    return replace(
        state, corpus_concentration=numerator / (prior[1] - np.log1p(-state.sticks).sum())
    )


def update_document_concentration(
    problem: Data, state: GlobalState, log_total: FloatArray
) -> GlobalState:
    """beta by Newton on its logarithm, with step halving (equation 19)."""
    prior = problem.priors.document_concentration
    if prior is None:
        return state
    shape, rate = prior
    weight = state.topic_weight
    pull = float(weight @ log_total)

    def value(beta: float) -> float:
        likelihood = beta * pull - problem.n_documents * gammaln(beta * weight).sum()
        return float(likelihood + (shape - 1.0) * np.log(beta) - rate * beta)

    beta = state.document_concentration
    current = value(beta)
    for _ in range(50):
        # In u = ln beta; the curvature by a small difference of the slope.
        slope, above = (
            b * (pull - problem.n_documents * (weight * psi(b * weight)).sum() - rate) + shape - 1.0
            for b in (beta, beta * 1.0001)
        )
        curvature = (above - slope) / np.log(1.0001)
        step = float(np.clip(-slope / curvature if curvature < 0 else np.sign(slope), -1.0, 1.0))
        while value(beta * np.exp(step)) < current and abs(step) > 1e-12:
            step *= 0.5
        proposed = beta * np.exp(step)
        gained = value(proposed) - current
        if gained < 0:
            break
        beta, current = proposed, current + gained
        if abs(step) < 1e-8:
            break
    return replace(state, document_concentration=float(beta))
