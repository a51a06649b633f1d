"""How `HDSP` learns: from documents in memory or in parts, and from further ones."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from hdsp.answers.new_documents import read_counts, read_documents
from hdsp.corpus import Corpus, Labels, LabelSchema, StoredCorpus, as_labels, library_of
from hdsp.exceptions import MissingLabelsWarning, NoSampleWarning
from hdsp.execution import Executor, InProcess, make_executor
from hdsp.fitting import Plan, fit_in_memory, fit_shards
from hdsp.inference import (
    History,
    OpenStream,
    Run,
    default_batch_size,
    find_seeds,
    fit_display,
    open_stream,
    read_further_labels,
    reopen_stream,
    topics_in_use,
)
from hdsp.metrics import npmi, topic_top_words
from hdsp.model import GlobalState, LocalSettings, Priors, make_problem, seed_prior
from hdsp.model.shards import readable_parts
from hdsp.numerics.types import FloatArray
from hdsp.persistence import Checkpoint, fingerprint
from hdsp.prediction import (
    FitReport,
    FittedModel,
    Source,
    make_fitted,
    make_fitted_from_sample,
    topic_tokens,
    with_label_regressions,
)
from hdsp.scaling import ScalingFunction, bind_labels
from hdsp.validation import (
    make_generator,
    quoted,
)

_COHERENCE_WORDS = 10


class TopicLearner:
    """The parts of `HDSP.fit` and `HDSP.partial_fit`, behind their settings."""

    n_components: int
    fixed_number: bool
    number_by: str
    scaling: str | ScalingFunction
    corpus_concentration: float
    document_concentration: float
    predictive_concentration: float | None
    init: Any
    seeds: Mapping[str, Sequence[str]] | None
    seed_strength: float
    random_state: Any
    keep_documents: bool
    checkpoint: str | os.PathLike[str] | None
    inference: str
    batch_size: int | None
    executor: str | None
    max_iter: int
    tol: float
    n_jobs: int | None
    verbose: int | bool
    get_params: Callable[..., dict[str, Any]]
    _set_fitted: Callable[..., None]
    _model: FittedModel
    # The model as it was last made, and the stream that it was made of.
    _current: FittedModel
    _made_of: OpenStream | None = None
    # Where `partial_fit` goes on.
    _opened: OpenStream | None = None

    def _fit_whole(
        self, priors: Priors, X: Any, labels: object, stream: bool = False
    ) -> tuple[Run, Checkpoint | None]:
        """Fit to documents in memory; `stream` prepares for further ones."""
        counts, parsed, words, named = self._read_training(X, labels)
        priors = self._with_seeds(priors, np.asarray(counts.sum(axis=0), dtype=np.float64), words)
        schema = LabelSchema.of(parsed)
        _warn_missing(parsed)
        values = schema.encode(parsed)
        space = bind_labels(self.scaling, schema, values)
        problem = make_problem(counts, space.design(values), space.scaling, priors)
        source = Source(
            words,
            named,
            library_of(labels),
            fingerprint(counts, problem.design),
            X.text_settings if isinstance(X, Corpus) else None,
        )
        checkpoint = self._checkpoint(source)
        opened = None
        with self._running(self._executor()) as run:
            plan = self._plan()
            fit, history, numbers = fit_in_memory(problem, plan, run, checkpoint)
            if stream:
                seed = int(plan.rng.integers(2**62))
                opened = open_stream(
                    problem, fit, words, space, run.executor, seed, self.batch_size
                )
            model = make_fitted(
                problem,
                fit,
                space,
                source,
                self._report(fit.state, priors, history, numbers, run, problem.n_documents, counts),
                run.settings,
                run.here,
                self.predictive_concentration,
            )
            model = replace(model, topic_names=_seed_names(self.seeds, fit.state))
            # The documents make room for the evidence of labels, which is as large.
            del fit
            model = with_label_regressions(model, problem)
        # Only now, so that a failed fit leaves an earlier one unchanged.
        self._set_fitted(model, opened)
        return run, checkpoint

    def _fit_parts(self, priors: Priors, X: Any, labels: object) -> tuple[Run, Checkpoint | None]:
        """Fit to documents that are read in parts, by steps or wherever the executor is."""
        corpus, named = self._read_corpus(X, labels, "fit")
        if isinstance(corpus, StoredCorpus):
            schema, data = corpus.schema, corpus.fingerprint
        else:
            schema = LabelSchema.of(corpus.labels)
            _warn_missing(corpus.labels)
            design = bind_labels(self.scaling, schema).encode(corpus.labels)
            data = fingerprint(corpus.counts, csr_array(design, dtype=np.float32))
        words = corpus.words
        source = Source(words, named, library_of(labels), data, corpus.text_settings)
        checkpoint = self._checkpoint(source)
        batch_size = None
        if self.inference == "stochastic":
            batch_size = self.batch_size or default_batch_size(corpus.n_documents)
        with self._running(make_executor(self.executor, self.n_jobs)) as run:
            found = fit_shards(
                readable_parts(corpus),
                words,
                schema,
                self.scaling,
                self._plan(),
                run,
                lambda tokens: self._with_seeds(priors, tokens, words),
                checkpoint,
                batch_size,
            )
            outcome, sample = found.outcome, found.survey.sample
            with self._executor() as here:
                model = make_fitted_from_sample(
                    sample,
                    outcome.state,
                    found.space,
                    found.priors,
                    source,
                    self._report(
                        outcome.state,
                        found.priors,
                        outcome.history,
                        outcome.numbers,
                        run,
                        corpus.n_documents,
                        sample.counts,
                    ),
                    run.settings,
                    here,
                    corpus.n_documents,
                    found.survey.carriers,
                    self.predictive_concentration,
                )
            model = replace(model, topic_names=_seed_names(self.seeds, outcome.state))
        self._set_fitted(model, found.opened)
        return run, checkpoint

    def _reopened(self) -> OpenStream:
        """The stream that goes on from a model of batch inference."""
        warnings.warn(
            "HDSP.partial_fit goes on from a model that keeps no sample of its documents: effects, "
            "expected topics and predictions are calibrated on the new documents alone. Begin with "
            'partial_fit, or fit with inference="stochastic", to keep one.',
            NoSampleWarning,
            stacklevel=3,
        )
        model = self._current
        seed = int(make_generator(self.random_state).integers(2**62))
        return reopen_stream(
            model.state,
            model.source.words,
            model.space,
            model.priors,
            model.training.n_documents,
            model.training.carriers,
            model.training.sample,
            seed,
            self.batch_size,
        )

    def _refresh(self) -> None:
        """Make the model anew from the stream and its sample of documents."""
        opened, before = self._opened, self._current
        assert opened is not None
        state, sample = opened.stream.state, opened.sample
        source = replace(
            before.source, words=opened.words, fingerprint=f"stream of {opened.n_documents}"
        )
        report = replace(
            before.report,
            n_topics=topics_in_use(topic_tokens(state, opened.priors), opened.n_documents),
            coherence=_coherence(state.topics.T, sample.counts),
        )
        with threadpool_limits(1, "blas"), self._executor() as here:
            model = make_fitted_from_sample(
                sample,
                state,
                opened.space,
                opened.priors,
                source,
                report,
                LocalSettings(),
                here,
                opened.n_documents,
                opened.carriers,
                self.predictive_concentration,
            )
        self._set_fitted(
            replace(
                model,
                topic_names=before.topic_names,
                merged_topics=before.merged_topics and before.merged_topics.grown(state.n_topics),
            ),
            opened,
        )

    @contextmanager
    def _running(self, executor: Executor) -> Iterator[Run]:
        """A run on an executor, shown and stopped as the settings say."""
        # BLAS threads would fight ours, and change the order of sums with their number.
        with (
            fit_display(self.tol, self.max_iter, quiet=not self.verbose) as display,
            threadpool_limits(1, "blas"),
            executor,
        ):
            run = Run(
                self.max_iter,
                self.tol,
                self.keep_documents,
                executor=executor,
                display=display,
            )
            with run.interruption.listening():
                yield run

    def _plan(self) -> Plan:
        return Plan(
            self.n_components,
            self.fixed_number,
            self.number_by,
            self.init,
            self.corpus_concentration,
            self.document_concentration,
            make_generator(self.random_state),
        )

    def _checkpoint(self, source: Source) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        parameters = self.get_params(deep=False)
        # Where documents are fitted does not matter, only whether they are brought together.
        parameters["executor"] = self.executor is not None
        return Checkpoint(Path(self.checkpoint), source.fingerprint, parameters)

    def _report(
        self,
        state: GlobalState,
        priors: Priors,
        history: History,
        numbers: tuple[int, int] | None,
        run: Run,
        n_documents: int,
        known: csr_array,
    ) -> FitReport:
        """How the fit went; `known` [M, V] are documents in memory, all or a sample."""
        return FitReport(
            history.rows(),
            [trial.as_row() for trial in run.trials],
            history.converged,
            topics_in_use(topic_tokens(state, priors), n_documents),
            numbers,
            _coherence(state.topics.T, known),
        )

    def _with_seeds(self, priors: Priors, tokens: FloatArray, words: tuple[str, ...]) -> Priors:
        """The hyperparameters with the prior of seeded topics; `tokens` [V] are those of words."""
        if not self.seeds:
            return priors
        found = find_seeds(self.seeds, words)
        return replace(priors, seeds=seed_prior(found, tokens, float(self.seed_strength)))

    def _read_training(
        self, X: Any, labels: object
    ) -> tuple[csr_array, Labels, tuple[str, ...], bool]:
        """Counts, labels, words, and whether the words are scikit-learn's feature names."""
        if isinstance(X, Corpus):
            if labels is not None:
                raise ValueError(
                    "`labels` of HDSP.fit must be None where X is a Corpus, which carries its own."
                )
            counts, parsed, words, named = X.counts, X.labels, X.words, False
        else:
            counts, names = read_counts(X, "HDSP.fit")
            parsed = as_labels(labels, counts.shape[0], "HDSP.fit")
            words = names or tuple(f"w{i}" for i in range(counts.shape[1]))
            named = names is not None
        if counts.nnz == 0:
            raise ValueError(
                f"X of HDSP.fit has no word in any of its {counts.shape[0]} documents. Check the "
                "vectoriser: its stop words and min_df may leave nothing."
            )
        return counts, parsed, words, named

    def _read_corpus(self, X: Any, labels: object, method: str) -> tuple[Corpus, bool]:
        """The documents as a corpus, and whether its words are scikit-learn's feature names."""
        if isinstance(X, StoredCorpus):
            if labels is not None:
                raise ValueError(
                    f"`labels` of HDSP.{method} must be None where X is a Corpus, which carries "
                    "its own."
                )
            if X.n_tokens == 0:
                raise ValueError(
                    f"X of HDSP.{method} has no word in any of its {X.n_documents} documents."
                )
            return X, False
        if method == "fit":
            counts, parsed, words, named = self._read_training(X, labels)
        elif isinstance(X, Corpus):
            return X, False
        else:
            model, owner = self._model, f"HDSP.{method}"
            counts, _ = read_documents(model, X, None, owner)
            words, named = model.source.words, False
            parsed = read_further_labels(model.schema, labels, counts.shape[0], owner)
        if isinstance(X, Corpus):
            return X, named
        return Corpus(counts, words=words, labels=parsed), named

    def _executor(self) -> InProcess:
        # All cores by default, but one inside a joblib worker.
        return InProcess(joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))


def _seed_names(seeds: Mapping[str, Sequence[str]] | None, state: GlobalState) -> dict[int, str]:
    """The names of seeded topics."""
    if not seeds:
        return {}
    return dict(sorted(zip(state.seeded.tolist(), seeds, strict=True)))


def _warn_missing(labels: Labels) -> None:
    """Warn of columns of labels without a single value."""
    empty = [block.name for block in labels.blocks if block.columns and block.values.nnz == 0]
    if empty:
        warnings.warn(
            f"Every value of {quoted(empty)} is missing, so that nothing is learned of "
            f"{'it' if len(empty) == 1 else 'them'}.",
            MissingLabelsWarning,
            stacklevel=3,
        )


def _coherence(topics: FloatArray, counts: csr_array) -> FloatArray:
    """NPMI of each topic, [T]; NaN with a single word."""
    if counts.shape[1] < 2:
        return np.full(len(topics), np.nan)
    return npmi(topic_top_words(topics, _COHERENCE_WORDS), counts)
