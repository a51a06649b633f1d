"""HDSP, the scikit-learn estimator."""

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from hdsp.corpus import Corpus, make_frame
from hdsp.editing import EditableTopics
from hdsp.exceptions import (
    IgnoredTargetWarning,
    TokenizerNotSavedWarning,
    TopicLimitWarning,
)
from hdsp.execution import check_executor
from hdsp.fit import NUMBERS_BY, OpenStream, read_further_labels
from hdsp.learning import (
    Settings,
    learn,
    learn_further,
    read_training,
    refreshed,
    reopened,
)
from hdsp.model import Priors
from hdsp.numerics.types import FloatArray
from hdsp.persistence import load_model, not_usable, save_model
from hdsp.prediction import FittedModel
from hdsp.progress import shown
from hdsp.scaling import ScalingFunction
from hdsp.stability import refit, stability_columns
from hdsp.validation import (
    check_choice,
    check_flag,
    check_folder,
    check_jobs,
    check_learned,
    check_not_dask,
    check_positive,
    check_prior,
    check_seeds,
    check_tolerance,
    check_whole,
)

# A warning is given once this share of `n_components` is in use.
_NEAR_CEILING = 0.95
INFERENCES = ("batch", "stochastic")


class HDSP(EditableTopics):
    """The hierarchical Dirichlet scaling process: topics that documents' labels scale.

    A Bayesian nonparametric topic model, fitted by variational inference. Without labels it is
    the hierarchical Dirichlet process (HDP).

    Parameters
    ----------
    n_components : int, default=200
        The largest number of topics; how many there are is learned from the corpus.
    fixed_number : bool, default=False
        Whether to keep exactly `n_components` topics.
    number_by : {"evidence", "prediction"}, default="evidence"
        How many topics: by ``"prediction"`` the number that predicts held-out words best; by
        ``"evidence"`` the smaller number beyond which more topics hardly help, which reads better.
    scaling : str or ScalingFunction, default="auto"
        How labels scale topics. ``"auto"`` is `Categorical` for tags and categories times
        `LogLinear` for numbers; or a scaling function such as
        ``Categorical("tags") * LogLinear("rating")``.
    topic_prior : float, default=0.05
        The Dirichlet parameter eta of topics over words; not learned.
    corpus_concentration : float, default=1.0
        The initial value of alpha, the concentration of the corpus.
    document_concentration : float, default=2.0
        The initial value of beta, the concentration of documents. Small values find topics that
        overlap; new documents are predicted with another, `predictive_concentration`.
    predictive_concentration : float or None, default=None
        The value of beta for new documents: in `transform`, completion and `score`. None chooses
        the one that predicts held-out halves of training documents best.
    learn_concentrations : bool or str, default=True
        Whether to learn both concentrations, or the one to learn: ``"corpus"`` or ``"document"``.
    corpus_concentration_prior : tuple of two floats, default=(1.0, 1.0)
        Shape and rate of the gamma prior of alpha.
    document_concentration_prior : tuple of two floats, default=(1.0, 0.01)
        Shape and rate of the gamma prior of beta.
    init : str or array of shape [n_components, V], default="nmf"
        The initial topics: ``"nmf"``, ``"lda"`` (three passes of LDA, as in the paper),
        ``"random"``, or an array of word weights, whose topics are then merged where that pays.
    seeds : mapping of str to list of str, or None, default=None
        Topics that are wanted: for each name some words of the corpus, such as
        ``{"budget": ["tax", "deficit"]}``. Each steers a topic of its own, which has that name.
    seed_strength : float, default=0.1
        How much seed words are drawn to their topic: the prior's tokens for each of their tokens
        in the corpus.
    max_iter : int, default=100
        The largest number of passes over the corpus from each start.
    tol : float, default=1e-3
        The relative change of the bound at which a fit stops. Stochastic inference stops after the
        pass in which it has made enough steps, or with 0 after `max_iter` passes.
    n_jobs : int or None, default=None
        The number of threads; None is all cores. Results do not depend on it.
    random_state : int, Generator or None, default=None
        A seed, or a NumPy generator.
    keep_documents : bool, default=True
        Whether to keep an array of documents by topics while fitting. Without it memory grows only
        with the words, but every pass starts its documents afresh: the fit takes longer, the bound
        may fall slightly once, and the labels' weights settle more slowly.
    verbose : int or bool, default=0
        1 or True shows how far the fit is: on a terminal or in a notebook in place, elsewhere in a
        few lines on standard error.
    checkpoint : str, path or None, default=None
        A folder for the state of an unfinished fit. `fit` with the same data and settings continues
        from it, to the same result, and removes it at the end.
    inference : {"batch", "stochastic"}, default="batch"
        How documents are fitted: ``"batch"`` comes back to all documents until the bound settles;
        ``"stochastic"`` takes a step after each batch of them, which is faster for large corpora
        and needs little memory, and `partial_fit` goes on with further documents.
    batch_size : int or None, default=None
        The documents that make a step of stochastic inference; None chooses by their number.
    executor : str or None, default=None
        Where documents are fitted: None is threads of this process; ``"processes"`` is several
        processes by joblib; ``"dask"`` the active client of dask.distributed, ``"local"`` a
        cluster of processes on this machine, and ``"tcp://host:port"`` the scheduler of another.

    Attributes
    ----------
    components_ : float array of shape [T, V]
        Dirichlet parameters of the topics, largest topic first.
    topic_weight_ : float array of shape [T]
        The corpus weights p of topics.
    n_topics_ : int
        Topics in use, with at least an average document's number of tokens.
    search_ : list of dict
        One row per number of topics that the search tried: `topics`, the `perplexity` of held-out
        words, the `concentration` at which they are predicted best, and the `seconds` since the
        beginning. Empty where the number was fixed or `init` is an array.
    n_topics_range_ : tuple of two int, or None
        Numbers of topics that are about as good: nine tenths of resampled held-out documents lead
        there. None where nothing was searched.
    label_names_ : tuple of str
        The J labels.
    topic_names_ : dict of int to str
        Names of topics by their number: those of `seeds`, and those that `name_topics` gave.
    words_ : tuple of str
        The V words.
    text_settings_ : TextSettings or None
        How the corpus' texts were counted; None if counts were given.
    history_ : list of dict
        One row per pass of the chosen start: the bound and its terms, concentrations, `n_topics`,
        topics in use, moves made after the pass, and seconds.
    stages_ : list of dict
        One row per stage of the fit and of what followed it, such as the search, the passes and the
        calibration: `stage` and `seconds`.
    n_iter_ : int
        The number of passes of the chosen start.
    converged_ : bool
        Whether the bound settled.
    n_documents_ : int
        The number of training documents.
    predictive_concentration_ : float
        The beta that new documents are predicted with.
    corpus_concentration_, document_concentration_ : float
        The learned values of alpha and beta.

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

    # Where `partial_fit` goes on.
    _opened: OpenStream | None = None

    def __init__(
        self,
        n_components: int = 200,
        *,
        fixed_number: bool = False,
        number_by: str = "evidence",
        scaling: str | ScalingFunction = "auto",
        topic_prior: float = 0.05,
        corpus_concentration: float = 1.0,
        document_concentration: float = 2.0,
        predictive_concentration: float | None = None,
        learn_concentrations: bool | str = True,
        corpus_concentration_prior: tuple[float, float] = (1.0, 1.0),
        document_concentration_prior: tuple[float, float] = (1.0, 0.01),
        init: Any = "nmf",
        seeds: Mapping[str, Sequence[str]] | None = None,
        seed_strength: float = 0.1,
        max_iter: int = 100,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
        keep_documents: bool = True,
        verbose: int | bool = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        inference: str = "batch",
        batch_size: int | None = None,
        executor: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.fixed_number = fixed_number
        self.number_by = number_by
        self.scaling = scaling
        self.topic_prior = topic_prior
        self.corpus_concentration = corpus_concentration
        self.document_concentration = document_concentration
        self.predictive_concentration = predictive_concentration
        self.learn_concentrations = learn_concentrations
        self.corpus_concentration_prior = corpus_concentration_prior
        self.document_concentration_prior = document_concentration_prior
        self.init = init
        self.seeds = seeds
        self.seed_strength = seed_strength
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_documents = keep_documents
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.inference = inference
        self.batch_size = batch_size
        self.executor = executor

    def fit(self, X: Any, y: object = None, labels: object = None) -> Self:
        """Fit the model to documents.

        Ctrl-C ends the fit after the current pass, with the model as it then is; a second one
        interrupts at once.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own words and labels.
        y : None, default=None
            Ignored, with a warning: labels go in `labels`.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels: a pandas, polars or pyarrow table, a matrix [M, J], lists of
            tags, or `Labels`.

        Returns
        -------
        HDSP
            The fitted model itself.
        """
        if y is not None and labels is None:
            warnings.warn(
                "HDSP.fit ignores `y`: pass the documents' labels as `labels`.",
                IgnoredTargetWarning,
                stacklevel=2,
            )
        priors = self._check_settings()
        check_not_dask(X, "HDSP.fit")
        learned = learn(self._settings(), priors, read_training(type(self)(), X, labels))
        # Only now, so that a failed fit leaves an earlier one unchanged.
        self._set_fitted(learned.model, learned.opened)
        # The fit of an interrupted search is only the best so far, even if it converged.
        cut_short = learned.interrupted and not self.fixed_number
        finished = (self.converged_ or self.n_iter_ == self.max_iter) and not cut_short
        if learned.checkpoint and finished:
            learned.checkpoint.remove()
        self._warn(finished)
        return self

    def partial_fit(self, X: Any, y: object = None, labels: object = None) -> Self:
        """Go on learning from further documents, whose words and labels may be new.

        The first call fits the model to its documents, unless it is fitted already; each further
        one takes steps of stochastic inference. A new label begins without an effect, and a new
        word joins once five documents have had it. Whenever the documents have doubled, the number
        of topics is searched for again, up to `n_components`, and new topics join; the others keep
        their numbers and names. Everything can be asked after every call; what is asked first
        after one takes a moment longer, because effects and predictions are then calibrated anew
        on a sample of all documents seen.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, with the same columns in every call; or a corpus, of any words.
        y : None, default=None
            Ignored, with a warning: labels go in `labels`.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.

        Returns
        -------
        HDSP
            The model itself.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 100, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).partial_fit(corpus[:100])
        >>> model.partial_fit(corpus[100:]).n_documents_
        200
        """
        if y is not None and labels is None:
            warnings.warn(
                "HDSP.partial_fit ignores `y`: pass the documents' labels as `labels`.",
                IgnoredTargetWarning,
                stacklevel=2,
            )
        priors = self._check_settings()
        check_not_dask(X, "HDSP.partial_fit")
        settings = self._settings()
        if not self.__sklearn_is_fitted__():
            training = read_training(type(self)(), X, labels)
            learned = learn(settings, priors, training, stream=True)
            self._set_fitted(learned.model, learned.opened)
            return self
        corpus = self._read_further(X, labels)
        if corpus.n_tokens:
            opened = self._opened or reopened(settings, self._current)
            # The model stays as it was before the call if that is interrupted.
            self._opened = learn_further(settings, opened, corpus)
            self._stale = True
        return self

    def fit_transform(self, X: Any, y: object = None, labels: object = None) -> FloatArray:
        """Fit to documents and return their proportions, as ``fit(X).transform(X)`` does.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own words and labels.
        y : None, default=None
            Ignored.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.

        Returns
        -------
        float array of shape [M, T]
            Topic proportions; rows sum to 1.
        """
        # Without y, which pipelines pass for the steps after this one.
        return self.fit(X, labels=labels).transform(X, labels=labels)

    def topic_stability(self, X: Any, labels: object = None, n_fits: int = 4) -> Any:
        """Which topics are found again by fits with other seeds.

        Fits the model `n_fits` times more, and matches its topics with those of each fit.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            The documents that the model was fitted to.
        labels : Labels, table, matrix, list or None, default=None
            Their labels, as in `fit`.
        n_fits : int, default=4
            The number of further fits.

        Returns
        -------
        table
            One row per topic: `topic`; `similarity`, the mean probability that the topic shares
            with its partners, from 0 to 1; `lowest`, with the least similar partner; `found_in`,
            the number of fits in which they share at least half; and `fits`. Its library is that
            of the training labels, otherwise pandas.

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
        with shown(quiet=not self.verbose):
            refits = refit(self, X, labels, n_fits)
        return make_frame(stability_columns(refits), self._model.source.frames)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a single file, which holds no code.

        An existing file is replaced once the new one is complete. All constructor parameters are
        saved, except `checkpoint`, and `random_state` if it is not a seed.

        Parameters
        ----------
        path : str or path
            Where to write; by convention the name ends in ``.hdsp``.
        """
        check_is_fitted(self)
        self._check_settings()
        if self.text_settings_ is not None and not self.text_settings_.storable:
            what = "function"
            if self.text_settings_.tokenizer is None:
                what = "pattern"
            warnings.warn(
                f"The {what} that cuts texts into words cannot be saved with the model: pass it "
                "as `text_settings` when new texts are read.",
                TokenizerNotSavedWarning,
                stacklevel=2,
            )
        save_model(Path(path), self._model, self.get_params(deep=False), self._opened)

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
            Where to write the page; by convention the name ends in ``.html``.
        corpus : Corpus or None, default=None
            Documents to show, counted with the model's words; None shows none.
        texts : sequence of str or None, default=None
            The texts of the corpus' documents; None shows their words with their counts.
        title : str, default="Topics and labels"
            The heading of the page.
        names : str, path or None, default=None
            Names of topics, in a file that a report's page has saved.
        stability : table or None, default=None
            What `topic_stability` returned; None shows no stability.
        most_documents : int, default=1000
            How many documents the page holds: typical ones, and others at random.
        """
        from hdsp.report import write_report

        check_is_fitted(self)
        check_whole(most_documents, "most_documents", 1)
        with shown(quiet=not self.verbose):
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
        """Load a fitted model that `save` wrote.

        Its arrays stay in the file until they are used. An invalid file raises
        `hdsp.ModelFileError`.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        HDSP
            The fitted model.
        """
        fitted, parameters, opened = load_model(Path(path), cls().get_params(deep=False))
        model = cls(**parameters)
        try:
            model._check_settings()
        except (TypeError, ValueError) as error:
            raise not_usable(Path(path), error) from error
        model._set_fitted(fitted, opened)
        return model

    def __sklearn_tags__(self) -> Tags:
        """Tags for scikit-learn: sparse, non-negative input; float32 is preserved."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_settings(self) -> Priors:
        """Check all parameters, and return the hyperparameters."""
        check_whole(self.n_components, "n_components", 1)
        check_flag(self.fixed_number, "fixed_number")
        check_choice(self.number_by, NUMBERS_BY, "number_by", "HDSP")
        if self.predictive_concentration is not None:
            check_positive(self.predictive_concentration, "predictive_concentration")
        check_whole(self.max_iter, "max_iter", 1)
        check_tolerance(self.tol, "tol")
        if not isinstance(self.verbose, bool):
            check_whole(self.verbose, "verbose", 0)
        check_jobs(self.n_jobs)
        check_flag(self.keep_documents, "keep_documents")
        check_folder(self.checkpoint)
        check_choice(self.inference, INFERENCES, "inference", "HDSP")
        if self.batch_size is not None:
            check_whole(self.batch_size, "batch_size", 1)
        check_executor(self.executor)
        check_seeds(self.seeds, self.n_components)
        check_positive(self.seed_strength, "seed_strength")
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

    def _settings(self) -> Settings:
        return Settings(**self.get_params(deep=False))

    def _read_further(self, X: Any, labels: object) -> Corpus:
        """Further documents, of words and labels that may be new where X is a corpus."""
        if isinstance(X, Corpus):
            if labels is not None:
                raise ValueError(
                    "`labels` of HDSP.partial_fit must be None where X is a Corpus, which carries "
                    "its own."
                )
            return X
        counts, _ = self._read_new(X, None, "partial_fit")
        schema = self._model.schema
        parsed = read_further_labels(schema, labels, counts.shape[0], "HDSP.partial_fit")
        return Corpus.trusted(counts, self.words_, parsed, None, None)

    def _refresh(self) -> None:
        assert self._opened is not None
        model = refreshed(self._settings(), self._opened, self._current)
        self._set_fitted(model, self._opened)

    def _set_fitted(self, model: FittedModel, opened: OpenStream | None = None) -> None:
        self._model = model
        self._opened = opened
        # scikit-learn requires these as attributes.
        self.n_features_in_ = len(model.source.words)
        if model.source.named:
            self.feature_names_in_ = np.array(model.source.words, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        # The cached array of an earlier fit.
        self.__dict__.pop("components_", None)

    def _warn(self, finished: bool) -> None:
        if self.n_components == 1:
            warnings.warn(
                "n_components=1 of HDSP leaves a single topic, which labels cannot change: "
                "choose at least 2.",
                TopicLimitWarning,
                stacklevel=3,
            )
        elif not self.fixed_number and self.n_topics_ >= _NEAR_CEILING * self.n_components:
            warnings.warn(
                f"{self.n_topics_} topics are in use of {self.n_components} at most, which may "
                "limit their number: raise n_components of HDSP.",
                TopicLimitWarning,
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
