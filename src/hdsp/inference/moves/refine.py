"""Alternating moves and passes, until no move raises the bound."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hdsp.inference.batch import fit_batch
from hdsp.inference.history import History
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
from hdsp.inference.run import Run
from hdsp.model import Fit, Problem, elbo

# The smallest gain of a move, absolute and as a share of the bound: less may be rounding.
_LEAST_GAIN = 0.1
_LEAST_SHARE = 1e-6
# The smallest gain of a split, as a share of the bound, so that new topics are worth having.
_SPLIT_SHARE = 3e-5
# Candidate pairs per topic; fewer where only a large gain counts.
_PAIRS = 2.0
_FEW_PAIRS = 0.5
_ROUNDS = 60


def refine(
    problem: Problem,
    fit: Fit,
    run: Run,
    history: History,
    most_topics: int,
    merges_worth: float | None = None,
) -> Fit:
    """Merge, split and delete topics where that raises the bound, with passes in between.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    fit : Fit
        A converged fit, with its documents.
    run : Run
        How the fit proceeds.
    history : History
        Receives the passes and moves.
    most_topics : int
        The largest number of topics after splits.
    merges_worth : float, default=None
        Only merge, and only where the merges of a round together gain this share of the bound;
        splits and deletions are left to a later call.
    """
    may_split = merges_worth is None
    for _ in range(_ROUNDS):
        if len(history) >= run.max_iter or run.interrupted:
            break
        # In a function of its own, so that the arrays of a round are freed before the next.
        fit, moves = _make_round(problem, fit, run, history, most_topics, may_split, merges_worth)
        if not moves:
            break
        run.note_moves(history, moves)
        may_split = may_split and "deletions" not in moves
    if history.converged:
        return fit.by_size()
    # Checkpoints hold starts before their moves, so none is written here.
    return fit_batch(problem, fit.state, replace(run, after_pass=None), history, fit.documents)


def _make_round(
    problem: Problem,
    fit: Fit,
    run: Run,
    history: History,
    most_topics: int,
    may_split: bool,
    merges_worth: float | None,
) -> tuple[Fit, dict[str, int]]:
    """A pass and the moves after it: the new fit, and the number of moves by kind."""
    merge_only = merges_worth is not None
    snapshot, statistics = take_snapshot(problem, fit, run.settings, run.executor)
    bound = elbo(problem, fit.state, statistics)
    run.record(history, problem, fit.state, statistics, bound)
    size = abs(bound.total)
    least = max(_LEAST_GAIN, _LEAST_SHARE * size)
    merges = propose_merges(snapshot, _FEW_PAIRS if merge_only else _PAIRS)
    made: Moved | None = None
    if chosen := choose_merges(snapshot, merges, least):
        if sum(move.gain for move in chosen) >= (merges_worth or 0.0) * size:
            made = make_moves(snapshot, "merges", chosen)
    else:
        splits = choose_splits(snapshot, most_topics, _SPLIT_SHARE * size) if may_split else []
        if splits:
            made = make_moves(snapshot, "splits", splits)
        elif not merge_only:
            made = make_deletions(snapshot, merges, run.settings, least)
    if made is None:
        return Fit(snapshot.state, snapshot.documents), {}
    return made.fit, made.counts


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


def choose_splits(snapshot: Snapshot, most_topics: int, least: float) -> list[Move]:
    """The best splits that gain `least`, up to `most_topics` topics in all."""
    n_topics = snapshot.state.n_topics
    if n_topics >= most_topics:
        return []
    splits = propose_splits(snapshot, np.arange(n_topics), least)
    return splits[: most_topics - n_topics]
