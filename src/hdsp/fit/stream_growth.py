"""A stream that has seen twice as many documents may need more topics."""

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from hdsp.execution import fit_documents
from hdsp.fit.run import Run
from hdsp.fit.stream import OpenStream
from hdsp.fit.whole import Plan, begin
from hdsp.model import GlobalState, Problem, expected_tokens, global_step, make_problem, word_share
from hdsp.model.seeds import add_seeds
from hdsp.numerics.sticks import sticks_from_weights
from hdsp.numerics.types import FloatArray, IntArray

# Passes over the sample in which old and new topics share out its words.
_PASSES = 4


def grow_topics(opened: OpenStream, plan: Plan, run: Run) -> OpenStream:
    """The stream with as many topics as its documents ask for by now; never with fewer.

    The number is searched for in the sample whenever the documents have doubled. New topics are
    those of a fresh start that resemble none of the present ones, which keep their numbers.

    Parameters
    ----------
    opened : OpenStream
        The stream.
    plan : Plan
        The settings of the fit, and the largest number of topics.
    run : Run
        How fits proceed.
    """
    state = opened.stream.state
    due = opened.n_documents >= 2 * opened.searched
    if not due or not plan.searches or state.n_topics >= plan.n_components:
        return opened
    opened = replace(opened, searched=opened.n_documents)
    sample = opened.sample.take(opened.sample.uniform())
    share = len(sample) / opened.n_documents
    known = make_problem(
        sample.counts, sample.design, opened.space.scaling, opened.priors.for_part(share)
    )
    if not known.n_tokens:
        return opened
    beginning = begin(known, plan, run)
    if run.interrupted or beginning.n_topics <= state.n_topics:
        return opened
    grown = _joined(known, opened, beginning.state())
    documents = None
    for _ in range(_PASSES):
        documents, statistics = fit_documents(
            known, grown, documents, run.settings, run.here, reuse=True
        )
        grown = global_step(known, grown, statistics, documents)
    tokens = expected_tokens(grown, known.priors)
    total = expected_tokens(state, opened.priors).sum()
    stream = replace(
        opened.stream,
        state=replace(grown, topics=_topics(opened, tokens * (total / tokens.sum()), grown.seeded)),
        log_proportion=statistics.log_proportion / known.n_documents,
    )
    return replace(opened, stream=stream)


def _joined(known: Problem, opened: OpenStream, fresh: GlobalState) -> GlobalState:
    """The present topics and, after them, those of a fresh start that are new."""
    state = opened.stream.state
    new = _unlike(word_share(state), word_share(fresh))
    held = expected_tokens(fresh, known.priors)
    weight = fresh.topic_weight[new]
    old = (1.0 - weight.sum()) * state.topic_weight
    present = expected_tokens(state, opened.priors)
    present *= (known.n_tokens - held[:, new].sum()) / present.sum()
    tokens = np.concatenate([present, held[:, new]], axis=1)
    scaling = {
        name: np.concatenate([value, fresh.scaling[name][new]])
        for name, value in state.scaling.items()
    }
    topics = tokens + known.priors.topic_prior
    return replace(
        state,
        topics=add_seeds(topics, known.priors.seeds, state.seeded).astype(known.dtype),
        sticks=sticks_from_weights(np.concatenate([old, weight])),
        scaling=scaling,
    )


def _unlike(present: FloatArray, fresh: FloatArray) -> IntArray:
    """The topics of `fresh` [V, N] that are left when each of `present` [V, T] has its likest."""
    unit = [topics / np.linalg.norm(topics, axis=0) for topics in (present, fresh)]
    _, taken = linear_sum_assignment(-(unit[0].T @ unit[1]))
    return np.setdiff1d(np.arange(fresh.shape[1]), taken)


def _topics(opened: OpenStream, tokens: FloatArray, seeded: IntArray) -> FloatArray:
    topics = np.maximum(tokens, 0.0) + opened.priors.topic_prior
    dtype = opened.stream.state.topics.dtype
    return add_seeds(topics, opened.priors.seeds, seeded).astype(dtype)
