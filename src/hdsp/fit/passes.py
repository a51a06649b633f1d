"""The documents of a fit between its passes, and the passes over them.

An executor keeps the state of every block where the block is: in this process, or on a cluster.
Blocks in memory can be seen by exact sweeps over the label weights. Others give sums alone, so that
every executor gives the same bits: several rounds of sums then update the label weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hdsp.execution.executor import Executor, Kept, Step
from hdsp.fit.run import Run
from hdsp.model.bound import elbo
from hdsp.model.data import Block, Data, Problem
from hdsp.model.documents import BlockState, DocumentView, LocalSettings, block_step
from hdsp.model.state import DocumentState, GlobalState, Statistics, TopicWeights
from hdsp.model.updates import global_step, update_scaling
from hdsp.numerics import IntArray
from hdsp.scaling.functions import DesignLimits, Parameters, ScalingFunction

# Rounds of sums that update the label weights; each moves the sums of J x T numbers.
_LABEL_ROUNDS = 5
# The passes in which documents are also started afresh; spaced out, since topics settle.
RESTARTS = (5, 20, 80, 320)


class Documents:
    """The documents of a fit, which continue from pass to pass.

    Parameters
    ----------
    problem : Data
        What is fitted.
    executor : Executor
        Where passes run, and where the state of blocks is kept.
    documents : DocumentState or None, default=None
        Documents in memory to continue from; None starts every document from p.
    """

    def __init__(
        self, problem: Data, executor: Executor, documents: DocumentState | None = None
    ) -> None:
        self.problem, self._executor = problem, executor
        self._kept: Kept | None = None
        if documents is not None and isinstance(problem, Problem):
            self._kept = [
                BlockState(documents.rows(block.rows), block.lengths, block.design)
                for block in problem.blocks
            ]

    def fit(
        self, state: GlobalState, settings: LocalSettings, remember: bool = False
    ) -> Statistics:
        """Fit all documents, and sum their statistics; `remember` keeps responsibilities, too."""
        view = DocumentView(state, self.problem.scaling, self.problem.dtype)
        step = FitDocuments(view, settings, remember)
        self._kept, statistics = self._executor.run(step, self.problem.blocks, self._kept)
        total: Statistics = statistics
        return total

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        """The global step after `fit` with `state`."""
        scaling = self.update_scaling(state.weights, statistics.limits)
        scaling = self.problem.scaling.learn_prior(scaling)
        return global_step(self.problem, state, statistics, scaling)

    def update_scaling(
        self, topics: TopicWeights, limits: DesignLimits, pairs: IntArray | None = None
    ) -> Parameters:
        """The label weights of topics, by exact sweeps or by rounds of sums.

        Of all topics after `fit`, or of topics that are sums of `pairs` [Q, 2] of these.
        """
        problem, scaling = self.problem, topics.scaling
        if isinstance(problem, Problem):
            assert self._kept is not None
            return update_scaling(problem, topics, self._kept, pairs)
        for _ in range(_LABEL_ROUNDS if problem.n_labels else 0):
            sums = self.sum(SumLabels(problem.scaling, topics, scaling, pairs)).sums
            scaling = problem.scaling.update_from_statistics(
                scaling, sums, topics.prior_shape, limits
            )
            # Documents are not fitted with merged topics: their q(pi) follows the weights.
            topics = topics if pairs is None else replace(topics, scaling=scaling)
        return scaling

    def sum(self, step: Step) -> Any:
        """The sum of a step's results over the blocks."""
        return self._executor.run(step, self.problem.blocks, self._kept, keep=False)[1]

    def regroup(self, members: Sequence[Sequence[int]]) -> None:
        """Sum the columns of merged topics, or reorder topics."""
        step = RegroupDocuments(tuple(map(tuple, members)))
        self._kept, _ = self._executor.run(step, self.problem.blocks, self._kept)

    def joined(self) -> DocumentState | None:
        """q(pi) of documents in memory in one array, of which blocks keep views; else None."""
        if self._kept is None or not isinstance(self.problem, Problem):
            return None
        first = self._kept[0].documents.token_counts
        counts = np.empty((self.problem.n_documents, first.shape[1]), first.dtype)
        joined = DocumentState(counts, np.empty(len(counts), first.dtype))
        for number, block in enumerate(self.problem.blocks):
            own, part = self._kept[number].documents, joined.rows(block.rows)
            part.token_counts[:], part.tangent[:] = own.token_counts, own.tangent
            self._kept[number] = replace(self._kept[number], documents=part)
        return joined


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

    def __call__(self, block: Block, kept: BlockState | None) -> tuple[BlockState, Statistics]:
        """The documents' state, and their statistics."""
        before = None if kept is None else kept.documents
        solved, statistics = block_step(self.view, block, before, self.settings)
        if not self.remember:
            solved = BlockState(solved.documents, block.lengths, block.design)
        return solved, statistics


@dataclass(frozen=True, eq=False)
class LabelSums:
    """A scaling function's own sums, which add."""

    sums: Parameters

    def __add__(self, other: "LabelSums") -> "LabelSums":
        return LabelSums({name: value + other.sums[name] for name, value in self.sums.items()})


@dataclass(frozen=True, eq=False)
class SumLabels(Step):
    """Sums the statistics that update the label weights.

    Attributes
    ----------
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    fitted_with : TopicWeights
        The topics' weights that the documents were fitted with.
    parameters : mapping of str to array
        The parameters to update.
    pairs : int array of shape [Q, 2], or None, default=None
        The topics are those that these pairs become; None for all as they are.
    """

    reads_block: ClassVar[bool] = False

    scaling: ScalingFunction
    fitted_with: TopicWeights
    parameters: Parameters
    pairs: IntArray | None = None

    def __call__(self, block: None, kept: BlockState) -> tuple[None, LabelSums]:
        """The sums."""
        topics = slice(len(self.fitted_with.prior_shape)) if self.pairs is None else self.pairs
        tokens = kept.documents.tokens(topics)
        mean = kept.mean_proportions(self.scaling, tokens, self.fitted_with)
        return None, LabelSums(self.scaling.statistics(self.parameters, kept.design, mean))


@dataclass(frozen=True, eq=False)
class RegroupDocuments(Step):
    """Gives documents new topics, each the sum of its `members` among the present ones."""

    reads_block: ClassVar[bool] = False

    members: tuple[tuple[int, ...], ...]

    def __call__(self, block: None, kept: BlockState) -> tuple[BlockState, int]:
        """The regrouped documents."""
        documents = kept.documents.regrouped(self.members)
        return BlockState(documents, kept.lengths, kept.design), 0


def sum_documents(
    problem: Data, state: GlobalState, settings: LocalSettings, executor: Executor
) -> Statistics:
    """The statistics of documents that are started afresh and discarded block by block.

    They include the scaling function's own sums, since its update cannot see the documents.
    """
    view = DocumentView(state, problem.scaling, problem.dtype)
    step = FitDocuments(view, replace(settings, scaling_sums=True))
    statistics: Statistics = executor.run(step, problem.blocks, keep=False)[1]
    return statistics


def ascend(documents: Documents, state: GlobalState, run: Run) -> GlobalState:
    """The loop of batch inference: document step, bound and global step until the bound settles."""
    data = documents.problem
    while len(run.history) < run.max_iter:
        settings = replace(run.settings, restart=len(run.history) + 1 in RESTARTS)
        statistics = documents.fit(state, settings)
        run.record(data, state, statistics, elbo(data, state, statistics))
        state = documents.update(state, statistics)
        if not run.converged and run.save_is_due:
            run.save(state=state, documents=documents.joined())
        if run.converged or run.interrupted:
            break
    return state
