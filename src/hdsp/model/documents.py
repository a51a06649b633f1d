"""The document step: q(pi) of a block of documents, and their statistics."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import psi

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.model.data import Block
from hdsp.model.state import (
    BoundTerms,
    DocumentState,
    GlobalState,
    Statistics,
    TopicWeights,
    padded,
)
from hdsp.model.versions import version_table
from hdsp.numerics import BoolArray, FloatArray
from hdsp.scaling.functions import Design, Parameters, ScalingFunction

# Documents and words per task of a thread; fixed, so that results do not depend on the number of
# threads.
DOCUMENT_RANGE = 256
WORD_RANGE = 512
_RATE_RANGE = 2048


@dataclass(frozen=True)
class LocalSettings:
    """How documents are fitted.

    Attributes
    ----------
    max_iter : int, default=10
        The largest number of inner iterations.
    tol : float, default=1e-2
        A document stops once a smaller share of its tokens moves between topics.
    prune : float, default=1e-6
        Topics below this share of a document's largest weight hold nothing there; 0 keeps all.
    restart : bool, default=False
        Also start every document afresh, and keep the better solution: documents that only ever
        continue from their last solution stay in worse optima.
    scaling_sums : bool, default=False
        Also sum the statistics that update the scaling function.
    bound : bool, default=True
        Also sum the documents' terms of the bound, and E[ln pi].
    """

    max_iter: int = 10
    tol: float = 1e-2
    prune: float = 1e-6
    restart: bool = False
    scaling_sums: bool = False
    bound: bool = True


class DocumentView:
    """What documents see of a model, made once per pass.

    Parameters
    ----------
    state : GlobalState
        The model.
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    dtype : dtype
        The floating-point type of the document step.

    Attributes
    ----------
    table : float array of shape [V, K]
        The word weights exp(E ln phi), padded.
    prior_shape, topic_weight : float arrays of shape [K]
        The prior shape beta p and the topic weights p, padded with zeros.
    weights : TopicWeights
        The prior shape and the labels' weights, without padding.
    """

    def __init__(
        self, state: GlobalState, scaling: ScalingFunction, dtype: np.dtype[np.floating]
    ) -> None:
        width = padded(state.n_topics)
        self.dtype, self.n_topics = dtype, state.n_topics
        self.scaling, self.weights = scaling, state.weights
        self.table = word_factors(state, dtype)
        self.prior_shape = pad(state.prior_shape, width, dtype)
        self.topic_weight = pad(state.topic_weight, width, dtype)


def word_factors(state: GlobalState, dtype: np.dtype[np.floating]) -> FloatArray:
    """The words' factors of the responsibilities, [V, K]: of the groups' words with versions."""
    table = word_table(state.topics, dtype)
    if state.versions is None:
        return table
    return version_table(state.versions, state.topics, table)


def word_table(topics: FloatArray, dtype: np.dtype[np.floating]) -> FloatArray:
    """exp(E ln phi), [V, K], of topics [V, T]."""
    n_words, n_topics = topics.shape
    inverse_total = np.exp(-psi(topics.sum(axis=0, dtype=np.float64))).astype(dtype)
    topics = np.ascontiguousarray(topics, dtype=dtype)
    table = np.zeros((n_words, padded(n_topics)), dtype=dtype)
    run_ranges(kernels.fill_word_table, n_words, WORD_RANGE, topics, inverse_total, table)
    return table


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
    """E[rho_mk], [M, width], padded with ones."""
    out = np.ones((design.shape[0], width), dtype=dtype)

    def fill(first: int, last: int) -> None:
        rate = scaling.expected_rate(parameters, design[first:last])
        out[first:last, : rate.shape[1]] = rate

    if design.nnz:
        run_ranges(fill, design.shape[0], _RATE_RANGE)
    return out


_NOTHING = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class BlockState:
    """What is kept of a block between passes: q(pi), and what steps need that do not read it.

    Attributes
    ----------
    documents : DocumentState
        The state of its documents.
    lengths : float array of shape [M]
        The document lengths N_m.
    design : sparse array of shape [M, J]
        Label values.
    weight : float array of shape [M, K]
        The documents' factors e = exp(E ln pi) of their last responsibilities, c_mi gamma_mik =
        token_weight_mi weight_mk table_ik; empty unless they are to be remembered.
    token_weight : float array of shape [nnz]
        The factors c_mi / norm_mi of the block's entries.
    """

    documents: DocumentState
    lengths: FloatArray
    design: Design
    weight: FloatArray = field(default_factory=_NOTHING.copy)
    token_weight: FloatArray = field(default_factory=_NOTHING.copy)

    @property
    def per_xi(self) -> FloatArray:
        """N_m / xi_m, [M]."""
        return np.asarray(self.lengths / self.documents.tangent.astype(np.float64))

    def mean_proportions(
        self, function: ScalingFunction, tokens: FloatArray, topics: TopicWeights
    ) -> FloatArray:
        """E[pi_mk] = a_mk / b_mk (equation 11), [M, Q], of topics that hold `tokens` [M, Q].

        Unnormalised, as the model has them.
        """
        mean = tokens + topics.prior_shape.astype(tokens.dtype)
        rate = function.expected_rate(topics.scaling, self.design)
        mean /= rate.astype(tokens.dtype, copy=False) + self.per_xi.astype(tokens.dtype)[:, None]
        return np.asarray(mean)


def block_step(
    view: DocumentView, block: Block, documents: DocumentState | None, settings: LocalSettings
) -> tuple[BlockState, Statistics]:
    """Fit the documents of a block (equations 11 to 13), and sum their statistics.

    Parameters
    ----------
    view : DocumentView
        The model as documents see it.
    block : Block
        The documents.
    documents : DocumentState or None
        An earlier solution to continue from; None starts every document from p.
    settings : LocalSettings
        How documents are fitted.
    """
    width, weights = view.table.shape[1], view.weights
    rate = expected_rates(view.scaling, weights.scaling, block.design, width, view.dtype)
    solved, iterations = solve_block(view, block, rate, documents, settings)
    if settings.restart and documents is not None:
        fresh, more = solve_block(view, block, rate, None, settings)
        ours, theirs = (
            document_terms(view, block, rate, one)[0].sum(axis=0) for one in (solved, fresh)
        )
        solved, iterations = _better(block, solved, fresh, theirs > ours), iterations + more
    word_counts = np.zeros_like(view.table)
    arrays = (*block.by_word, solved.token_weight, solved.weight, view.table, word_counts)
    run_ranges(kernels.add_word_counts, len(word_counts), WORD_RANGE, *arrays)
    log_proportion: FloatArray = np.zeros(view.n_topics)
    bound = BoundTerms()
    if settings.bound:
        terms, log_proportion = document_terms(view, block, rate, solved)
        bound = BoundTerms(*terms.sum(axis=1).tolist())
    sums: Parameters = {}
    if settings.scaling_sums and block.design.shape[1]:
        tokens = solved.documents.tokens(slice(view.n_topics))
        mean = solved.mean_proportions(view.scaling, tokens, weights)
        sums = view.scaling.statistics(weights.scaling, block.design, mean)
    return solved, Statistics(
        n_documents=block.n_documents,
        word_counts=word_counts[:, : view.n_topics],
        log_proportion=log_proportion,
        label_total=block.label_total,
        carriers=block.carriers,
        limits=block.limits,
        scaling=sums,
        bound=bound,
        inner_iterations=iterations,
    )


def solve_block(
    view: DocumentView,
    block: Block,
    rate: FloatArray,
    documents: DocumentState | None,
    settings: LocalSettings,
) -> tuple[BlockState, int]:
    """q(pi) of a block's documents, continued from `documents` or started from p.

    `rate` [M, K] is E[rho_mk], padded with ones. Inner iterations are summed over documents.
    """
    n_documents, width = rate.shape
    if documents is None:
        held = np.zeros((n_documents, width), dtype=view.dtype)
        tangent = np.ones(n_documents, dtype=view.dtype)
    else:
        held, tangent = documents.token_counts.copy(), documents.tangent.copy()
    weight, token_weight = np.empty_like(held), np.empty_like(block.counts)
    words = (block.indptr, block.indices, block.counts)
    given = (view.table, view.prior_shape, rate, block.lengths, documents is not None)
    limits = (settings.max_iter, view.dtype.type(settings.tol), settings.prune)
    solution = (held, tangent, weight, token_weight)
    arguments = (*words, *given, view.topic_weight, *limits, *solution)
    iterations = run_ranges(kernels.solve_documents, n_documents, DOCUMENT_RANGE, *arguments)
    state = DocumentState(held, tangent)
    solved = BlockState(state, block.lengths, block.design, weight, token_weight)
    return solved, int(sum(iterations))


def _better(block: Block, one: BlockState, other: BlockState, choose: BoolArray) -> BlockState:
    """`other` for the documents where `choose` [M] holds, `one` for the rest."""
    by_row = choose[:, None]
    by_entry = np.repeat(choose, np.diff(block.indptr))
    documents = DocumentState(
        np.where(by_row, other.documents.token_counts, one.documents.token_counts),
        np.where(choose, other.documents.tangent, one.documents.tangent),
    )
    return replace(
        one,
        documents=documents,
        weight=np.where(by_row, other.weight, one.weight),
        token_weight=np.where(by_entry, other.token_weight, one.token_weight),
    )


def document_terms(
    view: DocumentView, block: Block, rate: FloatArray, solved: BlockState
) -> tuple[FloatArray, FloatArray]:
    """Terms (6), (7) and (8) + (9) of the bound by document, [3, M], and E[ln pi] summed, [T].

    The prior's and the entropy's terms are taken together: with E[ln pi] = psi(a) - ln b they are
    beta p (E[ln rho] - ln b) + a - E[rho] a / b + ln Gamma(a) - ln Gamma(beta p)
    + (beta p - a) psi(a), where topics that hold nothing cancel. The words' term is taken at the
    responsibilities that q(pi) answers, n_mk = sum_i c_mi gamma_mik:
    sum_i c_i ln norm_i + sum_k n_mk (E[ln pi_mk] - ln e_mk).
    """
    n_documents, n_topics = block.n_documents, view.n_topics
    terms = np.empty((3, n_documents))
    sums = np.zeros((-(-n_documents // DOCUMENT_RANGE), view.prior_shape.shape[0]))
    given = (DOCUMENT_RANGE, block.indptr, block.counts, block.lengths, view.prior_shape, rate)
    documents = solved.documents
    solution = (documents.token_counts, documents.tangent, solved.weight, solved.token_weight)
    arguments = (*given, *solution, *terms, sums)
    run_ranges(kernels.fill_document_terms, n_documents, DOCUMENT_RANGE, *arguments)
    if block.design.nnz:
        prior_shape = view.prior_shape[:n_topics]
        weighted = view.scaling.weighted_log_rate
        terms[2] += weighted(view.weights.scaling, block.design, prior_shape)
    return terms, sums.sum(axis=0)[:n_topics]
