"""Merging: two topics become one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hdsp import kernels
from hdsp.execution.executor import Step
from hdsp.fit.passes import Documents, ascend
from hdsp.fit.run import Run
from hdsp.kernels import run_ranges
from hdsp.model.bound import elbo, proportion_terms, word_terms
from hdsp.model.data import Block
from hdsp.model.documents import BlockState, LocalSettings, word_factors
from hdsp.model.priors import TopicPrior
from hdsp.model.state import GlobalState, Statistics, TopicWeights
from hdsp.model.updates import update_versions
from hdsp.model.versions import best_values, count_parts, prior_parts, topic_values
from hdsp.numerics import FloatArray, IntArray, sticks_from_weights
from hdsp.scaling.functions import Parameters, ScalingFunction, take_topics

# Labels cannot scale a single topic.
FEWEST_TOPICS = 2
# Pairs and documents per task of a thread.
_PAIR_RANGE = 8
_DOCUMENT_RANGE = 256
# Pairs proposed per topic; with fewer, some topics that are there twice stay.
_PAIRS_PER_TOPIC = 2.0
# What a merge must gain, and as a share of the bound: less is rounding.
_LEAST_GAIN = 0.1
_LEAST_SHARE = 1e-6
_ROUNDS = 60


def merge_topics(documents: Documents, state: GlobalState, run: Run) -> GlobalState:
    """Merge topics where that raises the bound, with passes in between.

    A topic that is there twice predicts as well as one; the bound tells that one is enough.

    Parameters
    ----------
    documents : Documents
        The documents of a fit that has converged.
    state : GlobalState
        Where it has.
    run : Run
        Takes the passes and merges.
    """
    for _ in range(_ROUNDS):
        if len(run.history) >= run.max_iter or run.interrupted:
            break
        # In a function of its own: what a round has looked at is gone before the next.
        state, n_merges = _merge_once(documents, state, run)
        if not n_merges:
            break
        run.history[-1]["merges"] = n_merges
        run.task.update(merges=n_merges)
    return state if run.converged else ascend(documents, state, run)


def _merge_once(documents: Documents, state: GlobalState, run: Run) -> tuple[GlobalState, int]:
    """A pass, and the merges after it: the state, and how many there were."""
    snapshot = take_snapshot(documents, state, run.settings)
    bound = elbo(documents.problem, state, snapshot.statistics)
    run.record(documents.problem, state, snapshot.statistics, bound)
    least = max(_LEAST_GAIN, _LEAST_SHARE * abs(bound.total))
    chosen = choose_merges(snapshot, propose_merges(snapshot), least)
    if not chosen:
        return snapshot.state, 0
    state, members = merged_state(snapshot, chosen)
    documents.regroup(members)
    return state, len(chosen)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A fit between two passes, with everything that the gain of a merge depends on.

    Attributes
    ----------
    documents : Documents
        The documents after a pass, with their responsibilities.
    state : GlobalState
        The state after its global step.
    statistics : Statistics
        The sums of the pass.
    table : float array of shape [V, K]
        The words' factors of the responsibilities.
    """

    documents: Documents
    state: GlobalState
    statistics: Statistics
    table: FloatArray

    @cached_property
    def topic_words(self) -> FloatArray:
        """Expected tokens of each word and topic, of the groups' words with versions, [T, V]."""
        return np.ascontiguousarray(self.statistics.word_counts.T)

    @cached_property
    def pooled_words(self) -> FloatArray:
        """Expected tokens of each word and topic, whatever the group, [T, V]."""
        versions = self.state.versions
        return self.topic_words if versions is None else np.ascontiguousarray(versions.pooled().T)


def take_snapshot(documents: Documents, state: GlobalState, settings: LocalSettings) -> Snapshot:
    """A pass over all documents that keeps their responsibilities."""
    statistics = documents.fit(state, settings, remember=True)
    table = word_factors(state, documents.problem.dtype)
    return Snapshot(documents, documents.update(state, statistics), statistics, table)


@dataclass(frozen=True, eq=False)
class Merge:
    """Two topics that become one.

    Attributes
    ----------
    pair : tuple of two int
        The topics.
    gain : float
        By how much the bound rises without the densities of sticks and concentrations. These have
        point posteriors, whose densities have no common scale: each stick would add a few units
        even if its topic holds nothing. The densities of log-linear weights stay: they are what a
        topic pays for weights that differ from zero.
    scaling : mapping of str to array
        The labels' weights of the topic that they become.
    """

    pair: tuple[int, int]
    gain: float
    scaling: Parameters


def choose_merges(snapshot: Snapshot, merges: Iterable[Merge], least: float) -> list[Merge]:
    """The best merges that gain `least` and share no topic; `merges` come best first."""
    left = snapshot.state.n_topics - FEWEST_TOPICS
    chosen: list[Merge] = []
    busy: set[int] = set()
    for merge in merges:
        if merge.gain >= least and not busy.intersection(merge.pair) and left > 0:
            chosen.append(merge)
            busy.update(merge.pair)
            left -= 1
    return chosen


def propose_merges(snapshot: Snapshot) -> list[Merge]:
    """Merges of likely pairs, with their gains, the best first; gains may be negative."""
    state, documents = snapshot.state, snapshot.documents
    pairs = likely_pairs(snapshot.pooled_words, _PAIRS_PER_TOPIC)
    # Every seeded topic stays one of its own, but may take in others.
    pairs = pairs[~np.isin(pairs, state.seeded).all(axis=1)]
    if len(pairs) == 0:
        return []
    function = documents.problem.scaling
    alone = state.weights
    merged = alone.merged(pairs)
    scaling = documents.update_scaling(merged, snapshot.statistics.limits, pairs)
    merged = replace(merged, scaling=scaling)
    before = words_before(snapshot) + function.prior_terms(state.scaling)
    gain = documents.sum(SumGains(function, snapshot.table, pairs, alone, merged))
    gain += np.concatenate(
        run_ranges(lambda a, b: words_after(snapshot, pairs[a:b]), len(pairs), _PAIR_RANGE)
    )
    gain += function.prior_terms(merged.scaling) - before[pairs].sum(axis=1)
    merges = [
        Merge((int(j), int(k)), float(gain[i]), take_topics(merged.scaling, [i]))
        for i, (j, k) in enumerate(pairs)
    ]
    return sorted(merges, key=lambda merge: -merge.gain)


def words_before(snapshot: Snapshot) -> FloatArray:
    """The words' part of the bound by topic, [T]."""
    priors, versions = snapshot.documents.problem.priors, snapshot.state.versions
    prior = priors.of_topics(snapshot.state.seeded)
    terms = word_terms(prior, snapshot.pooled_words)
    if versions is None:
        return terms
    return terms + topic_values(versions, count_parts(versions), prior_parts(versions, prior))


def words_after(snapshot: Snapshot, pairs: IntArray) -> FloatArray:
    """The words' part of the bound of the topics that pairs would become, [Q]."""
    state, words = snapshot.state, snapshot.pooled_words
    versions, (one, other) = state.versions, pairs.T
    alone = snapshot.documents.problem.priors.of_topics(state.seeded)
    # Seeds of either topic, of which one at most has any.
    merged, seeds = np.nonzero((pairs[:, :, None] == alone.topics).any(axis=1))
    prior = TopicPrior(alone.eta, alone.words[seeds], merged, alone.tokens[seeds])
    terms = word_terms(prior, words[one] + words[other])
    if versions is None:
        return terms
    tokens = np.ascontiguousarray((snapshot.topic_words[one] + snapshot.topic_words[other]).T)
    return terms + best_values(replace(versions, tokens=tokens, common=np.ones(len(pairs))), prior)


def likely_pairs(topic_words: FloatArray, per_topic: float) -> IntArray:
    """The pairs of topics [Q, 2], j < k, whose merge should cost the words' bound least.

    Estimated by the Hellinger distance of their words times half the harmonic mean of their
    tokens, which approximates the loss of two topics with nearly the same words.
    """
    n_topics = len(topic_words)
    tokens = topic_words.sum(axis=1, dtype=np.float64)
    root = np.sqrt(topic_words / np.maximum(tokens, 1e-30)[:, None])
    distance = 1.0 - root @ root.T
    size = tokens[:, None] * tokens / np.maximum(tokens[:, None] + tokens, 1e-30)
    first, second = np.triu_indices(n_topics, 1)
    loss = (size * distance)[first, second]
    order = np.argsort(loss, kind="stable")[: int(np.ceil(per_topic * n_topics))]
    return np.stack([first[order], second[order]], axis=1)


@dataclass(frozen=True, eq=False)
class SumGains(Step):
    """The documents' part of what merges gain: of their proportions, and of the entropy.

    Attributes
    ----------
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    table : float array of shape [V, K]
        The words' factors of the responsibilities.
    pairs : int array of shape [Q, 2]
        The topics that would become one.
    alone : TopicWeights
        All T topics.
    merged : TopicWeights
        The Q topics that pairs would become.
    """

    scaling: ScalingFunction
    table: FloatArray
    pairs: IntArray
    alone: TopicWeights
    merged: TopicWeights

    def __call__(self, block: Block, kept: BlockState) -> tuple[None, FloatArray]:
        """The gains of a block, [Q]."""
        held = kept.documents.tokens(slice(len(self.alone.prior_shape)))
        both = kept.documents.tokens(self.pairs)
        before, after = (
            proportion_terms(self.scaling, kept, tokens, topics)
            for tokens, topics in ((held, self.alone), (both, self.merged))
        )
        lost = pair_entropies(block, kept, self.table, self.pairs)
        return None, np.asarray(after - before[self.pairs].sum(axis=1) + lost)


def pair_entropies(
    block: Block, kept: BlockState, table: FloatArray, pairs: IntArray
) -> FloatArray:
    """The change of the responsibilities' entropy by each merge, [Q]; none is positive."""
    sums = np.zeros((-(-block.n_documents // _DOCUMENT_RANGE), len(pairs)))
    factors = (kept.token_weight, kept.weight, table, kept.documents.token_counts)
    arrays = (_DOCUMENT_RANGE, block.indptr, block.indices, *factors, pairs, sums)
    run_ranges(kernels.sum_pair_entropies, block.n_documents, _DOCUMENT_RANGE, *arrays)
    return np.asarray(sums.sum(axis=0))


def merged_state(
    snapshot: Snapshot, merges: Sequence[Merge]
) -> tuple[GlobalState, list[tuple[int, ...]]]:
    """The state after merges that share no topic, and the topics before that each topic has.

    Concentrations and tangents stay; topics are ordered by weight.
    """
    state, problem = snapshot.state, snapshot.documents.problem
    weight = state.prior_shape
    partner = {merge.pair[0]: merge for merge in merges}
    for first, merge in partner.items():
        weight[first] += weight[merge.pair[1]]
    left = np.delete(np.arange(state.n_topics), [merge.pair[1] for merge in merges])
    left = left[np.argsort(-weight[left], kind="stable")]
    members: list[tuple[int, ...]] = [
        partner[k].pair if k in partner else (k,) for k in left.tolist()
    ]
    words = [snapshot.topic_words[list(own)].sum(axis=0) for own in members]
    topics = np.stack(words, axis=1).astype(problem.dtype)
    scaling = take_topics(state.scaling, left)
    for place, own in enumerate(members):
        if len(own) > 1:
            for name, value in partner[own[0]].scaling.items():
                scaling[name][place] = value[0]
    home = {topic: place for place, own in enumerate(members) for topic in own}
    seeded = np.array([home[topic] for topic in state.seeded.tolist()], dtype=np.int64)
    sticks = sticks_from_weights(weight[left] / weight[left].sum())
    merged = replace(state, sticks=sticks, scaling=scaling, seeded=seeded)
    if state.versions is not None:
        versions = state.versions.take(np.array([own[0] for own in members]))
        return update_versions(problem.priors, replace(merged, versions=versions), topics), members
    return replace(merged, topics=problem.priors.of_topics(seeded).add_to(topics)), members
