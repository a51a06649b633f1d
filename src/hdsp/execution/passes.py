"""Passes over all documents: a step for each block, and the sum of the results."""

from dataclasses import replace

from hdsp.execution.executor import Executor
from hdsp.model import (
    DocumentState,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    block_step,
    make_view,
)


def fit_documents(
    problem: Problem,
    state: GlobalState,
    documents: DocumentState | None,
    settings: LocalSettings,
    executor: Executor,
    reuse: bool = False,
) -> tuple[DocumentState, Statistics]:
    """Every document's state, and the sum of the statistics.

    Parameters
    ----------
    problem : Problem
        The documents.
    state : GlobalState
        The state that they are fitted with.
    documents : DocumentState or None
        An earlier solution to continue from; None starts every document from p.
    settings : LocalSettings
        How documents are fitted.
    executor : Executor
        Where blocks are processed.
    reuse : bool, default=False
        Overwrite `documents`, the largest array of a fit, with the new state.
    """
    view = make_view(state, problem.scaling, problem.dtype)
    fitted = documents
    if fitted is None or not reuse:
        fitted = DocumentState.empty(problem.n_documents, state.n_topics, problem.dtype)

    def step(number: int) -> Statistics:
        block = problem.blocks[number]
        kept = None if documents is None else documents.rows(block.rows)
        solved, statistics = block_step(view, block, kept, settings)
        fitted.put(block.rows, solved)
        return statistics

    return fitted, executor.sum(step, len(problem.blocks))


def sum_documents(
    problem: Problem, state: GlobalState, settings: LocalSettings, executor: Executor
) -> Statistics:
    """The statistics of documents that are started afresh and discarded block by block.

    They include the scaling function's own sums, since its update cannot see the documents.
    """
    view = make_view(state, problem.scaling, problem.dtype)
    settings = replace(settings, scaling_sums=True)
    return executor.sum(
        lambda number: block_step(view, problem.blocks[number], None, settings)[1],
        len(problem.blocks),
    )
