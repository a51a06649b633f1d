"""Merging: two topics become one."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hdsp import kernels
from hdsp.inference.batch import fit_batch
from hdsp.inference.history import History
from hdsp.inference.run import Run
from hdsp.inference.snapshot import FEWEST_TOPICS, Merge, Snapshot, make_merges, take_snapshot
from hdsp.kernels import run_ranges
from hdsp.model import Fit, Problem, elbo
from hdsp.model.by_topic import TopicParts, fitted_scaling, topic_bound
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import take_topics

# Pairs and topics per chunk, each with a few arrays of documents by as many topics.
_PAIR_RANGE = 8
_TOPICS_AT_ONCE = 32
_DOCUMENT_RANGE = 256
# Updates of a merged topic's label weights before its gain is computed.
_SCALING_UPDATES = 2
# Pairs proposed per topic; with fewer, some topics that are there twice stay.
_PAIRS_PER_TOPIC = 2.0
# What a merge must gain, and as a share of the bound: less is rounding.
_LEAST_GAIN = 0.1
_LEAST_SHARE = 1e-6
# Rounds of merges at most; each is followed by passes over the documents.
_ROUNDS = 60


def merge_topics(problem: Problem, fit: Fit, run: Run, history: History) -> Fit:
    """Merge topics where that raises the bound, with passes in between.

    A topic that is there twice predicts as well as one; the bound tells that one is enough.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    fit : Fit
        Has converged, with its documents.
    run : Run
        How the fit proceeds.
    history : History
        Takes the passes and merges.
    """
    for _ in range(_ROUNDS):
        if len(history) >= run.max_iter or run.interrupted:
            break
        # In a function of its own: what a round has looked at is gone before the next.
        fit, n_merges = _merge_once(problem, fit, run, history)
        if not n_merges:
            break
        run.note_moves(history, {"merges": n_merges})
    if history.converged:
        return fit.by_size()
    # A checkpoint is of a fit before its merges.
    return fit_batch(problem, fit.state, replace(run, after_pass=None), history, fit.documents)


def _merge_once(problem: Problem, fit: Fit, run: Run, history: History) -> tuple[Fit, int]:
    """A pass, and the merges after it: the fit, and how many there were."""
    snapshot, statistics = take_snapshot(problem, fit, run.settings, run.here)
    bound = elbo(problem, fit.state, statistics)
    run.record(history, problem, fit.state, statistics, bound)
    least = max(_LEAST_GAIN, _LEAST_SHARE * abs(bound.total))
    chosen = choose_merges(snapshot, propose_merges(snapshot), least)
    if not chosen:
        return Fit(snapshot.state, snapshot.documents), 0
    return make_merges(snapshot, chosen), len(chosen)


def choose_merges(snapshot: Snapshot, merges: Iterable[Merge], least: float) -> list[Merge]:
    """The best merges that gain `least` and share no topic; `merges` come best first."""
    left = snapshot.state.n_topics - FEWEST_TOPICS
    chosen: list[Merge] = []
    busy: set[int] = set()
    for merge in merges:
        if merge.gain >= least and not busy.intersection(merge.pair) and left > 0:
            chosen.append(merge)
            busy.update(merge.pair)
            left -= 1
    return chosen


def propose_merges(snapshot: Snapshot) -> list[Merge]:
    """Merges of likely pairs, with their gains, the best first; gains may be negative."""
    pairs = likely_pairs(snapshot.topic_words, _PAIRS_PER_TOPIC)
    # Every seeded topic stays one of its own, but may take in others.
    pairs = pairs[~np.isin(pairs, snapshot.state.seeded).all(axis=1)]
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

    def gains(first: int, last: int) -> list[Merge]:
        some = pairs[first:last]
        merged = _with_labels(snapshot, _merged(snapshot, some))
        gain = topic_bound(problem, merged, tangent)
        gain += lost[first:last] - alone[some].sum(axis=1)
        return [
            Merge((int(j), int(k)), float(gain[i]), take_topics(merged.scaling, [i]))
            for i, (j, k) in enumerate(some)
        ]

    merges = [merge for part in run_ranges(gains, len(pairs), _PAIR_RANGE) for merge in part]
    return sorted(merges, key=lambda merge: -merge.gain)


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
        np.maximum(one.seed_sets, other.seed_sets),
    )


def _with_labels(snapshot: Snapshot, merged: TopicParts) -> TopicParts:
    """The same topics with their labels' weights fitted to what they hold."""
    tangent = snapshot.documents.tangent
    return fitted_scaling(snapshot.problem, merged, tangent, _SCALING_UPDATES)
