"""Deleting: a topic is removed, and its documents are fitted again without it."""

from dataclasses import dataclass, replace

import numpy as np

from hdsp.execution import tree_sum
from hdsp.inference.moves.snapshot import FEWEST_TOPICS, Move, Moved, Snapshot, rebuild
from hdsp.model import (
    DocumentState,
    Fit,
    LocalSettings,
    Problem,
    Statistics,
    block_step,
    make_view,
)
from hdsp.model.by_topic import proportion_terms, word_terms
from hdsp.model.documents import Solution, summarise_block, word_table
from hdsp.model.problem import BLOCK_SIZE
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import take_topics

# Documents with fewer of the topic's tokens are not fitted again: those tokens go to its successor.
_TOUCHED = 1e-4
# Alternating updates of the documents and the topics.
_TURNS = 2
# The largest number of topics tried, and of consecutive failures.
_CANDIDATES = 16
_FAILURES = 3
# Documents per chunk while they are fitted again.
_ROWS_AT_ONCE = 3 * BLOCK_SIZE


@dataclass(frozen=True, eq=False)
class Deletion:
    """The remaining topics and documents once some topics are deleted.

    Attributes
    ----------
    successors : dict of int to int
        For each deleted topic, the one that takes over its weight.
    rows : int array of shape [R]
        The documents that were fitted again.
    documents : DocumentState
        Their new state.
    topic_words : float array of shape [T, V]
        Expected tokens of each word and topic afterwards.
    gain : float
        A lower limit of the rise of the bound.
    """

    successors: dict[int, int]
    rows: IntArray
    documents: DocumentState
    topic_words: FloatArray
    gain: float


def make_deletions(
    snapshot: Snapshot, merges: list[Move], settings: LocalSettings, least: float
) -> Moved | None:
    """Delete topics whose documents other topics explain as well.

    Topics whose merge came nearest to raising the bound are tried one by one. Those that gain are
    deleted together, or the better half of them if together they gain less than the best alone.

    Parameters
    ----------
    snapshot : Snapshot
        The fit as it is.
    merges : list of Move
        Proposed merges with their gains, the best first.
    settings : LocalSettings
        How documents are fitted.
    least : float
        The smallest gain of a deletion that is made.

    Returns
    -------
    Moved or None
        The fit afterwards, or None if no deletion gains enough.
    """
    trial = Trial(snapshot, settings)
    good: list[Deletion] = []
    failures = 0
    for topic, successor in _candidates(snapshot, merges):
        one = trial.propose({topic: successor})
        failures = 0 if one.gain >= least else failures + 1
        if one.gain >= least:
            good.append(one)
        elif failures == _FAILURES:
            break
    good.sort(key=lambda one: -one.gain)
    successors: dict[int, int] = {}
    most = snapshot.state.n_topics - FEWEST_TOPICS
    for one in good:
        ((topic, successor),) = one.successors.items()
        if (
            topic not in successors.values()
            and successor not in successors
            and len(successors) < most
        ):
            successors[topic] = successor
    if not successors:
        return None
    chosen = good[0]
    while len(successors) > 1:
        together = trial.propose(successors)
        if together.gain > chosen.gain:
            chosen = together
            break
        successors = dict(list(successors.items())[: len(successors) // 2])
    deletions = {"deletions": len(chosen.successors)}
    return Moved(_delete(snapshot, chosen), chosen.gain, deletions)


def _candidates(snapshot: Snapshot, merges: list[Move]) -> list[tuple[int, int]]:
    """Pairs (topic, successor), the smaller topic of a merge first; the best merges first."""
    tokens = snapshot.topic_words.sum(axis=1)
    found: dict[int, int] = {}
    for move in merges:
        topic, successor = sorted(move.removed, key=lambda k: tokens[k])
        if topic not in found and len(found) < _CANDIDATES:
            found[topic] = successor
    return list(found.items())


class Trial:
    """Fits documents again without some of their topics, and evaluates the gain."""

    def __init__(self, snapshot: Snapshot, settings: LocalSettings) -> None:
        self._snapshot, self._settings = snapshot, settings
        problem = snapshot.problem
        self._words = word_terms(problem, snapshot.topic_words).sum()
        self._view = make_view(snapshot.state, problem.scaling, problem.dtype)

    def propose(self, successors: dict[int, int]) -> Deletion:
        """Delete the keys of `successors`; none of its values may be deleted."""
        snapshot, settings = self._snapshot, self._settings
        problem, state = snapshot.problem, snapshot.state
        deleted = list(successors)
        rows = np.flatnonzero((snapshot.documents.token_counts[:, deleted] > _TOUCHED).any(axis=1))
        # In chunks, which bounds the memory of the many temporary arrays.
        groups = np.split(rows, range(_ROWS_AT_ONCE, len(rows), _ROWS_AT_ONCE))
        parts = [problem.take(group) for group in groups]
        view = replace(self._view, table=snapshot.responsibilities.table)
        before = tree_sum(
            summarise_block(
                view,
                part.blocks[0],
                _old_solution(snapshot, group, view.rates(part.design)),
                settings,
            )
            for group, part in zip(groups, parts, strict=True)
        )
        gain = -_own_terms(before, view.table)
        # The topics' tokens in all other documents go to their successors.
        others = np.maximum(snapshot.topic_words - before.word_counts.T, 0.0)
        prior_shape, topic_weight = view.prior_shape.copy(), view.topic_weight.copy()
        for values in (others, prior_shape, topic_weight):
            for topic, successor in successors.items():
                values[successor] += values[topic]
            values[deleted] = 0.0
        documents: list[DocumentState | None] = [None] * len(parts)
        topic_words = snapshot.topic_words
        for turn in range(_TURNS):
            table = self._table(topic_words) if turn else self._view.table.copy()
            table[:, deleted] = 0.0
            view = replace(view, table=table, prior_shape=prior_shape, topic_weight=topic_weight)
            steps = [
                block_step(view, part.blocks[0], kept, settings)
                for part, kept in zip(parts, documents, strict=True)
            ]
            documents = [step[0] for step in steps]
            after = tree_sum(step[1] for step in steps)
            topic_words = others + after.word_counts.T
        gain += _own_terms(after, view.table)
        gain += _rest_gain(snapshot, list(zip(groups, parts, strict=True)), successors)
        gain += float(word_terms(problem, topic_words).sum() - self._words)
        gain -= float(problem.scaling.prior_terms(take_topics(state.scaling, deleted)).sum())
        fitted = [one for one in documents if one is not None]
        refitted = DocumentState(
            np.concatenate([one.token_counts for one in fitted]),
            np.concatenate([one.tangent for one in fitted]),
        )
        return Deletion(successors, rows, refitted, topic_words, gain)

    def _table(self, topic_words: FloatArray) -> FloatArray:
        """exp(E ln phi), [V, K], of topics that hold `topic_words` [T, V]."""
        problem = self._snapshot.problem
        topics = topic_words.T + problem.dtype.type(problem.priors.topic_prior)
        return word_table(topics, problem.dtype)


def _old_solution(snapshot: Snapshot, rows: IntArray, rate: FloatArray) -> Solution:
    """Some documents as the snapshot has them."""
    stored, documents = snapshot.responsibilities, snapshot.documents
    indptr = snapshot.problem.entries.indptr
    lengths = np.diff(indptr)[rows]
    before = np.cumsum(lengths) - lengths
    entries = np.repeat(indptr[rows] - before, lengths) + np.arange(lengths.sum())
    return Solution(
        DocumentState(documents.token_counts[rows], documents.tangent[rows]),
        stored.weight[rows],
        stored.token_weight[entries],
        rate,
        0,
    )


def _own_terms(statistics: Statistics, table: FloatArray) -> float:
    """A block's part of the bound without E[ln phi], which `word_terms` accounts for."""
    held = statistics.word_counts > 0.0
    log_table = np.log(table[:, : held.shape[1]][held])
    words = float(statistics.word_counts[held] @ log_table.astype(np.float64))
    return statistics.words + statistics.tangent + statistics.proportions - words


def _rest_gain(
    snapshot: Snapshot, refitted: list[tuple[IntArray, Problem]], successors: dict[int, int]
) -> float:
    """A lower limit of the gain in documents that are not `refitted`.

    Their few tokens of a topic become its successor's. A document with h such tokens loses at most
    h (1 + ln N / h) of its entropy.
    """
    problem, state = snapshot.problem, snapshot.state
    held, tangent = snapshot.documents.token_counts, snapshot.documents.tangent
    targets = sorted(set(successors.values()))
    together = held[:, targets]
    prior_shape = state.prior_shape[targets]
    for topic, successor in successors.items():
        together[:, targets.index(successor)] += held[:, topic]
        prior_shape[targets.index(successor)] += state.prior_shape[topic]
    involved = [*successors, *targets]

    def terms(some: Problem, chosen: IntArray | slice) -> float:
        after = proportion_terms(
            some,
            together[chosen],
            prior_shape,
            take_topics(state.scaling, targets),
            tangent[chosen],
        )
        before = proportion_terms(
            some,
            held[chosen][:, involved],
            state.prior_shape[involved],
            take_topics(state.scaling, involved),
            tangent[chosen],
        )
        return float(after.sum() - before.sum())

    rows = np.concatenate([group for group, _ in refitted])
    moved = np.delete(held[:, list(successors)], rows, axis=0).astype(np.float64)
    lengths = np.delete(problem.lengths, rows)[:, None]
    lost = moved * (1.0 + np.log(np.maximum(lengths, 1e-30) / np.maximum(moved, 1e-300)))
    gained = terms(problem, slice(None)) - sum(terms(part, group) for group, part in refitted)
    return gained - float(lost[moved > 0.0].sum())


def _delete(snapshot: Snapshot, deletion: Deletion) -> Fit:
    """The snapshot after a deletion."""
    prior_shape = snapshot.state.prior_shape
    for topic, successor in deletion.successors.items():
        prior_shape[successor] += prior_shape[topic]
    kept = np.delete(np.arange(len(prior_shape)), list(deletion.successors))
    kept = kept[np.argsort(-prior_shape[kept], kind="stable")]
    fit = rebuild(
        replace(snapshot, topic_words=deletion.topic_words), kept, prior_shape=prior_shape
    )
    assert fit.documents is not None
    held, tangent = fit.documents.token_counts, fit.documents.tangent
    for topic, successor in deletion.successors.items():
        held[:, np.flatnonzero(kept == successor)] += snapshot.documents.token_counts[:, [topic]]
    held[deletion.rows, : len(kept)] = deletion.documents.token_counts[:, kept]
    tangent[deletion.rows] = deletion.documents.tangent
    return fit
