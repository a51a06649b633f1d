"""Cross-fitting: training documents read with topics that were learned without them."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from hdsp.execution import InProcess, fit_documents, is_alone
from hdsp.kernels import sparse_product
from hdsp.model import Fit, GlobalState, LocalSettings, Problem
from hdsp.model.differing import update_versions
from hdsp.model.seeds import add_seeds
from hdsp.numerics.sampling import parts_of
from hdsp.numerics.types import BoolArray, FloatArray, IntArray

# Documents are left out of topics in so many parts. Halves would leave topics of few documents with
# too few, and more parts take longer.
FOLDS = 4
# Of more documents than this, none brings topics noticeably nearer to itself.
MANY_DOCUMENTS = 50_000
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
    """

    problem: Problem
    state: GlobalState
    settings: LocalSettings
    executor: InProcess
    copies: IntArray | None = None
    groups: IntArray | None = None
    _states: dict[int, GlobalState] = field(default_factory=dict)

    @cached_property
    def fold(self) -> IntArray:
        """The fold of each document, [M]."""
        return folds(self.problem, self.groups)

    def without(self, number: int) -> GlobalState:
        """The state with topics as they would be without a fold."""
        if number not in self._states:
            chosen = self.fold == number
            self._states[number] = leave_out(
                self.problem, self.state, chosen, self.settings, self.executor, self.copies
            )
        return self._states[number]


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
    for number in range(FOLDS):
        rows = np.flatnonzero(needed & (left_out.fold == number))
        if len(rows) == 0:
            continue
        state = left_out.without(number)
        for part in parts_of(rows):
            taken = problem.take(part)
            documents, _ = fit_documents(taken, state, None, reading, left_out.executor)
            tokens = documents.token_counts
            if total is None:
                total = np.zeros((member.shape[0], tokens.shape[1]), dtype=tokens.dtype)
            if single:
                total[part] = tokens
            else:
                total += sparse_product(csr_array(member[:, part]), tokens)
    assert total is not None  # a corpus has a document
    return total


def leave_out(
    problem: Problem,
    state: GlobalState,
    chosen: BoolArray,
    settings: LocalSettings,
    executor: InProcess,
    copies: IntArray | None = None,
) -> GlobalState:
    """The state with topics as they would be without the `chosen` [M] documents.

    The chosen documents' tokens are taken away, and topics learned once more from the others.
    """
    priors, prior = problem.priors, problem.priors.topic_prior

    def word_counts(rows: IntArray, now: GlobalState) -> FloatArray | None:
        if copies is not None:
            rows = np.repeat(rows, copies[rows])
        if len(rows) == 0:
            return None
        return np.asarray(
            sum(
                fit_documents(problem.take(part), now, None, settings, executor)[1].word_counts
                for part in parts_of(rows)
            )
        )

    own = word_counts(np.flatnonzero(chosen), state)
    if own is None:
        return state
    if state.versions is not None:
        tokens = np.maximum(state.versions.tokens - own, 0.0)
        state = update_versions(priors, state, tokens.astype(own.dtype), learn=False)
    else:
        topics = np.maximum(state.topics - own, prior).astype(state.topics.dtype)
        state = replace(state, topics=topics)
    others = word_counts(np.flatnonzero(~chosen), state)
    if others is None:
        return state
    if state.versions is not None:
        return update_versions(priors, state, others, learn=False)
    topics = add_seeds(others + prior, priors.seeds, state.seeded)
    return replace(state, topics=topics.astype(state.topics.dtype))


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
