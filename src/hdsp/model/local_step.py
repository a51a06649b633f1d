"""The document step: q(pi) of a block of documents, and their statistics."""

from dataclasses import dataclass

import numpy as np
from scipy.special import psi

from hdsp import kernels
from hdsp.kernels import Threads
from hdsp.model.problem import Block, Problem
from hdsp.model.state import DocumentState, GlobalState, Statistics, padded
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.scaling import Design, Parameters, ScalingFunction

# Documents and words a thread takes at a time; fixed, so that results do not depend on threads.
DOCUMENT_RANGE = 64
WORD_RANGE = 256


@dataclass(frozen=True)
class LocalSettings:
    """When a document stops.

    Attributes
    ----------
    max_iter : inner iterations at most
    tol : the share of a document's tokens that may still move between topics
    """

    max_iter: int = 10
    tol: float = 1e-2


@dataclass(frozen=True, eq=False)
class LocalGlobals:
    """What documents see of the global state, in the form the kernels take.

    Attributes
    ----------
    table : [V, K] exp(E ln phi), padded
    prior_shape : [K] beta p, padding zero
    topic_weight : [K] p, padding zero
    """

    table: FloatArray
    prior_shape: FloatArray
    topic_weight: FloatArray


def prepare_globals(
    state: GlobalState, dtype: np.dtype[np.floating], threads: Threads
) -> LocalGlobals:
    """The word table and priors of `state`, once for all blocks of a pass."""
    n_words, n_topics = state.topics.shape
    width = padded(n_topics)
    inverse_total = np.exp(-psi(state.topics.sum(axis=0, dtype=np.float64)))
    table = np.zeros((n_words, width), dtype=dtype)
    threads.run(
        kernels.fill_word_table,
        n_words,
        WORD_RANGE,
        np.ascontiguousarray(state.topics, dtype=dtype),
        inverse_total.astype(dtype),
        table,
    )
    return LocalGlobals(
        table, pad(state.prior_shape, width, dtype), pad(state.topic_weight, width, dtype)
    )


def pad(values: FloatArray, width: int, dtype: np.dtype[np.floating]) -> FloatArray:
    """`values` [..., T] with zeros up to `width` columns."""
    out = np.zeros((*values.shape[:-1], width), dtype=dtype)
    out[..., : values.shape[-1]] = values
    return out


def expected_rates(
    scaling: ScalingFunction,
    parameters: Parameters,
    design: Design,
    width: int,
    dtype: np.dtype[np.floating],
) -> FloatArray:
    """E[rho_mk], [M, K], padded with ones."""
    out = np.ones((design.shape[0], width), dtype=dtype)
    if design.nnz:
        rate = scaling.expected_rate(parameters, design)
        out[:, : rate.shape[1]] = rate
    return out


@dataclass(frozen=True, eq=False)
class _Solution:
    """What the kernel leaves behind for a block: q(pi), exp(E ln pi) and c_i / norm_i."""

    documents: DocumentState
    weight: FloatArray
    token_weight: FloatArray
    iterations: int


def local_step(
    problem: Problem,
    state: GlobalState,
    seen: LocalGlobals,
    block: Block,
    documents: DocumentState | None,
    settings: LocalSettings,
    threads: Threads,
    restart: bool = False,
) -> tuple[DocumentState, Statistics]:
    """Fit the documents of a block (equations 11 to 13) and sum what they say.

    Parameters
    ----------
    documents : an earlier solution to go on from; None starts every document from p
    restart : also start every document afresh, and keep what raises its own bound: documents
        that only ever go on from where they are stay in worse optima
    """
    n_topics = problem.n_topics
    width = seen.table.shape[1]
    rate = expected_rates(problem.scaling, state.scaling, block.design, width, problem.dtype)
    solution = _solve(problem, seen, block, rate, documents, settings, threads)
    terms = document_terms(problem, state, seen, block, solution, rate, threads)
    if restart and documents is not None:
        fresh = _solve(problem, seen, block, rate, None, settings, threads)
        fresh_terms = document_terms(problem, state, seen, block, fresh, rate, threads)
        solution = _better(block, solution, fresh, fresh_terms.total > terms.total)
        terms = document_terms(problem, state, seen, block, solution, rate, threads)
    word_counts = np.zeros((problem.n_words, width), dtype=problem.dtype)
    threads.run(
        kernels.add_word_counts,
        problem.n_words,
        WORD_RANGE,
        block.word_indptr,
        block.documents,
        block.positions,
        solution.token_weight,
        solution.weight,
        seen.table,
        word_counts,
    )
    return solution.documents, Statistics(
        n_documents=block.n_documents,
        word_counts=word_counts[:, :n_topics],
        log_proportion=terms.log_proportion,
        log_rate=problem.scaling.log_rate_total(state.scaling, block.design),
        words=float(terms.words.sum()),
        tangent=float(terms.tangent.sum()),
        proportions=float(terms.proportions.sum()),
        inner_iterations=solution.iterations,
    )


def _solve(
    problem: Problem,
    seen: LocalGlobals,
    block: Block,
    rate: FloatArray,
    documents: DocumentState | None,
    settings: LocalSettings,
    threads: Threads,
) -> _Solution:
    n_documents = block.n_documents
    if documents is None:
        shape = np.zeros((n_documents, seen.table.shape[1]), dtype=problem.dtype)
        tangent = np.ones(n_documents, dtype=problem.dtype)
    else:
        shape, tangent = documents.shape.copy(), documents.tangent.copy()
    weight = np.empty_like(shape)
    token_weight = np.empty_like(block.counts)
    iterations = threads.run(
        kernels.fit_documents,
        n_documents,
        DOCUMENT_RANGE,
        block.indptr,
        block.indices,
        block.counts,
        seen.table,
        seen.prior_shape,
        rate,
        block.lengths,
        documents is not None,
        seen.topic_weight,
        settings.max_iter,
        problem.dtype.type(settings.tol),
        shape,
        tangent,
        weight,
        token_weight,
    )
    return _Solution(DocumentState(shape, tangent), weight, token_weight, int(sum(iterations)))


def _better(block: Block, one: _Solution, other: _Solution, choose: BoolArray) -> _Solution:
    """`other` for the documents where `choose` [M] holds, `one` for the rest."""
    by_row = choose[:, None]
    by_entry = np.repeat(choose, np.diff(block.indptr))
    return _Solution(
        DocumentState(
            np.where(by_row, other.documents.shape, one.documents.shape),
            np.where(choose, other.documents.tangent, one.documents.tangent),
        ),
        np.where(by_row, other.weight, one.weight),
        np.where(by_entry, other.token_weight, one.token_weight),
        one.iterations + other.iterations,
    )


@dataclass(frozen=True, eq=False)
class DocumentTerms:
    """A block's part of the bound by document, [M] each, and `log_proportion` [T], its sum."""

    words: FloatArray
    tangent: FloatArray
    proportions: FloatArray
    log_proportion: FloatArray

    @property
    def total(self) -> FloatArray:
        """Each document's part of the bound, [M]."""
        return np.asarray(self.words + self.tangent + self.proportions)


def document_terms(
    problem: Problem,
    state: GlobalState,
    seen: LocalGlobals,
    block: Block,
    solution: _Solution,
    rate: FloatArray,
    threads: Threads,
) -> DocumentTerms:
    """Terms (6), (7) and (8) + (9) of the bound for a fitted block.

    The prior's and the entropy's terms are taken together: with E[ln pi] = psi(a) - ln b they are
    beta p (E[ln rho] - ln b) + a - E[rho] a / b + ln Gamma(a) - ln Gamma(beta p)
    + (beta p - a) psi(a), where topics that hold nothing cancel.

    Parameters
    ----------
    rate : [M, K] E[rho_mk], padded
    """
    n_documents, n_topics = block.n_documents, problem.n_topics
    documents = solution.documents
    sums = np.zeros((-(-n_documents // DOCUMENT_RANGE), seen.prior_shape.shape[0]))
    gap = np.empty(n_documents)
    threads.run(
        kernels.gamma_terms,
        n_documents,
        DOCUMENT_RANGE,
        DOCUMENT_RANGE,
        documents.shape,
        seen.prior_shape,
        sums,
        gap,
    )
    shape = documents.shape[:, :n_topics]
    lengths = block.lengths.astype(np.float64)
    tangent = documents.tangent.astype(np.float64)
    proportion_rate = rate[:, :n_topics] + (block.lengths / documents.tangent)[:, None]
    log_rate = np.log(proportion_rate)
    mean = shape / proportion_rate
    load = np.einsum("mk,mk->m", rate[:, :n_topics], mean, dtype=np.float64)
    prior = seen.prior_shape[:n_topics].astype(np.float64)
    proportions = gap + shape.sum(axis=1, dtype=np.float64) - load - log_rate @ prior
    if block.design.nnz:
        proportions += problem.scaling.expected_log_rate(state.scaling, block.design) @ prior
    return DocumentTerms(
        words=_words_term(block, solution.token_weight),
        tangent=-lengths * (np.log(tangent) + mean.sum(axis=1, dtype=np.float64) / tangent - 1.0),
        proportions=proportions,
        log_proportion=sums.sum(axis=0)[:n_topics] - log_rate.sum(axis=0, dtype=np.float64),
    )


def _words_term(block: Block, token_weight: FloatArray) -> FloatArray:
    """sum_i c_i ln norm_i by document, [M] (equation 6)."""
    by_entry = block.counts * (np.log(block.counts) - np.log(token_weight)).astype(np.float64)
    words = np.zeros(block.n_documents)
    filled = block.indptr[1:] > block.indptr[:-1]
    if by_entry.size:
        words[filled] = np.add.reduceat(by_entry, block.indptr[:-1][filled])
    return words
