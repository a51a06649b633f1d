"""Merging: two topics become one."""

import numpy as np

from hdsp import kernels
from hdsp.inference.moves.snapshot import Move, Snapshot
from hdsp.kernels import Threads
from hdsp.model.by_topic import TopicParts, fitted_scaling, topic_bound
from hdsp.numerics.types import FloatArray, IntArray

_PAIR_RANGE = 32
_DOCUMENT_RANGE = 256
_SCALING_UPDATES = 2
_ALONE = Threads(1)


def propose_merges(
    snapshot: Snapshot, threads: Threads, pairs_per_topic: float = 2.0
) -> list[Move]:
    """Merges of likely pairs, with their gains, the best first; gains may be negative."""
    pairs = likely_pairs(snapshot.word_counts, pairs_per_topic)
    if len(pairs) == 0:
        return []
    every = snapshot.parts(np.arange(snapshot.state.n_topics))
    alone = topic_bound(snapshot.problem, every, snapshot.documents.tangent, threads)
    lost = pair_entropies(snapshot, pairs, threads)

    def judge(first: int, last: int) -> list[Move]:
        some = pairs[first:last]
        merged = _merged(snapshot, some)
        gains = topic_bound(snapshot.problem, merged, snapshot.documents.tangent, _ALONE)
        gains += lost[first:last] - alone[some].sum(axis=1)
        return [
            Move((int(pair[0]), int(pair[1])), merged.take(np.array([i])), float(gain))
            for i, (pair, gain) in enumerate(zip(some, gains, strict=True))
        ]

    moves = [move for part in threads.run(judge, len(pairs), _PAIR_RANGE) for move in part]
    return sorted(moves, key=lambda move: -move.gain)


def likely_pairs(word_counts: FloatArray, per_topic: float) -> IntArray:
    """The pairs of topics [Q, 2] whose words lose least by being one, with j < k.

    By the Hellinger distance of their words times half the harmonic mean of their tokens, which
    is what the loss of two topics with nearly the same words comes to.
    """
    n_topics = len(word_counts)
    tokens = word_counts.sum(axis=1, dtype=np.float64)
    root = np.sqrt(word_counts / np.maximum(tokens, 1e-30)[:, None])
    distance = 1.0 - root @ root.T
    size = tokens[:, None] * tokens / np.maximum(tokens[:, None] + tokens, 1e-30)
    first, second = np.triu_indices(n_topics, 1)
    loss = (size * distance)[first, second]
    order = np.argsort(loss, kind="stable")[: int(np.ceil(per_topic * n_topics))]
    return np.stack([first[order], second[order]], axis=1)


def pair_entropies(snapshot: Snapshot, pairs: IntArray, threads: Threads) -> FloatArray:
    """What the entropy of responsibilities loses by each merge, [Q]; none is positive."""
    n_documents = snapshot.problem.n_documents
    sums = np.zeros((-(-n_documents // _DOCUMENT_RANGE), len(pairs)))
    threads.run(
        kernels.sum_pair_entropies,
        n_documents,
        _DOCUMENT_RANGE,
        _DOCUMENT_RANGE,
        *snapshot.responsibilities.factors,
        snapshot.documents.token_counts,
        pairs,
        sums,
    )
    return np.asarray(sums.sum(axis=0))


def _merged(snapshot: Snapshot, pairs: IntArray) -> TopicParts:
    """What each pair becomes: together they hold what each held."""
    one, other = (snapshot.parts(topics) for topics in pairs.T)
    prior_shape = one.prior_shape + other.prior_shape
    # Where the labels' weights start from is the average by weight.
    share = one.prior_shape / prior_shape
    scaling = {
        name: value * share.reshape(-1, *[1] * (value.ndim - 1))
        + other.scaling[name] * (1.0 - share).reshape(-1, *[1] * (value.ndim - 1))
        for name, value in one.scaling.items()
    }
    return fitted_scaling(
        snapshot.problem,
        TopicParts(
            one.word_counts + other.word_counts,
            one.token_counts + other.token_counts,
            prior_shape,
            scaling,
        ),
        snapshot.documents.tangent,
        _SCALING_UPDATES,
    )
