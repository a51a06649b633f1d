"""Batch coordinate ascent: passes over all documents, then updates of the rest."""

from dataclasses import replace

from hdsp.execution import Kept, fit_blocks, fit_documents, sum_documents, update_labels
from hdsp.inference.history import History
from hdsp.inference.run import Run
from hdsp.model import (
    DocumentState,
    Fit,
    GlobalState,
    Problem,
    ShardedProblem,
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
    while len(history) < run.max_iter:
        if run.keep_documents:
            settings = replace(run.settings, restart=len(history) + 1 in RESTARTS)
            documents, statistics = fit_documents(
                problem, state, documents, settings, run.here, reuse=True
            )
        else:
            statistics = sum_documents(problem, state, run.settings, run.executor)
        run.record(history, problem, state, statistics, elbo(problem, state, statistics))
        state = global_step(problem, state, statistics, documents)
        if not history.converged and run.after_pass is not None:
            run.after_pass(state, documents, history)
        if history.converged or run.interrupted:
            break
    return Fit(state, documents).by_size()


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
    kept: Kept | None = None
    while len(history) < run.max_iter:
        scaling = None
        if run.keep_documents:
            settings = replace(run.settings, restart=len(history) + 1 in RESTARTS)
            kept, statistics = fit_blocks(problem, state, kept, settings, run.executor)
        else:
            statistics = sum_documents(problem, state, run.settings, run.executor)
        run.record(history, problem, state, statistics, elbo(problem, state, statistics))
        if run.keep_documents:
            scaling = update_labels(problem, state, kept, statistics.limits, run.executor)
        state = global_step(problem, state, statistics, scaling=scaling)
        if not history.converged and run.after_pass is not None:
            run.after_pass(state, None, history)
        if history.converged or run.interrupted:
            break
    return Fit(state, None).by_size()
