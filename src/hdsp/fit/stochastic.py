"""Stochastic inference: global steps from part of the documents.

Each step fits a batch of documents, scales its statistics up to the whole corpus, and moves the
global state towards what they ask for, by a rate that falls from step to step. A step on the whole
corpus at rate 1 is a step of batch inference.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array

from hdsp.fit.passes import sum_documents
from hdsp.fit.run import History, Run
from hdsp.fit.shard_batches import ShardBatches, loaded_ahead
from hdsp.model import (
    BoundTerms,
    Data,
    GlobalState,
    LocalSettings,
    Statistics,
    elbo,
    expected_tokens,
)
from hdsp.model.updates import update_topics, update_versions, update_weights
from hdsp.numerics import FloatArray
from hdsp.scaling.functions import DesignLimits, Parameters, mix_labels, scale_labels
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


def step_rate(steps: FloatArray | float, size: float) -> FloatArray:
    """The rate of a step on `size` batches after so many steps.

    Half a batch moves the state by half as much, so that the size of the batches in which a stream
    arrives matters little.
    """
    rate = (_DELAY + np.asarray(steps, dtype=np.float64)) ** -_DECAY
    return np.asarray(1.0 - (1.0 - rate) ** size)


@dataclass(frozen=True, eq=False)
class Stream:
    """How far a stochastic fit has come.

    Attributes
    ----------
    state : GlobalState
        Topics, sticks, concentrations and the labels' weights.
    batch_size : int
        The number of documents that make a step.
    steps : float
        The number of steps made; a batch of other size counts as part of one.
    n_documents : int
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
    n_documents: Annotated[int, Limits(least=1)]
    log_proportion: Annotated[FloatArray, Limits("T")]
    label_total: Annotated[FloatArray, Limits("J")]
    carriers: Annotated[FloatArray, Limits("J", 0.0)]
    label_steps: Annotated[FloatArray, Limits("J", 0.0)]
    limits: DesignLimits

    def by_size(self) -> "Stream":
        """The same stream, largest topic first."""
        order = self.state.by_size()
        return replace(
            self, state=self.state.reordered(order), log_proportion=self.log_proportion[order]
        )


def default_batch_size(n_documents: int) -> int:
    """The number of documents that make a step, for a corpus of so many."""
    return int(np.clip(round(_SHARE * n_documents), _SMALLEST, _LARGEST))


def start_stream(state: GlobalState, n_labels: int, batch_size: int) -> Stream:
    """A stream before its first step."""
    none = np.zeros(n_labels)
    running = np.zeros(state.n_topics)
    return Stream(state, batch_size, 0.0, 0, running, none, none, none, DesignLimits(1, none))


def stochastic_step(
    stream: Stream,
    problem: Data,
    statistics: Statistics,
    rate: float | None = None,
    label_rate: FloatArray | None = None,
) -> Stream:
    """One step from the statistics of a batch.

    Parameters
    ----------
    stream : Stream
        Where the fit is; the batch was fitted with its state.
    problem : Data
        The documents that the state is to describe; its blocks are not read.
    statistics : Statistics
        Sums over the batch, with those of the scaling function.
    rate : float or None, default=None
        The rate of the step; None is `step_rate`, for each label by the steps that had it.
    label_rate : float array of shape [J] or None, default=None
        The rates of labels, if others than `rate`.
    """
    state = stream.state
    size = statistics.n_documents / stream.batch_size
    own = float(step_rate(stream.steps, size)) if rate is None else rate
    limits = stream.limits | statistics.limits
    seen = stream.n_documents + statistics.n_documents
    carriers = stream.carriers + statistics.carriers
    label_total = stream.label_total + statistics.label_total
    topics = _moved_topics(problem, state, _scaled(statistics, problem.n_documents), own)
    mean = statistics.log_proportion / max(statistics.n_documents, 1)
    if stream.n_documents:
        mean = stream.log_proportion + own * (mean - stream.log_proportion)
    present = statistics.carriers > 0
    if label_rate is None:
        own_steps = step_rate(stream.label_steps, size)
        label_rate = own_steps if rate is None else np.full(len(carriers), rate)
    scaling = _updated_labels(
        problem, state, statistics, carriers / seen, np.where(present, label_rate, 0.0), limits
    )
    state = replace(topics, scaling=scaling)
    total = csr_array(label_total[None, :] * (problem.n_documents / seen))
    log_total = problem.n_documents * mean + problem.scaling.log_rate_total(scaling, total)
    return Stream(
        update_weights(problem, state, log_total),
        stream.batch_size,
        stream.steps + size,
        seen,
        mean,
        label_total,
        carriers,
        stream.label_steps + size * present,
        limits,
    )


def _moved_topics(
    problem: Data, state: GlobalState, statistics: Statistics, rate: float
) -> GlobalState:
    """The topics, moved by the rate towards what the statistics ask for."""
    if state.versions is None:
        target = update_topics(problem, state, statistics).topics
        return replace(
            state, topics=state.topics + target.dtype.type(rate) * (target - state.topics)
        )
    counts, held = statistics.word_counts, state.versions.tokens
    if not held.any():
        # Before the first step groups use words alike: each has its share of what topics hold.
        by_group = counts.reshape(problem.n_words, -1, state.n_topics).sum(axis=(0, 2))
        share = by_group / max(by_group.sum(), 1e-300)
        tokens = np.maximum(expected_tokens(state, problem.priors), 0.0)
        held = (tokens[:, None] * share[:, None]).reshape(held.shape).astype(held.dtype)
    return update_versions(problem.priors, state, held + held.dtype.type(rate) * (counts - held))


def _updated_labels(
    problem: Data,
    state: GlobalState,
    statistics: Statistics,
    frequency: FloatArray,
    rate: FloatArray,
    limits: DesignLimits,
) -> Parameters:
    """The labels' weights, moved by the rates [J] towards what the batch asks for.

    The sums of each label are scaled by its own frequency, so that a rare label, of which few
    documents are in a batch, is no more uncertain of its size than of its effect. An update from
    sums is damped by the number of labels on a document; a rate below 1 damps it already.
    """
    if not statistics.scaling:
        return state.scaling
    wanted = frequency * problem.n_documents
    factor = wanted / np.maximum(statistics.carriers, 1e-300)
    sums = scale_labels(
        problem.scaling, statistics.scaling, np.where(statistics.carriers > 0, factor, 0.0)
    )
    moved = problem.scaling.update_from_statistics(state.scaling, sums, state.prior_shape, limits)
    faster = np.minimum(rate * limits.labels_per_document, 1.0)
    return mix_labels(problem.scaling, state.scaling, moved, faster)


def _scaled(statistics: Statistics, n_documents: int) -> Statistics:
    """The statistics of a batch as if it were so many documents; topics' counts only."""
    factor = n_documents / max(statistics.n_documents, 1)
    if factor == 1.0:
        return statistics
    counts = statistics.word_counts * statistics.word_counts.dtype.type(factor)
    return replace(statistics, word_counts=counts)


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

    def add(self, statistics: Statistics) -> "PassSoFar":
        """With one more batch."""
        return PassSoFar(
            self.batches + 1,
            self.bound + statistics.bound,
            self.inner_iterations + statistics.inner_iterations,
        )


# Called after a step with the stream, the pass so far and the history.
AfterStep = Callable[[Stream, PassSoFar, History], None]


def fit_stochastic(
    problem: Data,
    batches: ShardBatches,
    stream: Stream,
    run: Run,
    history: History,
    seed: int,
    done: PassSoFar | None = None,
    after_step: AfterStep | None = None,
) -> Stream:
    """Passes of stochastic steps over all documents.

    Passes are made until there were `_STEPS` steps: one for a large corpus. With a tolerance of 0
    all passes that there may be are made. The bound of a pass is that of its batches when they
    were seen, an estimate.

    Parameters
    ----------
    problem : Data
        What is fitted; its blocks are not read.
    batches : ShardBatches
        The documents.
    stream : Stream
        The state to start from.
    run : Run
        How the fit proceeds.
    history : History
        Receives one record per pass.
    seed : int
        Decides the order of the documents.
    done : PassSoFar or None, default=None
        What an interrupted fit has done of its last pass.
    after_step : callable or None, default=None
        Called after each step.
    """
    while len(history) < run.max_iter:
        so_far = done or PassSoFar()
        done = None
        order = batches.epoch(np.random.default_rng([seed, len(history)]))
        for blocks in loaded_ahead(islice(order, so_far.batches, None), run.executor):
            batch = replace(problem, blocks=blocks)
            statistics = sum_documents(batch, stream.state, SETTINGS, run.executor)
            stream = stochastic_step(stream, problem, statistics)
            so_far = so_far.add(statistics)
            run.task.update(documents=f"{stream.n_documents:,}")
            if after_step is not None:
                after_step(stream, so_far, history)
            if run.interrupted:
                break
        total = replace(
            statistics,
            word_counts=expected_tokens(stream.state, problem.priors),
            bound=so_far.bound,
            inner_iterations=so_far.inner_iterations,
        )
        run.record(history, problem, stream.state, total, elbo(problem, stream.state, total))
        if run.interrupted:
            history.converged = False
            break
        if (run.tol > 0.0 and stream.steps >= _STEPS) or history.converged:
            history.converged = True
            break
    return stream
