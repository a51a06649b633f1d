"""The methods and attributes of a fitted model."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import joblib
import numpy as np
from scipy.sparse import csr_array, eye_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hdsp.corpus import Corpus, Labels, LabelSchema, TextSettings, make_frame
from hdsp.execution import InProcess
from hdsp.metrics import topic_top_words
from hdsp.model import draw_documents, split_tokens, word_log_likelihood
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.prediction import (
    LABEL_METHODS,
    METHODS,
    FittedModel,
    LabelMethod,
    Method,
    associated_labels,
    bootstrap_interval,
    distinctive_words,
    encode_labels,
    make_candidates,
    make_contrasts,
    without_target,
)
from hdsp.scaling import Design, used_columns
from hdsp.validation import (
    check_choice,
    check_counts,
    check_flag,
    check_share,
    count_rows,
    make_generator,
)

# Labels in each of the columns `raised_by` and `lowered_by` of the table of topics.
_ASSOCIATED = 3
# A table before it is a frame of some library.
Columns: TypeAlias = dict[str, list[Any]]
# How scikit-learn validates counts.
VALIDATION: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_non_negative": True,
}


class FittedQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The methods and attributes of a fitted `HDSP`.

    They all use `_model`, which a subclass sets.
    """

    _model: FittedModel
    n_jobs: int | None

    def transform(self, X: Any, labels: object = None) -> FloatArray:
        """Topic proportions of documents, given their words and labels.

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
        check_is_fitted(self)
        counts, design = self._read_new(X, labels, "transform")
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        with self._executor():
            return self._model.posterior(counts, design).astype(dtype)

    def score(self, X: Any, y: object = None, labels: object = None) -> float:
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

        Returns
        -------
        float
            The mean log probability.
        """
        return float(-np.log(self.perplexity(X, labels=labels, given="completion")))

    def expected_topics(self, labels: object, method: Method = "calibrated") -> FloatArray:
        """Expected topic proportions of documents, given their labels alone.

        Parameters
        ----------
        labels : Labels, table, matrix or list
            The documents' labels, as in `fit`.
        method : str, default="calibrated"
            The definition of the expectation: ``"calibrated"``, a multinomial regression of the
            training documents' topics on their labels, which predicts best; ``"exact"``, the mean
            of the normalised gamma variables; ``"ratio"``, the paper's beta p_k E[s_k], normalised.

        Returns
        -------
        float array of shape [M, T]
            Expected proportions; rows sum to 1.
        """
        check_is_fitted(self)
        check_choice(method, METHODS, "method", "HDSP.expected_topics")
        _, design = self._read_labels(labels, None, "HDSP.expected_topics")
        return self._model.expected(design, method)

    def perplexity(
        self,
        X: Any,
        labels: object = None,
        given: Literal["labels", "completion"] = "labels",
        per_document: bool = False,
        method: Method = "calibrated",
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
        method : str, default="calibrated"
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
        check_is_fitted(self)
        if interval is not None:
            check_share(interval, "interval", "HDSP.perplexity")
        counts, design = self._read_new(X, labels, "perplexity")
        check_choice(method, METHODS, "method", "HDSP.perplexity")
        check_choice(given, ("labels", "completion"), "given", "HDSP.perplexity")
        with self._executor():
            if given == "labels":
                proportions, scored = self._model.expected(design, method), counts
            else:
                observed, scored = split_tokens(counts)
                proportions = self._model.posterior(observed, design)
            log_likelihood = word_log_likelihood(scored, proportions, self._model.word_share())
        tokens = np.asarray(scored.sum(axis=1))
        if per_document:
            with np.errstate(invalid="ignore"):
                return np.where(tokens > 0, np.exp(-log_likelihood / tokens), np.nan)
        if tokens.sum() == 0:
            raise ValueError(
                "HDSP.perplexity found no token to predict. Pass documents with more words."
            )
        perplexity = float(np.exp(-log_likelihood.sum() / tokens.sum()))
        if interval is None:
            return perplexity
        return perplexity, *bootstrap_interval(log_likelihood, tokens, interval)

    def label_effects(
        self,
        level: float = 0.9,
        *,
        labels: str | Sequence[str] | None = None,
        contrast: tuple[Any, Any] | None = None,
        method: Literal["calibrated", "ratio"] = "calibrated",
        random_state: int = 0,
    ) -> Any:
        """Effects of labels on topics, with intervals.

        An effect is the change of a topic's expected proportion, averaged over the training
        documents (a random thousand if there are more): with a tag and without it; at a level of
        a category and at its other levels, by their frequency; with a number raised by one
        standard deviation.

        Parameters
        ----------
        level : float, default=0.9
            The probability that an interval contains the effect.
        labels : str, list of str or None, default=None
            Names of labels, or of whole columns; None is all.
        contrast : tuple of two values or None, default=None
            Two levels of the category, or two values of the number, that `labels` names: the
            effect of changing from the first to the second.
        method : str, default="calibrated"
            The method of `expected_topics`: ``"calibrated"``, or ``"ratio"`` for the scaling
            function's weights with their own posterior, which is less accurate.
        random_state : int, default=0
            A seed; equal seeds give equal intervals.

        Returns
        -------
        table
            One row per label and topic, with the columns `label`, `contrast`, `topic`, `effect`,
            `lower`, `upper`, `expected` (the proportion after the change) and `otherwise` (before
            it). Its library is that of the training labels, otherwise pandas.
        """
        columns = effect_columns(self, level, labels, contrast, method, random_state)
        return make_frame(columns, self._model.source.frames)

    def predict_labels(
        self,
        X: Any,
        target: str,
        labels: object = None,
        values: Sequence[Any] | None = None,
        prior: bool = True,
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
        prior : bool, default=True
            Whether values that were frequent in training have a higher prior probability.
        method : str or None, default=None
            ``"calibrated"`` weighs this evidence, the documents' proportions and their other labels
            by a logistic regression on training documents, so that of the answers given 70 % about
            70 % are right; ``"generative"`` is Bayes' rule in the model, which takes words for
            independent and is far too sure. None is ``"calibrated"``, except for models that an
            earlier version has saved, which do not have it.

        Returns
        -------
        table
            One row per document and one column per value. Levels of a category, or values of a
            number, are alternatives, and their probabilities sum to 1; each tag has a probability
            of its own. A number with more than fifty values is shown by as many groups of equal
            size, named by their means. Its library is that of the training labels, otherwise
            pandas.
        """
        columns = probability_columns(self, X, target, labels, values, prior, method)
        return make_frame(columns, self._model.source.frames)

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
        check_is_fitted(self)
        return [[self.words_[i] for i in row] for row in topic_top_words(self.components_, n)]

    def topics(self, n_words: int = 10) -> Any:
        """A table of topics.

        Parameters
        ----------
        n_words : int, default=10
            The number of words in `top_words` and in `distinctive_words`.

        Returns
        -------
        table
            One row per topic: `topic`; `weight`; `token_share`; `top_words`; `distinctive_words`,
            whose probability the topic raises most; `coherence`, the mean NPMI of the ten top
            words in the training documents; and, if there are labels, `raised_by` and
            `lowered_by`, those that change the topic's expected proportion most
            (`label_effects`). Its library is that of the training labels, otherwise pandas.
        """
        return make_frame(topic_columns(self, n_words), self._model.source.frames)

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
        check_is_fitted(self)
        parsed, design = self._read_labels(labels, n_documents, "HDSP.simulate")
        rng = make_generator(random_state)
        lengths = rng.poisson(document_length, size=len(parsed)).astype(np.float64)
        truth = self._model.draw(rng)
        counts, _ = draw_documents(truth, self._model.scaling, design, lengths, rng)
        return Corpus(counts, words=self.words_, labels=parsed)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    @property
    def label_schema_(self) -> LabelSchema:
        """The label space of training: blocks of tags, categories and numbers."""
        return self._fitted().schema

    @property
    def label_names_(self) -> tuple[str, ...]:
        """The J labels."""
        return self._fitted().schema.names

    @property
    def words_(self) -> tuple[str, ...]:
        """The V words."""
        return self._fitted().source.words

    @property
    def text_settings_(self) -> TextSettings | None:
        """How the corpus' texts were counted; None if counts were given."""
        return self._fitted().source.text_settings

    @property
    def topic_weight_(self) -> FloatArray:
        """The corpus weights p of topics, [T]."""
        return self._fitted().state.topic_weight

    @property
    def topic_tokens_(self) -> FloatArray:
        """Expected training tokens of each topic, [T]."""
        return self._fitted().topic_tokens()

    @property
    def corpus_concentration_(self) -> float:
        """The learned value of alpha."""
        return self._fitted().state.corpus_concentration

    @property
    def document_concentration_(self) -> float:
        """The learned value of beta."""
        return self._fitted().state.document_concentration

    @property
    def predictive_concentration_(self) -> float:
        """beta for new documents: in `transform`, completion and `score`."""
        return self._fitted().predictive_concentration

    @property
    def history_(self) -> list[dict[str, float]]:
        """One row per pass of the chosen start."""
        return self._fitted().report.history

    @property
    def search_(self) -> list[dict[str, float]]:
        """One row per number of topics that the search tried."""
        return self._fitted().report.search

    @property
    def n_topics_range_(self) -> tuple[int, int] | None:
        """Numbers of topics that are about as good; None where nothing was searched."""
        return self._fitted().report.n_topics_range

    @property
    def n_iter_(self) -> int:
        """The number of passes of the chosen start."""
        return len(self._fitted().report.history)

    @property
    def converged_(self) -> bool:
        """Whether the bound settled."""
        return self._fitted().report.converged

    @property
    def n_topics_(self) -> int:
        """Topics in use, with at least an average document's number of tokens."""
        return self._fitted().report.n_topics

    def _fitted(self) -> FittedModel:
        check_is_fitted(self)
        return self._model

    @property
    def label_scale_(self) -> FloatArray:
        """[T, J] expected scale of topics under each label alone: what it multiplies them by."""
        check_is_fitted(self)
        alone = csr_array(eye_array(self._model.schema.n_labels, format="csr", dtype=np.float64))
        scale = self._model.scaling.expected_scale(self._model.state.scaling, alone)
        return np.asarray(scale).T

    def _used(self) -> BoolArray:
        """Which labels the scaling function takes, [J]."""
        return used_columns(self._model.scaling, self._model.schema.n_labels)

    @cached_property
    def components_(self) -> FloatArray:
        """Dirichlet parameters of the topics, [T, V], largest topic first."""
        return np.ascontiguousarray(self._fitted().state.topics.T, dtype=np.float64)

    @property
    def _n_features_out(self) -> int:
        return self._model.state.n_topics

    def _executor(self) -> InProcess:
        # All cores by default, but one inside a joblib worker.
        return InProcess(joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))

    def _read_new(self, X: Any, labels: object, method: str) -> tuple[csr_array, Design]:
        owner = f"HDSP.{method}"
        if isinstance(X, Corpus):
            if labels is not None:
                raise ValueError(
                    f"`labels` of {owner} must be None where X is a Corpus, which carries its own."
                )
            counts = X.counts
            if X.words != self.words_:
                raise ValueError(
                    f"X of {owner} has other words than the model: {len(X.words)} against "
                    f"{len(self.words_)}, or in another order. Count it with the vectoriser the "
                    "model was trained with."
                )
            labels = X.labels
        else:
            X = validate_data(self, X, reset=False, **VALIDATION)
            counts = check_counts(X, owner)
        if counts.shape[0] == 0:
            raise ValueError(f"X of {owner} has no documents.")
        return counts, self._read_labels(labels, counts.shape[0], owner)[1]

    def _read_labels(
        self, labels: Any, n_documents: int | None, owner: str
    ) -> tuple[Labels, Design]:
        """Labels of new documents and their design [M, J]."""
        if n_documents is None:
            if labels is None:
                remedy = ", or `n_documents`" if owner == "HDSP.simulate" else ""
                raise ValueError(f"{owner} needs labels{remedy}: one row for each document.")
            n_documents = count_rows(labels, owner)
        parsed = self._model.schema.read(labels, n_documents, owner)
        return parsed, encode_labels(self._model.schema, self._model.scaling, parsed)


def topic_columns(model: FittedQueries, n_words: int = 10) -> Columns:
    """The columns of `HDSP.topics`."""
    check_is_fitted(model)
    fitted = model._model
    distinctive = distinctive_words(fitted.word_share().T, model.topic_weight_, n_words)
    tokens = fitted.topic_tokens()
    columns: Columns = {
        "topic": list(range(len(model.components_))),
        "weight": model.topic_weight_.tolist(),
        "token_share": (tokens / tokens.sum()).tolist(),
        "top_words": [" ".join(words) for words in model.top_words(n_words)],
        "distinctive_words": [" ".join(model.words_[i] for i in row) for row in distinctive],
        "coherence": model._model.report.coherence.tolist(),
    }
    contrasts = make_contrasts(fitted.schema, model._used(), None, None)
    if contrasts:
        effect = fitted.typical_effects(contrasts)
        names = [contrast.label for contrast in contrasts]
        raised, lowered = associated_labels(effect, _ASSOCIATED)
        columns["raised_by"] = [[names[j] for j in row] for row in raised]
        columns["lowered_by"] = [[names[j] for j in row] for row in lowered]
    return columns


def effect_columns(
    model: FittedQueries,
    level: float = 0.9,
    labels: str | Sequence[str] | None = None,
    contrast: tuple[Any, Any] | None = None,
    method: Literal["calibrated", "ratio"] = "calibrated",
    random_state: int = 0,
) -> Columns:
    """The columns of `HDSP.label_effects`."""
    check_is_fitted(model)
    check_share(level, "level", "HDSP.label_effects")
    check_choice(method, ("calibrated", "ratio"), "method", "HDSP.label_effects")
    contrasts = make_contrasts(model._model.schema, model._used(), labels, contrast)
    found = model._model.effects(contrasts, level, method, random_state)
    n_topics = len(model.components_)
    columns: Columns = {
        "label": [c.label for c in contrasts for _ in range(n_topics)],
        "contrast": [c.description for c in contrasts for _ in range(n_topics)],
        "topic": list(range(n_topics)) * len(contrasts),
    }
    for name in ("effect", "lower", "upper", "expected", "otherwise"):
        columns[name] = getattr(found, name).ravel().tolist()
    return columns


def probability_columns(
    model: FittedQueries,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool = True,
    method: LabelMethod | None = None,
) -> Columns:
    """The columns of `HDSP.predict_labels`."""
    check_is_fitted(model)
    check_flag(prior, "prior", "HDSP.predict_labels")
    if method is not None:
        check_choice(method, LABEL_METHODS, "method", "HDSP.predict_labels")
    candidates = make_candidates(model._model, target, values, prior)
    counts, design = model._read_new(X, labels, "predict_labels")
    known = without_target(model._model.schema, target, design)
    if method is None:
        method = "calibrated" if target in model._model.label_regressions else "generative"
    elif method == "calibrated" and target not in model._model.label_regressions:
        raise ValueError(
            f"HDSP.predict_labels has nothing to calibrate {target!r} with: the model was saved by "
            "an earlier version, or too few training documents tell. Fit it again, or choose "
            '`method="generative"`.'
        )
    with model._executor():
        found = model._model.label_probabilities(counts, known, candidates, method)
    return dict(zip(candidates.names, found.T.tolist(), strict=True))
