"""HDSP, the scikit-learn estimator."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from hdsp.corpus import Corpus, Labels, LabelSchema, as_labels, library_of, make_frame
from hdsp.corpus.validation import check_counts
from hdsp.inference import (
    Fit,
    Monitor,
    Search,
    fit_batch,
    initial_state,
    refine,
    topics_in_use,
)
from hdsp.inference.parameters import (
    check_flag,
    check_jobs,
    check_learned,
    check_positive,
    check_prior,
    check_tolerance,
    check_whole,
    make_generator,
)
from hdsp.kernels import Threads
from hdsp.metrics import npmi, topic_top_words
from hdsp.model import GlobalState, LocalSettings, Priors, Problem, make_problem
from hdsp.numerics.types import FloatArray
from hdsp.persistence import (
    Checkpoint,
    SavedModel,
    check_folder,
    fingerprint,
    load_model,
    not_usable,
    save_model,
)
from hdsp.prediction import encode_labels, finish
from hdsp.queries import VALIDATION, FittedQueries
from hdsp.scaling import ScalingFunction, bind_scaling
from hdsp.stability import refit, stability_columns

_COHERENCE_WORDS = 10
# Of the topics there may be.
_NEAR_CEILING = 0.95


class HDSP(FittedQueries):
    """The hierarchical Dirichlet scaling process: topics that documents' labels scale.

    A Bayesian nonparametric topic model, fitted by variational inference. Without labels it is
    the hierarchical Dirichlet process (HDP).

    Parameters
    ----------
    n_components : the most topics there may be; the corpus decides how many there are
    fixed_number : True keeps exactly `n_components` topics
    scaling : what labels do to topics. ``"auto"`` is `Categorical` on tags and categories times
        `LogLinear` on numbers; or a scaling function such as
        ``Categorical("tags") * LogLinear("rating")``
    topic_prior : eta, the Dirichlet parameter of topics over words; not learned
    corpus_concentration, document_concentration : alpha and beta, where they start
    learn_concentrations : True, False, or the one to learn: ``"corpus"`` or ``"document"``
    corpus_concentration_prior, document_concentration_prior : (shape, rate) of their gamma priors
    init : ``"nmf"``, ``"lda"`` (three passes of LDA, as in the paper), ``"random"``, or an array
        [n_components, V] of word weights, which the topics are then merged, split and deleted from
    max_iter : passes over the corpus at most, of each start
    tol : the relative change of the bound at which a fit stops
    n_jobs : threads; None is all cores. Results are the same for any number
    random_state : a seed, or a NumPy generator
    keep_documents : False holds no array of documents by topics while fitting: memory then grows
        with the words alone. Every pass starts its documents afresh, which takes longer, the bound
        may once fall a little, and the labels' own weights settle more slowly
    verbose : n reports every n-th pass on standard error
    checkpoint : a folder to keep an unfinished fit in: `fit` with the same data and settings goes
        on from there, to the same result, and removes it when it has finished

    Attributes
    ----------
    components_ : [T, V] Dirichlet parameters of the topics, largest topic first
    topic_weight_ : [T] p, the corpus weights of topics
    n_topics_ : topics in real use: with at least an average document's worth of tokens
    search_ : a row (dict) for each number of topics that a fit started with: the number it settled
        on, its bound, what of it is compared (all but the sticks' and concentrations' densities),
        passes, and the seconds since the beginning. Empty where the number was fixed or `init`
        is an array
    label_names_ : the J labels
    words_ : the V words
    text_settings_ : how the corpus' texts became counts; None where counts were given
    history_ : a row (dict) a pass of the start that was chosen: the bound and its terms,
        concentrations, `n_topics`, topics in use, moves made after it, seconds
    n_iter_, converged_ : passes made from that start, and whether the bound settled
    corpus_concentration_, document_concentration_ : alpha and beta as learned

    Examples
    --------
    >>> import hdsp
    >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
    >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (100, 3)
    >>> model.expected_topics([["news"], ["sport"], []]).sum(axis=1).round(6).tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        n_components: int = 200,
        *,
        fixed_number: bool = False,
        scaling: str | ScalingFunction = "auto",
        topic_prior: float = 0.05,
        corpus_concentration: float = 1.0,
        document_concentration: float = 20.0,
        learn_concentrations: bool | str = True,
        corpus_concentration_prior: tuple[float, float] = (1.0, 1.0),
        document_concentration_prior: tuple[float, float] = (1.0, 0.01),
        init: Any = "nmf",
        max_iter: int = 100,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
        keep_documents: bool = True,
        verbose: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_components = n_components
        self.fixed_number = fixed_number
        self.scaling = scaling
        self.topic_prior = topic_prior
        self.corpus_concentration = corpus_concentration
        self.document_concentration = document_concentration
        self.learn_concentrations = learn_concentrations
        self.corpus_concentration_prior = corpus_concentration_prior
        self.document_concentration_prior = document_concentration_prior
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_documents = keep_documents
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: object = None, labels: object = None) -> Self:
        """Fit the model to documents.

        Ctrl-C ends the fit after the current pass, with the model as it then is; a second one
        interrupts at once.

        Parameters
        ----------
        X : [M, V] counts, sparse or dense, or a `Corpus`, which carries its own words and labels
        y : ignored
        labels : None, a matrix [M, J], lists of tags, a pandas, polars or pyarrow table, `Labels`
        """
        priors = self._check_settings()
        counts, parsed, words, named = self._read_training(X, labels)
        schema = LabelSchema.of(parsed)
        scaling = bind_scaling(self.scaling, schema)
        design = encode_labels(schema, scaling, parsed)
        problem = make_problem(counts, design, self.n_components, scaling, priors)
        monitor = Monitor(self.tol, self.verbose)
        data = fingerprint(counts, design)
        checkpoint = None
        if self.checkpoint is not None:
            checkpoint = Checkpoint(Path(self.checkpoint), data, self.get_params(deep=False))
        # BLAS threads would fight ours, and change the order of sums with their number.
        with threadpool_limits(1, "blas"), self._threads() as threads, monitor.listening():
            settings = LocalSettings()
            fit = self._fit(problem, counts, settings, monitor, threads, checkpoint)
            # Of a search that was cut short even a fit that settled is only the best so far.
            cut_short = monitor.interrupted and not self.fixed_number
            problem = problem.with_topics(fit.state.n_topics)
            model = finish(problem, fit, counts, schema, settings, threads)
        # Everything is assigned at the end: a fit that fails leaves an earlier one as it was.
        self._keep(
            SavedModel(
                model=model,
                parameters={},
                words=words,
                named=named,
                history=monitor.history,
                converged=monitor.converged,
                n_topics=topics_in_use(model.topic_tokens(), problem.n_documents),
                coherence=_coherence(fit.state.topics.T, counts),
                frames=library_of(labels),
                fingerprint=data,
                text_settings=X.text_settings if isinstance(X, Corpus) else None,
                search=monitor.starts,
            )
        )
        finished = (self.converged_ or self.n_iter_ == self.max_iter) and not cut_short
        if checkpoint and finished:
            checkpoint.remove()
        self._warn(finished)
        return self

    def _fit(
        self,
        problem: Problem,
        counts: csr_array,
        settings: LocalSettings,
        monitor: Monitor,
        threads: Threads,
        checkpoint: Checkpoint | None,
    ) -> Fit:
        """The fit itself: with the number of topics that is wanted, or that the bound asks for."""
        rng = make_generator(self.random_state)
        resumed = checkpoint.resume(problem, monitor) if checkpoint else None
        after_pass = checkpoint.write if checkpoint else None

        def start(problem: Problem, rng: np.random.Generator) -> GlobalState:
            return initial_state(
                problem,
                counts,
                self.init,
                self.corpus_concentration,
                self.document_concentration,
                rng,
                threads,
            )

        common = (self.max_iter, settings, monitor, threads)
        if not self.fixed_number and isinstance(self.init, str):
            seed = int(rng.integers(2**62))

            def start_at(problem: Problem) -> GlobalState:
                return start(problem, np.random.default_rng([seed, problem.n_topics]))

            return Search(
                problem, start_at, *common, self.keep_documents, resumed, after_pass
            ).run()
        state, documents = (start(problem, rng), None) if resumed is None else resumed
        fit = fit_batch(problem, state, *common, self.keep_documents, documents, after_pass)
        if self.fixed_number or not self.keep_documents or not monitor.converged:
            return fit
        return refine(problem, fit, *common, self.n_components)

    def fit_transform(self, X: Any, y: object = None, labels: object = None) -> FloatArray:
        """Fit to documents and return their proportions, as ``fit(X).transform(X)`` does."""
        return self.fit(X, y, labels=labels).transform(X, labels=labels)

    def topic_stability(self, X: Any, labels: object = None, n_fits: int = 4) -> Any:
        """Which topics are found again by fits that start with other seeds.

        Fits the model `n_fits` times more, and pairs its topics with those of each fit. A table:
        `topic`; `similarity`, the mean probability that the topic has in common with its partners,
        from 0 to 1; `lowest`, with the least similar; `found_in`, the fits in which they have at
        least half in common; and `fits`.

        Parameters
        ----------
        X, labels : the documents that the model was fitted to

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate(n_documents=200, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
        >>> model.topic_stability(corpus, n_fits=2)["found_in"].tolist()
        [2, 2, 2]
        """
        check_is_fitted(self)
        check_whole(n_fits, "n_fits", 1)
        self._read_new(X, labels, "topic_stability")
        refits = refit(self, X, labels, n_fits)
        return make_frame(stability_columns(refits), self._frames)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, by custom named ``.hdsp``; it holds no code.

        A file of that name is replaced once the new one is whole. Of the constructor's
        parameters, `checkpoint` is left out, and `random_state` where it is not a seed.
        """
        check_is_fitted(self)
        self._check_settings()
        saved = SavedModel(
            model=self._model,
            parameters=self.get_params(deep=False),
            words=self.words_,
            named=hasattr(self, "feature_names_in_"),
            history=self.history_,
            converged=self.converged_,
            search=self.search_,
            n_topics=self.n_topics_,
            coherence=self._coherence,
            frames=self._frames,
            fingerprint=self._fingerprint,
            text_settings=self.text_settings_,
        )
        if self.text_settings_ is not None and not self.text_settings_.storable:
            warnings.warn(
                "The function that cuts texts into words cannot be saved with the model: pass it "
                "as `text_settings` when new texts are read.",
                UserWarning,
                stacklevel=2,
            )
        save_model(Path(path), saved)

    def report(
        self,
        path: str | os.PathLike[str],
        corpus: Corpus | None = None,
        *,
        texts: Sequence[str] | None = None,
        title: str = "Topics and labels",
        names: str | os.PathLike[str] | None = None,
        stability: Any = None,
        most_documents: int = 1_000,
    ) -> None:
        """Write a page that shows topics, labels and documents in a browser.

        One file, opened from disk: it needs no server and asks for nothing from the network.

        Parameters
        ----------
        path : str or path
            Where to write the page, by custom named ``.html``.
        corpus : Corpus, default=None
            Documents to show, counted with the model's words; None shows none.
        texts : sequence of str, default=None
            The texts of the corpus' documents; None shows their words with their counts.
        title : str, default="Topics and labels"
            The heading of the page.
        names : str or path, default=None
            Names of topics, in a file that a report's page has saved.
        stability : frame, default=None
            The table of `topic_stability`; None shows no stability.
        most_documents : int, default=1000
            How many documents the page holds: typical ones, and others at random.
        """
        from hdsp.report import write_report

        check_is_fitted(self)
        check_whole(most_documents, "most_documents", 1)
        write_report(
            self,
            path,
            corpus,
            texts=texts,
            title=title,
            names=names,
            stability=stability,
            most_documents=most_documents,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The fitted model that `save` wrote.

        Its arrays stay in the file until they are used. A file that cannot be used is refused
        with `hdsp.ModelFileError`.
        """
        saved = load_model(Path(path), cls().get_params(deep=False))
        model = cls(**saved.parameters)
        try:
            model._check_settings()
        except (TypeError, ValueError) as error:
            raise not_usable(Path(path), error) from error
        model._keep(saved)
        return model

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn should know: sparse, non-negative input; float32 kept."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_settings(self) -> Priors:
        """The hyperparameters, once everything a user set has been checked."""
        check_whole(self.n_components, "n_components", 1)
        check_flag(self.fixed_number, "fixed_number")
        check_whole(self.max_iter, "max_iter", 1)
        check_tolerance(self.tol, "tol")
        check_whole(self.verbose, "verbose", 0)
        check_jobs(self.n_jobs)
        check_flag(self.keep_documents, "keep_documents")
        check_folder(self.checkpoint)
        for name in ("topic_prior", "corpus_concentration", "document_concentration"):
            check_positive(getattr(self, name), name)
        corpus = check_prior(self.corpus_concentration_prior, "corpus_concentration_prior")
        document = check_prior(self.document_concentration_prior, "document_concentration_prior")
        learn_corpus, learn_document = check_learned(self.learn_concentrations)
        return Priors(
            topic_prior=float(self.topic_prior),
            corpus_concentration=corpus if learn_corpus else None,
            document_concentration=document if learn_document else None,
        )

    def _read_training(
        self, X: Any, labels: object
    ) -> tuple[csr_array, Labels, tuple[str, ...], bool]:
        """Counts, labels and words, and whether scikit-learn should know the words' names."""
        if isinstance(X, Corpus):
            if labels is not None:
                raise ValueError(
                    "`labels` of HDSP.fit must be None where X is a Corpus, which carries its own."
                )
            counts, parsed, words, named = X.counts, X.labels, X.words, False
        else:
            # Another instance takes what validation sets on the way.
            probe = type(self)()
            X = validate_data(probe, X, reset=True, **VALIDATION)
            counts = check_counts(X, "HDSP.fit")
            parsed = as_labels(labels, counts.shape[0], "HDSP.fit")
            named = hasattr(probe, "feature_names_in_")
            generated = (f"w{i}" for i in range(counts.shape[1]))
            words = tuple(probe.feature_names_in_ if named else generated)
        if counts.nnz == 0:
            raise ValueError(
                f"X of HDSP.fit has no word in any of its {counts.shape[0]} documents. Check the "
                "vectoriser: its stop words and min_df may leave nothing."
            )
        return counts, parsed, words, named

    def _keep(self, saved: SavedModel) -> None:
        self._model = saved.model
        self.words_ = saved.words
        self.n_features_in_ = len(saved.words)
        if saved.named:
            self.feature_names_in_ = np.array(saved.words, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        # Of an earlier fit.
        self.__dict__.pop("components_", None)
        state = saved.model.state
        self.topic_weight_ = state.topic_weight
        self.corpus_concentration_ = state.corpus_concentration
        self.document_concentration_ = state.document_concentration
        self.label_names_ = saved.model.schema.names
        self.history_ = saved.history
        self.search_ = saved.search
        self.n_iter_ = len(saved.history)
        self.converged_ = saved.converged
        self.n_topics_ = saved.n_topics
        self._coherence = saved.coherence
        self._frames = saved.frames
        self._fingerprint = saved.fingerprint
        self.text_settings_ = saved.text_settings

    def _warn(self, finished: bool) -> None:
        if self.n_components == 1:
            warnings.warn(
                "n_components=1 of HDSP leaves a single topic, which labels cannot change: "
                "choose at least 2.",
                UserWarning,
                stacklevel=3,
            )
        elif not self.fixed_number and self.n_topics_ >= _NEAR_CEILING * self.n_components:
            warnings.warn(
                f"{self.n_topics_} topics are in use of {self.n_components} at most, which may "
                "limit their number: raise n_components of HDSP.",
                UserWarning,
                stacklevel=3,
            )
        if not finished:
            wanted = f"the bound settled to tol={self.tol}"
            if self.converged_:
                wanted = "the number of topics was found"
            again = "" if self.checkpoint is None else "; `fit` goes on from its checkpoint"
            warnings.warn(
                f"HDSP was interrupted after pass {self.n_iter_}, before {wanted}: the model is as "
                f"that pass left it{again}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not self.converged_:
            warnings.warn(
                f"HDSP stopped after max_iter={self.max_iter} passes before the bound settled to "
                f"tol={self.tol}: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _coherence(topics: FloatArray, counts: csr_array) -> FloatArray:
    """NPMI of each topic, [T]; one word has nothing to cohere with."""
    if counts.shape[1] < 2:
        return np.full(len(topics), np.nan)
    return npmi(topic_top_words(topics, _COHERENCE_WORDS), counts)
