"""Batch coordinate ascent: loops over all documents, then updates the rest."""

from dataclasses import dataclass

import numpy as np

from hdsp.inference.monitor import Monitor
from hdsp.kernels import Threads
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
)
from hdsp.model.state import padded
from hdsp.numerics.types import IntArray

# In these passes documents are also started afresh; topics move less and less.
RESTARTS = (5, 20, 80, 320)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted state, and the documents of the last pass.

    Attributes
    ----------
    state : after the last global step, topics ordered by size
    documents : of the last pass, topics in the order they had while fitting
    order : [T] the places in `documents` of the topics in `state`
    """

    state: GlobalState
    documents: DocumentState
    order: IntArray


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
) -> Fit:
    """Alternate local and global steps until the bound settles; topics end ordered by size."""
    documents: DocumentState | None = None
    for number in range(max_iter):
        restart = number + 1 in RESTARTS
        documents, statistics = fit_documents(
            problem, state, documents, settings, threads, restart, reuse=True
        )
        monitor.record(problem, state, statistics, elbo(problem, state, statistics, threads))
        state = global_step(problem, state, statistics, documents, threads)
        if monitor.converged:
            break
    assert documents is not None
    order = np.argsort(-state.topics.sum(axis=0, dtype=np.float64), kind="stable")
    return Fit(state.reordered(order), documents, order)
