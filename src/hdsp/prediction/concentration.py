"""The concentration that new documents are predicted with.

A fit finds topics with the concentration that its bound likes. Words of new documents are
predicted best with another, mostly larger one: it is chosen on halves of training documents.
"""

import numpy as np

from hdsp.model import GlobalState, HeldOut, Problem

# As many training documents choose the concentration.
_MOST_DOCUMENTS = 2_000


def choose_concentration(problem: Problem, state: GlobalState) -> float:
    """beta at which halves of training documents predict each other best."""
    chosen = np.random.default_rng(0).permutation(problem.n_documents)[:_MOST_DOCUMENTS]
    chosen.sort()
    frequency = np.asarray(problem.counts.sum(axis=0), dtype=np.float64)
    held_out = HeldOut(problem.counts[chosen], problem.design[chosen], frequency)
    if not held_out.tokens.sum():
        return state.document_concentration
    score = held_out.score(state, problem.scaling, 2.0 * state.document_concentration)
    return score.refined_concentration()
