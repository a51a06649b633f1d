"""How `HDSP` learns: its settings and documents in, a fitted model out."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from hdsp import progress
from hdsp.analysis.fitted import FitReport, FittedModel, Source, topic_tokens
from hdsp.analysis.groups import TopicGroups
from hdsp.analysis.new_documents import check_own_labels, read_counts
from hdsp.analysis.reading import LeftOut, estimate_proportions
from hdsp.checks import make_generator, quoted
from hdsp.corpus import (
    Corpus,
    Labels,
    LabelSchema,
    StoredCorpus,
    as_groups,
    as_labels,
    group_numbers,
    library_of,
)
from hdsp.corpus.fingerprint import fingerprint
from hdsp.exceptions import FitWarning, LabelDataWarning, StreamWarning
from hdsp.execution.executor import InProcess, make_executor
from hdsp.fit import (
    FitSource,
    OpenStream,
    Outcome,
    Plan,
    Relearned,
    Renumbering,
    Run,
    Sample,
    default_batch_size,
    find_seeds,
    fit,
    go_on,
    open_stream,
    stream_from,
    survey_shards,
    topics_in_use,
)
from hdsp.model import DocumentState, GlobalState, Priors, Problem, make_problem, seed_prior
from hdsp.model.data import readable_parts
from hdsp.numerics import FloatArray, IntArray, sample_rows
from hdsp.persistence.checkpoint import Checkpoint
from hdsp.scaling.design import LabelDesign, Scaling, content_columns

# Of lists of tags, beyond which missing ones are told.
_MOSTLY = 0.5
# Documents whose labels say how a stream begins from a model.
_MOST_REOPENED = 1_000
# Shape and rate of the gamma priors of both concentrations, and where learned ones start.
ALPHA_PRIOR, BETA_PRIOR = (1.0, 1.0), (1.0, 0.01)
_ALPHA, _BETA = 1.0, 0.5
# The prior's tokens of a seed word for each of its tokens in the corpus.
_SEED_STRENGTH = 0.1
_NOT_IN_PARTS = (
    "`groups` of HDSP.fit go with documents in memory that are fitted at once, and not with "
    "partial_fit, stochastic inference, an executor or a corpus on disk, which is in memory as "
    "corpus[:]."
)


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `HDSP`, by their names."""

    n_components: int | str
    max_components: int
    scaling: Scaling
    content: str | None
    topic_prior: float
    corpus_concentration: float | None
    document_concentration: float | None
    init: Any
    seeds: Mapping[str, Sequence[str]] | None
    inference: str
    batch_size: int | None
    max_iter: int
    tol: float
    executor: str | None
    n_jobs: int | None
    checkpoint: str | os.PathLike[str] | None
    random_state: Any
    verbose: int | bool

    @property
    def largest(self) -> int:
        """The largest number of topics."""
        if self.n_components != "auto":
            return int(self.n_components)
        return self.max_components if isinstance(self.init, str) else len(self.init)

    @property
    def n_threads(self) -> int:
        """Threads of this process: all cores by default, but one inside a joblib worker."""
        return int(joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))


@dataclass(frozen=True, eq=False)
class Training:
    """The documents of a fit.

    Attributes
    ----------
    corpus : Corpus
        The documents, in memory or on disk.
    named : bool
        Whether their words are scikit-learn's feature names.
    frames : str or None
        The library of the tables that are returned; None is the default.
    """

    corpus: Corpus
    named: bool
    frames: str | None


@dataclass(frozen=True, eq=False)
class Learned:
    """What came of a fit.

    Attributes
    ----------
    model : FittedModel
        The model.
    opened : OpenStream or None
        Where `partial_fit` goes on.
    interrupted : bool
        Whether somebody asked the fit to stop.
    checkpoint : Checkpoint or None
        Where the state of an unfinished fit is kept.
    """

    model: FittedModel
    opened: OpenStream | None
    interrupted: bool
    checkpoint: Checkpoint | None


def read_training(X: Any, labels: object, groups: object = None) -> Training:
    """The documents of `HDSP.fit`.

    Parameters
    ----------
    X : array or sparse array of shape [M, V], or Corpus
        Word counts, or a corpus.
    labels : Labels, table, matrix, list or None
        The labels of word counts.
    groups : iterable of values or None, default=None
        The groups of documents that are not independent.
    """
    if isinstance(X, Corpus):
        check_own_labels(labels, "HDSP.fit")
        corpus, named = X, False
        if groups is not None:
            if corpus.has_groups:
                raise ValueError(
                    "`groups` of HDSP.fit must be None where X is a Corpus with groups of its own."
                )
            if isinstance(corpus, StoredCorpus):
                raise ValueError(_NOT_IN_PARTS)
            corpus = corpus.with_groups(groups)
    else:
        counts, names = read_counts(X, "HDSP.fit")
        parsed = as_labels(labels, counts.shape[0], "HDSP.fit")
        words, named = names or tuple(f"w{i}" for i in range(counts.shape[1])), names is not None
        known = as_groups(groups, counts.shape[0], "HDSP.fit")
        corpus = Corpus.trusted(counts, words, parsed, None, None, known)
    if corpus.n_tokens == 0:
        raise ValueError(
            f"X of HDSP.fit has no word in any of its {corpus.n_documents} documents. Check the "
            "vectoriser: its stop words and min_df may leave nothing."
        )
    return Training(corpus, named, library_of(labels))


def learn(settings: Settings, priors: Priors, training: Training, stream: bool = False) -> Learned:
    """Fit a model to documents.

    Documents in memory are one source of a fit. Shards are another, as are documents that an
    executor or stochastic inference takes in parts.

    Parameters
    ----------
    settings : Settings
        The parameters.
    priors : Priors
        The hyperparameters, without those of seeded topics.
    training : Training
        The documents.
    stream : bool, default=False
        Whether to fit in memory, and prepare for further documents.
    """
    corpus = training.corpus
    stored = isinstance(corpus, StoredCorpus)
    if stream and stored:
        corpus, stored = corpus[:], False
    here = stream or not (stored or settings.inference != "batch" or settings.executor is not None)
    if corpus.has_groups and (stream or not here):
        raise ValueError(_NOT_IN_PARTS)
    groups = None if corpus.groups is None else group_numbers(corpus.groups)
    schema = corpus.schema if isinstance(corpus, StoredCorpus) else LabelSchema.of(corpus.labels)

    def priors_of(tokens: FloatArray) -> Priors:
        return _with_seeds(priors, settings, tokens, corpus.words)

    source = labels = None
    if isinstance(corpus, StoredCorpus):
        data = corpus.fingerprint
    else:
        _warn_missing(corpus.labels)
        values = schema.encode(corpus.labels)
        space = LabelDesign.fit(settings.scaling, schema, values)
        design = csr_array(space.design(values), dtype=np.float32)
        data = fingerprint(corpus.counts, design, groups)
        if here:
            tokens = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64)
            content = content_columns(space, settings.content)
            problem = make_problem(
                corpus.counts, design, space.scaling, priors_of(tokens), content=content
            )
            source = FitSource(problem, problem, space)
            labels = csr_array(values, dtype=np.float64)
        del design, values
    known_as = Source(
        corpus.words, training.named, training.frames, data, corpus.text_settings, corpus.reading
    )
    checkpoint = _checkpoint(settings, data)
    with running(settings, None if here else settings.executor, checkpoint) as run:
        plan = make_plan(settings, None if here else corpus.n_documents)
        if source is None:
            parts = readable_parts(corpus)
            source = survey_shards(
                parts, schema, settings.scaling, settings.content, priors_of, plan, run
            )
        outcome = fit(source, plan, run)
        state, survey = outcome.fit.state, source.survey
        opened = None
        if stream:
            seed = int(plan.rng.integers(2**62))
            with run.stage("stream"):
                opened = open_stream(
                    source.known,
                    state,
                    corpus.words,
                    source.space,
                    run.here,
                    seed,
                    settings.batch_size,
                )
        elif outcome.stream is not None and survey is not None:
            # Documents of several passes count once.
            share = corpus.n_documents / outcome.stream.n_documents
            opened = OpenStream(
                replace(
                    outcome.stream,
                    n_documents=corpus.n_documents,
                    label_total=share * outcome.stream.label_total,
                    carriers=share * outcome.stream.carriers,
                ),
                survey.sample,
                corpus.n_documents,
                corpus.words,
                source.space,
                source.problem.priors,
                source.seed,
                corpus.n_documents,
            )
        report = _report(source, outcome, run, corpus.n_documents)
        sample = None if survey is None else survey.sample
        carriers = np.zeros(0) if survey is None else survey.carriers
        if labels is not None and survey is None:
            carriers = np.bincount(labels.indices, minlength=schema.n_labels).astype(np.float64)
        model = make_fitted(
            source.known if sample is None else None,
            state,
            source.space,
            source.problem.priors,
            known_as,
            report,
            run,
            labels=labels if sample is None else None,
            sample=sample,
            documents=outcome.fit.documents if sample is None else None,
            groups=groups,
            n_documents=corpus.n_documents,
            carriers=carriers,
        )
    model = replace(
        model,
        count_returning=outcome.beginning.count_returning,
        topic_names=_seed_names(settings.seeds, state),
        report=replace(report, stages=run.stage_rows()),
    )
    return Learned(model, opened, run.interrupted, checkpoint)


def make_fitted(
    problem: Problem | None,
    state: GlobalState,
    space: LabelDesign,
    priors: Priors,
    source: Source,
    report: FitReport,
    run: Run,
    *,
    n_documents: int,
    carriers: FloatArray,
    labels: csr_array | None = None,
    sample: Sample | None = None,
    documents: DocumentState | None = None,
    groups: IntArray | None = None,
    concentration: float | None = None,
) -> FittedModel:
    """The fitted model: the documents, or a sample, are read once more, with left-out topics.

    Parameters
    ----------
    problem : Problem or None
        The documents in memory; None if a `sample` stands for them.
    state : GlobalState
        The fitted state.
    space : LabelDesign
        The labels, and how they scale topics.
    priors : Priors
        Hyperparameters.
    source : Source
        Where the model comes from.
    report : FitReport
        How the fit went.
    run : Run
        Where documents are read.
    n_documents : int
        The number of all documents.
    carriers : float array of shape [n_labels]
        How many of them have each label.
    labels : sparse array of shape [M, n_labels] or None, default=None
        The labels of documents in memory.
    sample : Sample or None, default=None
        Some of the documents.
    documents : DocumentState or None, default=None
        The fitted documents, which topics without a fold are learned from.
    groups : int array of shape [M] or None, default=None
        Groups of documents that are not independent.
    concentration : float or None, default=None
        The beta that new documents are predicted with.
    """
    weights = None
    if problem is None:
        assert sample is not None
        content = state.content
        problem = make_problem(sample.counts, sample.design, space.scaling, priors, content=content)
        labels, weights = space.values(sample.design), sample.weights()
    assert labels is not None
    with run.stage("reading"):
        left_out = LeftOut(
            problem,
            state,
            run.settings,
            run.here,
            groups=groups,
            documents=documents,
            learned_from=n_documents,
        )
        in_use = max(report.n_topics, 1)
        reading = estimate_proportions(left_out, labels, in_use, weights=weights)
    return FittedModel(
        state,
        space,
        priors,
        reading,
        np.asarray(carriers, dtype=np.float64),
        n_documents,
        source,
        report,
        fixed_concentration=concentration,
        left_out=left_out,
    )


def learn_further(
    settings: Settings,
    priors: Priors,
    opened: OpenStream,
    corpus: Corpus,
    before: FittedModel,
    forget: float | None = None,
) -> tuple[OpenStream, FittedModel]:
    """The stream after further documents; an interruption raises, and leaves it as it was.

    Parameters
    ----------
    settings : Settings
        The parameters.
    priors : Priors
        The hyperparameters, without those of seeded topics.
    opened : OpenStream
        The stream.
    corpus : Corpus
        Further documents.
    before : FittedModel
        The model of an earlier call; what it says of the fit and the names of topics is returned
        as it is now.
    forget : float or None, default=None
        A half-life in documents.
    """
    if corpus.has_groups:
        raise ValueError(_NOT_IN_PARTS)

    def priors_of(tokens: FloatArray, words: tuple[str, ...]) -> Priors:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            return _with_seeds(priors, settings, tokens, words)

    def plan_of(rng: np.random.Generator, settled: bool) -> Plan:
        plan = replace(make_plan(settings), rng=rng)
        return replace(plan, init=before.report.init) if settled and plan.init == "auto" else plan

    with running(settings, None) as run:
        for part in corpus.parts():
            opened, found = go_on(
                opened, part, settings.scaling, plan_of, priors_of, run, forget, settings.content
            )
            if run.interrupted:
                raise KeyboardInterrupt
            if found is not None:
                before = _told(before, found, opened)
    return opened, before


def _told(before: FittedModel, found: Relearned, opened: OpenStream) -> FittedModel:
    """The model before, with the report and the names of topics that were learned again."""
    moved = found.renumbering
    facts = {"learned_again": opened.learned, "better": int(moved is not None)}
    if moved is None:
        *rows, last = before.report.history
        report = replace(before.report, history=[*rows, {**last, **facts}])
        return replace(before, report=report)
    found.outcome.history.rows[-1].update(facts | moved.facts)
    report = _report(found.source, found.outcome, found.run, opened.learned)
    # Not those of the model, which may be of several calls ago.
    groups = before.merged_topics or TopicGroups.single(len(moved.number))
    kept: list[tuple[int, ...]] = []
    names: dict[int, str] = {}
    for topic, own in enumerate(groups.grown(len(moved.number)).members):
        present = tuple(sorted(int(moved.number[k]) for k in own if moved.number[k] >= 0))
        if present:
            if topic in before.topic_names and all(moved.same[k] for k in own):
                names[len(kept)] = before.topic_names[topic]
            kept.append(present)
    _warn_changed(before, moved, names, opened.learned)
    merged = before.merged_topics and TopicGroups(tuple(kept)).grown(moved.n_topics)
    report = replace(report, stages=found.run.stage_rows())
    return replace(before, report=report, topic_names=names, merged_topics=merged)


def _warn_changed(
    before: FittedModel, moved: Renumbering, names: Mapping[int, str], n_documents: int
) -> None:
    """Warn of numbers of topics that mean other topics now, and of names that are gone."""
    facts = moved.facts
    if not facts["topics_changed"] and not facts["topics_gone"]:
        return
    changed = np.flatnonzero(~moved.same | (moved.number != np.arange(len(moved.same)))).tolist()
    lost = [name for name in before.topic_names.values() if name not in names.values()]
    told = f" Nothing is named {quoted(lost)} any more." if lost else ""
    warnings.warn(
        f"HDSP.partial_fit learned topics again from {n_documents:,} documents, which predicts the "
        f"next ones better: {facts['topics_kept']} of {len(moved.number)} topics are the same, "
        f"{facts['topics_new']} are new, and these numbers no longer mean what they did: "
        f"{', '.join(map(str, changed[:20]))}{' …' if len(changed) > 20 else ''}.{told} Look at "
        "topics() before you use numbers or names from earlier calls.",
        StreamWarning,
        stacklevel=5,
    )


def reopened(settings: Settings, model: FittedModel) -> OpenStream:
    """The stream that goes on from a model of batch inference."""
    warnings.warn(
        "HDSP.partial_fit goes on from a model that keeps no sample of its documents: effects, "
        "expected topics and predictions are calibrated on the new documents alone. Begin with "
        'partial_fit, or fit with inference="stochastic", to keep one.',
        StreamWarning,
        stacklevel=3,
    )
    words, n_documents = model.source.words, model.n_documents
    values = csr_array(model.reading.values[sample_rows(len(model.reading), _MOST_REOPENED)])
    return OpenStream(
        stream_from(
            model.state, model.space, values, model.carriers, n_documents, settings.batch_size
        ),
        Sample.empty(len(words), model.space.n_columns),
        n_documents,
        words,
        model.space,
        model.priors,
        int(make_generator(settings.random_state).integers(2**62)),
        n_documents,
    )


def refreshed(settings: Settings, opened: OpenStream, before: FittedModel) -> FittedModel:
    """The model made anew from a stream and its sample of documents."""
    state, sample = opened.stream.state, opened.known
    source = replace(
        before.source, words=opened.words, fingerprint=f"stream of {opened.n_documents}"
    )
    report = replace(
        before.report,
        n_topics=topics_in_use(topic_tokens(state, opened.priors), opened.n_documents),
    )
    with threadpool_limits(1, "blas"), InProcess(settings.n_threads) as here:
        model = make_fitted(
            None,
            state,
            opened.space,
            opened.priors,
            source,
            report,
            Run(executor=here, here=here),
            sample=sample,
            n_documents=opened.n_documents,
            carriers=opened.carriers,
        )
    return replace(
        model,
        topic_names=before.topic_names,
        merged_topics=before.merged_topics and before.merged_topics.grown(state.n_topics),
    )


@contextmanager
def running(
    settings: Settings, executor: str | None, checkpoint: Checkpoint | None = None
) -> Iterator[Run]:
    """A run on an executor, shown and stopped as the settings say.

    Work on documents in memory uses the threads of this process, whatever the executor.
    """
    with ExitStack() as stack:
        here = InProcess(settings.n_threads)
        where = here if executor is None else make_executor(executor, settings.n_jobs)
        stack.enter_context(progress.display(quiet=not settings.verbose))
        task = stack.enter_context(progress.task("Fitting topics", unit=None))
        # BLAS threads would fight ours, and change the order of sums with their number.
        stack.enter_context(threadpool_limits(1, "blas"))
        stack.enter_context(here)
        if where is not here:
            stack.enter_context(where)
        run = Run(
            settings.max_iter,
            settings.tol,
            executor=where,
            here=here,
            task=task,
            checkpoint=checkpoint,
        )
        stack.enter_context(run.interruption.listening())
        yield run


def make_plan(settings: Settings, n_documents: int | None = None) -> Plan:
    """The settings that decide a fit; steps of stochastic inference need the number of documents.

    Parameters
    ----------
    settings : Settings
        The parameters.
    n_documents : int or None, default=None
        The number of documents that are fitted in parts; None for documents in memory.
    """
    batch_size = None
    if settings.inference == "stochastic" and n_documents is not None:
        batch_size = settings.batch_size or default_batch_size(n_documents)
    return Plan(
        settings.largest,
        settings.n_components != "auto",
        settings.init,
        settings.corpus_concentration or _ALPHA,
        settings.document_concentration or _BETA,
        make_generator(settings.random_state),
        batch_size,
    )


def _checkpoint(settings: Settings, data: str) -> Checkpoint | None:
    if settings.checkpoint is None:
        return None
    # Where documents are fitted does not matter, only whether they are brought together.
    parameters = {**vars(settings), "executor": settings.executor is not None}
    return Checkpoint(Path(settings.checkpoint), data, parameters)


def _report(source: FitSource, outcome: Outcome, run: Run, n_documents: int) -> FitReport:
    """How the fit went."""
    state, history = outcome.fit.state, outcome.history
    return FitReport(
        history.rows,
        [trial.as_row() for trial in run.trials],
        history.converged,
        topics_in_use(topic_tokens(state, source.problem.priors), n_documents),
        outcome.numbers,
        outcome.beginning.init,
    )


def _with_seeds(
    priors: Priors, settings: Settings, tokens: FloatArray, words: tuple[str, ...]
) -> Priors:
    """The hyperparameters with the prior of seeded topics; `tokens` [V] are those of words."""
    if not settings.seeds:
        return priors
    found = find_seeds(settings.seeds, words)
    return replace(priors, seeds=seed_prior(found, tokens, _SEED_STRENGTH))


def _seed_names(seeds: Mapping[str, Sequence[str]] | None, state: GlobalState) -> dict[int, str]:
    """The names of seeded topics."""
    if not seeds:
        return {}
    return dict(sorted(zip(state.seeded.tolist(), seeds, strict=True)))


def _warn_missing(labels: Labels) -> None:
    """Warn of columns of labels without a single value, and of lists of tags mostly missing."""
    empty = [block.name for block in labels.blocks if block.columns and block.values.nnz == 0]
    if empty:
        warnings.warn(
            f"Every value of {quoted(empty)} is missing, so that nothing is learned of "
            f"{'it' if len(empty) == 1 else 'them'}.",
            LabelDataWarning,
            stacklevel=4,
        )
    for block in labels.blocks:
        if block.values.nnz and block.n_missing > _MOSTLY * len(labels):
            warnings.warn(
                f"{block.n_missing:,} of {len(labels):,} lists of tags in {block.name!r} are "
                "missing, and count as empty. Where nobody looked, effects come out too small: use "
                "a column of true, false or missing for each tag (docs/unknown.md).",
                LabelDataWarning,
                stacklevel=4,
            )
