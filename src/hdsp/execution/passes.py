"""Passes over all documents: a step for each block, and the sum of the results."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.execution.executor import Executor, InProcess, Step
from hdsp.model import (
    Block,
    BlockProblem,
    DocumentState,
    DocumentView,
    Fit,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    block_step,
    make_view,
)
from hdsp.model.documents import mean_proportions, solve_block
from hdsp.numerics import FloatArray
from hdsp.scaling.functions import Design, Parameters, ScalingFunction


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


def solve_documents(problem: Problem, state: GlobalState, settings: LocalSettings) -> DocumentState:
    """Every document's state, from the start."""
    view = make_view(state, problem.scaling, problem.dtype)
    solved = DocumentState.empty(problem.n_documents, state.n_topics, problem.dtype)
    for block in problem.blocks:
        solved.put(block.rows, solve_block(view, block, None, settings).documents)
    return solved


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
        The weights of documents in groups, mostly ones. Where every document is its own group, in
        order, the result is the documents' own array.
    settings : LocalSettings
        How documents are fitted if they were not kept.
    executor : InProcess
        Adds up the results.
    """
    if fit.documents is not None:
        if is_alone(member):
            return fit.documents.token_counts
        return kernels.sparse_product(member, fit.documents.token_counts)
    view = make_view(fit.state, problem.scaling, problem.dtype)

    def step(number: int) -> FloatArray:
        block = problem.blocks[number]
        documents = solve_block(view, block, None, settings).documents
        return np.asarray(member[:, block.rows] @ documents.token_counts)

    return executor.sum(step, len(problem.blocks))


def is_alone(member: csr_array) -> bool:
    """Whether every document is its own group, in order."""
    n_groups, n_documents = member.shape
    return bool(n_groups == n_documents and np.array_equal(member.indices, np.arange(n_documents)))


@dataclass(frozen=True, eq=False)
class FittedBlock:
    """What is kept of a block: its documents' state, and what later steps need beside it.

    Attributes
    ----------
    documents : DocumentState
        The state of its documents.
    lengths : float array of shape [M]
        The document lengths N_m.
    design : sparse array of shape [M, J]
        Label values.
    weight : float array of shape [M, K] or None, default=None
        The documents' factors of the responsibilities, c_mi gamma_mik = token_weight_mi weight_mk
        table_ik, if they were to be remembered.
    token_weight : float array of shape [nnz] or None, default=None
        The factors of the block's entries.
    """

    documents: DocumentState
    lengths: FloatArray
    design: Design
    weight: FloatArray | None = None
    token_weight: FloatArray | None = None

    @property
    def per_xi(self) -> FloatArray:
        """N_m / xi_m, [M]."""
        return np.asarray(self.lengths / self.documents.tangent.astype(np.float64))


@dataclass(frozen=True, eq=False)
class FitDocuments(Step):
    """Fits the documents of a block, continuing from what was kept of them.

    Attributes
    ----------
    view : DocumentView
        The model as documents see it.
    settings : LocalSettings
        How documents are fitted.
    remember : bool, default=False
        Also keep the responsibilities.
    """

    view: DocumentView
    settings: LocalSettings
    remember: bool = False

    def __call__(self, block: Block, kept: FittedBlock | None) -> tuple[FittedBlock, Statistics]:
        """The documents' state, and their statistics."""
        before = None if kept is None else kept.documents
        solution, statistics = block_step(self.view, block, before, self.settings)
        kept = FittedBlock(solution.documents, block.lengths, block.design)
        if self.remember:
            kept = replace(kept, weight=solution.weight, token_weight=solution.token_weight)
        return kept, statistics


@dataclass(frozen=True, eq=False)
class SumLabels(Step):
    """Sums the statistics that update the labels' weights, of documents that stay as they are.

    Attributes
    ----------
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    fitted_with : mapping of str to array
        The parameters that the documents were fitted with.
    parameters : mapping of str to array
        The parameters to update.
    prior_shape : float array of shape [T]
        The prior shape beta p, as the documents were fitted with.
    """

    reads_block: ClassVar[bool] = False

    scaling: ScalingFunction
    fitted_with: Parameters
    parameters: Parameters
    prior_shape: FloatArray

    def __call__(self, block: None, kept: FittedBlock) -> tuple[FittedBlock, "LabelSums"]:
        """The documents as they are, and the sums."""
        rate = self.scaling.expected_rate(self.fitted_with, kept.design)
        mean = mean_proportions(rate, self.prior_shape, kept.lengths, kept.documents)
        return kept, LabelSums(self.scaling.statistics(self.parameters, kept.design, mean))


@dataclass(frozen=True, eq=False)
class LabelSums:
    """A scaling function's own sums, which add."""

    sums: Parameters

    def __add__(self, other: "LabelSums") -> "LabelSums":
        return LabelSums({name: value + other.sums[name] for name, value in self.sums.items()})
