"""The global step, whose updates return a new state with a bound no lower."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, gammaln, logit, psi

from hdsp.kernels import run_ranges
from hdsp.model.bound import TERM_RANGE
from hdsp.model.data import Data, Problem
from hdsp.model.documents import BlockState
from hdsp.model.priors import Priors
from hdsp.model.state import GlobalState, Statistics, TopicWeights
from hdsp.model.versions import learn_versions
from hdsp.numerics import FloatArray, IntArray, weights_from_sticks
from hdsp.scaling.functions import Parameters

# V_k stays this far from 0 and 1 on the logit scale; p_k below 1e-8 of what is left is no topic.
_LARGEST_LOGIT = 18.0
# Topics whose E[pi] is in memory at once while the scaling function is updated.
_TOPIC_RANGE = 32
# Updates of the label weights of a merged topic.
_MERGED_UPDATES = 2


def global_step(
    problem: Data, state: GlobalState, statistics: Statistics, scaling: Parameters
) -> GlobalState:
    """One update of everything but the documents, which were fitted with `state`.

    `scaling` are the label weights, which have been updated already.
    """
    state = replace(update_topics(problem, state, statistics), scaling=scaling)
    # E[ln rho] depends on the new weights, so it cannot be summed during the pass. It is linear in
    # the labels for functions that can be updated from sums: the labels' totals are enough.
    totals = csr_array(statistics.label_total[None, :])
    design = problem.design if isinstance(problem, Problem) else totals
    log_rate = problem.scaling.log_rate_total(scaling, design)
    return update_weights(problem, state, statistics.log_proportion + log_rate)


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


def update_scaling(
    problem: Problem,
    weights: TopicWeights,
    kept: Sequence[BlockState],
    pairs: IntArray | None = None,
) -> Parameters:
    """The labels' weights (equations 15 and 16) of topics with `weights`, some at a time.

    `kept` are the blocks' documents, which were fitted with these topics; or the topics are sums
    of `pairs` [Q, 2] of those, whose q(pi) follows each update.
    """
    function, design = problem.scaling, problem.design
    if design.nnz == 0:
        return weights.scaling

    def update(first: int, last: int) -> Parameters:
        topics = slice(first, last)
        some, chosen = weights.take(topics), topics if pairs is None else pairs[topics]
        parts = [(block, block.documents.tokens(chosen)) for block in kept]
        for _ in range(1 if pairs is None else _MERGED_UPDATES):
            mean = np.concatenate(
                [block.mean_proportions(function, tokens, some) for block, tokens in parts]
            )
            scaling = function.update(some.scaling, design, some.prior_shape, mean)
            some = replace(some, scaling=scaling)
        return some.scaling

    size = _TOPIC_RANGE if pairs is None else TERM_RANGE
    updated = run_ranges(update, len(weights.prior_shape), size)
    return {name: np.concatenate([part[name] for part in updated]) for name in weights.scaling}


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
    bounds = [(-_LARGEST_LOGIT, _LARGEST_LOGIT)] * len(start)
    concentrations = state.corpus_concentration, state.document_concentration

    def loss(logits: FloatArray) -> tuple[float, FloatArray]:
        sticks = expit(logits)
        value, slope = stick_objective(sticks, log_total, problem.n_documents, *concentrations)
        return -value, -slope * sticks * (1.0 - sticks)

    options = {"maxiter": 100}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
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
