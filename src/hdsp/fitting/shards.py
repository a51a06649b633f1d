"""A fit of documents that are read in parts, and of which a sample is in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hdsp.corpus import LabelSchema
from hdsp.fitting.plan import Outcome, Plan, begin
from hdsp.inference import (
    OpenStream,
    Resumed,
    Run,
    ShardBatches,
    Survey,
    SurveyDocuments,
    fit_sharded,
    fit_stochastic,
    start_stream,
)
from hdsp.model import Priors, ShardedProblem, make_problem
from hdsp.model.shards import Encoding, Readable, shard_blocks
from hdsp.numerics.types import FloatArray
from hdsp.persistence import Checkpoint
from hdsp.scaling import LabelSpace, ScalingFunction, bind_labels


@dataclass(frozen=True, eq=False)
class ShardsFit:
    """The result of a fit of shards.

    Attributes
    ----------
    outcome : Outcome
        The state, the history, and numbers of topics that are about as good.
    priors : Priors
        Hyperparameters, with those of seeded topics.
    space : LabelSpace
        The labels, and how they scale topics.
    survey : Survey
        A sample of the documents, and sums over all of them.
    opened : OpenStream or None
        Where a stochastic fit goes on; None after batch inference.
    """

    outcome: Outcome
    priors: Priors
    space: LabelSpace
    survey: Survey
    opened: OpenStream | None


def fit_shards(
    shards: Sequence[Readable],
    words: tuple[str, ...],
    schema: LabelSchema,
    scaling: str | ScalingFunction,
    plan: Plan,
    run: Run,
    priors_of: Callable[[FloatArray], Priors],
    checkpoint: Checkpoint | None,
    batch_size: int | None,
) -> ShardsFit:
    """Fit a model to the documents of shards, wherever the run's executor reads them.

    Parameters
    ----------
    shards : sequence of Readable
        The documents.
    words : tuple of str
        The V words.
    schema : LabelSchema
        The label columns.
    scaling : str or ScalingFunction
        How labels scale topics.
    plan : Plan
        The settings of the fit.
    run : Run
        How it proceeds.
    priors_of : callable
        The hyperparameters, given the tokens of each word [V].
    checkpoint : Checkpoint or None
        Where the state of an unfinished fit is kept.
    batch_size : int or None
        The documents that make a step of stochastic inference; None is batch inference.
    """
    # Terms learn from the sample, so that the survey sees labels as they are.
    blocks = shard_blocks(shards, Encoding(bind_labels("auto", schema)))
    n_documents = sum(shard.n_documents for shard in shards)
    seed = int(plan.rng.integers(2**62))
    step = SurveyDocuments(seed, n_documents)
    survey: Survey = run.executor.run(step, blocks, keep=False)[1]
    space = bind_labels(scaling, schema, survey.sample.design)
    survey = survey.designed(space)
    encoding = Encoding(space)
    blocks = shard_blocks(shards, encoding)
    priors = priors_of(survey.word_tokens)
    sample = survey.sample.take(survey.sample.uniform())
    part = priors.for_part(len(sample) / n_documents)
    known = make_problem(sample.counts, sample.design, space.scaling, part)
    problem = ShardedProblem(
        blocks, space.scaling, priors, n_documents, len(survey.word_tokens), space.n_columns
    )
    resumed = checkpoint.resume(problem, run, plan.n_components) if checkpoint else None
    if checkpoint is not None:
        run.after_pass = checkpoint.pass_writer(run)
    after_trial = checkpoint.trial_writer(run) if checkpoint else None
    beginning = begin(known, plan, run, after_trial, float(survey.word_tokens.sum()))
    run.display.begin_fit(beginning.n_topics)
    if resumed is None or resumed.state.n_topics != beginning.n_topics:
        resumed = Resumed(beginning.state(), None, run.new_history())
    history = resumed.history
    if batch_size is None:
        state = fit_sharded(problem, resumed.state, run, history).state
        return ShardsFit(Outcome(state, history, beginning.numbers), priors, space, survey, None)
    stream, done = resumed.stream or (
        start_stream(resumed.state, space.n_columns, batch_size),
        None,
    )
    stream = fit_stochastic(
        problem,
        ShardBatches(shards, encoding, batch_size),
        stream,
        run,
        history,
        seed,
        done,
        checkpoint.step_writer(run) if checkpoint else None,
    ).by_size()
    opened = OpenStream(
        stream,
        survey.sample,
        n_documents,
        words,
        space,
        priors,
        seed,
        n_documents,
    )
    return ShardsFit(
        Outcome(stream.state, history, beginning.numbers), priors, space, survey, opened
    )
