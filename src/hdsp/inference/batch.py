"""Batch coordinate ascent: passes over all documents, then updates of the rest."""

from dataclasses import dataclass, replace
from typing import Protocol

from hdsp.execution import Kept, fit_blocks, fit_documents, sum_documents, update_labels
from hdsp.inference.history import History
from hdsp.inference.run import Run
from hdsp.model import (
    DocumentState,
    Fit,
    GlobalState,
    LocalSettings,
    Problem,
    ShardedProblem,
    Statistics,
    elbo,
    global_step,
)

# The passes in which documents are also started afresh; spaced out, since topics settle.
RESTARTS = (5, 20, 80, 320)


def fit_batch(
    problem: Problem,
    state: GlobalState,
    run: Run,
    history: History,
    documents: DocumentState | None = None,
) -> Fit:
    """Alternate local and global steps until the bound settles; topics end ordered by size.

    Without `run.keep_documents` every pass starts its documents afresh, block by block, and the
    labels' weights are updated from sums over blocks.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    state : GlobalState
        The state to start from, or to continue from after the passes in `history`.
    run : Run
        How the fit proceeds.
    history : History
        Receives one record per pass.
    documents : DocumentState or None, default=None
        The documents to continue from; None starts them afresh.
    """
    if run.keep_documents:
        return _ascend(problem, state, run, history, _InMemory(problem, run, documents))
    return _ascend(problem, state, run, history, _Discarded(problem, run))


def fit_sharded(problem: ShardedProblem, state: GlobalState, run: Run, history: History) -> Fit:
    """`fit_batch` for documents that are wherever `run.executor` keeps them.

    The labels' weights are updated by additive rounds over the blocks, so that executors need not
    bring the documents together; the result does not depend on the executor.

    Parameters
    ----------
    problem : ShardedProblem
        What is fitted.
    state : GlobalState
        The state to start from, or to continue from after the passes in `history`.
    run : Run
        How the fit proceeds.
    history : History
        Receives one record per pass.
    """
    if run.keep_documents:
        return _ascend(problem, state, run, history, _InBlocks(problem, run))
    return _ascend(problem, state, run, history, _Discarded(problem, run))


def _ascend(
    problem: Problem | ShardedProblem,
    state: GlobalState,
    run: Run,
    history: History,
    documents: "_Documents",
) -> Fit:
    """The loop of batch inference, wherever the documents are."""
    while len(history) < run.max_iter:
        settings = replace(run.settings, restart=len(history) + 1 in RESTARTS)
        statistics = documents.fit(state, settings)
        run.record(history, problem, state, statistics, elbo(problem, state, statistics))
        state = documents.update(state, statistics)
        if not history.converged and run.after_pass is not None:
            run.after_pass(state, documents.kept, history)
        if history.converged or run.interrupted:
            break
    return Fit(state, documents.kept).by_size()


class _Documents(Protocol):
    """Where the documents of a fit are: the local step on all of them, and what follows."""

    @property
    def kept(self) -> DocumentState | None:
        """The documents' q(pi), if they are in memory."""

    def fit(self, state: GlobalState, settings: LocalSettings) -> Statistics:
        """Fit all documents, and sum their statistics."""

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        """The global step."""


@dataclass
class _InMemory:
    """Documents that are kept; the labels' weights are updated by exact sweeps over them."""

    problem: Problem
    run: Run
    kept: DocumentState | None

    def fit(self, state: GlobalState, settings: LocalSettings) -> Statistics:
        self.kept, statistics = fit_documents(
            self.problem, state, self.kept, settings, self.run.here, reuse=True
        )
        return statistics

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        return global_step(self.problem, state, statistics, self.kept)


@dataclass
class _InBlocks:
    """Documents that an executor keeps; the labels' weights are updated by rounds over blocks."""

    problem: ShardedProblem
    run: Run
    elsewhere: Kept | None = None
    kept: None = None

    def fit(self, state: GlobalState, settings: LocalSettings) -> Statistics:
        self.elsewhere, statistics = fit_blocks(
            self.problem, state, self.elsewhere, settings, self.run.executor
        )
        return statistics

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        scaling = update_labels(
            self.problem, state, self.elsewhere, statistics.limits, self.run.executor
        )
        return global_step(self.problem, state, statistics, scaling=scaling)


@dataclass
class _Discarded:
    """Documents that every pass starts afresh; labels' weights are updated from sums."""

    problem: Problem | ShardedProblem
    run: Run
    kept: None = None

    def fit(self, state: GlobalState, settings: LocalSettings) -> Statistics:
        return sum_documents(self.problem, state, settings, self.run.executor)

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        return global_step(self.problem, state, statistics)
