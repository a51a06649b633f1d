"""The concentration that new documents are predicted with.

A fit finds topics with the concentration that its bound likes. The words of new documents are
predicted best with another one: it is chosen by halves of documents that predict each other.
Documents that took part in the fit would choose too small a one, because topics and labels'
weights have learned their words: so both are learned again without a fold of documents.
"""

from dataclasses import replace

import numpy as np

from hdsp.analysis.reading import LeftOut
from hdsp.fit.passes import Documents
from hdsp.model import HeldOut
from hdsp.model.updates import update_topics
from hdsp.numerics import sample_rows

# The documents that choose: at most so many, of which there must be some; and of the others, so
# many, which labels' weights are learned from.
_MOST_HELD_OUT, _FEWEST = 1_000, 2
_MOST_OTHERS = 5_000
_PASSES = 2


def choose_concentration(left_out: LeftOut) -> float:
    """The beta at which halves of documents that topics have forgotten predict each other best."""
    problem, learned = left_out.problem, left_out.state.document_concentration
    inside = left_out.fold == 0
    fold, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
    if len(fold) < _FEWEST or not len(rest):
        return learned
    chosen = fold[sample_rows(len(fold), _MOST_HELD_OUT)]
    others = problem.take(rest[sample_rows(len(rest), _MOST_OTHERS)])
    frequency = np.asarray(others.counts.sum(axis=0), dtype=np.float64)
    held_out = HeldOut(problem.counts[chosen], problem.design[chosen], frequency)
    if not held_out.tokens.sum():
        return learned
    state, documents = left_out.without(0), Documents(others, left_out.executor)
    for _ in range(_PASSES):
        statistics = documents.fit(state, left_out.settings)
        scaling = documents.update_scaling(state, statistics)
        state = replace(update_topics(others, state, statistics), scaling=scaling)
    return held_out.score(state, problem.scaling, 2.0 * learned).refined_concentration()
