"""A fit between two passes, with everything that the gain of a move depends on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hdsp.execution import InProcess
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
from hdsp.model.seeds import add_seeds, seed_sets
from hdsp.numerics.sticks import sticks_from_weights
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Parameters, take_topics

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
            seed_sets(self.state.n_topics, self.state.seeded)[topics],
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
    problem: Problem, fit: Fit, settings: LocalSettings, executor: InProcess
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
class Merge:
    """Two topics that become one.

    Attributes
    ----------
    pair : tuple of two int
        The topics.
    gain : float
        By how much the bound rises (`BoundTerms.comparable`).
    scaling : mapping of str to array
        The labels' weights of the topic that they become.
    """

    pair: tuple[int, int]
    gain: float
    scaling: Parameters


def make_merges(snapshot: Snapshot, merges: Sequence[Merge]) -> Fit:
    """The fit after merges that share no topic; concentrations and tangents stay."""
    problem, state = snapshot.problem, snapshot.state
    # The first topic of a pair becomes both; topics are then ordered by weight.
    prior_shape = state.prior_shape
    partner = {merge.pair[0]: merge for merge in merges}
    for first, merge in partner.items():
        prior_shape[first] += prior_shape[merge.pair[1]]
    left = np.delete(np.arange(state.n_topics), [merge.pair[1] for merge in merges])
    left = left[np.argsort(-prior_shape[left], kind="stable")]
    topics = np.empty((problem.n_words, len(left)), dtype=problem.dtype)
    documents = DocumentState.empty(problem.n_documents, len(left), problem.dtype)
    documents.tangent[:] = snapshot.documents.tangent
    documents.token_counts[:, len(left) :] = 0.0
    # Topic by topic: an array of documents by topics is what there is least room for.
    for place, topic in enumerate(left.tolist()):
        topics[:, place] = snapshot.topic_words[topic]
        documents.token_counts[:, place] = snapshot.documents.token_counts[:, topic]
        if topic in partner:
            other = partner[topic].pair[1]
            topics[:, place] += snapshot.topic_words[other]
            documents.token_counts[:, place] += snapshot.documents.token_counts[:, other]
    topics += problem.dtype.type(problem.priors.topic_prior)
    becomes = {merge.pair[1]: first for first, merge in partner.items()}
    kept = [becomes.get(topic, topic) for topic in state.seeded.tolist()]
    seeded = np.array([left.tolist().index(topic) for topic in kept], dtype=np.int64)
    add_seeds(topics, problem.priors.seeds, seeded)
    scaling = take_topics(state.scaling, left)
    for place, topic in enumerate(left.tolist()):
        if topic in partner:
            for name, value in partner[topic].scaling.items():
                scaling[name][place] = value[0]
    weight = prior_shape[left]
    return Fit(
        replace(
            state,
            topics=topics,
            sticks=sticks_from_weights(weight / weight.sum()),
            scaling=scaling,
            seeded=seeded,
        ),
        documents,
    )
