"""The global step: each function returns a new state whose bound is no lower."""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logit, psi

from hdsp import kernels
from hdsp.kernels import Threads
from hdsp.model.problem import Block, Problem
from hdsp.model.state import DocumentState, GlobalState, Statistics
from hdsp.numerics.sticks import weights_from_sticks
from hdsp.numerics.types import FloatArray
from hdsp.scaling import DesignLimits, Parameters, take_topics

# V_k stays this far from 0 and 1 on the logit scale; p_k below 1e-8 of what is left is no topic.
_LARGEST_LOGIT = 18.0
# Topics whose documents' E[pi] is held at once while the scaling function is updated.
_TOPIC_RANGE = 32


def global_step(
    problem: Problem, state: GlobalState, statistics: Statistics, scaling: Parameters
) -> GlobalState:
    """One update of everything but the documents.

    Parameters
    ----------
    statistics : sums over all documents, made with `state`
    scaling : the labels' new parameters, by `update_scaling` or `update_scaling_from_sums`
    """
    state = replace(update_topics(problem, state, statistics), scaling=scaling)
    log_total = statistics.log_proportion + problem.scaling.log_rate_total(
        state.scaling, problem.design
    )
    state = update_sticks(problem, state, log_total)
    state = update_corpus_concentration(problem, state)
    return update_document_concentration(problem, state, log_total)


def update_topics(problem: Problem, state: GlobalState, statistics: Statistics) -> GlobalState:
    """lambda_ki = eta + sum_m c_mi gamma_mik (equation 14)."""
    return replace(
        state,
        topics=statistics.word_counts + problem.dtype.type(problem.priors.topic_prior),
    )


def update_scaling(
    problem: Problem, state: GlobalState, documents: DocumentState, threads: Threads
) -> Parameters:
    """The labels' weights (equations 15 and 16), some topics at a time.

    `documents` holds all documents, fitted with `state`.
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
            expected_proportions(problem, state, documents, topics),
        )

    parts = threads.run(update, problem.n_topics, _TOPIC_RANGE)
    return {name: np.concatenate([part[name] for part in parts]) for name in state.scaling}


def scaling_sums(
    problem: Problem, state: GlobalState, block: Block, documents: DocumentState
) -> Parameters:
    """What a block's documents say of the labels' weights; adds up over blocks."""
    mean = _block_proportions(problem, state, block, documents, slice(0, problem.n_topics))
    return problem.scaling.statistics(state.scaling, block.design, mean)


def update_scaling_from_sums(
    problem: Problem, state: GlobalState, sums: Parameters, limits: DesignLimits
) -> Parameters:
    """The labels' weights from `scaling_sums` over all blocks: smaller steps, still never down."""
    if problem.design.nnz == 0:
        return state.scaling
    return problem.scaling.update_from_statistics(state.scaling, sums, state.prior_shape, limits)


def expected_proportions(
    problem: Problem, state: GlobalState, documents: DocumentState, topics: slice
) -> FloatArray:
    """E[pi_mk] = a_mk / b_mk of some topics, [M, T']; unnormalised, as the model has them.

    `state` must be the one the documents were fitted with.
    """
    mean = np.empty((problem.n_documents, topics.stop - topics.start), dtype=problem.dtype)
    for block, rows in problem.block_rows():
        mean[rows] = _block_proportions(problem, state, block, documents.rows(rows), topics)
    return mean


def _block_proportions(
    problem: Problem, state: GlobalState, block: Block, documents: DocumentState, topics: slice
) -> FloatArray:
    rate = problem.scaling.expected_rate(take_topics(state.scaling, topics), block.design)
    mean = np.empty(rate.shape, dtype=problem.dtype)
    kernels.mean_proportions(
        topics.start,
        documents.token_counts,
        state.prior_shape.astype(problem.dtype),
        block.lengths,
        documents.tangent,
        np.ascontiguousarray(rate, dtype=problem.dtype),
        mean,
    )
    return mean


def update_sticks(problem: Problem, state: GlobalState, log_total: FloatArray) -> GlobalState:
    """V by L-BFGS on its logit (equation 17).

    Parameters
    ----------
    log_total : [T] S_k = sum_m (E[ln pi_mk] + E[ln rho_mk])
    """
    if problem.n_topics == 1:
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


def update_corpus_concentration(problem: Problem, state: GlobalState) -> GlobalState:
    """alpha at its maximum under a gamma prior (equation 18)."""
    prior = problem.priors.corpus_concentration
    if prior is None or problem.n_topics == 1:
        return state
    numerator = problem.n_topics - 2.0 + prior[0]
    return replace(
        state,
        corpus_concentration=numerator / (prior[1] - np.log1p(-state.sticks).sum()),
    )


def update_document_concentration(
    problem: Problem, state: GlobalState, log_total: FloatArray
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
