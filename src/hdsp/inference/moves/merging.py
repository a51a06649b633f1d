"""Merging: two topics become one."""

from dataclasses import replace
from functools import partial

import numpy as np

from hdsp import kernels
from hdsp.inference.moves.snapshot import Move, Snapshot
from hdsp.kernels import run_ranges
from hdsp.model.by_topic import TopicParts, fitted_scaling, topic_bound
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Parameters, take_topics

# Pairs and topics per chunk, each with a few arrays of documents by as many topics.
_PAIR_RANGE = 8
_TOPICS_AT_ONCE = 32
_DOCUMENT_RANGE = 256
_SCALING_UPDATES = 2


def propose_merges(snapshot: Snapshot, pairs_per_topic: float = 2.0) -> list[Move]:
    """Merges of likely pairs, with their gains, the best first; gains may be negative."""
    pairs = likely_pairs(snapshot.topic_words, pairs_per_topic)
    if len(pairs) == 0:
        return []
    problem, tangent = snapshot.problem, snapshot.documents.tangent
    every = np.arange(snapshot.state.n_topics)
    alone = np.concatenate(
        [
            topic_bound(problem, snapshot.parts(every[first : first + _TOPICS_AT_ONCE]), tangent)
            for first in range(0, len(every), _TOPICS_AT_ONCE)
        ]
    )
    lost = pair_entropies(snapshot, pairs)

    def gains(first: int, last: int) -> list[Move]:
        some = pairs[first:last]
        merged = _with_labels(snapshot, _merged(snapshot, some))
        gain = topic_bound(problem, merged, tangent)
        gain += lost[first:last] - alone[some].sum(axis=1)
        return [
            Move(
                (int(pair[0]), int(pair[1])),
                float(gain[i]),
                partial(_make_merged, snapshot, pair, take_topics(merged.scaling, [i])),
            )
            for i, pair in enumerate(some)
        ]

    moves = [move for part in run_ranges(gains, len(pairs), _PAIR_RANGE) for move in part]
    return sorted(moves, key=lambda move: -move.gain)


def _make_merged(snapshot: Snapshot, pair: IntArray, scaling: Parameters) -> TopicParts:
    """The merged topic of a pair, with the scaling parameters already fitted."""
    return replace(_merged(snapshot, pair[None]), scaling=scaling)


def likely_pairs(topic_words: FloatArray, per_topic: float) -> IntArray:
    """The pairs of topics [Q, 2], j < k, whose merge should cost the words' bound least.

    Estimated by the Hellinger distance of their words times half the harmonic mean of their
    tokens, which approximates the loss of two topics with nearly the same words.
    """
    n_topics = len(topic_words)
    tokens = topic_words.sum(axis=1, dtype=np.float64)
    root = np.sqrt(topic_words / np.maximum(tokens, 1e-30)[:, None])
    distance = 1.0 - root @ root.T
    size = tokens[:, None] * tokens / np.maximum(tokens[:, None] + tokens, 1e-30)
    first, second = np.triu_indices(n_topics, 1)
    loss = (size * distance)[first, second]
    order = np.argsort(loss, kind="stable")[: int(np.ceil(per_topic * n_topics))]
    return np.stack([first[order], second[order]], axis=1)


def pair_entropies(snapshot: Snapshot, pairs: IntArray) -> FloatArray:
    """The change of the responsibilities' entropy by each merge, [Q]; none is positive."""
    n_documents = snapshot.problem.n_documents
    sums = np.zeros((-(-n_documents // _DOCUMENT_RANGE), len(pairs)))
    run_ranges(
        kernels.sum_pair_entropies,
        n_documents,
        _DOCUMENT_RANGE,
        _DOCUMENT_RANGE,
        *snapshot.entry_arrays,
        snapshot.documents.token_counts,
        pairs,
        sums,
    )
    return np.asarray(sums.sum(axis=0))


def _merged(snapshot: Snapshot, pairs: IntArray) -> TopicParts:
    """The merged topic of each pair: its tokens and weights are sums."""
    one, other = (snapshot.parts(topics) for topics in pairs.T)
    prior_shape = one.prior_shape + other.prior_shape
    # The labels' weights start from the average, weighted by topic weight.
    share = one.prior_shape / prior_shape
    scaling = {
        name: value * share.reshape(-1, *[1] * (value.ndim - 1))
        + other.scaling[name] * (1.0 - share).reshape(-1, *[1] * (value.ndim - 1))
        for name, value in one.scaling.items()
    }
    return TopicParts(
        one.topic_words + other.topic_words,
        one.token_counts + other.token_counts,
        prior_shape,
        scaling,
    )


def _with_labels(snapshot: Snapshot, merged: TopicParts) -> TopicParts:
    """The same topics with their labels' weights fitted to what they hold."""
    tangent = snapshot.documents.tangent
    return fitted_scaling(snapshot.problem, merged, tangent, _SCALING_UPDATES)
