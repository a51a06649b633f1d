"""A fit between two passes, with all that proposals are judged by."""

from dataclasses import dataclass

import numpy as np

from hdsp.kernels import Threads
from hdsp.model import (
    DocumentState,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    global_step,
    prepare_globals,
    update_scaling,
)
from hdsp.model.by_topic import TopicParts, join_parts
from hdsp.model.documents import solve_block, summarise_block
from hdsp.model.state import padded
from hdsp.numerics.sticks import sticks_from_weights
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import take_topics

# A model of one topic has nothing that labels could scale.
FEWEST_TOPICS = 2


@dataclass(frozen=True, eq=False)
class Responsibilities:
    """The tokens of every word and topic, c_mi gamma_mik = token_weight_mi weight_mk table_ik.

    Attributes
    ----------
    indptr, indices, counts : the words of each document (CSR)
    token_weight : of each entry
    weight : [M, K], table : [V, K]
    """

    indptr: IntArray
    indices: IntArray
    counts: FloatArray
    token_weight: FloatArray
    weight: FloatArray
    table: FloatArray

    @property
    def factors(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
        """In the order in which kernels take them."""
        return self.indptr, self.indices, self.token_weight, self.weight, self.table


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Documents of a pass, and the state after its global step.

    Attributes
    ----------
    word_counts : [T, V] what topics hold of each word
    responsibilities : the ones that `documents` and `word_counts` answer
    """

    problem: Problem
    state: GlobalState
    documents: DocumentState
    word_counts: FloatArray
    responsibilities: Responsibilities

    def parts(self, topics: IntArray) -> TopicParts:
        """Some topics on their own."""
        return TopicParts(
            self.word_counts[topics],
            self.documents.token_counts[:, topics],
            self.state.prior_shape[topics],
            take_topics(self.state.scaling, topics),
        )


def take_snapshot(
    problem: Problem,
    state: GlobalState,
    documents: DocumentState,
    settings: LocalSettings,
    threads: Threads,
) -> tuple[Snapshot, Statistics]:
    """A pass over all documents that remembers their responsibilities."""
    seen = prepare_globals(state, problem.dtype, threads)
    token_counts = np.empty_like(documents.token_counts)
    tangent = np.empty_like(documents.tangent)
    weight = np.empty_like(token_counts)
    token_weights: list[FloatArray] = []
    indptrs: list[IntArray] = [np.zeros(1, dtype=np.int64)]
    first = 0
    total: Statistics | None = None
    for block, rows in problem.block_rows():
        solution = solve_block(problem, state, seen, block, documents.rows(rows), settings, threads)
        statistics = summarise_block(problem, state, seen, block, solution, threads)
        total = statistics if total is None else total + statistics
        token_counts[rows] = solution.documents.token_counts
        tangent[rows] = solution.documents.tangent
        weight[rows] = solution.weight
        token_weights.append(solution.token_weight)
        indptrs.append(block.indptr[1:] + first)
        first += len(block.indices)
    assert total is not None
    documents = DocumentState(token_counts, tangent)
    new = global_step(problem, state, total, update_scaling(problem, state, documents, threads))
    return (
        Snapshot(
            problem,
            new,
            documents,
            np.ascontiguousarray(total.word_counts.T),
            Responsibilities(
                np.concatenate(indptrs),
                np.concatenate([block.indices for block in problem.blocks]),
                np.concatenate([block.counts for block in problem.blocks]),
                np.concatenate(token_weights),
                weight,
                seen.table,
            ),
        ),
        total,
    )


@dataclass(frozen=True, eq=False)
class Move:
    """Topics that give way to others.

    Attributes
    ----------
    removed : the topics that go
    added : those that take their place, with the same tokens and weight
    gain : by how much the bound rises (`Bound.comparable`)
    """

    removed: tuple[int, ...]
    added: TopicParts
    gain: float


@dataclass(frozen=True, eq=False)
class Moved:
    """A fit after moves, what they gained together, and how many of each kind there were."""

    problem: Problem
    state: GlobalState
    documents: DocumentState
    gain: float
    counts: dict[str, int]


def make_moves(snapshot: Snapshot, name: str, moves: list[Move]) -> Moved:
    """The snapshot after moves that share no topic."""
    removed = [topic for move in moves for topic in move.removed]
    kept = np.delete(np.arange(snapshot.state.n_topics), removed)
    parts = join_parts([snapshot.parts(kept), *[move.added for move in moves]])
    fit = rebuild(snapshot.problem, snapshot.state, parts, snapshot.documents.tangent)
    return Moved(*fit, sum(move.gain for move in moves), {name: len(moves)})


def rebuild(
    problem: Problem, state: GlobalState, parts: TopicParts, tangent: FloatArray
) -> tuple[Problem, GlobalState, DocumentState]:
    """A fit with other topics, by weight; concentrations and tangents stay."""
    parts = parts.take(np.argsort(-parts.prior_shape, kind="stable"))
    n_topics = len(parts.prior_shape)
    held = np.zeros((problem.n_documents, padded(n_topics)), dtype=problem.dtype)
    held[:, :n_topics] = parts.token_counts
    topics = parts.word_counts.T + problem.dtype.type(problem.priors.topic_prior)
    return (
        problem.with_topics(n_topics),
        GlobalState(
            topics=np.ascontiguousarray(topics),
            sticks=sticks_from_weights(parts.prior_shape / parts.prior_shape.sum()),
            corpus_concentration=state.corpus_concentration,
            document_concentration=state.document_concentration,
            scaling=parts.scaling,
        ),
        DocumentState(held, tangent),
    )
