"""The order of steps: from documents to a fitted model, and on with further documents."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import psi
from threadpoolctl import threadpool_limits

from hdsp import progress
from hdsp.analysis.documents import check_own_labels, read_counts
from hdsp.analysis.fitted import FitReport, FittedModel, Source, topic_tokens
from hdsp.analysis.reading import LeftOut, Reading, estimate_proportions
from hdsp.analysis.topics import TopicGroups
from hdsp.checks import make_generator, quoted
from hdsp.corpus import Corpus, StoredCorpus, as_groups, as_labels, library_of
from hdsp.exceptions import StreamWarning, warn_caller
from hdsp.execution.executor import InProcess, make_executor
from hdsp.fit.passes import Documents
from hdsp.fit.run import FitParameters, Run, most_topics, topics_in_use
from hdsp.fit.sample import Sample
from hdsp.fit.stochastic import StochasticState, before_steps, default_batch_size, fit_stochastic
from hdsp.fit.stream import Relearned, Stream, read_further_labels, steps_after
from hdsp.fit.topics import Start, choose_start, fit_batch
from hdsp.fit.training import NOT_IN_PARTS, Training, check_additive, open_training
from hdsp.model.data import make_problem
from hdsp.model.priors import Priors
from hdsp.model.state import DocumentState, GlobalState
from hdsp.numerics import sample_rows
from hdsp.persistence.checkpoint import Checkpoint, Progress
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import DesignLimits

# Documents whose labels say how a stream begins from a model.
_MOST_REOPENED = 1_000


def read_corpus(X: Any, labels: object, groups: object, stream: bool) -> tuple[Corpus, Source]:
    """The documents of a fit, and where they come from, still without a fingerprint.

    A `stream` takes documents in memory, without groups.
    """
    owner, named, frames = "HDSP.fit", False, None
    if isinstance(X, Corpus):
        check_own_labels(labels, owner)
        corpus = X
        if groups is not None:
            if corpus.has_groups:
                raise ValueError(
                    "`groups` of HDSP.fit must be None where X is a Corpus with groups of its own."
                )
            if isinstance(corpus, StoredCorpus):
                raise ValueError(NOT_IN_PARTS)
            corpus = corpus.with_groups(groups)
    else:
        counts, names = read_counts(X, owner)
        n_documents, n_words = counts.shape
        named, words = names is not None, names or tuple(f"w{i}" for i in range(n_words))
        frames = library_of(labels)
        parsed = as_labels(labels, n_documents, owner)
        known = as_groups(groups, n_documents, owner)
        corpus = Corpus.trusted(counts=counts, words=words, labels=parsed, groups=known)
    if corpus.n_tokens == 0:
        raise ValueError(
            f"X of HDSP.fit has no word in any of its {corpus.n_documents} documents. Check the "
            "vectoriser: its stop words and min_df may leave nothing."
        )
    if stream and corpus.has_groups:
        raise ValueError(NOT_IN_PARTS)
    if stream and isinstance(corpus, StoredCorpus):
        corpus = corpus[:]
    settings, reading = corpus.text_settings, corpus.reading
    return corpus, Source(corpus.words, named, frames, "", settings, reading)


@contextmanager
def running(parameters: FitParameters, local: bool = False) -> Iterator[Run]:
    """A run that is shown and stopped as the parameters say, with executor and checkpoint.

    Work on documents in memory uses the threads of this process, whatever the executor; `local`
    work has no executor and no checkpoint.
    """
    checkpoint = None
    if parameters.checkpoint is not None and not local:
        # Where documents are fitted does not matter, only whether they are brought together.
        settings = {**vars(parameters), "executor": parameters.executor is not None}
        checkpoint = Checkpoint(Path(parameters.checkpoint), settings)
    with ExitStack() as stack:
        here = InProcess(parameters.n_jobs)
        remote = None if local else parameters.executor
        executor = here if remote is None else make_executor(remote)
        stack.enter_context(progress.display(quiet=not parameters.verbose))
        task = stack.enter_context(progress.task("Fitting topics", unit=None))
        # BLAS threads would fight ours, and change the order of sums with their number.
        stack.enter_context(threadpool_limits(1, "blas"))
        stack.enter_context(here)
        if executor is not here:
            stack.enter_context(executor)
        limits = parameters.max_iter, parameters.tol
        run = Run(*limits, executor=executor, here=here, task=task, checkpoint=checkpoint)
        stack.enter_context(run.listening())
        yield run


def fit_model(
    corpus: Corpus, source: Source, parameters: FitParameters, run: Run, stream: bool = False
) -> FittedModel:
    """Fit a model to documents.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    source : Source
        Where they come from.
    parameters : FitParameters
        The parameters.
    run : Run
        How the fit proceeds.
    stream : bool, default=False
        Whether to prepare for further documents.
    """
    rng = make_generator(parameters.random_state)
    training = open_training(corpus, parameters, rng, run)
    if stream:
        check_additive(training.space)
    priors, n_documents = training.data.priors, corpus.n_documents
    saved = Progress()
    if run.checkpoint is not None:
        most = most_topics(parameters)
        saved = run.checkpoint.resume(training.fingerprint, training.data, most, run)
    start = choose_start(training.known, parameters, rng, run)
    # An interrupted search may have another start than the one that all its trials lead to.
    run.saves = not run.interrupted
    run.task.update(trying=None, perplexity=None, topics=start.n_topics)
    state = saved.state
    if state is None or state.n_topics != start.n_topics:
        saved = Progress()
        run.history.clear()
        with run.stage("start"):
            state = start.state(training.known, parameters, training.n_tokens)
    if parameters.inference == "stochastic":
        batch_size = _batch_size(parameters, n_documents)
        steps = saved.steps or before_steps(state, training.data.n_labels, batch_size)
        with run.stage("passes"):
            steps = fit_stochastic(training.data, steps, run, training.seed, saved.so_far)
        state, documents, seed = steps.state, None, training.seed
    else:
        fitted = Documents(training.data, run.executor, saved.documents)
        state = fit_batch(fitted, state, run, merge=parameters.n_components == "auto")
        documents, steps, seed = fitted.joined(), None, 0
    if stream:
        seed = int(rng.integers(2**62))
        with run.stage("stream"):
            batch_size = _batch_size(parameters, n_documents)
            steps = steps_after(training.known, state, run.here, n_documents, batch_size)
    left_out, reading = _read_documents(training, state, documents, run)
    model = FittedModel(
        state,
        training.space,
        priors,
        reading,
        training.carriers,
        n_documents,
        replace(source, fingerprint=training.fingerprint),
        _report(run, start, state.n_topics, _count_topics(state, priors, n_documents)),
        topic_names=dict(sorted(zip(state.seeded.tolist(), parameters.seeds or (), strict=True))),
        left_out=left_out,
        count_returning=start.count_returning,
    )
    if steps is None:
        return model
    return replace(model, stream=_open_stream(model, steps, training.sample_of(seed), seed))


def _open_stream(model: FittedModel, steps: StochasticState, sample: Sample, seed: int) -> Stream:
    """The stream that goes on from a model."""
    n_documents = model.n_documents
    # Documents of several passes count once.
    share = n_documents / steps.n_seen
    totals = {"label_total": share * steps.label_total, "carriers": share * steps.carriers}
    return Stream(
        **{**vars(steps), **totals, "n_seen": n_documents},
        sample=sample,
        n_documents=n_documents,
        words=model.source.words,
        space=model.space,
        priors=model.priors,
        seed=seed,
        learned=n_documents,
    )


def _read_documents(
    training: Training, state: GlobalState, documents: DocumentState | None, run: Run
) -> tuple[LeftOut, Reading]:
    """Read the documents, or the sample, with topics that were learned without them."""
    n_documents, priors = training.data.n_documents, training.data.priors
    with run.stage("reading"):
        if training.sample is not None:
            return _read_sample(training.sample, training.space, state, priors, n_documents, run)
        assert training.values is not None
        known, groups = training.known, training.groups
        left_out = LeftOut(known, state, run.settings, run.here, None, groups, documents)
        n_topics = _count_topics(state, priors, n_documents)
        return left_out, estimate_proportions(left_out, training.values, n_topics)


def _read_sample(
    sample: Sample,
    space: LabelDesign,
    state: GlobalState,
    priors: Priors,
    n_documents: int,
    run: Run,
) -> tuple[LeftOut, Reading]:
    """Read a sample that stands for `n_documents`."""
    problem = make_problem(
        sample.counts, sample.design, space.scaling, priors, content=state.content
    )
    left_out = LeftOut(problem, state, run.settings, run.here, learned_from=n_documents)
    values, n_topics = space.values(sample.design), _count_topics(state, priors, n_documents)
    return left_out, estimate_proportions(left_out, values, n_topics, weights=sample.weights())


def _batch_size(parameters: FitParameters, n_documents: int) -> int:
    return parameters.batch_size or default_batch_size(n_documents)


def _count_topics(state: GlobalState, priors: Priors, n_documents: int) -> int:
    return topics_in_use(topic_tokens(state, priors), n_documents)


def _report(run: Run, start: Start, n_topics: int, n_in_use: int) -> FitReport:
    """How a fit went that ended with `n_topics`."""
    search, numbers = [trial.as_row() for trial in run.trials], start.numbers_after(n_topics)
    stages = [{"stage": name, "seconds": seconds} for name, seconds in run.stages.items()]
    return FitReport(run.history, search, run.converged, n_in_use, numbers, start.name, stages)


def read_further(model: FittedModel, X: Any, labels: object) -> Corpus:
    """The documents of `HDSP.partial_fit`; of a corpus, words and labels may be new."""
    owner, source, space = "HDSP.partial_fit", model.source, model.space
    if isinstance(X, Corpus):
        check_own_labels(labels, owner)
        return X
    if model.stream is not None:
        source, space = replace(source, words=model.stream.words), model.stream.space
    counts, _ = read_counts(X, owner, source)
    parsed = read_further_labels(space.schema, labels, counts.shape[0], owner)
    return Corpus.trusted(counts=counts, words=source.words, labels=parsed)


def extend_model(
    model: FittedModel, corpus: Corpus, parameters: FitParameters, run: Run, forget: float | None
) -> FittedModel:
    """The model with a stream that has seen further documents; `refresh_model` follows it.

    An interruption raises. `forget` is a half-life in documents.
    """
    if corpus.has_groups:
        raise ValueError(NOT_IN_PARTS)
    stream = model.stream or _reopen(model, parameters)
    for part in corpus.parts():
        stream, relearned = stream.extend(part, parameters, run, model.report.init, forget)
        if run.interrupted:
            raise KeyboardInterrupt
        if relearned is not None:
            model = _note_relearned(model, relearned, stream.learned)
    return replace(model, stream=stream)


def _reopen(model: FittedModel, parameters: FitParameters) -> Stream:
    """The stream that goes on from a model of batch inference."""
    check_additive(model.space)
    warn_caller(
        "HDSP.partial_fit goes on from a model that keeps no sample of its documents: effects, "
        "expected topics and predictions are calibrated on the new documents alone. Begin with "
        'partial_fit, or fit with inference="stochastic", to keep one.',
        StreamWarning,
    )
    state, space, n_documents = model.state, model.space, model.n_documents
    rows = sample_rows(len(model.reading), _MOST_REOPENED)
    design = csr_array(space.design(csr_array(model.reading.values[rows])))
    scale = n_documents / max(len(rows), 1)
    seen = np.bincount(design.indices, minlength=space.n_columns) * scale
    seen[: len(model.carriers)] = model.carriers
    batch_size = _batch_size(parameters, n_documents)
    # E[ln pi] is taken to be where the weights of topics are at their optimum.
    mean_labels = csr_array(np.asarray(design.mean(axis=0)).reshape(1, -1))
    log_rate = space.scaling.log_rate_total(state.scaling, mean_labels)
    steps = StochasticState(
        state,
        batch_size,
        n_documents / batch_size,
        n_documents,
        psi(state.prior_shape) - log_rate,
        np.asarray(design.sum(axis=0)) * scale,
        seen,
        n_documents / batch_size * (seen > 0),
        DesignLimits.of(design),
    )
    sample = Sample.empty(len(model.source.words), space.n_columns)
    seed = int(make_generator(parameters.random_state).integers(2**62))
    return _open_stream(model, steps, sample, seed)


def _note_relearned(model: FittedModel, relearned: Relearned, n_documents: int) -> FittedModel:
    """The model with the report, and the topic names, after topics were learned again."""
    facts = {"learned_again": n_documents, **relearned.facts}
    number, same, n_topics = relearned.number, relearned.same, len(relearned.tokens)
    if number is None:
        *rows, last = model.report.history
        report = replace(model.report, history=[*rows, {**last, **facts}])
        return replace(model, report=report)
    relearned.run.history[-1].update(facts)
    # Not those of the model, which may be of several calls ago.
    groups = model.merged_topics or TopicGroups.single(len(number))
    kept: list[tuple[int, ...]] = []
    names: dict[int, str] = {}
    for topic, members in enumerate(groups.grown(len(number)).members):
        present = tuple(sorted(int(number[k]) for k in members if number[k] >= 0))
        if present:
            if topic in model.topic_names and all(same[k] for k in members):
                names[len(kept)] = model.topic_names[topic]
            kept.append(present)
    if facts["topics_changed"] or facts["topics_gone"]:
        changed = np.flatnonzero(~same | (number != np.arange(len(same)))).tolist()
        lost = [name for name in model.topic_names.values() if name not in names.values()]
        nameless = f" Nothing is named {quoted(lost)} any more." if lost else ""
        warn_caller(
            f"HDSP.partial_fit learned topics again from {n_documents:,} documents, which predicts "
            f"the next ones better: {facts['topics_kept']} of {len(number)} topics are the same, "
            f"{facts['topics_new']} are new, and these numbers no longer mean what they did: "
            f"{', '.join(map(str, changed[:20]))}{' …' if len(changed) > 20 else ''}.{nameless} "
            "Look at topics() before you use numbers or names from earlier calls.",
            StreamWarning,
        )
    merged = model.merged_topics and TopicGroups(tuple(kept)).grown(n_topics)
    n_in_use = topics_in_use(relearned.tokens, n_documents)
    report = _report(relearned.run, relearned.start, n_topics, n_in_use)
    return replace(model, report=report, topic_names=names, merged_topics=merged)


def refresh_model(model: FittedModel, n_jobs: int | None) -> FittedModel:
    """The model of all documents that its stream has seen, read from the stream's sample."""
    stream = model.stream
    if stream is None or stream.n_documents == model.n_documents:
        return model
    state, priors, n_documents = stream.state, stream.priors, stream.n_documents
    with threadpool_limits(1, "blas"), InProcess(n_jobs) as here:
        run = Run(executor=here, here=here)
        left_out, reading = _read_sample(
            stream.known, stream.space, state, priors, n_documents, run
        )
    return FittedModel(
        state,
        stream.space,
        priors,
        reading,
        stream.label_documents,
        n_documents,
        replace(model.source, words=stream.words, fingerprint=f"stream of {n_documents}"),
        replace(model.report, n_topics=_count_topics(state, priors, n_documents)),
        topic_names=model.topic_names,
        merged_topics=model.merged_topics and model.merged_topics.grown(state.n_topics),
        left_out=left_out,
        stream=stream,
        method=model.method,
    )
