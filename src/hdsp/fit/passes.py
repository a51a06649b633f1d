"""Where the documents of a fit are kept between its passes, and what passes over them do.

Documents that are in this process have one array, which exact sweeps over the labels' weights can
see. Documents that an executor keeps where their blocks are give sums alone, so that every executor
gives the same bits: the labels' weights are then updated by several rounds of sums. Either way
topics can be merged. Documents that are not kept start every pass afresh.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hdsp.execution import Kept, Step, sum_documents
from hdsp.execution.passes import FitDocuments, FittedBlock, LabelSums, SumLabels
from hdsp.fit.run import History, Run
from hdsp.kernels import run_ranges
from hdsp.model import (
    BlockProblem,
    DocumentState,
    Fit,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    elbo,
    global_step,
    make_view,
)
from hdsp.model.bound import TopicWeights, token_proportions
from hdsp.model.updates import update_scaling_from_sums
from hdsp.numerics import IntArray
from hdsp.scaling.functions import DesignLimits, Parameters, ScalingFunction

# Exact updates of the labels' weights of a merged topic, and pairs of topics per task of a thread.
_EXACT_UPDATES = 2
_PAIR_RANGE = 8
# Rounds of sums that update the labels' weights; each moves the sums of J x T numbers.
_LABEL_ROUNDS = 5


class Documents(ABC):
    """The documents of a fit.

    Parameters
    ----------
    problem : Problem or ShardedProblem
        What is fitted.
    run : Run
        How the fit proceeds.

    Attributes
    ----------
    here : DocumentState or None
        The documents' q(pi), if it is in this process.
    """

    problem: BlockProblem
    here: DocumentState | None = None

    def __init__(self, problem: BlockProblem, run: Run) -> None:
        self.problem = problem
        self.run = run

    @abstractmethod
    def fit(
        self, state: GlobalState, settings: LocalSettings, remember: bool = False
    ) -> Statistics:
        """Fit all documents, and sum their statistics; `remember` keeps responsibilities, too."""

    @abstractmethod
    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        """The global step after `fit` with `state`."""

    def sum(self, step: Step) -> Any:
        """The sum of a step's results over what was kept of the documents."""
        raise NotImplementedError

    def update_merged(
        self, pairs: IntArray, topics: TopicWeights, limits: DesignLimits
    ) -> TopicWeights:
        """Fit the labels' weights of topics that hold what `pairs` [Q, 2] of topics do."""
        raise NotImplementedError

    def regroup(self, members: Sequence[Sequence[int]]) -> None:
        """Let topics hold what groups of the present ones do."""
        raise NotImplementedError


class DocumentsHere(Documents):
    """Documents in this process, in one array that passes overwrite.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    run : Run
        How the fit proceeds.
    documents : DocumentState or None, default=None
        The documents to continue from; None starts them afresh.
    """

    problem: Problem

    def __init__(self, problem: Problem, run: Run, documents: DocumentState | None = None) -> None:
        super().__init__(problem, run)
        self.here = documents
        self._parts: list[FittedBlock] = []

    def fit(
        self, state: GlobalState, settings: LocalSettings, remember: bool = False
    ) -> Statistics:
        """Fit all documents, on threads of this process."""
        problem, before = self.problem, self.here
        step = FitDocuments(make_view(state, problem.scaling, problem.dtype), settings, remember)
        documents = before
        if documents is None:
            documents = DocumentState.empty(problem.n_documents, state.n_topics, problem.dtype)
        self.here, self._parts = documents, []

        def fit_block(number: int) -> Statistics:
            block = problem.blocks[number]
            rows = documents.rows(block.rows)
            kept = None if before is None else FittedBlock(rows, block.lengths, block.design)
            part, statistics = step(block, kept)
            documents.put(block.rows, part.documents)
            self._parts.append(replace(part, documents=rows))
            return statistics

        return self.run.here.sum(fit_block, len(problem.blocks))

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        """The global step, with an exact sweep over the labels' weights."""
        return global_step(self.problem, state, statistics, self.here)

    def sum(self, step: Step) -> Any:
        """The sum of a step's results over the blocks."""
        return self.run.here.run(step, self.problem.blocks, self._parts, keep=False)[1]

    def update_merged(
        self, pairs: IntArray, topics: TopicWeights, limits: DesignLimits
    ) -> TopicWeights:
        """Fit the labels' weights by exact updates."""
        problem, documents = self.problem, self.here
        assert documents is not None
        if problem.design.nnz == 0:
            return topics
        function, design = problem.scaling, problem.design
        per_xi, held = problem.lengths / documents.tangent, documents.token_counts

        def update(first: int, last: int) -> Parameters:
            some = topics.take(slice(first, last))
            tokens = held[:, pairs[first:last, 0]] + held[:, pairs[first:last, 1]]
            for _ in range(_EXACT_UPDATES):
                mean = token_proportions(function, design, per_xi, tokens, some)
                scaling = function.update(some.scaling, design, some.prior_shape, mean)
                some = replace(some, scaling=scaling)
            return some.scaling

        parts = run_ranges(update, len(pairs), _PAIR_RANGE)
        joined = {name: np.concatenate([part[name] for part in parts]) for name in topics.scaling}
        return replace(topics, scaling=joined)

    def regroup(self, members: Sequence[Sequence[int]]) -> None:
        """Regroup the array, in place where it stays as wide."""
        self._parts = []
        assert self.here is not None
        self.here = self.here.regrouped(members, reuse=True)


class DocumentsInBlocks(Documents):
    """Documents that the run's executor keeps where their blocks are."""

    _kept: Kept | None = None

    def fit(
        self, state: GlobalState, settings: LocalSettings, remember: bool = False
    ) -> Statistics:
        """Fit all documents, where they are."""
        problem = self.problem
        step = FitDocuments(make_view(state, problem.scaling, problem.dtype), settings, remember)
        self._kept, statistics = self.run.executor.run(step, problem.blocks, self._kept)
        found: Statistics = statistics
        return found

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        """The global step, with additive rounds over the labels' weights."""
        problem, scaling = self.problem, state.scaling
        for _ in range(_LABEL_ROUNDS if problem.n_labels else 0):
            step = SumLabels(problem.scaling, state.scaling, scaling, state.prior_shape)
            sums = self.sum(step).sums
            scaling = update_scaling_from_sums(
                problem, replace(state, scaling=scaling), sums, statistics.limits
            )
        return global_step(problem, state, statistics, scaling=scaling)

    def sum(self, step: Step) -> Any:
        """The sum of a step's results over the blocks, where they are."""
        return self.run.executor.run(step, self.problem.blocks, self._kept, keep=False)[1]

    def update_merged(
        self, pairs: IntArray, topics: TopicWeights, limits: DesignLimits
    ) -> TopicWeights:
        """Fit the labels' weights by additive rounds."""
        function = self.problem.scaling
        for _ in range(_LABEL_ROUNDS if self.problem.n_labels else 0):
            sums = self.sum(SumMergedLabels(function, pairs, topics)).sums
            scaling = function.update_from_statistics(
                topics.scaling, sums, topics.prior_shape, limits
            )
            topics = replace(topics, scaling=scaling)
        return topics

    def regroup(self, members: Sequence[Sequence[int]]) -> None:
        """Regroup what is kept, where it is."""
        step = RegroupDocuments(tuple(map(tuple, members)))
        self._kept, _ = self.run.executor.run(step, self.problem.blocks, self._kept)


class DocumentsAfresh(Documents):
    """Documents that every pass starts afresh; labels' weights are updated from its sums."""

    def fit(
        self, state: GlobalState, settings: LocalSettings, remember: bool = False
    ) -> Statistics:
        """Fit all documents, and forget them."""
        return sum_documents(self.problem, state, settings, self.run.executor)

    def update(self, state: GlobalState, statistics: Statistics) -> GlobalState:
        """The global step."""
        return global_step(self.problem, state, statistics)


def documents_of(
    problem: BlockProblem, run: Run, documents: DocumentState | None = None
) -> Documents:
    """The documents of a problem, kept as the run says.

    Parameters
    ----------
    problem : Problem or ShardedProblem
        What is fitted.
    run : Run
        How the fit proceeds.
    documents : DocumentState or None, default=None
        Documents in memory to continue from; None starts them afresh.
    """
    if not run.keep_documents:
        return DocumentsAfresh(problem, run)
    if isinstance(problem, Problem):
        return DocumentsHere(problem, run, documents)
    return DocumentsInBlocks(problem, run)


@dataclass(frozen=True, eq=False)
class SumMergedLabels(Step):
    """Sums the statistics that update the labels' weights of merged topics.

    Attributes
    ----------
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    pairs : int array of shape [Q, 2]
        The topics that become one.
    topics : TopicWeights
        The topics that they become, Q of them.
    """

    reads_block: ClassVar[bool] = False

    scaling: ScalingFunction
    pairs: IntArray
    topics: TopicWeights

    def __call__(self, block: None, kept: FittedBlock) -> tuple[None, LabelSums]:
        """The sums."""
        held = kept.documents.token_counts
        tokens = held[:, self.pairs[:, 0]] + held[:, self.pairs[:, 1]]
        mean = token_proportions(self.scaling, kept.design, kept.per_xi, tokens, self.topics)
        return None, LabelSums(self.scaling.statistics(self.topics.scaling, kept.design, mean))


@dataclass(frozen=True, eq=False)
class RegroupDocuments(Step):
    """Lets topics of the documents hold what groups of the present ones do.

    Attributes
    ----------
    members : tuple of tuples of int
        The present topics of each new one.
    """

    reads_block: ClassVar[bool] = False

    members: tuple[tuple[int, ...], ...]

    def __call__(self, block: None, kept: FittedBlock) -> tuple[FittedBlock, int]:
        """The regrouped documents."""
        documents = kept.documents.regrouped(self.members)
        return FittedBlock(documents, kept.lengths, kept.design), 0


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
