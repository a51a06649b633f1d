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
DOCUMENT_RANGE = 256
WORD_RANGE = 512
_RATE_RANGE = 2048


@dataclass(frozen=True)
class LocalSettings:
    """When a document stops.

    Attributes
    ----------
    max_iter : inner iterations at most
    tol : the share of a document's tokens that may still move between topics
    prune : topics below this share of a document's largest weight hold nothing there; 0 keeps all
    """

    max_iter: int = 10
    tol: float = 1e-2
    prune: float = 1e-6


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
    threads: Threads,
) -> FloatArray:
    """E[rho_mk], [M, K], padded with ones."""
    out = np.ones((design.shape[0], width), dtype=dtype)

    def fill(first: int, last: int) -> None:
        rate = scaling.expected_rate(parameters, design[first:last])
        out[first:last, : rate.shape[1]] = rate

    if design.nnz:
        threads.run(fill, design.shape[0], _RATE_RANGE)
    return out


@dataclass(frozen=True, eq=False)
class Solution:
    """What the kernel leaves behind for a block.

    Attributes
    ----------
    documents : q(pi)
    weight, token_weight : [M, K] e and c_i / norm_i of each entry: the responsibilities
        gamma_mik = B_ik e_mk / norm_mi that q(pi) answers
    rate : [M, K] E[rho_mk], padded with ones
    iterations : made, over all documents
    """

    documents: DocumentState
    weight: FloatArray
    token_weight: FloatArray
    rate: FloatArray
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
    solution = solve_block(problem, state, seen, block, documents, settings, threads)
    if restart and documents is not None:
        fresh = solve_block(problem, state, seen, block, None, settings, threads)
        kept_terms = document_terms(problem, state, seen, block, solution, threads)
        fresh_terms = document_terms(problem, state, seen, block, fresh, threads)
        solution = _better(block, solution, fresh, fresh_terms.total > kept_terms.total)
    return solution.documents, summarise_block(problem, state, seen, block, solution, threads)


def summarise_block(
    problem: Problem,
    state: GlobalState,
    seen: LocalGlobals,
    block: Block,
    solution: Solution,
    threads: Threads,
) -> Statistics:
    """The statistics of a solved block."""
    word_counts = np.zeros_like(seen.table)
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
    terms = document_terms(problem, state, seen, block, solution, threads)
    return Statistics(
        n_documents=block.n_documents,
        word_counts=word_counts[:, : problem.n_topics],
        log_proportion=terms.log_proportion,
        words=float(terms.words.sum()),
        tangent=float(terms.tangent.sum()),
        proportions=float(terms.proportions.sum()),
        inner_iterations=solution.iterations,
    )


def solve_block(
    problem: Problem,
    state: GlobalState,
    seen: LocalGlobals,
    block: Block,
    documents: DocumentState | None,
    settings: LocalSettings,
    threads: Threads,
) -> Solution:
    """q(pi) of a block's documents, going on from `documents` or starting from p."""
    n_documents, width = block.n_documents, seen.table.shape[1]
    rate = expected_rates(
        problem.scaling, state.scaling, block.design, width, problem.dtype, threads
    )
    if documents is None:
        held = np.zeros((n_documents, width), dtype=problem.dtype)
        tangent = np.ones(n_documents, dtype=problem.dtype)
    else:
        held, tangent = documents.token_counts.copy(), documents.tangent.copy()
    weight = np.empty_like(held)
    token_weight = np.empty_like(block.counts)
    iterations = threads.run(
        kernels.solve_documents,
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
        settings.prune,
        held,
        tangent,
        weight,
        token_weight,
    )
    documents = DocumentState(held, tangent)
    return Solution(documents, weight, token_weight, rate, int(sum(iterations)))


def _better(block: Block, one: Solution, other: Solution, choose: BoolArray) -> Solution:
    """`other` for the documents where `choose` [M] holds, `one` for the rest."""
    by_row = choose[:, None]
    by_entry = np.repeat(choose, np.diff(block.indptr))
    return Solution(
        DocumentState(
            np.where(by_row, other.documents.token_counts, one.documents.token_counts),
            np.where(choose, other.documents.tangent, one.documents.tangent),
        ),
        np.where(by_row, other.weight, one.weight),
        np.where(by_entry, other.token_weight, one.token_weight),
        one.rate,
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
    solution: Solution,
    threads: Threads,
) -> DocumentTerms:
    """Terms (6), (7) and (8) + (9) of the bound for a solved block.

    The prior's and the entropy's terms are taken together: with E[ln pi] = psi(a) - ln b they are
    beta p (E[ln rho] - ln b) + a - E[rho] a / b + ln Gamma(a) - ln Gamma(beta p)
    + (beta p - a) psi(a), where topics that hold nothing cancel. The words' term is taken at the
    responsibilities that q(pi) answers, n_mk = sum_i c_mi gamma_mik:
    sum_i c_i ln norm_i + sum_k n_mk (E[ln pi_mk] - ln e_mk).
    """
    n_documents, n_topics = block.n_documents, problem.n_topics
    words, tangent, proportions = np.empty((3, n_documents))
    sums = np.zeros((-(-n_documents // DOCUMENT_RANGE), seen.prior_shape.shape[0]))
    threads.run(
        kernels.fill_document_terms,
        n_documents,
        DOCUMENT_RANGE,
        DOCUMENT_RANGE,
        block.indptr,
        block.counts,
        block.lengths,
        seen.prior_shape,
        solution.rate,
        solution.documents.token_counts,
        solution.documents.tangent,
        solution.weight,
        solution.token_weight,
        words,
        tangent,
        proportions,
        sums,
    )
    if block.design.nnz:
        proportions += problem.scaling.weighted_log_rate(
            state.scaling, block.design, seen.prior_shape[:n_topics]
        )
    return DocumentTerms(words, tangent, proportions, sums.sum(axis=0)[:n_topics])
