"""A fit between two passes, with everything that the gain of a move depends on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hdsp.execution import Executor
from hdsp.model import (
    DocumentState,
    Fit,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    global_step,
    make_view,
)
from hdsp.model.by_topic import TopicParts
from hdsp.model.documents import solve_block, summarise_block
from hdsp.numerics.sticks import sticks_from_weights
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import take_topics

# Labels cannot scale a single topic.
FEWEST_TOPICS = 2


@dataclass(frozen=True, eq=False)
class Responsibilities:
    """The tokens of every word and topic, c_mi gamma_mik = token_weight_mi weight_mk table_ik.

    Attributes
    ----------
    token_weight : float array of shape [nnz]
        One factor for each entry of `Problem.entries`.
    weight : float array of shape [M, K]
        The documents' factors.
    table : float array of shape [V, K]
        The words' factors.
    """

    token_weight: FloatArray
    weight: FloatArray
    table: FloatArray


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Documents of a pass, and the state after its global step.

    Attributes
    ----------
    problem : Problem
        What is fitted.
    state : GlobalState
        The state after the global step.
    documents : DocumentState
        The documents after the pass.
    topic_words : float array of shape [T, V]
        Expected tokens of each word and topic.
    responsibilities : Responsibilities
        The responsibilities behind `documents` and `topic_words`.
    """

    problem: Problem
    state: GlobalState
    documents: DocumentState
    topic_words: FloatArray
    responsibilities: Responsibilities

    def parts(self, topics: IntArray) -> TopicParts:
        """Some topics on their own."""
        return TopicParts(
            self.topic_words[topics],
            self.documents.token_counts[:, topics],
            self.state.prior_shape[topics],
            take_topics(self.state.scaling, topics),
        )

    @property
    def entry_arrays(
        self,
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
        """Entries and responsibilities, in the order in which kernels take them."""
        entries, factors = self.problem.entries, self.responsibilities
        indptr = entries.indptr.astype(np.int64, copy=False)
        return indptr, entries.indices, factors.token_weight, factors.weight, factors.table


def take_snapshot(
    problem: Problem, fit: Fit, settings: LocalSettings, executor: Executor
) -> tuple[Snapshot, Statistics]:
    """A pass over all documents that keeps their responsibilities.

    Overwrites the documents of `fit`.
    """
    documents = fit.documents
    assert documents is not None
    view = make_view(fit.state, problem.scaling, problem.dtype)
    weight = np.empty_like(documents.token_counts)
    token_weight = np.empty_like(problem.entries.data)

    def step(number: int) -> Statistics:
        block = problem.blocks[number]
        solution = solve_block(view, block, documents.rows(block.rows), settings)
        documents.put(block.rows, solution.documents)
        weight[block.rows] = solution.weight
        first = problem.entries.indptr[block.rows.start]
        token_weight[first : first + len(block.indices)] = solution.token_weight
        return summarise_block(view, block, solution, settings)

    total = executor.sum(step, len(problem.blocks))
    state = global_step(problem, fit.state, total, documents)
    responsibilities = Responsibilities(token_weight, weight, view.table)
    topic_words = np.ascontiguousarray(total.word_counts.T)
    return Snapshot(problem, state, documents, topic_words, responsibilities), total


@dataclass(frozen=True, eq=False)
class Move:
    """A proposal to replace some topics by others.

    Attributes
    ----------
    removed : tuple of int
        The topics that are removed.
    gain : float
        The rise of the bound (`Bound.comparable`).
    added : callable
        Makes the topics that replace them, with the same tokens and weight. It is called only for
        moves that are made, since all proposals' token counts would take more memory than the
        documents.
    """

    removed: tuple[int, ...]
    gain: float
    added: Callable[[], TopicParts]


@dataclass(frozen=True, eq=False)
class Moved:
    """A fit after moves, their total gain, and the number of moves by kind."""

    fit: Fit
    gain: float
    counts: dict[str, int]


def make_moves(snapshot: Snapshot, name: str, moves: list[Move]) -> Moved:
    """The snapshot after moves that share no topic."""
    removed = [topic for move in moves for topic in move.removed]
    kept = np.delete(np.arange(snapshot.state.n_topics), removed)
    fit = rebuild(snapshot, kept, [move.added() for move in moves])
    return Moved(fit, sum(move.gain for move in moves), {name: len(moves)})


def rebuild(
    snapshot: Snapshot,
    kept: IntArray,
    added: Sequence[TopicParts] = (),
    prior_shape: FloatArray | None = None,
) -> Fit:
    """A fit with the topics `kept` and `added`, by weight; concentrations and tangents stay.

    Parameters
    ----------
    snapshot : Snapshot
        The fit as it is.
    kept : int array of shape [Q]
        The topics that stay.
    added : sequence of TopicParts, default=()
        New topics.
    prior_shape : float array of shape [T], default=None
        The prior shape beta p of the snapshot's topics; None is that of its state.
    """
    problem, state = snapshot.problem, snapshot.state
    if prior_shape is None:
        prior_shape = state.prior_shape
    prior_shape = np.concatenate([prior_shape[kept], *[one.prior_shape for one in added]])
    order = np.argsort(-prior_shape, kind="stable")
    place = np.argsort(order, kind="stable")
    n_topics = len(order)
    topics = np.empty((problem.n_words, n_topics), dtype=problem.dtype)
    documents = DocumentState.empty(problem.n_documents, n_topics, problem.dtype)
    documents.tangent[:] = snapshot.documents.tangent
    documents.token_counts[:, n_topics:] = 0.0
    # Topic by topic, without another array of documents by topics, the largest there is.
    for number, topic in enumerate(kept):
        topics[:, place[number]] = snapshot.topic_words[topic]
        documents.token_counts[:, place[number]] = snapshot.documents.token_counts[:, topic]
    first = len(kept)
    for one in added:
        places = place[first : first + len(one.prior_shape)]
        topics[:, places] = one.topic_words.T
        documents.token_counts[:, places] = one.token_counts
        first += len(places)
    topics += problem.dtype.type(problem.priors.topic_prior)
    weight = prior_shape[order]
    parameters = [take_topics(state.scaling, kept), *[one.scaling for one in added]]
    return Fit(
        GlobalState(
            topics=topics,
            sticks=sticks_from_weights(weight / weight.sum()),
            corpus_concentration=state.corpus_concentration,
            document_concentration=state.document_concentration,
            scaling={
                name: np.concatenate([one[name] for one in parameters])[order]
                for name in state.scaling
            },
        ),
        documents,
    )
