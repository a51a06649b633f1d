"""Batch coordinate ascent: passes over all documents, then updates of the rest."""

from dataclasses import replace

from hdsp.fit.history import History
from hdsp.fit.keeping import Documents, documents_of
from hdsp.fit.run import Run
from hdsp.model import BlockProblem, DocumentState, Fit, GlobalState, elbo

# The passes in which documents are also started afresh; spaced out, since topics settle.
RESTARTS = (5, 20, 80, 320)


def fit_batch(
    problem: BlockProblem,
    state: GlobalState,
    run: Run,
    history: History,
    documents: DocumentState | None = None,
) -> Fit:
    """Alternate local and global steps until the bound settles; topics end ordered by size.

    Parameters
    ----------
    problem : Problem or ShardedProblem
        What is fitted: documents in memory, or wherever `run.executor` keeps them.
    state : GlobalState
        The state to start from, or to continue from after the passes in `history`.
    run : Run
        How the fit proceeds.
    history : History
        Receives one record per pass.
    documents : DocumentState or None, default=None
        Documents in memory to continue from; None starts them afresh.
    """
    kept = documents_of(problem, run, documents)
    state = ascend(kept, state, run, history)
    return Fit(state, kept.here).by_size()


def ascend(documents: Documents, state: GlobalState, run: Run, history: History) -> GlobalState:
    """The loop of batch inference, wherever the documents are."""
    problem = documents.problem
    while len(history) < run.max_iter:
        settings = replace(run.settings, restart=len(history) + 1 in RESTARTS)
        statistics = documents.fit(state, settings)
        run.record(history, problem, state, statistics, elbo(problem, state, statistics))
        state = documents.update(state, statistics)
        if not history.converged and run.after_pass is not None:
            run.after_pass(state, documents.here, history)
        if history.converged or run.interrupted:
            break
    return state
