"""Moves and passes in turn, until no move raises the bound."""

from collections.abc import Iterable

import numpy as np

from hdsp.inference.batch import Fit, fit_batch, ordered
from hdsp.inference.monitor import Monitor
from hdsp.inference.moves.deleting import make_deletions
from hdsp.inference.moves.merging import propose_merges
from hdsp.inference.moves.snapshot import (
    FEWEST_TOPICS,
    Move,
    Moved,
    Snapshot,
    make_moves,
    take_snapshot,
)
from hdsp.inference.moves.splitting import propose_splits
from hdsp.kernels import Threads
from hdsp.model import LocalSettings, Problem, elbo

# What a move must gain, and as a share of the bound: less is rounding.
_LEAST_GAIN = 0.1
_LEAST_SHARE = 1e-6
# What a split must gain: topics that hardly pay for themselves are not worth having.
_SPLIT_SHARE = 3e-5
# Pairs that are looked at, for each topic; fewer where only a large gain counts.
_PAIRS = 2.0
_FEW_PAIRS = 0.5
_ROUNDS = 60


def refine(
    problem: Problem,
    fit: Fit,
    max_iter: int,
    settings: LocalSettings,
    monitor: Monitor,
    threads: Threads,
    most_topics: int,
    merge_only: bool = False,
    worth: float = 0.0,
) -> Fit:
    """Merge, split and delete topics where that raises the bound, with passes in between.

    Parameters
    ----------
    fit : has converged, with its documents
    most_topics : there may be after splits
    merge_only : leave splits and deletions to a later call
    worth : the share of the bound that the moves of a round must gain together to be made
    """
    may_split = not merge_only
    for _ in range(_ROUNDS):
        assert fit.documents is not None
        if len(monitor.history) >= max_iter or monitor.interrupted:
            break
        snapshot, statistics = take_snapshot(problem, fit.state, fit.documents, settings, threads)
        bound = elbo(problem, fit.state, statistics, threads)
        monitor.record(problem, fit.state, statistics, bound)
        fit = Fit(snapshot.state, snapshot.documents)
        size = abs(bound.total)
        least = max(_LEAST_GAIN, _LEAST_SHARE * size)
        merges = propose_merges(snapshot, threads, _FEW_PAIRS if merge_only else _PAIRS)
        made: Moved | None = None
        if chosen := choose_merges(snapshot, merges, least):
            made = make_moves(snapshot, "merges", chosen)
        elif may_split:
            splits = choose_splits(snapshot, most_topics, threads, _SPLIT_SHARE * size)
            made = make_moves(snapshot, "splits", splits) if splits else None
            may_split = made is not None
        if made is None and not merge_only:
            made = make_deletions(snapshot, merges, settings, threads, least)
        if made is None or made.gain < worth * size:
            break
        monitor.note_moves(made.counts)
        problem, fit = made.problem, Fit(made.state, made.documents)
    if monitor.converged:
        return ordered(fit.state, fit.documents)
    return fit_batch(
        problem, fit.state, max_iter, settings, monitor, threads, documents=fit.documents
    )


def choose_merges(snapshot: Snapshot, merges: Iterable[Move], least: float) -> list[Move]:
    """The best merges that gain `least` and share no topic; `merges` come best first."""
    left = snapshot.state.n_topics - FEWEST_TOPICS
    chosen: list[Move] = []
    busy: set[int] = set()
    for move in merges:
        if move.gain >= least and not busy.intersection(move.removed) and left > 0:
            chosen.append(move)
            busy.update(move.removed)
            left -= 1
    return chosen


def choose_splits(
    snapshot: Snapshot, most_topics: int, threads: Threads, least: float
) -> list[Move]:
    """The best splits that gain `least`, up to `most_topics` topics in all."""
    n_topics = snapshot.state.n_topics
    if n_topics >= most_topics:
        return []
    splits = propose_splits(snapshot, np.arange(n_topics), threads, least)
    return splits[: most_topics - n_topics]
