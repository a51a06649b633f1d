"""Cross-fitting: training documents read with topics that were learned without them."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from scipy.sparse import csr_array

from hdsp.execution import InProcess, fit_documents, is_alone, solve_documents
from hdsp.kernels import run_together, sparse_product
from hdsp.model import DocumentState, Fit, GlobalState, LocalSettings, Problem, Statistics
from hdsp.model.differing import update_versions
from hdsp.model.updates import update_topics
from hdsp.numerics.sampling import parts_of
from hdsp.numerics.types import BoolArray, FloatArray, IntArray

# Documents are left out of topics in so many parts. Halves would leave topics of few documents with
# too few, and more parts take longer.
FOLDS = 3
# Of more documents than this, none brings topics noticeably nearer to itself.
MANY_DOCUMENTS = 50_000
# Passes over the documents outside of a fold, which go on from where the fold's words had drawn
# them: after two they have forgotten more of it than after one from the start, which takes longer.
_PASSES = 2
# Until so small a share of a document's tokens moves: effects of labels depend on where documents
# that could belong to several topics settle.
MOST_ITERATIONS, TOL = 100, 1e-4


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

    def learn_all(self) -> None:
        """Learn the topics without each fold, after which the fitted documents may change."""
        run_together([partial(self.without, int(number)) for number in np.unique(self.fold)])
        self.documents = None

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
        documents = None if self.documents is None else self.documents.rows(rows)
        for _ in range(n_passes - 1):
            documents, found = fit_documents(
                problem, state, documents, self.settings, self.executor, reuse=True
            )
            state = update_topics(self.problem, state, found, learn=False)
        return fit_documents(problem, state, documents, self.settings, self.executor, reuse=True)[1]


def cross_fitted_tokens(fit: Fit, member: csr_array, left_out: LeftOut) -> FloatArray:
    """The tokens that topics hold in groups of documents, read as new documents are, [G, K].

    Topics have adapted to the documents that they were learned from, and hold more of what sets
    these apart than they will of others. So documents are read in folds, each from the start and
    with topics that lack it: without its tokens, and then learned once more from the documents
    outside it, which had gone where its tokens drew them.

    Parameters
    ----------
    fit : Fit
        The fit; its documents are overwritten, to save memory.
    member : sparse array of shape [G, M]
        The weights of documents in groups, mostly ones.
    left_out : LeftOut
        The documents, and topics without each fold of them.
    """
    problem = left_out.problem
    # Iterated for longer than in a fit.
    reading = replace(left_out.settings, max_iter=MOST_ITERATIONS, tol=TOL, restart=False)
    single = is_alone(member)
    kept = fit.documents if single and left_out.copies is None else None
    total: FloatArray | None = None if kept is None else kept.token_counts
    needed = np.bincount(member.indices, minlength=problem.n_documents) > 0
    left_out.learn_all()
    for number in range(FOLDS):
        rows = np.flatnonzero(needed & (left_out.fold == number))
        if len(rows) == 0:
            continue
        state = left_out.without(number)
        for part in parts_of(rows):
            taken = problem.take(part)
            tokens = solve_documents(taken, state, reading).token_counts
            if total is None:
                total = np.zeros((member.shape[0], tokens.shape[1]), dtype=tokens.dtype)
            if single:
                total[part] = tokens
            else:
                total += sparse_product(csr_array(member[:, part]), tokens)
    assert total is not None  # a corpus has a document
    return total


def folds(problem: Problem, groups: IntArray | None = None, n_folds: int = FOLDS) -> IntArray:
    """The fold of each document, [M].

    It follows from the document's words, so that neither their order nor other documents matter,
    and equal documents are left out together; or from the number of its group, unless that is -1.
    """
    directions = np.random.default_rng(0).random(problem.n_words)
    counts = problem.entries if not len(problem.content) else problem.counts
    projected = np.asarray(counts @ directions)
    found = np.asarray(np.floor(1e3 * projected % 1.0 * n_folds), dtype=np.int64)
    return found if groups is None else np.where(groups < 0, found, groups % n_folds)
