"""Stochastic inference: global steps from part of the documents.

Each step fits a batch of documents, scales its statistics up to the whole corpus, and moves the
global state towards what they ask for, by a rate that falls from step to step. A step on the whole
corpus at rate 1 is a step of batch inference, except that priors of label weights stay where they
are: weights that few steps have moved would pull them in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated, Any, Self, TypeVar

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus.counting import in_threads
from hdsp.execution.executor import InProcess
from hdsp.fit.passes import sum_documents
from hdsp.fit.run import Run
from hdsp.model.bound import elbo
from hdsp.model.data import SHARDS_AT_ONCE, Block, BlockSource, Data, StoredBlock, forget_shards
from hdsp.model.documents import LocalSettings
from hdsp.model.state import BoundTerms, GlobalState, Statistics
from hdsp.model.updates import expected_tokens, update_topics, update_versions, update_weights
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.functions import DesignLimits, mix_labels, scale_labels
from hdsp.storage.codec import SMALLEST, Limits

# The rate of step t is (delay + t)^-decay.
_DELAY, _DECAY = 10.0, 0.7
# A fit makes passes until there were so many steps.
_STEPS = 32
# Documents are seen once, so each is fitted more closely than in batch inference, which comes back
# to where it was: a loose fit leaves their topics blurred, and in time the model's.
SETTINGS = LocalSettings(max_iter=20, tol=1e-3)
# The batch size: this share of the documents, within limits.
_SHARE, _SMALLEST, _LARGEST = 1 / 32, 256, 4_096
# Documents per block of a batch: enough for threads to share.
_BATCH_BLOCK = 2_048


def step_rate(steps: FloatArray | float, size: float) -> FloatArray:
    """The rate of a step on `size` batches after so many steps.

    Half a batch moves the state by half as much, so that the size of the batches in which a stream
    arrives matters little.
    """
    rate = (_DELAY + np.asarray(steps, dtype=np.float64)) ** -_DECAY
    return np.asarray(1.0 - (1.0 - rate) ** size)


@dataclass(frozen=True, eq=False)
class StochasticState:
    """How far stochastic inference has come.

    Attributes
    ----------
    state : GlobalState
        Topics, sticks, concentrations and the labels' weights.
    batch_size : int
        The number of documents that make a step.
    steps : float
        The number of steps made; a batch of other size counts as part of one.
    n_seen : int
        The number of documents seen; those of a second pass count again.
    log_proportion : float array of shape [T]
        A running mean over documents of E[ln pi_mk].
    label_total : float array of shape [J]
        The sum of each label's values in the documents seen.
    carriers : float array of shape [J]
        How many of the documents seen have a value of each label.
    label_steps : float array of shape [J]
        The number of steps, counted likewise, whose batch had each label.
    limits : DesignLimits
        What an additive update of the scaling function must know of the documents seen.
    """

    state: GlobalState
    batch_size: Annotated[int, Limits(least=1)]
    steps: Annotated[float, Limits(least=SMALLEST)]
    n_seen: Annotated[int, Limits(least=1)]
    log_proportion: Annotated[FloatArray, Limits("T")]
    label_total: Annotated[FloatArray, Limits("J")]
    carriers: Annotated[FloatArray, Limits("J", 0.0)]
    label_steps: Annotated[FloatArray, Limits("J", 0.0)]
    limits: DesignLimits

    def reordered(self, order: IntArray) -> Self:
        """The same topics in another order."""
        state, log_proportion = self.state.reordered(order), self.log_proportion[order]
        return replace(self, state=state, log_proportion=log_proportion)


def default_batch_size(n_documents: int) -> int:
    """The number of documents that make a step, for a corpus of so many."""
    return int(np.clip(round(_SHARE * n_documents), _SMALLEST, _LARGEST))


def before_steps(state: GlobalState, n_labels: int, batch_size: int) -> StochasticState:
    """Stochastic inference before its first step."""
    none, mean = np.zeros(n_labels), np.zeros(state.n_topics)
    return StochasticState(state, batch_size, 0.0, 0, mean, none, none, none, DesignLimits(1, none))


Steps = TypeVar("Steps", bound=StochasticState)


def stochastic_step(
    before: Steps,
    data: Data,
    statistics: Statistics,
    rate: float | None = None,
    label_rate: FloatArray | None = None,
) -> Steps:
    """One step from the statistics of a batch.

    Parameters
    ----------
    before : StochasticState
        Where the fit is; the batch was fitted with its state.
    data : Data
        The documents that the state is to describe; its blocks are not read.
    statistics : Statistics
        Sums over the batch, with those of the scaling function.
    rate : float or None, default=None
        The rate of the step; None is `step_rate`, for each label by the steps that had it.
    label_rate : float array of shape [J] or None, default=None
        The rates of labels, if others than `rate`.
    """
    state = before.state
    size = statistics.n_documents / before.batch_size
    topic_rate = float(step_rate(before.steps, size)) if rate is None else rate
    limits = before.limits | statistics.limits
    seen = before.n_seen + statistics.n_documents
    carriers = before.carriers + statistics.carriers
    label_total = before.label_total + statistics.label_total
    topics = _move_topics(data, state, statistics, topic_rate)
    mean = statistics.log_proportion / max(statistics.n_documents, 1)
    if before.n_seen:
        mean = before.log_proportion + topic_rate * (mean - before.log_proportion)
    present = statistics.carriers > 0
    if label_rate is None:
        by_label = step_rate(before.label_steps, size)
        label_rate = by_label if rate is None else np.full(len(carriers), rate)
    scaling = state.scaling
    if statistics.scaling:
        # Sums of each label are scaled by its own frequency, so that a rare label, of which few
        # documents are in a batch, is no more uncertain of its size than of its effect.
        factor = carriers / seen * data.n_documents / np.maximum(statistics.carriers, 1e-300)
        sums = scale_labels(data.scaling, statistics.scaling, np.where(present, factor, 0.0))
        target = data.scaling.update_from_statistics(scaling, sums, state.prior_shape, limits)
        # An update from sums is damped by the labels of a document; a rate below 1 damps it, too.
        faster = np.minimum(label_rate * limits.labels_per_document, 1.0)
        scaling = mix_labels(data.scaling, scaling, target, np.where(present, faster, 0.0))
    total = csr_array(label_total[None, :] * (data.n_documents / seen))
    log_total = data.n_documents * mean + data.scaling.log_rate_total(scaling, total)
    return replace(
        before,
        state=update_weights(data, replace(topics, scaling=scaling), log_total),
        steps=before.steps + size,
        n_seen=seen,
        log_proportion=mean,
        label_total=label_total,
        carriers=carriers,
        label_steps=before.label_steps + size * present,
        limits=limits,
    )


def _move_topics(
    data: Data, state: GlobalState, statistics: Statistics, rate: float
) -> GlobalState:
    """The topics, moved by the rate towards what a batch asks for, as if it were all documents."""
    factor = data.n_documents / max(statistics.n_documents, 1)
    counts = statistics.word_counts * statistics.word_counts.dtype.type(factor)
    if state.versions is None:
        target = update_topics(data, state, replace(statistics, word_counts=counts)).topics
        step = target.dtype.type(rate) * (target - state.topics)
        return replace(state, topics=state.topics + step)
    held = state.versions.tokens
    if not held.any():
        # Before the first step groups use words alike: each has its share of what topics hold.
        by_group = counts.reshape(data.n_words, -1, state.n_topics).sum(axis=(0, 2))
        share = by_group / max(by_group.sum(), 1e-300)
        tokens = np.maximum(expected_tokens(state, data.priors), 0.0)
        held = (tokens[:, None] * share[:, None]).reshape(held.shape).astype(held.dtype)
    return update_versions(data.priors, state, held + held.dtype.type(rate) * (counts - held))


@dataclass(frozen=True)
class PassSoFar:
    """The steps of an unfinished pass.

    Attributes
    ----------
    batches : int, default=0
        The number of batches seen in it.
    bound : BoundTerms, default=BoundTerms()
        The part of the bound of their documents, when they were seen.
    inner_iterations : int, default=0
        Inner iterations of the document step, summed over documents.
    """

    batches: int = 0
    bound: BoundTerms = field(default_factory=BoundTerms)
    inner_iterations: int = 0


def fit_stochastic(
    data: Data, steps: StochasticState, run: Run, seed: int, so_far: PassSoFar | None = None
) -> StochasticState:
    """Passes of stochastic steps over all documents.

    Passes are made until there were `_STEPS` steps: one for a large corpus. With a tolerance of 0
    all passes that there may be are made. The bound of a pass is that of its batches when they
    were seen, an estimate.

    Parameters
    ----------
    data : Data
        What is fitted, in stored blocks.
    steps : StochasticState
        Where to start from.
    run : Run
        How the fit proceeds; it gets one row per pass.
    seed : int
        Decides the order of the documents.
    so_far : PassSoFar or None, default=None
        What an interrupted fit has done of its last pass.
    """
    while len(run.history) < run.max_iter:
        so_far = so_far or PassSoFar()
        rng = np.random.default_rng([seed, len(run.history)])
        batches = shuffled_batches(data.blocks, steps.batch_size, rng)
        batches = islice(batches, so_far.batches, None)
        if isinstance(run.executor, InProcess):
            # Each is read while the one before is fitted.
            batches = in_threads(_load_all, batches, n_threads=1)
        for blocks in batches:
            batch = replace(data, blocks=blocks)
            statistics = sum_documents(batch, steps.state, SETTINGS, run.executor)
            steps = stochastic_step(steps, data, statistics)
            so_far = PassSoFar(
                so_far.batches + 1,
                so_far.bound + statistics.bound,
                so_far.inner_iterations + statistics.inner_iterations,
            )
            run.task.update(documents=f"{steps.n_seen:,}")
            if run.save_is_due:
                run.save(steps=steps, so_far=so_far)
            if run.interrupted:
                break
        forget_shards()
        total = replace(
            statistics,
            word_counts=expected_tokens(steps.state, data.priors),
            bound=so_far.bound,
            inner_iterations=so_far.inner_iterations,
        )
        so_far = None
        run.record(data, steps.state, total, elbo(data, steps.state, total))
        run.converged |= run.tol > 0.0 and steps.steps >= _STEPS
        run.converged &= not run.interrupted
        if run.converged or run.interrupted:
            break
    return steps.reordered(steps.state.by_size())


def shuffled_batches(
    blocks: Sequence[Any], batch_size: int, rng: np.random.Generator
) -> Iterator[Sequence[BlockSource]]:
    """Batches of documents of a few randomly chosen stored blocks, then of others.

    A batch has documents of several blocks, so that a corpus that is sorted, by date or by label,
    does not come in that order.
    """
    order = rng.permutation(len(blocks))
    for group in np.array_split(order, -(-len(order) // SHARDS_AT_ONCE)):
        parts = [blocks[number].parts[0] for number in group]
        home = np.repeat(np.arange(len(parts)), [part.n_documents for part in parts])
        row = np.concatenate([np.arange(part.n_documents) for part in parts])
        mixed = rng.permutation(len(home))
        for first in range(0, len(mixed), batch_size):
            batch = mixed[first : first + batch_size]
            batch_blocks = []
            for chosen in np.array_split(batch, -(-len(batch) // _BATCH_BLOCK)):
                numbers = np.unique(home[chosen])
                rows = tuple(np.sort(row[chosen[home[chosen] == number]]) for number in numbers)
                own = tuple(parts[number] for number in numbers)
                batch_blocks.append(StoredBlock(own, blocks[0].encoding, rows=rows))
            yield batch_blocks


def _load_all(blocks: Sequence[BlockSource]) -> list[Block]:
    return [block.load() for block in blocks]
