"""HDSP, the scikit-learn estimator."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hdsp.analysis import documents, label_effects
from hdsp.analysis import topics as topic_tables
from hdsp.analysis.checks import check_columns
from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.fitted import FittedModel, Method
from hdsp.analysis.label_effects import Refits, stability_columns
from hdsp.analysis.label_prediction import LabelMethod
from hdsp.analysis.reading import Weight
from hdsp.analysis.topics import with_merged_topics, with_topic_names
from hdsp.analysis.words import label_word_columns, topic_word_columns
from hdsp.checks import (
    LARGEST,
    SMALLEST,
    check_choice,
    check_not_dask,
    check_positive,
    check_seeds,
    check_whole,
)
from hdsp.corpus import Corpus, LabelSchema, ReadingSettings, TextSettings, make_frame
from hdsp.corpus.text import storable_settings
from hdsp.exceptions import FitWarning, UnreliableTopicsWarning, warn_caller
from hdsp.execution.executor import check_executor
from hdsp.fit.run import FitParameters, most_topics
from hdsp.fit.start import STARTS
from hdsp.numerics import FloatArray
from hdsp.persistence.model_file import load_model, save_model
from hdsp.pipeline import extend_model, fit_model, read_corpus, read_further, refresh_model, running
from hdsp.progress import display
from hdsp.scaling.design import Scaling
from hdsp.scaling.functions import Categorical, Constant, LogLinear
from hdsp.storage.container import unusable

# A warning is given once this share of `n_components` is in use.
_NEAR_CEILING = 0.95
# Stochastic inference gains nothing on fewer documents.
_SMALL = 20_000
_POSITIVE = Interval(Real, SMALLEST, LARGEST, closed="both")


def _of_model(read: Callable[[FittedModel], Any]) -> Any:
    """A property that is read from the fitted model."""
    return property(lambda self: read(self._model))


class HDSP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, FitParameters):
    """The hierarchical Dirichlet scaling process: topics that documents' labels scale.

    A Bayesian nonparametric topic model, fitted by variational inference. Without labels it is
    the hierarchical Dirichlet process (HDP).

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        The number of topics. ``"auto"`` searches for it, up to `max_components`.
    max_components : int, default=200
        The largest number of topics that the search tries.
    scaling : str, ScalingFunction or Term, default="auto"
        How labels scale topics. ``"auto"`` is `Categorical` for tags and categories times
        `LogLinear` for numeric labels. Alternatives are a scaling function such as
        ``Categorical("tags") * Spline("day")``, or a formula such as ``"~ tags * s(day)"``.
    content : str or None, default=None
        Name of a categorical label (at most 50 levels) that changes which words a topic uses. Each
        level gets its own word distribution per topic, shrunk towards the shared one in
        `components_`. The amount of shrinkage is estimated.
    topic_prior : float, default=0.05
        The Dirichlet parameter eta of topics over words. It is not learned.
    corpus_concentration : float or None, default=None
        The concentration alpha of the corpus. None learns it.
    document_concentration : float or None, default=None
        The concentration beta of documents. None learns it. New documents are predicted with
        another value, `predictive_concentration_`, chosen on held-out words.
    init : str or array of shape [T, V], default="auto"
        The initial topics. ``"nmf"`` factorises documents. For short texts ``"words"`` clusters
        documents by words that occur together, and ``"pairs"`` factorises pairs of words.
        ``"auto"`` takes ``"nmf"`` if documents have more than 100 words on average or `content` is
        used, otherwise the one of the three that predicts held-out words best (`init_`). ``"lda"``
        makes three passes of LDA, as in the paper. ``"random"`` is random. An array has word
        weights as rows.
    seeds : mapping of str to list of str, or None, default=None
        Words of topics that you want to find, such as ``{"budget": ["tax", "deficit"]}``. Each
        entry steers one topic, which gets its name.
    inference : {"batch", "stochastic"}, default="batch"
        ``"batch"`` passes over all documents until the bound settles. ``"stochastic"`` takes a
        step after each batch of documents, which is faster for large corpora and needs little
        memory.
    batch_size : int or None, default=None
        Number of documents per step of stochastic inference. None chooses by the corpus size.
    max_iter : int, default=100
        The largest number of passes over the corpus from each start.
    tol : float, default=1e-3
        The relative change of the bound at which a fit stops. Stochastic inference stops after the
        pass in which it has taken enough steps, or with 0 after `max_iter` passes.
    executor : str or None, default=None
        Where documents are fitted: None is threads of this process, ``"dask"`` the active client
        of dask.distributed, and ``"tcp://host:port"`` the scheduler of a Dask cluster.
    n_jobs : int or None, default=None
        The number of threads. None is all cores. Results do not depend on it.
    checkpoint : str, path or None, default=None
        A folder for the state of an unfinished fit. `fit` with the same data and settings continues
        from it, to the same result, and removes it at the end.
    random_state : int, Generator or None, default=None
        A seed, or a NumPy generator.
    verbose : int or bool, default=0
        1 or True shows the progress of the fit.

    Attributes
    ----------
    components_ : float array of shape [T, V]
        Dirichlet parameters of the topics, largest topic first.
    topic_weight_ : float array of shape [T]
        The corpus weights p of topics.
    topic_tokens_ : float array of shape [T]
        Expected training tokens of topics.
    n_topics_ : int
        Topics in use, with at least an average document's number of tokens.
    search_ : list of dict
        One row per start and number of topics that was tried: `topics`, `init`, the `perplexity`
        of held-out words, the `concentration` at which they are predicted best, the mean
        `coherence` and `exclusivity` of topics, and the `seconds` since the beginning. Empty where
        nothing was searched.
    n_topics_range_ : tuple of two int, or None
        Numbers of topics that are about as good: nine tenths of resampled held-out documents lead
        there. None where nothing was searched.
    number_summary_ : str
        The number of topics in a sentence, with the number that would predict words best.
    n_returning_ : int or None
        Of texts of a hundred words or fewer, with ``init="auto"``, how many topics of two short
        fits, of one half of the documents each, are the same; None otherwise.
    proportions_ : float array of shape [M, T]
        Unbiased estimates of the training documents' proportions, or a sample's, from their words
        alone, with topics that were learned without them: what to regress on labels. They may be
        slightly negative; rows sum to 1, and are NaN in documents without words.
    label_names_ : tuple of str
        The J labels.
    label_schema_ : LabelSchema
        The label space of training: blocks of tags, categories and numbers.
    label_scale_ : float array of shape [T, J]
        The expected scale of topics under each label alone: what it multiplies them by. Where this
        expectation does not exist, because a topic has too few tokens, 1 over the expected rate.
    topic_names_ : dict of int to str
        Names of topics by their number: those of `seeds`, and those that `name_topics` gave.
    fitted_topics_ : tuple of tuple of int
        The topics of the fit that each topic holds: one, unless some were `merged`.
    words_ : tuple of str
        The V words.
    text_settings_ : TextSettings or None
        How the corpus' texts were counted; None if counts were given.
    reading_ : ReadingSettings or None
        How the documents' table was read, as `read_table(..., like=model)` reads another one.
    n_features_in_ : int
        The number V of words.
    feature_names_in_ : str array of shape [V]
        The words, if `fit` was given a table whose columns have names.
    history_ : list of dict
        One row per pass of the chosen start: the bound and its terms, concentrations, `n_topics`,
        topics in use, moves made after the pass, and seconds. In a stream the passes are those of
        the topics that were learned last; the last row tells after how many documents that was
        (`learned_again`), whether they were `better`, and how many topics were kept, changed, gone
        and new.
    init_ : str
        The start of the fit; ``"array"`` where topics were given.
    stages_ : list of dict
        One row per stage of the fit and of what followed it, such as the search, the passes and the
        calibration: `stage` and `seconds`.
    n_iter_ : int
        The number of passes of the chosen start.
    converged_ : bool
        Whether the bound settled.
    provenance_ : dict
        The record of the fit: `versions` of hdsp, Python and libraries, `random_state`, `settings`,
        the numbers of `documents`, `words`, `tokens`, `labels` and `topics`, and the
        `fingerprint` of the training data, a SHA-256 of counts, labels and groups.
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
    >>> model = hdsp.HDSP(random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (100, 3)
    >>> model.expected_topics([["news"], ["sport"], []]).sum(axis=1).round(6).tolist()
    [1.0, 1.0, 1.0]
    """

    # Of a stream, its answers may be of fewer documents than it has seen.
    _fitted: FittedModel
    # How topics are expected from labels unless a call says otherwise.
    _method: Method = "regression"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "scaling": "no_validation",
        "content": [str, None],
        "topic_prior": [_POSITIVE],
        "corpus_concentration": [_POSITIVE, None],
        "document_concentration": [_POSITIVE, None],
        "init": [StrOptions(set(STARTS)), "array-like"],
        "seeds": "no_validation",
        "inference": [StrOptions({"batch", "stochastic"})],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, LARGEST, closed="both")],
        "executor": [str, None],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "checkpoint": [str, os.PathLike, None],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose"],
    }

    @classmethod
    def as_published(
        cls, name: Literal["HDSP", "wHDSP", "HDP"] = "HDSP", topic_prior: float = 0.1
    ) -> Self:
        """A model with the settings of Kim & Oh, for comparisons.

        200 topics, which start from three passes of LDA and are all kept; everything but
        `topic_prior` is learned; numbers are not standardised; a fit stops when the bound changes
        by less than 0.001 of itself. Topics are expected from labels by ``"ratio"``, and
        `predict_labels` returns the values under which words are most probable, whatever their
        frequency. The documentation lists the remaining differences from the paper.

        Parameters
        ----------
        name : {"HDSP", "wHDSP", "HDP"}, default="HDSP"
            The paper's first scaling function, for tags and categories (`Categorical`), its second,
            for all labels (`LogLinear`), or none (`Constant`).
        topic_prior : float, default=0.1
            The Dirichlet parameter eta, for which the paper tries 0.1 to 1.

        Returns
        -------
        HDSP
            The model, not yet fitted; `set_params` changes its settings.

        Examples
        --------
        >>> import hdsp
        >>> hdsp.HDSP.as_published("wHDSP").set_params(n_components=50, random_state=0)
        HDSP(init='lda', max_iter=1000, n_components=50, random_state=0,
             scaling=LogLinear(standardize=False), topic_prior=0.1)
        """
        published = {
            "HDSP": Categorical(),
            "wHDSP": LogLinear(standardize=False),
            "HDP": Constant(),
        }
        check_choice(name, tuple(published), "name", "HDSP.as_published")
        scaling = published[name]
        model = cls(200, scaling=scaling, topic_prior=topic_prior, init="lda", max_iter=1000)
        model._method = "ratio"
        return model

    def fit(self, X: Any, y: object = None, labels: object = None, groups: object = None) -> Self:
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
        groups : iterable of values or None, default=None
            The group of each document, such as its author, outlet or respondent, where documents of
            a group are not independent: intervals of effects then allow for it. None or NaN is a
            document of its own. A corpus may have groups of its own.

        Returns
        -------
        HDSP
            The fitted model itself.
        """
        self._check_call(X, y, labels, "HDSP.fit")
        for message, kind in self._fit_warnings(self._fit(X, labels, groups)):
            warn_caller(message, kind)
        return self

    def partial_fit(
        self, X: Any, y: object = None, labels: object = None, forget: float | None = None
    ) -> Self:
        """Go on learning from further documents, whose words and labels may be new.

        The first call fits the model to its documents, unless it is fitted already; each further
        one takes steps of stochastic inference, in which documents weigh as much as those before.
        A new label begins without an effect, and a new word joins once five documents have had it.
        Whenever there are half as many documents more (beyond ten thousand, four times as many),
        topics are learned again from a sample of all documents, as `fit` would learn them, and the
        better topics are kept, by the words of the next documents. They keep the numbers and names
        of those that they resemble; `StreamWarning` tells of others. Everything can be asked
        after every call; what is asked first after one takes a moment longer, because effects and
        predictions are then calibrated anew on the sample.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, with the same columns in every call; or a corpus, of any words.
        y : None, default=None
            Ignored, with a warning: labels go in `labels`.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.
        forget : float or None, default=None
            A half-life in documents, for streams that should describe the present: after this many
            further documents, a document counts half. None weights all documents alike.

        Returns
        -------
        HDSP
            The model itself.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 100, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).partial_fit(corpus[:100])
        >>> model.partial_fit(corpus[100:]).n_documents_
        200
        """
        self._check_call(X, y, labels, "HDSP.partial_fit")
        if forget is not None:
            check_positive(forget, "forget", "HDSP.partial_fit")
        if not self.__sklearn_is_fitted__():
            self._fit(X, labels, stream=True)
            return self
        corpus = read_further(self._fitted, X, labels)
        if corpus.n_tokens:
            with running(self, local=True) as run:
                self._fitted = extend_model(self._fitted, corpus, self._parameters(), run, forget)
        return self

    def _fit(self, X: Any, labels: object, groups: object = None, stream: bool = False) -> bool:
        """Fit the model; whether the fit has ended by itself."""
        parameters = self._parameters()
        corpus, source = read_corpus(X, labels, groups, stream)
        if stream:
            parameters = replace(parameters, inference="batch", executor=None)
        with running(parameters) as run:
            # A failed fit leaves an earlier one unchanged.
            fitted = fit_model(corpus, source, parameters, run, stream)
            self._fitted = replace(fitted, method=self._method)
        # The fit of an interrupted search is only the best so far, even if it converged.
        cut_short = run.interrupted and self.n_components == "auto"
        finished = (run.converged or len(run.history) == self.max_iter) and not cut_short
        if run.checkpoint is not None and finished:
            run.checkpoint.remove()
        return finished

    def fit_transform(
        self, X: Any, y: object = None, labels: object = None, groups: object = None
    ) -> FloatArray:
        """Fit to documents and return their proportions, as ``fit(X).transform(X)`` does.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own words and labels.
        y : None, default=None
            Ignored.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.
        groups : iterable of values or None, default=None
            The documents' groups, as in `fit`.

        Returns
        -------
        float array of shape [M, T]
            Topic proportions; rows sum to 1.
        """
        # Without y, which pipelines pass for the steps after this one.
        return self.fit(X, labels=labels, groups=groups).transform(X, labels=labels)

    def transform(self, X: Any, labels: object = None) -> FloatArray:
        """Topic proportions of documents, given their words and labels.

        These proportions use the labels, so regressing them on the same labels is circular: the
        labels would explain what they were used to predict. Use `label_effects`, `estimate_effects`
        or `proportions_` instead, which are estimated from words alone.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`. Unknown labels are ignored with a warning, and
            missing ones have no effect.

        Returns
        -------
        float array of shape [M, T]
            Topic proportions; rows sum to 1.
        """
        return documents.transformed(self._model, X, labels, self.n_jobs)

    def score(
        self, X: Any, y: object = None, labels: object = None, sample_weight: Any = None
    ) -> float:
        """Mean log probability of a held-out token: minus the log of the completion perplexity.

        Half of each document's tokens, and its labels, predict the other half; higher is better.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        y : None, default=None
            Ignored.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.
        sample_weight : float array of shape [M] or None, default=None
            Weights of the documents' tokens in the mean; None weighs all alike.

        Returns
        -------
        float
            The mean log probability.
        """
        return documents.mean_log_probability(self._model, X, labels, sample_weight, self.n_jobs)

    def expected_topics(
        self, labels: object, method: Method | None = None, weight: Weight = "documents"
    ) -> FloatArray:
        """Expected topic proportions of documents, given their labels alone.

        Parameters
        ----------
        labels : Labels, table, matrix, list or dict
            The documents' labels, as in `fit`; or those of one document by their columns, such as
            ``{"department": "shoes", "rating": 5}``.
        method : str or None, default=None
            The definition of the expectation: ``"regression"``, a softmax regression of the
            training documents' topics on their labels, which predicts best; ``"exact"``, the mean
            of the normalised gamma variables; ``"ratio"``, the means of the gamma variables in a
            document without words, normalised, as in the paper. None is ``"regression"``, or
            ``"ratio"`` if the model is `as_published`.
        weight : str, default="documents"
            What the regression averages over: ``"documents"``, each of which weighs the same, as
            in a mean of `transform`; or ``"tokens"``, so that long documents weigh more, which
            predicts words best.

        Returns
        -------
        float array of shape [M, T]
            Expected proportions; rows sum to 1.
        """
        return documents.expected_topics(self._model, labels, method, weight)

    def perplexity(
        self,
        X: Any,
        labels: object = None,
        given: Literal["labels", "completion"] = "labels",
        per_document: bool = False,
        method: Method | None = None,
        interval: float | None = None,
    ) -> Any:
        """The perplexity of documents: exp(- mean log probability of a token).

        Words outside the vocabulary are not in `X` and so not counted.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.
        given : str, default="labels"
            What words are predicted from: ``"labels"`` alone, or ``"completion"``, where a fixed
            random half of the tokens and the labels predict the other half.
        per_document : bool, default=False
            Whether to return the perplexity of each document.
        method : str or None, default=None
            The method of `expected_topics`, used if `given` is ``"labels"``.
        interval : float or None, default=None
            A probability such as 0.9 also returns the limits of an interval, by a bootstrap over
            documents.

        Returns
        -------
        float, tuple of three floats, or float array of shape [M]
            The perplexity; (perplexity, lower, upper) with `interval`; one number per document
            with `per_document`, NaN where there is no token to predict.
        """
        return documents.perplexity(
            self._model, X, labels, given, per_document, method, interval, self.n_jobs
        )

    def label_effects(
        self,
        labels: str | Sequence[str] | None = None,
        *,
        contrast: tuple[Any, Any] | None = None,
        level: float = 0.9,
        weight: Weight = "documents",
        refits: int | None = None,
        corpus: Corpus | None = None,
        random_state: int = 0,
    ) -> Any:
        """Effects of labels on topics, with intervals.

        An effect is a difference of mean proportions between documents that differ in one label,
        from a linear regression of `proportions_` on the labels of the fit: with a tag and without
        it, a level of a category against its other levels by their frequency, and the 90th against
        the 10th percentile of a numeric label (the highest against the lowest if these are equal).

        Parameters
        ----------
        labels : str, list of str or None, default=None
            Names of labels, or of whole columns; None is all.
        contrast : tuple of two values or None, default=None
            Two levels of the category, or two values of the numeric label, that `labels` names: the
            effect of changing from the first to the second. Dates and times, also as text
            ("2020-05-31"), and booleans are read as they were in training. Beyond the values in
            training the effect is extrapolated, with an `IntervalWarning`.
        level : float, default=0.9
            The confidence level of the intervals, each the wider of a robust and a classical one.
        weight : str, default="documents"
            Whether each document weighs the same, or with ``"tokens"`` each token, so that long
            documents weigh more.
        refits : int or None, default=None
            Number of refits: topics are learned again from resampled documents (whole groups, if
            there are groups), each time from a new start, and effects are pooled by
            Rubin's rules, so that intervals include the uncertainty of topics; 20 are enough. None
            takes the topics as they are.
        corpus : Corpus or None, default=None
            The documents that the model was fitted to: a loaded model needs them for `refits`. Of
            counts it is ``Corpus(X, words=model.words_, labels=labels)``.
        random_state : int, default=0
            The random seed of refits.

        Returns
        -------
        table
            One row per label and topic: `label`, `contrast`, `topic`, `name` if topics have names,
            `words` (the topic's most probable), `effect`, `lower`, `upper`, `standard_error`, `p`
            (from the wider interval), `q` (adjusted over all rows by Benjamini and Hochberg's
            method) and `n_documents` with the label; with `refits` also `matched`, the share of
            refits that found the topic again. An effect that documents do not show is NaN, with a
            warning. Its library is that of the training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> fast = model.label_effects("news")
        >>> thorough = model.label_effects("news", refits=5)
        >>> len(fast) == len(thorough) == len(model.components_)
        True
        """
        again = None if refits is None else Refits(refits, corpus, self, random_state)
        asked = (labels, contrast, level, weight, again)
        with display(quiet=not self.verbose):
            return self._table(label_effects.effect_columns(self._model, *asked))

    def estimate_effects(
        self,
        formula: Scaling | None = None,
        labels: Any = None,
        *,
        corpus: Corpus | None = None,
        groups: Any = None,
        weight: Weight = "documents",
    ) -> TopicRegression:
        """Regress topics on labels, which the fit need not have had.

        Parameters
        ----------
        formula : str, ScalingFunction, Term or None, default=None
            The labels and the form of their effects, as `scaling` of `HDSP`, such as
            ``"~ ideology * s(day)"``; None is the formula of the fit. ``(1 | author)`` clusters
            documents by author.
        labels : Labels, table, matrix, list or None, default=None
            Further labels of the training documents, as in `fit`.
        corpus : Corpus or None, default=None
            Other documents with their labels, counted with the model's words; None is the training
            documents. Training documents that are passed again are recognised.
        groups : str, iterable of values or None, default=None
            Groups of documents that are not independent: a label column, or one value per document;
            None is those of the fit, or of the corpus.
        weight : str, default="documents"
            Whether each document weighs the same, or with ``"tokens"`` each token.

        Returns
        -------
        TopicRegression
            Effects, levels, curves, tests and checks.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> effects = model.estimate_effects("~ tags")
        >>> effects.levels("tags")["value"].unique().tolist()
        ['news', 'sport']
        """
        given = (formula, labels, corpus, groups, weight)
        with running(self, local=True) as run:
            return label_effects.estimate_effects(self._model, *given, run)

    def check_labels(self, corpus: Corpus, *, groups: Any = None, time: Any = None) -> Any:
        """Whether documents have the topics that their labels lead one to expect.

        By cell of labels (levels and tags, bins of numbers, pairs of labels), the mean proportions
        that are found in documents are compared with those that their labels lead one to expect.

        Parameters
        ----------
        corpus : Corpus
            Documents with their labels: those of training, which are read with topics that have
            not seen them, or others.
        groups : str, iterable of values or None, default=None
            The groups of documents, as in `estimate_effects`.
        time : str, sequence or None, default=None
            A number or date of the corpus, ``"order"`` for the order of documents, or one number or
            date per document: its parts show whether effects drift.

        Returns
        -------
        table
            One row per cell and topic, the largest misfit first: `label`, the column or columns of
            labels; `cell`, their values; `n_documents`; `topic`, its `name` if topics
            have names and its `words`; `found` and `expected`; their `difference`, its `error` and
            `z`; and the `verdict`, ``"curvature"`` in bins of a number, ``"interaction"`` at pairs
            of labels, ``"drift"`` in parts of time and ``"level"`` of a label by itself, where
            chance alone would reach such a z in one of twenty corpora; otherwise empty.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> model.check_labels(corpus)["verdict"].unique().tolist()
        ['']
        """
        with running(self, local=True) as run:
            columns = check_columns(self._model, corpus, groups, time, run)
        return self._table(columns)

    def predict_labels(
        self,
        X: Any,
        target: str,
        labels: object = None,
        values: Sequence[Any] | None = None,
        prior: bool | None = None,
        *,
        method: LabelMethod | None = None,
    ) -> Any:
        """Probabilities of a label's values, given documents' words.

        Words are evidence by the topics that labels lead one to expect, and by how much more often
        a label uses them than its topics predict.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        target : str
            The column of labels to predict, such as ``"rating"`` or ``"tags"``.
        labels : Labels, table, matrix, list or None, default=None
            The documents' other labels, as in `fit`. The target's own values are ignored, and
            missing labels have no effect.
        values : list or None, default=None
            The values to choose from; None is all that occurred in training.
        prior : bool or None, default=None
            Whether values that were frequent in training have a higher prior probability. None is
            True, or False if the model is `as_published`.
        method : str or None, default=None
            ``"calibrated"`` weighs this evidence, the documents' proportions and their other labels
            by a logistic regression on training documents, so that of the answers given 70 % about
            70 % are right; ``"generative"`` is Bayes' rule in the model, which takes words for
            independent and is far too sure. None is ``"calibrated"``, or ``"generative"`` if too
            few training documents have a value or the model is `as_published`.

        Returns
        -------
        table
            One row per document and one column per value. Levels of a category, or values of a
            number, are alternatives, and their probabilities sum to 1; each tag has a probability
            of its own. A number with more than fifty values is shown by as many groups of equal
            size, named by their means. Its library is that of the training labels, otherwise
            pandas.
        """
        parts = documents.probability_parts(
            self._model, X, target, labels, values, prior, method, self.n_jobs
        )
        return self._table(documents.joined_columns(parts))

    def top_words(self, n: int = 10) -> list[list[str]]:
        """The most probable words of each topic.

        Parameters
        ----------
        n : int, default=10
            The number of words per topic.

        Returns
        -------
        list of list of str
            One list per topic, the most probable word first.
        """
        return topic_tables.top_words(self._model, n)

    def topics(self, n_words: int = 10) -> Any:
        """A table of topics.

        Parameters
        ----------
        n_words : int, default=10
            The number of words in `words`, `distinctive_words` and `frex_words`.

        Returns
        -------
        table
            One row per topic: `topic`; its `name` (empty without one); `share` of the training
            tokens; its most probable `words`; `distinctive_words`, whose probability the topic
            raises most; `frex_words`, frequent in the topic and exclusive to it
            (`hdsp.metrics.frex`); `coherence`, the mean NPMI of the ten top words in the training
            documents; `weight`; `fitted_topics`, if some were merged; and, if there are labels,
            `raised_by` and `lowered_by`, those that change the topic's expected proportion most, of
            labels whose 90% interval excludes 0 (`label_effects`). Its library is that of the
            training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
        >>> list(model.topics(n_words=5).columns[:4])
        ['topic', 'name', 'share', 'words']
        """
        effects = label_effects.strongest_effects(self._model)
        return self._table(topic_tables.topic_columns(self._model, n_words, effects))

    def topic_correlations(self, level: float = 0.9) -> Any:
        """Topics that documents have together, or rather not, with intervals.

        Correlations over documents of how much there is of topics: what documents' lengths and
        uncertain topics hide of them is restored, and what comes from proportions adding up to 1
        is taken away, so that typical pairs have about 0. Of three topics or fewer, and of topics
        that were merged, nothing is known.

        Parameters
        ----------
        level : float, default=0.9
            The share of intervals that are to contain the correlation which many more and longer
            documents, read with the same topics, would show.

        Returns
        -------
        table
            One row per pair of topics in use: `topic` and `other`, with `name` and `other_name` if
            topics have names; `correlation` of what remains after what labels lead one to expect,
            with `lower` and `upper`; and the same without regard to labels, `raw`, `raw_lower` and
            `raw_upper`. Missing where topics hardly vary, or words do not tell them from mixtures
            of others. Its library is that of the training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 100, n_topics=5, random_state=0)
        >>> model = hdsp.HDSP(5, random_state=0).fit(corpus)
        >>> len(model.topic_correlations())
        10
        """
        return self._table(topic_tables.correlation_columns(self._model, level))

    def topics_of_word(self, word: str) -> Any:
        """The topics that a word is in.

        Parameters
        ----------
        word : str
            One of the model's words.

        Returns
        -------
        table
            One row per topic, the one with most of the word's tokens first: `topic`; `name`, if
            topics have names; `share`, the part of the word's tokens that the topic has;
            `probability` of the word in the topic; and its most probable `words`. Its library is
            that of the training labels, otherwise pandas.
        """
        return self._table(topic_tables.word_columns(self._model, word))

    def topic_words(
        self,
        topic: int | None = None,
        by: str | None = None,
        *,
        n_words: int = 20,
        level: float = 0.9,
    ) -> Any:
        """The most probable words of topics, by level of a category if the model has its versions.

        Parameters
        ----------
        topic : int or None, default=None
            The number of a topic; None for all topics.
        by : str or None, default=None
            The `content` of the fit, for the words of each of its levels.
        n_words : int, default=20
            The number of words per topic; with `by`, those that any level uses most.
        level : float, default=0.9
            The confidence level of the intervals.

        Returns
        -------
        table
            One row per topic and word: `topic`; `name`, if topics have names; `word`; and its
            `probability`. With `by`, one row per level: `label`, the level; `probability` of the
            word in the level's version of the topic; `ratio` of its share in the level's tokens of
            the topic to that in other levels', shrunk towards 1, with `lower` and `upper` limits
            (missing for words of fewer than five tokens in the topic); and `n`, the expected
            tokens. The table is of the library of the training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> import pandas as pd
        >>> side = pd.DataFrame({"side": ["left", "right"] * 100})
        >>> corpus, _ = hdsp.simulate(side, n_topics=3, random_state=0)
        >>> model = hdsp.HDSP(3, content="side", random_state=0).fit(corpus)
        >>> list(model.topic_words(n_words=1)["topic"])
        [0, 1, 2]
        >>> list(model.topic_words(0, by="side", n_words=1)["label"])
        ['left', 'right']
        """
        return self._table(topic_word_columns(self._model, topic, by, n_words, level))

    def label_words(
        self, label: str | None = None, topic: int | None = None, *, level: float = 0.9
    ) -> Any:
        """Words that labels use more or less than their topics lead one to expect.

        In a fit with `content`, words that levels of this category use more or less than others in
        the same topics.

        Parameters
        ----------
        label : str or None, default=None
            A tag or a level, or a column of them; None is all. With `content`, this category or one
            of its levels.
        topic : int or None, default=None
            The number of a topic, with `content`; None is all.
        level : float, default=0.9
            The probability of intervals.

        Returns
        -------
        table
            One row per label and word whose interval excludes 1: `label`; `word`; `ratio` of the
            word's tokens in the label's documents to those that their topics and their other labels
            lead one to expect, shrunk towards 1; `lower` and `upper`; and `n`, the tokens. Such
            words hold for all topics. With `content`, one row per topic, level and word: `topic`
            and `name`, if topics have names, come first; `ratio` is that of the word's share in the
            level's tokens of the topic to that in other levels', and `n` are the expected tokens of
            the word in the level. Its library is that of the training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> list(model.label_words("sport").columns)
        ['label', 'word', 'ratio', 'lower', 'upper', 'n']
        """
        return self._table(label_word_columns(self._model, label, topic, level))

    def document_topics(self, X: Any, labels: object = None) -> Any:
        """Topic proportions of documents beside their labels, as one long table.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.

        Returns
        -------
        table
            One row per document and topic: `document`, the row of `X`; `topic`; `name`, if topics
            have names; `proportion`, as in `transform`; `id` and `group`, if a corpus has them; and
            the documents' labels by column, also those that the model does not know, with
            ``_label`` behind a name that is taken. Its library is that of the training labels,
            otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> table = model.document_topics(corpus)
        >>> list(table.columns), len(table)
        (['document', 'topic', 'proportion', 'tags'], 300)
        """
        return self._table(documents.document_topic_columns(self._model, X, labels, self.n_jobs))

    def ldavis(self, X: Any, labels: object = None) -> dict[str, Any]:
        """What ``pyLDAvis.prepare(**model.ldavis(corpus))`` takes.

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.

        Returns
        -------
        dict
            By name the arguments `topic_term_dists` [T, V], `doc_topic_dists` [M, T], `doc_lengths`
            [M], `vocab` and `term_frequency` [V]. pyLDAvis numbers topics anew by size unless
            ``sort_topics=False`` is passed, and from 1 unless ``start_index=0``.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> model.ldavis(corpus)["doc_topic_dists"].shape
        (100, 3)
        """
        return documents.ldavis_arrays(self._model, X, labels, self.n_jobs)

    def typical_documents(
        self,
        X: Any,
        labels: object = None,
        *,
        label: str | None = None,
        n: int = 3,
        texts: Sequence[str] | None = None,
    ) -> Any:
        """The documents that show best what a topic, or a label, is about.

        Those of a topic have the largest proportions of it. Those of a label carry it, and their
        words make it most probable (`predict_labels`).

        Parameters
        ----------
        X : array or sparse array of shape [M, V], or Corpus
            Word counts, or a corpus, which has its own labels.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, as in `fit`.
        label : str or None, default=None
            A tag or a level of a category; None is every topic.
        n : int, default=3
            The number of documents of each.
        texts : sequence of str or None, default=None
            The texts of all documents, to have those of typical ones in the table.

        Returns
        -------
        table
            One row per document, the most typical first: `topic`, its `name` if topics have names,
            and the `proportion` of the topic in the document, or `label` and the `probability` of
            the label; `document`, the row of `X`; `id`, if `X` is a corpus with ids; and its
            `text`, if there are `texts`. Its library is that of the training labels, otherwise
            pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> model.typical_documents(corpus, n=1)["topic"].tolist()
        [0, 1, 2]
        >>> document = model.typical_documents(corpus, label="sport", n=1)["document"].item()
        >>> document % 2
        1
        """
        documents.check_text_of_each(texts, X, "HDSP.typical_documents")
        given = (X, labels, label, n, self.n_jobs, texts)
        return self._table(documents.typical_columns(self._model, *given))

    def simulate(
        self,
        labels: object = None,
        *,
        n_documents: int | None = None,
        document_length: float = 100.0,
        random_state: Any = None,
    ) -> Corpus:
        """Draw new documents from the fitted model.

        Parameters
        ----------
        labels : Labels, table, matrix, list or None, default=None
            The new documents' labels, as in `fit`; None draws `n_documents` without labels.
        n_documents : int or None, default=None
            The number of documents, required if `labels` is None.
        document_length : float, default=100.0
            The mean number of tokens per document; lengths are Poisson distributed.
        random_state : int, Generator or None, default=None
            A seed, or a NumPy generator.

        Returns
        -------
        Corpus
            The documents with their labels.
        """
        return documents.simulate(self._model, labels, n_documents, document_length, random_state)

    def stability(
        self,
        corpus: Corpus,
        numbers: Sequence[int] | None = None,
        seeds: int | Sequence[int] = 4,
        *,
        per_fit: bool = False,
        labels: str | Sequence[str] | None = None,
        level: float = 0.9,
    ) -> Any:
        """Topics, and effects of labels, that further fits of the same documents find again.

        The model is fitted again with other seeds, and with other numbers of topics if you pass
        some. The topics of each fit are matched with the model's. A topic counts as found again if
        it shares at least half of its probability with its match.

        Parameters
        ----------
        corpus : Corpus
            The documents that the model was fitted to, with their labels and groups. Of counts make
            ``Corpus(X, words=model.words_, labels=labels)``.
        numbers : sequence of int or None, default=None
            Numbers of topics; None fits with the parameters of the model.
        seeds : int or sequence of int, default=4
            How many seeds, those that follow the model's, or the seeds. Each is combined with each
            number.
        per_fit : bool, default=False
            Whether to return rows per fit, with the effects of labels.
        labels : str, list of str or None, default=None
            With `per_fit`: names of labels, or of whole columns; None is all.
        level : float, default=0.9
            With `per_fit`: the confidence level of the intervals, as in `label_effects`.

        Returns
        -------
        table
            One row per topic: `topic`, its `name` if topics have names and its `words`;
            `similarity`, the mean probability that the topic shares with its matches, from 0 to 1;
            `lowest`, that with the least similar match; `found_in`, the number of fits that found
            it again; and `fits`.
            With `per_fit`, one row per fit, label and topic: `number` and `seed` of the fit;
            `topic`, `name` and `words`; `matched`, the fit's topic that is most like it (-1 without
            a match), their `similarity` and whether it was `found` again; and, if there are labels,
            `label`, `contrast`, the `effect` on the matched topic with `lower` and `upper`, whether
            it has the `same_sign` on a topic that was found, and whether its interval then also
            `excludes_zero`. Its library is that of the training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(4, init="nmf", random_state=0).fit(corpus)
        >>> model.stability(corpus, seeds=2)["fits"].tolist()
        [2, 2, 2, 2]
        >>> table = model.stability(corpus, numbers=[4, 5], seeds=[1], per_fit=True, labels="news")
        >>> agreement = table.groupby(["label", "topic"])[["same_sign", "excludes_zero"]].mean()
        >>> len(agreement)
        4
        """
        with display(quiet=not self.verbose):
            given = (corpus, numbers, seeds, per_fit, labels, level)
            return self._table(stability_columns(self._model, self, *given)[1])

    def name_topics(self, names: Mapping[int, str | None]) -> Self:
        """Give topics names, which tables, plots and reports show, and which `save` keeps.

        Parameters
        ----------
        names : mapping of int to str or None
            Names by the number of the topic. Other topics keep theirs; None takes one away.

        Returns
        -------
        HDSP
            The model itself.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> model.name_topics({0: "Budget", 2: "Football"}).topic_names_
        {0: 'Budget', 2: 'Football'}
        >>> model.name_topics({2: None}).topic_names_
        {0: 'Budget'}
        """
        self._fitted = with_topic_names(self._model, names)
        return self

    def merge_topics(self, topics: Sequence[int] | Sequence[Sequence[int]]) -> Self:
        """A model in which some topics are one, and all that is said of them is added up.

        The new model keeps the topics of the fit (`fitted_topics_`) and computes with them, so that
        proportions, expected proportions, effects and their draws are exact sums, and words and
        labels are predicted as before. Only the coherence of a merged topic is unknown.

        Parameters
        ----------
        topics : list of int, or list of lists of int
            The topics to merge, such as ``[3, 17]``; or several such lists.

        Returns
        -------
        HDSP
            A new model, its topics numbered anew by size. A merged topic has the names of its
            topics, joined by "+".

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(random_state=0).fit(corpus)
        >>> merged = model.merge_topics([0, 2])
        >>> merged.fitted_topics_
        ((0, 2), (1,))
        >>> both = model.transform(corpus)[:, [0, 2]].sum(axis=1)
        >>> bool((merged.transform(corpus)[:, 0] == both).all())
        True
        """
        result = copy(self)
        result._fitted = with_merged_topics(self._model, topics)
        return result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a single file, which holds no code.

        An existing file is replaced once the new one is complete. All constructor parameters are
        saved, except `checkpoint`, and `random_state` if it is not a seed.

        Parameters
        ----------
        path : str or path
            Where to write; by convention the name ends in ``.hdsp``.
        """
        fitted = self._model
        # A file answers everything, so that whoever saves a doubtful model learns of it.
        topic_tables.count_returning(fitted)
        self._check_settings()
        storable_settings(self.text_settings_, "model")
        save_model(Path(path), fitted, self.get_params(deep=False))

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
            What `stability` returned; None shows no stability.
        most_documents : int, default=1000
            How many documents the page holds: typical ones, and others at random.
        """
        from hdsp.report import write_report

        check_is_fitted(self)
        check_whole(most_documents, "most_documents", 1)
        with display(quiet=not self.verbose):
            shown: dict[str, Any] = {"texts": texts, "title": title, "names": names}
            shown |= {"stability": stability, "most_documents": most_documents}
            write_report(self, path, corpus, **shown)

    def article(
        self,
        folder: str | os.PathLike[str],
        corpus: Corpus | None = None,
        *,
        texts: Sequence[str] | None = None,
        stability: Any = False,
        refits: int | None = None,
    ) -> None:
        """Write what papers print: methods, tables, figures and references.

        ``methods.md``, paragraphs from the model's own record that cite ``references.bib``;
        ``topics.csv`` and ``topics.tex``, the topics in use with their shares, probable and FREX
        words and two typical texts; ``effects.csv``, all of `label_effects`, ``effects.tex`` and
        ``effects.pdf``, the largest of the six strongest labels, and ``results.md``, a sentence for
        each of these; ``curves.csv`` and ``curves.pdf``, if labels are numbers; ``selection.pdf``,
        if the number of topics was searched for; ``stability.csv``, if asked for; and
        ``provenance.json``, versions and checksums. Figures need matplotlib
        (``pip install 'hdsp[plots]'``).

        Parameters
        ----------
        folder : str or path
            A new or empty folder. Files of an earlier call are replaced unless they were changed.
        corpus : Corpus or None, default=None
            The documents that the model was fitted to, with their labels and groups; None leaves
            out typical documents.
        texts : sequence of str or None, default=None
            The texts of the documents; None shows their ids or numbers in ``topics.csv``.
        stability : bool or table, default=False
            True refits the model with three quarters of its topics, as many and a third more, with
            two seeds each; a table is one that ``stability(per_fit=True)`` returned.
        refits : int or None, default=None
            Number of refits over which effects are pooled, as in `label_effects`.

        Examples
        --------
        >>> import hdsp, tempfile
        >>> from pathlib import Path
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(4, init="nmf", random_state=0).fit(corpus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.article(folder, corpus)
        ...     print(Path(folder, "methods.md").read_text()[:60])
        # Methods
        <BLANKLINE>
        **Documents.** The corpus has 100 documents with
        """
        from hdsp.article.folder import write_article

        check_is_fitted(self)
        with display(quiet=not self.verbose):
            write_article(self, folder, corpus, texts=texts, stability=stability, refits=refits)

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
        fitted, parameters = load_model(Path(path), cls().get_params(deep=False))
        model = cls(**parameters)
        try:
            model._check_settings()
        except (TypeError, ValueError) as error:
            raise unusable(Path(path), error) from error
        model._fitted, model._method = fitted, fitted.method
        return model

    @property
    def _model(self) -> FittedModel:
        """The model of all documents so far: all attributes and answers are read from it."""
        check_is_fitted(self)
        self._fitted = refresh_model(self._fitted, self.n_jobs)
        return self._fitted

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | ({"_fitted": self._model} if "_fitted" in state else {})

    def __sklearn_clone__(self) -> Self:
        clone: Self = super().__sklearn_clone__()
        clone._method = self._method
        return clone

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    # What they are is said above, once.
    components_: FloatArray = _of_model(attrgetter("components"))
    topic_weight_: FloatArray = _of_model(attrgetter("topic_weight"))
    topic_tokens_: FloatArray = _of_model(attrgetter("tokens"))
    n_topics_: int = _of_model(attrgetter("report.n_topics"))
    n_topics_range_: tuple[int, int] | None = _of_model(attrgetter("report.n_topics_range"))
    number_summary_: str = _of_model(topic_tables.number_sentence)
    n_returning_: int | None = _of_model(topic_tables.count_returning)
    search_: list[dict[str, Any]] = _of_model(attrgetter("report.search"))
    history_: list[dict[str, float]] = _of_model(attrgetter("report.history"))
    init_: str = _of_model(attrgetter("report.init"))
    stages_: list[dict[str, Any]] = _of_model(attrgetter("report.stages"))
    n_iter_: int = _of_model(lambda model: len(model.report.history))
    converged_: bool = _of_model(attrgetter("report.converged"))
    topic_names_: dict[int, str] = _of_model(lambda model: dict(model.topic_names))
    fitted_topics_: tuple[tuple[int, ...], ...] = _of_model(attrgetter("groups.members"))
    words_: tuple[str, ...] = _of_model(attrgetter("source.words"))
    text_settings_: TextSettings | None = _of_model(attrgetter("source.text_settings"))
    reading_: ReadingSettings | None = _of_model(attrgetter("source.reading"))
    label_schema_: LabelSchema = _of_model(attrgetter("schema"))
    label_names_: tuple[str, ...] = _of_model(attrgetter("schema.names"))
    label_scale_: FloatArray = _of_model(documents.label_scale)
    n_documents_: int = _of_model(attrgetter("n_documents"))
    proportions_: FloatArray = _of_model(attrgetter("proportions"))
    corpus_concentration_: float = _of_model(attrgetter("state.corpus_concentration"))
    document_concentration_: float = _of_model(attrgetter("state.document_concentration"))
    predictive_concentration_: float = _of_model(attrgetter("predictive_concentration"))
    n_features_in_: int = _of_model(lambda model: len(model.source.words))
    _n_features_out: int = _of_model(lambda model: len(model.groups))

    @property
    def provenance_(self) -> dict[str, Any]:
        """Versions, seed, settings and data of the fit, as plain values."""
        return topic_tables.provenance(self._model, self)

    @property
    def feature_names_in_(self) -> Any:
        """The words, if `fit` was given a table whose columns have names."""
        if not self._model.source.named:
            raise AttributeError("HDSP has no `feature_names_in_`: it was fitted to no table.")
        return np.array(self._model.source.words, dtype=object)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that `transform` returns, with the names of topics.

        Parameters
        ----------
        input_features : None, default=None
            Ignored.

        Returns
        -------
        str array of shape [T]
            Such as ``"hdsp0"``, or ``"hdsp3 Budget"`` for a topic with a name.
        """
        columns = super().get_feature_names_out(input_features)
        names = self._model.topic_names
        return np.array(
            [f"{one} {names[k]}" if k in names else one for k, one in enumerate(columns)],
            dtype=object,
        )

    def _table(self, columns: Mapping[str, Any]) -> Any:
        """A table of the library that the training labels came from."""
        return make_frame(columns, self._model.source.frames)

    def __sklearn_tags__(self) -> Tags:
        """Tags for scikit-learn: sparse, non-negative input; float32 is preserved."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_call(self, X: Any, y: object, labels: object, owner: str) -> None:
        """Check what a fit is given, and all parameters."""
        if y is not None and labels is None:
            warn_caller(f"{owner} ignores `y`: pass the documents' labels as `labels`.", FitWarning)
        check_not_dask(X, owner)
        self._check_settings()

    def _check_settings(self) -> None:
        """Check all parameters."""
        self._validate_params()
        check_executor(self.executor)
        if self.checkpoint is not None and Path(self.checkpoint).is_file():
            raise ValueError(
                f"`checkpoint` of HDSP must be a folder. Got the file {str(self.checkpoint)!r}."
            )
        check_seeds(self.seeds, most_topics(self))

    def _parameters(self) -> FitParameters:
        return FitParameters(**self.get_params(deep=False))

    def _fit_warnings(self, finished: bool) -> Iterator[tuple[str, type[Warning]]]:
        """Warnings to issue after a fit, as (message, category)."""
        ceiling = self.max_components
        if 1 in (self.n_components, ceiling if self.n_components == "auto" else None):
            yield (
                "A model with one topic cannot show label effects: n_components of HDSP should be "
                "at least 2.",
                FitWarning,
            )
        elif self.n_components == "auto" and self.n_topics_ >= _NEAR_CEILING * ceiling:
            yield (
                f"{self.n_topics_} topics are in use, close to max_components={ceiling}, which may "
                "limit their number: raise max_components of HDSP.",
                FitWarning,
            )
        if self.inference == "stochastic" and self.n_documents_ <= _SMALL:
            yield (
                f"HDSP.fit took steps of stochastic inference on {self.n_documents_:,} documents, "
                "where batch inference takes about as long and predicts words up to 6 % better: "
                "leave `inference` out, and begin with partial_fit if further documents will come.",
                FitWarning,
            )
        if finished and (mixed := topic_tables.mixture_message(self._model)) is not None:
            yield mixed, UnreliableTopicsWarning
        if not finished:
            wanted = f"the bound settled to tol={self.tol}"
            if self.converged_:
                wanted = "the number of topics was found"
            again = "" if self.checkpoint is None else "; `fit` goes on from its checkpoint"
            yield (
                f"HDSP was interrupted after pass {self.n_iter_}, before {wanted}: the model is as "
                f"that pass left it{again}.",
                ConvergenceWarning,
            )
        elif not self.converged_:
            yield (
                f"HDSP stopped after max_iter={self.max_iter} passes before the bound settled to "
                f"tol={self.tol}: raise max_iter or tol.",
                ConvergenceWarning,
            )
