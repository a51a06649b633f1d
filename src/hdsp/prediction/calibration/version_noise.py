"""What is not known of versions of topics, in the variance of what their groups do to topics.

Words that all groups use alike are read alike, and chance in them is the same for all. Words that
differ are learned from the documents of a group alone, and chance in them moves its topics.
"""

from dataclasses import replace

import numpy as np

from hdsp.execution import InProcess, fit_documents, solve_documents
from hdsp.model import GlobalState, LocalSettings, Problem
from hdsp.model.updates import update_topics
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import FloatArray
from hdsp.prediction.calibration.cross_fit import MOST_ITERATIONS, TOL, folds

# Passes over half of the documents, in which versions forget the other half.
_PASSES = 3
# At most so many documents are read with the versions of both halves.
_MOST_READ = 2_000


def version_inflation(
    problem: Problem, state: GlobalState, settings: LocalSettings, executor: InProcess
) -> FloatArray:
    """By how much chance in versions widens the variance of each group's coefficients, [J].

    Versions are learned from either half of the documents, and the same documents read with both.
    A group's log shares, about the mean of groups, then differ with four times the variance that
    versions of all documents have. It is compared with the variance between documents, over all
    topics; 1 is no widening, and that of columns which tell no group.

    Parameters
    ----------
    problem : Problem
        The documents.
    state : GlobalState
        The fitted state.
    settings : LocalSettings
        How documents are fitted.
    executor : InProcess
        Where blocks are processed.
    """
    widening = np.ones(problem.n_labels)
    if state.versions is None or not len(state.versions.words):
        return widening
    half = folds(problem) % 2
    some = problem.take(sample_rows(problem.n_documents, _MOST_READ))
    member = some.design[:, problem.content].toarray() > 0
    reading = replace(settings, max_iter=MOST_ITERATIONS, tol=TOL, restart=False)
    read = []
    for number in range(2):
        rows = np.flatnonzero(half == number)
        if not len(rows):
            return widening
        learned = _learned_from(problem.take(rows), state, settings, executor)
        documents = solve_documents(some, learned, reading)
        read.append(documents.token_counts[:, : state.n_topics].astype(np.float64))
    apart = _contrasts(member, read[0]) - _contrasts(member, read[1])
    share = some.n_documents / problem.n_documents
    between = _variances(member, read[0] + read[1]) * share
    known = member.sum(axis=0) > 1
    ratio = (apart**2).sum(axis=1) / 4.0 / np.maximum(between.sum(axis=1), 1e-300)
    widening[problem.content[known]] += ratio[known]
    return widening


def _learned_from(
    problem: Problem, state: GlobalState, settings: LocalSettings, executor: InProcess
) -> GlobalState:
    """The state with words that know these documents alone; the same words differ."""
    documents = None
    for _ in range(_PASSES):
        documents, statistics = fit_documents(problem, state, documents, settings, executor)
        state = update_topics(problem, state, statistics, learn=False)
    return state


def _contrasts(member: FloatArray, tokens: FloatArray) -> FloatArray:
    """The log shares of topics in each group, about the mean of groups, [G, T]."""
    held = np.log(member.T @ tokens + 1.0)
    held -= np.log(np.maximum((member.T @ tokens).sum(axis=1, keepdims=True), 1.0))
    return np.asarray(held - held.mean(axis=0))


def _variances(member: FloatArray, tokens: FloatArray) -> FloatArray:
    """The variance of the contrasts between documents, [G, T]."""
    n_groups = member.shape[1]
    own = []
    for inside in member.T:
        some = tokens[inside]
        total = some.sum(axis=0)
        lengths = some.sum(axis=1, keepdims=True)
        residual = some - lengths * (total / max(float(total.sum()), 1e-300))
        own.append((residual**2).sum(axis=0) / (total + 1.0) ** 2)
    log_variance = np.array(own)
    others = log_variance.sum(axis=0) / n_groups**2
    return np.asarray(log_variance * (1.0 - 2.0 / n_groups) + others)
