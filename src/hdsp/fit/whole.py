"""A whole fit: the documents that it is given, where it begins, its passes, and its outcome."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdsp.corpus import LabelSchema
from hdsp.fit.merge import merge_topics
from hdsp.fit.passes import Documents, ascend
from hdsp.fit.run import History, Resumed, Run
from hdsp.fit.sample import Survey, SurveyDocuments
from hdsp.fit.search import MOST_COMPARED, MOST_FITTED, Search, count_returning
from hdsp.fit.shard_batches import ShardBatches
from hdsp.fit.start import WordSpaceCache, common_words, initial_state
from hdsp.fit.stochastic import Stream, fit_stochastic, start_stream
from hdsp.model import Data, DocumentState, GlobalState, Priors, Problem, make_problem
from hdsp.model.data import Encoding, Readable, stored_blocks
from hdsp.numerics import FloatArray
from hdsp.scaling.design import LabelDesign, Scaling, content_columns

# Where documents have more words than this on average, those of a document say enough of it.
_LONG = 100.0
# Otherwise one of these is better, by held-out words.
_SHORT_STARTS = ("nmf", "words", "pairs")


@dataclass(frozen=True, eq=False)
class Plan:
    """The settings of a fit that decide its result.

    Attributes
    ----------
    n_components : int
        The largest number of topics.
    fixed_number : bool
        Whether there are exactly so many.
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
    count_returning : callable or None, default=None
        Counts the topics that two halves of the documents share; None if documents are long, or
        the start was named.
    """

    n_topics: int
    numbers: tuple[int, int] | None
    state: Callable[[], GlobalState]
    init: str
    count_returning: Callable[[], int] | None = None


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

    def start(
        part: Problem,
        n_topics: int,
        init: Any,
        rng: np.random.Generator,
        held: float | None = None,
        spaces: WordSpaceCache | None = None,
    ) -> GlobalState:
        return initial_state(
            part,
            n_topics,
            init,
            plan.corpus_concentration,
            plan.document_concentration,
            rng,
            held,
            spaces,
        )

    if not isinstance(plan.init, str):
        number = plan.n_components
        return Beginning(
            number, None, lambda: start(problem, number, plan.init, plan.rng, n_tokens), "array"
        )
    names = _starts(plan.init, problem)
    # Streams of their own where the number is fixed: the fit goes on as if its start were named.
    rng = plan.rng.spawn(1)[0] if plan.fixed_number else plan.rng
    seed = int(rng.integers(2**62))

    spaces = WordSpaceCache(seed)

    def start_at(part: Problem, n_topics: int, init: str) -> GlobalState:
        own = np.random.default_rng([seed, n_topics])
        return start(part, n_topics, init, own, spaces=spaces)

    number, numbers, init, last = plan.n_components, None, names[0], plan.rng
    if not plan.fixed_number or len(names) > 1:
        most_fitted = MOST_COMPARED if plan.fixed_number else MOST_FITTED
        search = Search(problem, number, start_at, run, rng, after_trial, most_fitted)
        with run.stage("search"):
            if plan.fixed_number:
                init = search.better_start(names, number)
            else:
                init, number = search.number(names)
                numbers, last = search.number_range(), np.random.default_rng([seed, number])
    halves = None
    asked = plan.init == "auto" and _is_short(problem) and number <= problem.n_documents // 2
    if asked and not run.interrupted:
        settings = run.settings

        def start_half(half: Problem) -> GlobalState:
            rng = np.random.default_rng([seed, number])
            return start(half, number, init, rng, spaces=WordSpaceCache(seed))

        def halves() -> int:
            return count_returning(problem, start_half, Run(settings=settings), seed)

    return Beginning(
        number, numbers, lambda: start(problem, number, init, last, n_tokens), init, halves
    )


def _is_short(problem: Problem) -> bool:
    """Whether documents have so few words that those of one document say little of its topics."""
    return problem.n_tokens <= _LONG * problem.n_documents


def _starts(init: str, problem: Problem) -> tuple[str, ...]:
    """The starts that are tried, by the name of one or ``"auto"``."""
    if init != "auto":
        return (init,)
    alike = common_words(problem)
    # Words of one group go together, and topics that begin with them would stay apart.
    apart = alike is not None and bool((alike < 1.0).any())
    return _SHORT_STARTS if _is_short(problem) and not apart else ("nmf",)


@dataclass(frozen=True, eq=False)
class FitSource:
    """The documents of a fit: all of them in memory, or in shards that any executor reads.

    Attributes
    ----------
    problem : Problem or Data
        What is fitted.
    known : Problem
        The documents in memory in which the fit begins: all, or a uniform sample.
    space : LabelDesign
        The labels, and how they scale topics.
    survey : Survey or None, default=None
        The sample of shards, and sums over all documents; None where all are in memory.
    batches : ShardBatches or None, default=None
        The documents in a random order, for stochastic inference; None is batch inference.
    seed : int, default=0
        Decides the sample, and the order of batches.
    """

    problem: Data
    known: Problem
    space: LabelDesign
    survey: Survey | None = None
    batches: ShardBatches | None = None
    seed: int = 0


def survey_shards(
    shards: Sequence[Readable],
    schema: LabelSchema,
    scaling: Scaling,
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
    scaling : str, ScalingFunction or Term
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
    blocks = stored_blocks(shards, Encoding(LabelDesign.fit("auto", schema)))
    n_documents = sum(shard.n_documents for shard in shards)
    # A stream of its own: the fit begins as one in memory with the same seed does.
    seed = int(plan.rng.spawn(1)[0].integers(2**62))
    with run.stage("sample"):
        step = SurveyDocuments(seed, n_documents)
        survey: Survey = run.executor.run(step, blocks, keep=False)[1]
    space = LabelDesign.fit(scaling, schema, survey.sample.design)
    columns = content_columns(space, content)
    survey, encoding = survey.designed(space), Encoding(space, columns)
    priors = priors_of(survey.word_tokens)
    sample = survey.sample.take(survey.sample.uniform())
    part = priors.for_part(len(sample) / n_documents)
    problem = Data(
        stored_blocks(shards, encoding),
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
class Fit:
    """A fitted state, and the documents in memory of the last pass; None without."""

    state: GlobalState
    documents: DocumentState | None


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
    beginning : Beginning
        Where the fit began.
    stream : Stream or None, default=None
        Where stochastic inference goes on; None after batch inference.
    """

    fit: Fit
    history: History
    numbers: tuple[int, int] | None
    beginning: Beginning
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
    if run.interrupted:
        # The start and the number are not those that all trials would choose: trials are kept, and
        # passes from here are not.
        run.after_pass = None
    run.task.update(trying=None, perplexity=None, topics=beginning.n_topics)
    # Interrupted in its trials, a search may have gone on with another number.
    if resumed is None or resumed.state.n_topics != beginning.n_topics:
        with run.stage("start"):
            resumed = Resumed(beginning.state(), None, run.new_history())
    if source.batches is None:
        found = _fit_batch(source, plan, run, resumed)
        numbers = _scaled(beginning.numbers, found.state.n_topics, beginning.n_topics)
        return Outcome(found, resumed.history, numbers, beginning)
    stream = _fit_stream(source, run, resumed)
    return Outcome(Fit(stream.state, None), resumed.history, beginning.numbers, beginning, stream)


def _fit_batch(source: FitSource, plan: Plan, run: Run, resumed: Resumed) -> Fit:
    """Passes over all documents, and merges of topics unless their number is fixed."""
    history = resumed.history
    documents = Documents(source.problem, run.executor_of(source.problem), resumed.documents)
    with run.stage("passes"):
        state = ascend(documents, resumed.state, run, history)
    if not plan.fixed_number and history.converged:
        with run.stage("merges"):
            order = state.by_size()
            documents.regroup(order[:, None].tolist())
            state = merge_topics(documents, state.reordered(order), run, history)
    order = state.by_size()
    documents.regroup(order[:, None].tolist())
    return Fit(state.reordered(order), documents.joined())


def _fit_stream(source: FitSource, run: Run, resumed: Resumed) -> Stream:
    """Passes of stochastic steps."""
    problem, batches = source.problem, source.batches
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
