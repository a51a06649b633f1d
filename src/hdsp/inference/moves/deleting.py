"""Deleting: a topic goes, and its documents are fitted again without it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.inference.moves.snapshot import (
    FEWEST_TOPICS,
    Move,
    Moved,
    Snapshot,
    rebuild,
)
from hdsp.kernels import Threads
from hdsp.model import (
    DocumentState,
    GlobalState,
    LocalSettings,
    Problem,
    Statistics,
    prepare_globals,
)
from hdsp.model.by_topic import TopicParts, proportion_terms, word_terms
from hdsp.model.documents import (
    LocalGlobals,
    Solution,
    expected_rates,
    solve_block,
    summarise_block,
)
from hdsp.model.problem import Block, make_block
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import take_topics

# Documents with fewer of the topic's tokens are not fitted again: its heir takes what there is.
_TOUCHED = 1e-4
# Documents and topics take turns this often.
_TURNS = 2
# Topics tried, and in a row without success.
_CANDIDATES = 16
_FAILURES = 3


@dataclass(frozen=True, eq=False)
class Deletion:
    """What becomes of the other topics without some.

    Attributes
    ----------
    heirs : for each topic that goes, the one that takes over its weight
    rows : the documents that were fitted again
    documents : their new state
    word_counts : [T, V] what topics hold afterwards
    gain : by how much the bound rises, at least
    """

    heirs: dict[int, int]
    rows: IntArray
    documents: DocumentState
    word_counts: FloatArray
    gain: float


def make_deletions(
    snapshot: Snapshot, merges: list[Move], settings: LocalSettings, threads: Threads, least: float
) -> Moved | None:
    """Delete topics whose documents others explain as well.

    Those whose merge came nearest to raising the bound are tried one by one; those that gain are
    deleted together, or the better half of them if together they gain less than the best alone.

    Parameters
    ----------
    merges : proposals with their gains, the best first
    least : what a deletion must gain

    Returns
    -------
    the fit afterwards, or None if no deletion gains enough
    """
    judge = Judge(snapshot, settings, threads)
    good: list[Deletion] = []
    failures = 0
    for topic, heir in _candidates(snapshot, merges):
        one = judge.propose({topic: heir})
        failures = 0 if one.gain >= least else failures + 1
        if one.gain >= least:
            good.append(one)
        elif failures == _FAILURES:
            break
    good.sort(key=lambda one: -one.gain)
    heirs: dict[int, int] = {}
    most = snapshot.state.n_topics - FEWEST_TOPICS
    for one in good:
        ((topic, heir),) = one.heirs.items()
        if topic not in heirs.values() and heir not in heirs and len(heirs) < most:
            heirs[topic] = heir
    if not heirs:
        return None
    chosen = good[0]
    while len(heirs) > 1:
        together = judge.propose(heirs)
        if together.gain > chosen.gain:
            chosen = together
            break
        heirs = dict(list(heirs.items())[: len(heirs) // 2])
    deletions = {"deletions": len(chosen.heirs)}
    return Moved(*_delete(snapshot, chosen), chosen.gain, deletions)


def _candidates(snapshot: Snapshot, merges: list[Move]) -> list[tuple[int, int]]:
    """Pairs (topic, heir): the smaller of the topics that merge at least loss, and its partner."""
    tokens = snapshot.word_counts.sum(axis=1)
    found: dict[int, int] = {}
    for move in merges:
        topic, heir = sorted(move.removed, key=lambda k: tokens[k])
        if topic not in found and len(found) < _CANDIDATES:
            found[topic] = heir
    return list(found.items())


class Judge:
    """Fits the documents that hold some topics without them, and sees what that is worth."""

    def __init__(self, snapshot: Snapshot, settings: LocalSettings, threads: Threads) -> None:
        self._snapshot, self._settings, self._threads = snapshot, settings, threads
        problem = snapshot.problem
        self._words = word_terms(problem, snapshot.word_counts, threads).sum()
        self._seen = prepare_globals(snapshot.state, problem.dtype, threads)

    def propose(self, heirs: dict[int, int]) -> Deletion:
        """Delete the topics that have `heirs`, none of which goes itself."""
        snapshot, threads = self._snapshot, self._threads
        problem, state = snapshot.problem, snapshot.state
        gone = list(heirs)
        rows = np.flatnonzero((snapshot.documents.token_counts[:, gone] > _TOUCHED).any(axis=1))
        part, block = _documents(snapshot, rows)
        seen = replace(self._seen, table=snapshot.responsibilities.table)
        old = _old_solution(snapshot, rows, part, block, threads)
        then = summarise_block(part, state, seen, block, old, threads)
        gain = -_own_terms(then, seen.table)
        # What is left of the topics in other documents goes to their heirs.
        others = np.maximum(snapshot.word_counts - then.word_counts.T, 0.0)
        prior_shape, topic_weight = seen.prior_shape.copy(), seen.topic_weight.copy()
        for values in (others, prior_shape, topic_weight):
            for topic, heir in heirs.items():
                values[heir] += values[topic]
            values[gone] = 0.0
        documents: DocumentState | None = None
        word_counts = snapshot.word_counts
        for turn in range(_TURNS):
            table = self._table(word_counts) if turn else self._seen.table.copy()
            table[:, gone] = 0.0
            seen = LocalGlobals(table, prior_shape, topic_weight)
            solution = solve_block(part, state, seen, block, documents, self._settings, threads)
            documents = solution.documents
            now = summarise_block(part, state, seen, block, solution, threads)
            word_counts = others + now.word_counts.T
        assert documents is not None
        gain += _own_terms(now, seen.table)
        gain += _rest_gain(snapshot, part, rows, heirs, threads)
        gain += float(word_terms(problem, word_counts, threads).sum() - self._words)
        gain -= float(problem.scaling.prior_terms(take_topics(state.scaling, gone)).sum())
        return Deletion(heirs, rows, documents, word_counts, gain)

    def _table(self, word_counts: FloatArray) -> FloatArray:
        """exp(E ln phi) of topics that hold `word_counts` [T, V]."""
        problem, state = self._snapshot.problem, self._snapshot.state
        topics = word_counts.T + problem.dtype.type(problem.priors.topic_prior)
        return prepare_globals(replace(state, topics=topics), problem.dtype, self._threads).table


def _documents(snapshot: Snapshot, rows: IntArray) -> tuple[Problem, Block]:
    """Some documents as a problem of their own."""
    known, problem = snapshot.responsibilities, snapshot.problem
    counts = csr_array(
        (known.counts, known.indices, known.indptr),
        shape=(problem.n_documents, problem.n_words),
    )
    block = make_block(counts[rows], problem.design[rows], problem.dtype)
    return replace(problem, blocks=(block,), design=problem.design[rows]), block


def _old_solution(
    snapshot: Snapshot, rows: IntArray, part: Problem, block: Block, threads: Threads
) -> Solution:
    """The documents as the snapshot has them."""
    known, documents = snapshot.responsibilities, snapshot.documents
    starts, lengths = known.indptr[rows], np.diff(block.indptr)
    entries = np.repeat(starts - block.indptr[:-1], lengths) + np.arange(len(block.indices))
    weight = known.weight[rows]
    return Solution(
        DocumentState(documents.token_counts[rows], documents.tangent[rows]),
        weight,
        known.token_weight[entries],
        expected_rates(
            part.scaling,
            snapshot.state.scaling,
            part.design,
            weight.shape[1],
            part.dtype,
            threads,
        ),
        0,
    )


def _own_terms(statistics: Statistics, table: FloatArray) -> float:
    """A block's part of the bound without E[ln phi], which the words' terms bring in."""
    held = statistics.word_counts > 0.0
    log_table = np.log(table[:, : held.shape[1]][held])
    words = float(statistics.word_counts[held] @ log_table.astype(np.float64))
    return statistics.words + statistics.tangent + statistics.proportions - words


def _rest_gain(
    snapshot: Snapshot, part: Problem, rows: IntArray, heirs: dict[int, int], threads: Threads
) -> float:
    """What documents that are not fitted again gain: at least this much.

    Their few tokens of a topic become its heir's. Of the entropy this loses no more than
    h (1 + ln N / h) for a document with h such tokens.
    """
    problem, state = snapshot.problem, snapshot.state
    held, tangent = snapshot.documents.token_counts, snapshot.documents.tangent
    inherit = sorted(set(heirs.values()))
    together = held[:, inherit]
    prior_shape = state.prior_shape[inherit]
    for topic, heir in heirs.items():
        together[:, inherit.index(heir)] += held[:, topic]
        prior_shape[inherit.index(heir)] += state.prior_shape[topic]
    gone = [*heirs, *inherit]

    def terms(some: Problem, chosen: IntArray | slice) -> float:
        after = proportion_terms(
            some,
            together[chosen],
            prior_shape,
            take_topics(state.scaling, inherit),
            tangent[chosen],
            threads,
        )
        before = proportion_terms(
            some,
            held[chosen][:, gone],
            state.prior_shape[gone],
            take_topics(state.scaling, gone),
            tangent[chosen],
            threads,
        )
        return float(after.sum() - before.sum())

    few = np.delete(held[:, list(heirs)], rows, axis=0).astype(np.float64)
    lengths = np.delete(problem.lengths, rows)[:, None]
    lost = few * (1.0 + np.log(np.maximum(lengths, 1e-30) / np.maximum(few, 1e-300)))
    return terms(problem, slice(None)) - terms(part, rows) - float(lost[few > 0.0].sum())


def _delete(snapshot: Snapshot, deletion: Deletion) -> tuple[Problem, GlobalState, DocumentState]:
    """The snapshot after a deletion."""
    state = snapshot.state
    held = snapshot.documents.token_counts.copy()
    tangent = snapshot.documents.tangent.copy()
    prior_shape = state.prior_shape
    for topic, heir in deletion.heirs.items():
        held[:, heir] += held[:, topic]
        prior_shape[heir] += prior_shape[topic]
    held[deletion.rows] = deletion.documents.token_counts
    tangent[deletion.rows] = deletion.documents.tangent
    kept = np.delete(np.arange(state.n_topics), list(deletion.heirs))
    parts = TopicParts(
        deletion.word_counts[kept],
        held[:, kept],
        prior_shape[kept],
        take_topics(state.scaling, kept),
    )
    return rebuild(snapshot.problem, state, parts, tangent)
