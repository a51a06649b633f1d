"""Batch coordinate ascent: loops over all documents, then updates the rest."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.inference.monitor import Monitor
from hdsp.kernels import Threads, sparse_product
from hdsp.model import (
    DocumentState,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    elbo,
    global_step,
    local_step,
    prepare_globals,
    scaling_sums,
    update_scaling,
    update_scaling_from_sums,
)
from hdsp.model.problem import BLOCK_SIZE
from hdsp.model.state import padded
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import DesignLimits, Parameters

# In these passes documents are also started afresh; topics move less and less.
RESTARTS = (5, 20, 80, 320)

# Told where a fit stands.
AfterPass = Callable[[GlobalState, DocumentState | None, Monitor], None]


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted state, and the documents of the last pass.

    Attributes
    ----------
    state : after the last global step, topics ordered by size
    documents : of the last pass, or None where they were not kept
    """

    state: GlobalState
    documents: DocumentState | None


def fit_documents(
    problem: Problem,
    state: GlobalState,
    documents: DocumentState | None,
    settings: LocalSettings,
    threads: Threads,
    restart: bool = False,
    reuse: bool = False,
) -> tuple[DocumentState, Statistics]:
    """The local step over all blocks: every document's state, and the sum of the statistics.

    `reuse` writes the new state over `documents`, which is what a fit holds most memory for.
    """
    seen = prepare_globals(state, problem.dtype, threads)
    if documents is not None and reuse:
        held, tangent = documents.token_counts, documents.tangent
    else:
        held = np.empty((problem.n_documents, padded(problem.n_topics)), dtype=problem.dtype)
        tangent = np.empty(problem.n_documents, dtype=problem.dtype)
    total: Statistics | None = None
    for block, rows in problem.block_rows():
        kept = None if documents is None else documents.rows(rows)
        fitted, statistics = local_step(
            problem, state, seen, block, kept, settings, threads, restart
        )
        held[rows], tangent[rows] = fitted.token_counts, fitted.tangent
        total = statistics if total is None else total + statistics
    if total is None:
        raise ValueError("A problem needs at least one document.")
    return DocumentState(held, tangent), total


def fit_batch(
    problem: Problem,
    state: GlobalState,
    max_iter: int,
    settings: LocalSettings,
    monitor: Monitor,
    threads: Threads,
    keep_documents: bool = True,
    documents: DocumentState | None = None,
    after_pass: AfterPass | None = None,
) -> Fit:
    """Alternate local and global steps until the bound settles; topics end ordered by size.

    Without `keep_documents` every pass starts its documents afresh, block by block, and the
    labels' weights move by sums over blocks.

    Parameters
    ----------
    state, documents : where to go on, after as many passes as `monitor` has in its history
    after_pass : called after each pass but one that settles the bound
    """
    limits = DesignLimits.of(problem.design)
    for number in range(len(monitor.history), max_iter):
        sums: Parameters = {}
        if keep_documents:
            restart = number + 1 in RESTARTS
            documents, statistics = fit_documents(
                problem, state, documents, settings, threads, restart, reuse=True
            )
        else:
            statistics, sums = _sum_documents(problem, state, settings, threads)
        monitor.record(problem, state, statistics, elbo(problem, state, statistics, threads))
        if documents is not None:
            scaling = update_scaling(problem, state, documents, threads)
        else:
            scaling = update_scaling_from_sums(problem, state, sums, limits)
        state = global_step(problem, state, statistics, scaling)
        if not monitor.converged and after_pass is not None:
            after_pass(state, documents, monitor)
        if monitor.converged or monitor.interrupted:
            break
    return ordered(state, documents)


def ordered(state: GlobalState, documents: DocumentState | None) -> Fit:
    """A fit with its topics by size; the documents' array is put in order in place."""
    order = np.argsort(-state.topics.sum(axis=0, dtype=np.float64), kind="stable")
    if documents is not None:
        _reorder_topics(documents, order)
    return Fit(state.reordered(order), documents)


def sum_tokens(
    problem: Problem, fit: Fit, member: csr_array, settings: LocalSettings, threads: Threads
) -> FloatArray:
    """The tokens that topics hold in groups of documents, [G, K].

    Parameters
    ----------
    member : [G, M] ones where a document belongs to a group; as many groups as documents means
        that each is its own, in order, and the answer is the documents' own array
    """
    if fit.documents is not None:
        if member.shape[0] == problem.n_documents:
            return fit.documents.token_counts
        return sparse_product(member, fit.documents.token_counts, threads)
    total = np.zeros((member.shape[0], padded(problem.n_topics)), dtype=problem.dtype)
    seen = prepare_globals(fit.state, problem.dtype, threads)
    for block, rows in problem.block_rows():
        documents, _ = local_step(problem, fit.state, seen, block, None, settings, threads)
        total += member[:, rows] @ documents.token_counts
    return total


def _sum_documents(
    problem: Problem, state: GlobalState, settings: LocalSettings, threads: Threads
) -> tuple[Statistics, Parameters]:
    """A pass over documents that are forgotten block by block."""
    seen = prepare_globals(state, problem.dtype, threads)
    total: Statistics | None = None
    sums: dict[str, FloatArray] = {}
    for block, _ in problem.block_rows():
        documents, statistics = local_step(problem, state, seen, block, None, settings, threads)
        total = statistics if total is None else total + statistics
        if problem.design.nnz:
            for name, value in scaling_sums(problem, state, block, documents).items():
                sums[name] = sums[name] + value if name in sums else value
    assert total is not None
    return total, sums


def _reorder_topics(documents: DocumentState, order: IntArray) -> None:
    """Put the topics of documents into another order, in place: a copy would be as large."""
    held = documents.token_counts
    for first in range(0, len(held), BLOCK_SIZE):
        rows = held[first : first + BLOCK_SIZE, : len(order)]
        rows[:] = rows[:, order]
