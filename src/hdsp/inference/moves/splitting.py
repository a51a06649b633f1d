"""Splitting: the tokens of one topic are divided between two."""

from functools import partial

import numpy as np

from hdsp import kernels
from hdsp.inference.moves.snapshot import Move, Snapshot
from hdsp.kernels import run_ranges
from hdsp.model.by_topic import TopicParts, fitted_scaling, join_parts, topic_bound
from hdsp.numerics.types import IntArray

# Topics per chunk: the token counts of all their halves are in memory at once.
_GROUP = 8
# A document or an entry with fewer tokens of the topic is not divided.
_LEAST_TOKENS = 0.05
_SCALING_UPDATES = 2


def propose_splits(snapshot: Snapshot, topics: IntArray, least: float) -> list[Move]:
    """The splits of `topics` that gain at least `least`, the best first."""
    moves: list[Move] = []
    for first in range(0, len(topics), _GROUP):
        moves += _split(snapshot, topics[first : first + _GROUP], least)
    return sorted(moves, key=lambda move: -move.gain)


def _split(snapshot: Snapshot, topics: IntArray, least: float) -> list[Move]:
    problem, state = snapshot.problem, snapshot.state
    tangent = snapshot.documents.tangent
    words = np.zeros((len(topics), problem.n_words))
    tokens = np.zeros((problem.n_documents, len(topics)))
    share, gained = np.empty((2, len(topics)))
    run_ranges(
        kernels.divide_topics,
        len(topics),
        1,
        topics,
        *snapshot.entry_arrays,
        snapshot.documents.token_counts,
        state.prior_shape,
        problem.priors.topic_prior,
        _LEAST_TOKENS,
        words,
        tokens,
        share,
        gained,
    )
    divided = np.flatnonzero(share > 0.0)
    whole = snapshot.parts(topics[divided])
    share, gained = share[divided], gained[divided]
    # Rounding could make a half larger than the whole.
    one_words = np.minimum(words[divided].astype(problem.dtype), whole.topic_words)
    one_tokens = np.minimum(tokens[:, divided].astype(problem.dtype), whole.token_counts)
    one = TopicParts(one_words, one_tokens, whole.prior_shape * share, whole.scaling)
    other = TopicParts(
        whole.topic_words - one_words,
        whole.token_counts - one_tokens,
        whole.prior_shape * (1.0 - share),
        whole.scaling,
    )
    # With the whole topic's scaling parameters the halves' bound is quick to evaluate; only halves
    # that come near the required gain have their own parameters fitted.
    alone = topic_bound(problem, whole, tangent)
    likely = np.arange(len(divided))
    if problem.design.nnz and len(likely):
        prior_terms = problem.scaling.prior_terms(whole.scaling)
        rough = topic_bound(problem, one, tangent)
        rough += topic_bound(problem, other, tangent) - alone + gained
        likely = np.flatnonzero(rough - prior_terms >= least)
    moves = []
    if len(likely):
        halves = join_parts([one.take(likely), other.take(likely)])
        halves = fitted_scaling(problem, halves, tangent, _SCALING_UPDATES)
        bound = topic_bound(problem, halves, tangent).reshape(2, -1)
        gains = bound.sum(axis=0) - alone[likely] + gained[likely]
        for i, k in enumerate(likely):
            pair = halves.take(np.array([i, i + len(likely)]))
            removed = (int(topics[divided[k]]),)
            moves.append(
                Move(removed, float(gains[i]), partial(TopicParts.take, pair, np.arange(2)))
            )
    return [move for move in moves if move.gain >= least]
