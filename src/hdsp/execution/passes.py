"""Passes over all documents: a step for each block, and the sum of the results."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.execution.executor import Executor, InProcess
from hdsp.execution.steps import FitDocuments
from hdsp.kernels import sparse_product
from hdsp.model import (
    BlockProblem,
    DocumentState,
    Fit,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    block_step,
    make_view,
)
from hdsp.numerics.types import FloatArray


def fit_documents(
    problem: Problem,
    state: GlobalState,
    documents: DocumentState | None,
    settings: LocalSettings,
    executor: InProcess,
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
    executor : InProcess
        Adds up the results.
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
        solution, statistics = block_step(view, block, kept, settings)
        fitted.put(block.rows, solution.documents)
        return statistics

    return fitted, executor.sum(step, len(problem.blocks))


def sum_documents(
    problem: BlockProblem, state: GlobalState, settings: LocalSettings, executor: Executor
) -> Statistics:
    """The statistics of documents that are started afresh and discarded block by block.

    They include the scaling function's own sums, since its update cannot see the documents.
    """
    view = make_view(state, problem.scaling, problem.dtype)
    step = FitDocuments(view, replace(settings, scaling_sums=True))
    statistics: Statistics = executor.run(step, problem.blocks, keep=False)[1]
    return statistics


def sum_tokens(
    problem: Problem, fit: Fit, member: csr_array, settings: LocalSettings, executor: InProcess
) -> FloatArray:
    """The tokens that topics hold in groups of documents, [G, K].

    Parameters
    ----------
    problem : Problem
        The documents.
    fit : Fit
        The fit; without its documents another pass is made.
    member : sparse array of shape [G, M]
        Ones where a document belongs to a group. With G = M every document must be its own group,
        in order, and the result is the documents' own array.
    settings : LocalSettings
        How documents are fitted if they were not kept.
    executor : InProcess
        Adds up the results.
    """
    if fit.documents is not None:
        if member.shape[0] == problem.n_documents:
            return fit.documents.token_counts
        return sparse_product(member, fit.documents.token_counts)
    view = make_view(fit.state, problem.scaling, problem.dtype)

    def step(number: int) -> FloatArray:
        block = problem.blocks[number]
        documents = block_step(view, block, None, settings)[0].documents
        return np.asarray(member[:, block.rows] @ documents.token_counts)

    return executor.sum(step, len(problem.blocks))
