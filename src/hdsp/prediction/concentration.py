"""The concentration that new documents are predicted with.

A fit finds topics with the concentration that its bound likes. The words of new documents are
predicted best with another one: it is chosen by halves of documents that predict each other.
Documents that took part in the fit would choose too small a one, because topics and labels'
weights have learned their words; so a few passes over other documents let topics forget them.
"""

from dataclasses import replace

import numpy as np

from hdsp.execution import InProcess, fit_documents
from hdsp.model import GlobalState, HeldOut, LocalSettings, Problem
from hdsp.model.updates import update_scaling, update_topics
from hdsp.numerics.sampling import sample_apart

# The documents that choose: this share of all, at most so many; and of the others, so many.
_SHARE = 0.2
_MOST_HELD_OUT = 1_000
_MOST_OTHERS = 5_000
_PASSES = 3


def choose_concentration(problem: Problem, state: GlobalState, executor: InProcess) -> float:
    """The beta at which halves of documents that topics have forgotten predict each other best."""
    n_documents = problem.n_documents
    n_held_out = min(int(_SHARE * n_documents), _MOST_HELD_OUT)
    chosen, kept = sample_apart(n_documents, n_held_out, _MOST_OTHERS)
    others = problem.take(kept)
    frequency = np.asarray(others.counts.sum(axis=0), dtype=np.float64)
    held_out = HeldOut(problem.counts[chosen], problem.design[chosen], frequency)
    if not held_out.tokens.sum():
        return state.document_concentration
    learned = state.document_concentration
    state = _fitted_to(others, state, executor)
    score = held_out.score(state, problem.scaling, 2.0 * learned)
    return score.refined_concentration()


def _fitted_to(problem: Problem, state: GlobalState, executor: InProcess) -> GlobalState:
    """`state` with topics and labels' weights that know these documents alone.

    They are fitted from where they are, so that topics stay the topics they were.
    """
    for _ in range(_PASSES):
        documents, statistics = fit_documents(problem, state, None, LocalSettings(), executor)
        scaling = update_scaling(problem, state, documents)
        state = replace(update_topics(problem, state, statistics), scaling=scaling)
    return state
