"""Cross-fitting: training documents read with topics that were learned without them."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Literal

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.execution.executor import InProcess
from hdsp.fit.passes import Documents
from hdsp.kernels import run_together
from hdsp.model.data import Problem
from hdsp.model.documents import LocalSettings
from hdsp.model.reading import HeldOut, group_share
from hdsp.model.state import DocumentState, GlobalState, Statistics
from hdsp.model.updates import expected_tokens, update_topics, update_versions
from hdsp.numerics import BoolArray, FloatArray, IntArray, parts_of, sample_rows
from hdsp.storage.codec import SMALLEST, Limits, require

# Documents are left out of topics in so many parts. Halves would leave topics of few documents with
# too few, and more parts take longer.
FOLDS = 3
# Of more documents than this, none brings topics noticeably nearer to itself.
MANY_DOCUMENTS = 50_000
# Passes over the documents outside of a fold, which go on from where the fold's words had drawn
# them: after two they have forgotten more of it than after one from the start, which takes longer.
_PASSES = 2
# A topic that loses more of its tokens with a fold keeps all of them there. Directions of topics
# whose size is less than this part of the largest are left out.
_MOST_LOST, _LEAST_SIZE = 0.9, 1e-10

# Whether each document weighs the same, or each token.
Weight = Literal["documents", "tokens"]
WEIGHTS: tuple[Weight, ...] = ("documents", "tokens")


@dataclass(eq=False)
class LeftOut:
    """The topics without each fold of the documents, which several stages read documents with.

    Attributes
    ----------
    problem : Problem
        The documents.
    state : GlobalState
        The fitted state.
    settings : LocalSettings
        How documents are fitted.
    executor : InProcess
        Where blocks are processed.
    copies : int array of shape [M] or None, default=None
        How often each document was among those that topics were learned from; None is once.
    groups : int array of shape [M] or None, default=None
        Documents that are left out together; -1 is a document of its own.
    documents : DocumentState or None, default=None
        The fitted documents, which reading goes on from; None reads them from the start.
    learned_from : int or None, default=None
        The number of documents that topics were learned from, if it is not M.
    """

    problem: Problem
    state: GlobalState
    settings: LocalSettings
    executor: InProcess
    copies: IntArray | None = None
    groups: IntArray | None = None
    documents: DocumentState | None = None
    learned_from: int | None = None
    _states: dict[int, GlobalState] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Of these passes only topics are used.
        self.settings = replace(self.settings, bound=False)

    @cached_property
    def fold(self) -> IntArray:
        """The fold of each document, [M]."""
        return folds(self.problem, self.groups)

    @property
    def negligible(self) -> bool:
        """Whether topics would be the same without any of so many documents."""
        return (self.learned_from or self.problem.n_documents) > MANY_DOCUMENTS

    def without(self, number: int) -> GlobalState:
        """The state with topics as they would be without a fold."""
        if self.negligible:
            return self.state
        if number not in self._states:
            chosen = self.fold == number
            self._states[number] = self._leave_out(chosen)
        return self._states[number]

    def _leave_out(self, chosen: BoolArray) -> GlobalState:
        """The state with topics as they would be without the `chosen` [M] documents.

        The chosen documents' tokens are taken away, and topics learned again from the others.
        """
        state, priors = self.state, self.problem.priors
        own = self._learned(np.flatnonzero(chosen), state, n_passes=1)
        if own is None:
            return state
        if state.versions is not None:
            tokens = np.maximum(state.versions.tokens - own.word_counts, 0.0)
            state = update_versions(priors, state, tokens.astype(state.topics.dtype), learn=False)
        else:
            topics = np.maximum(state.topics - own.word_counts, priors.topic_prior)
            state = replace(state, topics=topics.astype(state.topics.dtype))
        n_passes = 1 if self.documents is None else _PASSES
        others = self._learned(np.flatnonzero(~chosen), state, n_passes)
        if others is None:
            return state
        return update_topics(self.problem, state, others, learn=False)

    def _learned(self, rows: IntArray, state: GlobalState, n_passes: int) -> Statistics | None:
        """The statistics of some documents in the last of several passes, None without documents.

        Between passes, topics are learned from these documents alone.
        """
        if self.copies is not None:
            rows = np.repeat(rows, self.copies[rows])
        if len(rows) == 0:
            return None
        problem = self.problem.take(rows)
        fitted = None if self.documents is None else self.documents.rows(rows)
        documents = Documents(problem, self.executor, fitted)
        for _ in range(n_passes - 1):
            statistics = documents.fit(state, self.settings)
            state = update_topics(self.problem, state, statistics, learn=False)
        return documents.fit(state, self.settings)


@dataclass(frozen=True, eq=False)
class Reading:
    """Proportions of the training documents, or of a sample, estimated from their words alone.

    Attributes
    ----------
    proportions : float16 array of shape [M, T]
        Unbiased estimates, which may be negative. Rows sum to 1, or are NaN in documents without
        words. Topics that are not in use have 0.
    values : sparse array of shape [M, n_labels]
        The documents' labels.
    lengths : float array of shape [M]
        Their numbers of tokens.
    fold : int array of shape [M]
        The fold that each was left out with.
    rows : int array of shape [M]
        Their rows among all training documents.
    groups : int array of shape [M] or None
        Their groups; -1 is a document of its own.
    weights : float array of shape [M] or None
        Sampling weights; None weighs documents alike.
    kept_whole : tuple of int
        Topics that lose over 90% of their tokens with a fold, which is read with all of them.
    condition : float
        The largest condition number of the topics' Gram matrices.
    """

    proportions: Annotated[FloatArray, Limits("m T", missing=True)]
    values: Annotated[csr_array, Limits("m L")]
    lengths: Annotated[FloatArray, Limits("m", 0.0)]
    fold: Annotated[IntArray, Limits("m", below=FOLDS)]
    rows: Annotated[IntArray, Limits("m", 0.0)]
    groups: Annotated[IntArray, Limits("m", -1.0)] | None = None
    weights: Annotated[FloatArray, Limits("m", SMALLEST)] | None = None
    kept_whole: tuple[int, ...] = ()
    condition: float = 1.0

    def check_stored(self) -> None:
        """Raise if a file holds a reading that no fit makes."""
        missing = np.isnan(self.proportions).sum(axis=1)
        whole = np.isin(missing, (0, self.proportions.shape[1])).all()
        require(whole, "it has documents that are read in part")

    @cached_property
    def n_topics(self) -> int:
        """The topics in use, which are the first."""
        return int(np.flatnonzero(np.nan_to_num(self.proportions).any(axis=0)).max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def read(self) -> BoolArray:
        """Which documents have proportions, [M]."""
        return ~np.isnan(self.proportions[:, 0])

    def document_weights(self, weight: Weight) -> FloatArray:
        """Weights of documents in means, [M]: sampling weights, by documents or by tokens."""
        own = np.ones(len(self)) if self.weights is None else self.weights
        weights = own * self.lengths if weight == "tokens" else own
        return np.where(self.lengths > 0, weights, 0.0)


def estimate_proportions(
    left_out: "LeftOut",
    values: csr_array,
    n_topics: int,
    rows: IntArray | None = None,
    weights: FloatArray | None = None,
) -> Reading:
    """Read documents with topics that lack their fold: weighted least squares of word shares.

    theta = (Phi D^-1 Phi')^-1 Phi D^-1 x / N, where Phi are expected word counts of topics outside
    the fold, normalised without their prior, and D the word frequencies there. It is unbiased given
    the topics, whatever the length of a document.

    Parameters
    ----------
    left_out : LeftOut
        The documents, and topics without each fold.
    values : sparse array of shape [M, n_labels]
        The documents' labels.
    n_topics : int
        The topics in use, which are the first.
    rows : int array of shape [M] or None, default=None
        The documents' rows among all; None is in order.
    weights : float array of shape [M] or None, default=None
        Sampling weights.
    """
    problem, fold = left_out.problem, left_out.fold
    numbers = [int(number) for number in np.unique(fold)]
    run_together([partial(left_out.without, number) for number in numbers])
    # The fitted documents may change now.
    left_out.documents = None
    proportions = np.zeros((problem.n_documents, left_out.state.n_topics), dtype=np.float16)
    whole: set[int] = set()
    condition = 1.0
    for number in numbers:
        state = left_out.without(number)
        reader, kept, alike = _make_reader(problem, state, left_out.state, n_topics)
        whole.update(kept)
        condition = max(condition, alike)
        for part in parts_of(np.flatnonzero(fold == number)):
            entries = problem.entries(part).astype(np.float32)
            estimate = kernels.sparse_product(entries, reader)
            known = estimate[:, -1:]
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.where(known > 0, estimate[:, :-1] / known, np.nan)
            proportions[part, :n_topics] = share
            proportions[part[known[:, 0] <= 0]] = np.nan
    # Indices that take four bytes.
    values = csr_array(values, dtype=np.float64)
    values.indices, values.indptr = values.indices.astype(np.int32), values.indptr.astype(np.int32)
    return Reading(
        proportions,
        values,
        problem.lengths.astype(np.float64),
        fold.astype(np.int8),
        np.arange(problem.n_documents) if rows is None else rows,
        left_out.groups,
        weights,
        tuple(sorted(whole)),
        condition,
    )


def _make_reader(
    problem: Problem, state: GlobalState, full: GlobalState, n_topics: int
) -> tuple[FloatArray, list[int], float]:
    """What word counts are multiplied by [V, T + 1], the last column 1 for known words.

    Also the topics that keep what they have with the fold, and the condition of topics.
    """
    if state.versions is not None:
        shares, n_versions = group_share(state)[:, :n_topics], len(problem.content) + 1
        weight = expected_tokens(full, problem.priors).sum(axis=0)[:n_topics]
        kept: list[int] = []
    else:
        tokens, all_tokens = (
            np.maximum(expected_tokens(given, problem.priors)[:, :n_topics], 0.0)
            for given in (state, full)
        )
        lost = tokens.sum(axis=0) < (1.0 - _MOST_LOST) * all_tokens.sum(axis=0)
        tokens = np.where(lost, all_tokens, tokens)
        # The prior's share of words that a topic hardly has is rounding.
        weight, n_versions = np.maximum(tokens.sum(axis=0), 1e-12), 1
        shares, kept = tokens / weight, np.flatnonzero(lost).tolist()
    reader, condition = np.zeros((len(shares), n_topics + 1), dtype=np.float32), 1.0
    for version in range(n_versions):
        words = slice(version, None, n_versions)
        own = shares[words]
        frequency = own @ (weight / weight.sum())
        known = frequency > 0
        scaled = np.where(known[:, None], own / np.where(known, frequency, 1.0)[:, None], 0.0)
        gram = scaled.T @ own
        size = np.linalg.eigvalsh(gram)
        condition = max(condition, size[-1] / max(size[0], _LEAST_SIZE * size[-1]))
        reader[words, :-1] = scaled @ np.linalg.pinv(gram, rcond=_LEAST_SIZE, hermitian=True)
        reader[words, -1] = known
    return reader, kept, float(condition)


def folds(problem: Problem, groups: IntArray | None = None, n_folds: int = FOLDS) -> IntArray:
    """The fold of each document, [M].

    It follows from the document's words, so that neither their order nor other documents matter,
    and equal documents are left out together; or from the number of its group, unless that is -1.
    """
    directions = np.random.default_rng(0).random(problem.n_words)
    counts = problem.entries() if not len(problem.content) else problem.counts
    projected = np.asarray(counts @ directions)
    fold = np.asarray(np.floor(1e3 * projected % 1.0 * n_folds), dtype=np.int64)
    return fold if groups is None else np.where(groups < 0, fold, groups % n_folds)


# The maximum and minimum of documents that choose the concentration, and the maximum of others,
# which topics and label weights are learned from.
_MAX_HELD_OUT, _MIN_HELD_OUT, _MAX_OTHERS = 1_000, 2, 5_000


def choose_concentration(left_out: LeftOut) -> float:
    """The beta that new documents are predicted with.

    A fit learns topics with the beta that its bound prefers. New words are predicted best with
    another one, at which halves of documents predict each other. Documents of the fit would choose
    too small a beta, because topics and label weights have learned their words: both are learned
    again without a fold.
    """
    problem, learned = left_out.problem, left_out.state.document_concentration
    inside = left_out.fold == 0
    fold, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
    if len(fold) < _MIN_HELD_OUT or not len(rest):
        return learned
    chosen = fold[sample_rows(len(fold), _MAX_HELD_OUT)]
    others = problem.take(rest[sample_rows(len(rest), _MAX_OTHERS)])
    frequency = np.asarray(others.counts.sum(axis=0), dtype=np.float64)
    held_out = HeldOut(problem.counts[chosen], problem.design[chosen], frequency)
    if not held_out.tokens.sum():
        return learned
    state, documents = left_out.without(0), Documents(others, left_out.executor)
    for _ in range(_PASSES):
        statistics = documents.fit(state, left_out.settings)
        scaling = documents.update_scaling(state.weights, statistics.limits)
        state = replace(update_topics(others, state, statistics), scaling=scaling)
    return held_out.score(state, problem.scaling, 2.0 * learned).refined_concentration()
