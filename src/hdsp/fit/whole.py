"""A whole fit: the documents that it is given, where it begins, its passes, and its outcome."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdsp.corpus import LabelSchema
from hdsp.fit.history import History
from hdsp.fit.merge import merge_topics
from hdsp.fit.passes import ascend, documents_of
from hdsp.fit.run import Resumed, Run
from hdsp.fit.sample import Survey, SurveyDocuments
from hdsp.fit.search import Search, better_start
from hdsp.fit.shard_batches import ShardBatches
from hdsp.fit.start import initial_state
from hdsp.fit.stochastic import Stream, fit_stochastic, start_stream
from hdsp.model import Fit, GlobalState, Priors, Problem, ShardedProblem, make_problem
from hdsp.model.shard_blocks import Encoding, Readable, shard_blocks
from hdsp.numerics.types import FloatArray
from hdsp.scaling import LabelSpace, ScalingFunction, bind_labels, content_columns

# Where documents have more words than this on average, those of a document say enough of it.
_LONG = 100.0
# The number of topics that starts are compared with, where it is not fixed.
_TRIED = 32


@dataclass(frozen=True, eq=False)
class Plan:
    """The settings of a fit that decide its result.

    Attributes
    ----------
    n_components : int
        The largest number of topics.
    fixed_number : bool
        Whether there are exactly so many.
    number_by : str
        How the number is found otherwise.
    init : str or array
        The initial topics.
    corpus_concentration, document_concentration : float
        The initial values of alpha and beta.
    rng : numpy.random.Generator
        The source of random numbers.
    batch_size : int or None, default=None
        The documents that make a step of stochastic inference; None is batch inference.
    """

    n_components: int
    fixed_number: bool
    number_by: str
    init: Any
    corpus_concentration: float
    document_concentration: float
    rng: np.random.Generator
    batch_size: int | None = None

    @property
    def searches(self) -> bool:
        """Whether the number of topics is searched for."""
        return not self.fixed_number and isinstance(self.init, str)


@dataclass(frozen=True, eq=False)
class Beginning:
    """How many topics a fit has, and where it starts.

    Attributes
    ----------
    n_topics : int
        The number of topics.
    numbers : tuple of two int, or None
        Numbers that are about as good; None where nothing was searched.
    state : callable
        Makes the initial state: it takes time, and is not wanted where a fit is resumed.
    init : str
        The start; ``"array"`` where topics were given.
    """

    n_topics: int
    numbers: tuple[int, int] | None
    state: Callable[[], GlobalState]
    init: str


def begin(
    problem: Problem,
    plan: Plan,
    run: Run,
    after_trial: Callable[[], None] | None = None,
    n_tokens: float | None = None,
) -> Beginning:
    """Find the number of topics, or take the one that is given.

    Parameters
    ----------
    problem : Problem
        All documents, or a sample of them.
    plan : Plan
        The settings of the fit.
    run : Run
        How it proceeds.
    after_trial : callable or None, default=None
        Called after each trial of a search.
    n_tokens : float or None, default=None
        The tokens of all documents, if `problem` is a sample.
    """
    init = plan.init

    def start(problem: Problem, n_topics: int, rng: np.random.Generator, held: Any) -> GlobalState:
        return initial_state(
            problem,
            n_topics,
            init,
            plan.corpus_concentration,
            plan.document_concentration,
            rng,
            held,
        )

    if isinstance(init, str) and init == "auto":
        with run.stage("starts"):
            init = _better_start(problem, plan, run)
    name = init if isinstance(init, str) else "array"
    if not plan.searches:
        number = plan.n_components
        return Beginning(number, None, lambda: start(problem, number, plan.rng, n_tokens), name)
    seed = int(plan.rng.integers(2**62))

    def start_at(problem: Problem, n_topics: int, held: Any = None) -> GlobalState:
        return start(problem, n_topics, np.random.default_rng([seed, n_topics]), held)

    search = Search(
        problem, plan.n_components, plan.number_by, start_at, run, plan.rng, after_trial=after_trial
    )
    with run.stage("search"):
        number, numbers = search.number(), search.number_range()
    return Beginning(number, numbers, lambda: start_at(problem, number, n_tokens), name)


def _better_start(problem: Problem, plan: Plan, run: Run) -> str:
    """The start for these documents: by their length, or by held-out words."""
    if problem.n_tokens > _LONG * problem.n_documents:
        return "nmf"
    # A stream of its own: the fit goes on as if the start had been named.
    (rng,) = plan.rng.spawn(1)
    number = plan.n_components if plan.fixed_number else min(plan.n_components, _TRIED)
    seed = int(rng.integers(2**62))

    def start(init: str) -> Callable[[Problem], GlobalState]:
        return lambda known: initial_state(
            known,
            number,
            init,
            plan.corpus_concentration,
            plan.document_concentration,
            np.random.default_rng(seed),
        )

    return better_start(problem, {"nmf": start("nmf"), "words": start("words")}, run, rng)


@dataclass(frozen=True, eq=False)
class FitSource:
    """The documents of a fit: all of them in memory, or in shards that any executor reads.

    Attributes
    ----------
    problem : Problem or ShardedProblem
        What is fitted.
    known : Problem
        The documents in memory in which the fit begins: all, or a uniform sample.
    space : LabelSpace
        The labels, and how they scale topics.
    survey : Survey or None, default=None
        The sample of shards, and sums over all documents; None where all are in memory.
    batches : ShardBatches or None, default=None
        The documents in a random order, for stochastic inference; None is batch inference.
    seed : int, default=0
        Decides the sample, and the order of batches.
    """

    problem: Problem | ShardedProblem
    known: Problem
    space: LabelSpace
    survey: Survey | None = None
    batches: ShardBatches | None = None
    seed: int = 0


def survey_shards(
    shards: Sequence[Readable],
    schema: LabelSchema,
    scaling: str | ScalingFunction,
    content: str | None,
    priors_of: Callable[[FloatArray], Priors],
    plan: Plan,
    run: Run,
) -> FitSource:
    """Read shards once, wherever the run's executor does, for a sample and for sums.

    Parameters
    ----------
    shards : sequence of Readable
        The documents.
    schema : LabelSchema
        The label columns.
    scaling : str or ScalingFunction
        How labels scale topics.
    content : str or None
        The category whose levels have their own versions of topics.
    priors_of : callable
        The hyperparameters, given the tokens of each word [V].
    plan : Plan
        The settings of the fit.
    run : Run
        How it proceeds.
    """
    # Terms learn from the sample, so that the survey sees labels as they are.
    blocks = shard_blocks(shards, Encoding(bind_labels("auto", schema)))
    n_documents = sum(shard.n_documents for shard in shards)
    # A stream of its own: the fit begins as one in memory with the same seed does.
    seed = int(plan.rng.spawn(1)[0].integers(2**62))
    with run.stage("sample"):
        step = SurveyDocuments(seed, n_documents)
        survey: Survey = run.executor.run(step, blocks, keep=False)[1]
    space = bind_labels(scaling, schema, survey.sample.design)
    columns = content_columns(space, content)
    survey, encoding = survey.designed(space), Encoding(space, columns)
    priors = priors_of(survey.word_tokens)
    sample = survey.sample.take(survey.sample.uniform())
    part = priors.for_part(len(sample) / n_documents)
    problem = ShardedProblem(
        shard_blocks(shards, encoding),
        space.scaling,
        priors,
        n_documents,
        len(survey.word_tokens),
        space.n_columns,
        content=columns,
    )
    batches = None
    if plan.batch_size is not None:
        batches = ShardBatches(shards, encoding, plan.batch_size)
    known = make_problem(sample.counts, sample.design, space.scaling, part, content=columns)
    return FitSource(problem, known, space, survey, batches, seed)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a fit.

    Attributes
    ----------
    fit : Fit
        The fitted state, largest topic first, and the documents that are in memory.
    history : History
        One record per pass.
    numbers : tuple of two int, or None
        Numbers of topics that are about as good; None where nothing was searched.
    init : str
        The start; ``"array"`` where topics were given.
    stream : Stream or None, default=None
        Where stochastic inference goes on; None after batch inference.
    """

    fit: Fit
    history: History
    numbers: tuple[int, int] | None
    init: str
    stream: Stream | None = None


def fit(source: FitSource, plan: Plan, run: Run) -> Outcome:
    """Fit with a fixed number of topics, or with the number that held-out words ask for.

    Parameters
    ----------
    source : FitSource
        The documents.
    plan : Plan
        The settings that decide the result.
    run : Run
        How the fit proceeds.
    """
    problem, checkpoint, resumed = source.problem, run.checkpoint, None
    if checkpoint is not None:
        resumed = checkpoint.resume(problem, run, plan.n_components)
        run.after_pass = checkpoint.pass_writer(run)
    after_trial = checkpoint.trial_writer(run) if checkpoint else None
    n_tokens = None if source.survey is None else float(source.survey.word_tokens.sum())
    beginning = begin(source.known, plan, run, after_trial, n_tokens)
    run.display.begin_fit(beginning.n_topics)
    # Interrupted in its trials, a search may have gone on with another number.
    if resumed is None or resumed.state.n_topics != beginning.n_topics:
        with run.stage("start"):
            resumed = Resumed(beginning.state(), None, run.new_history())
    if source.batches is None:
        found = _fit_batch(source, plan, run, resumed)
        numbers = _scaled(beginning.numbers, found.state.n_topics, beginning.n_topics)
        return Outcome(found, resumed.history, numbers, beginning.init)
    stream = _fit_stream(source, run, resumed)
    return Outcome(
        Fit(stream.state, None), resumed.history, beginning.numbers, beginning.init, stream
    )


def _fit_batch(source: FitSource, plan: Plan, run: Run, resumed: Resumed) -> Fit:
    """Passes over all documents, and merges of topics unless their number is fixed."""
    history = resumed.history
    documents = documents_of(source.problem, run, resumed.documents)
    with run.stage("passes"):
        state = ascend(documents, resumed.state, run, history)
    if not plan.fixed_number and run.keep_documents and history.converged:
        with run.stage("merges"):
            order = state.by_size()
            documents.regroup(order[:, None].tolist())
            state = merge_topics(documents, state.reordered(order), run, history)
    return Fit(state, documents.here).by_size()


def _fit_stream(source: FitSource, run: Run, resumed: Resumed) -> Stream:
    """Passes of stochastic steps."""
    problem, batches = source.problem, source.batches
    assert isinstance(problem, ShardedProblem)
    assert batches is not None
    stream, done = resumed.stream or (
        start_stream(resumed.state, problem.n_labels, batches.batch_size),
        None,
    )
    after_step = run.checkpoint.step_writer(run) if run.checkpoint else None
    with run.stage("passes"):
        return fit_stochastic(
            problem, batches, stream, run, resumed.history, source.seed, done, after_step
        ).by_size()


def _scaled(
    numbers: tuple[int, int] | None, n_topics: int, searched: int
) -> tuple[int, int] | None:
    """The range of numbers that are as good as the one searched, after merges as for that one."""
    if numbers is None:
        return None
    low, high = (max(round(number * n_topics / searched), 2) for number in numbers)
    return min(low, n_topics), max(high, n_topics)
