"""What can be asked of a fitted model."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import joblib
import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hdsp.corpus import Corpus, Labels, LabelSchema, make_frame
from hdsp.corpus.validation import check_counts, count_rows
from hdsp.inference.parameters import (
    check_choice,
    check_flag,
    check_share,
    make_generator,
)
from hdsp.kernels import Threads
from hdsp.metrics import topic_top_words
from hdsp.model import draw_documents
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.prediction import (
    METHODS,
    FittedModel,
    Method,
    associated_labels,
    bootstrap_interval,
    distinctive_words,
    encode_labels,
    make_candidates,
    make_contrasts,
    split_tokens,
    without_target,
    word_log_likelihood,
)
from hdsp.scaling import Design, used_columns

# Labels named in the table of topics, either way.
_ASSOCIATED = 3
# A table before it is a frame of some library.
Columns: TypeAlias = dict[str, list[Any]]
# How scikit-learn looks at counts.
VALIDATION: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_non_negative": True,
}


class FittedQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The questions of `HDSP`: proportions, perplexity, effects, labels, topics.

    Answers come from `_model`; a subclass sets it, with `words_`, `topic_weight_`, `n_jobs` and
    what `topics` shows.
    """

    _model: FittedModel
    _coherence: FloatArray
    _frames: str | None
    words_: tuple[str, ...]
    topic_weight_: FloatArray
    n_jobs: int | None

    def transform(self, X: Any, labels: object = None) -> FloatArray:
        """Proportions of topics in documents, [M, T]: each row sums to 1.

        Parameters
        ----------
        X : [M, V] counts or a `Corpus`
        labels : as in `fit`; unknown ones are ignored with a warning, missing ones do nothing
        """
        check_is_fitted(self)
        counts, design = self._read_new(X, labels, "transform")
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        with self._threads() as threads:
            return self._model.posterior(counts, design, threads).astype(dtype)

    def score(self, X: Any, y: object = None, labels: object = None) -> float:
        """Mean log probability of a held-out token: minus the log of the completion perplexity.

        Half of each document's tokens, and its labels, predict the other half; higher is better.
        """
        return float(-np.log(self.perplexity(X, labels=labels, given="completion")))

    def expected_topics(self, labels: object, method: Method = "calibrated") -> FloatArray:
        """Expected proportions of documents with these labels, [M, T], before a word is seen.

        Parameters
        ----------
        labels : as in `fit`
        method : ``"calibrated"``, a multinomial regression of the training documents' topics on
            their labels, which predicts best; ``"exact"``, the mean of the normalised gamma
            variables; ``"ratio"``, the paper's beta p_k E[s_k], normalised
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
        """exp(- mean log probability of a word) of documents.

        Words outside the vocabulary are not in `X` and so not counted.

        Parameters
        ----------
        X : [M, V] counts or a `Corpus`
        given : ``"labels"``: every word is predicted from the labels alone; ``"completion"``: a
            fixed random half of the tokens and the labels predict the other half
        per_document : an array [M] (NaN where a document has no token to predict) for one number
        method : of `expected_topics`, where labels alone are given
        interval : a probability such as 0.9: returns (perplexity, lower, upper), the limits by
            resampling documents
        """
        check_is_fitted(self)
        if interval is not None:
            check_share(interval, "interval", "HDSP.perplexity")
        counts, design = self._read_new(X, labels, "perplexity")
        check_choice(method, METHODS, "method", "HDSP.perplexity")
        check_choice(given, ("labels", "completion"), "given", "HDSP.perplexity")
        with self._threads() as threads:
            if given == "labels":
                proportions, scored = self._model.expected(design, method), counts
            else:
                observed, scored = split_tokens(counts)
                proportions = self._model.posterior(observed, design, threads)
            log_likelihood = word_log_likelihood(
                scored, proportions, self._model.word_share(), threads
            )
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
        """What labels do to topics: a table with a row for every label and topic.

        An effect is the change of a topic's expected proportion, averaged over the training
        documents (a random thousand of them where there are more): with a tag and without it; at
        a level of a category and at its other levels, as often as they occur; with a number
        raised by one standard deviation.

        Parameters
        ----------
        level : the probability that an interval holds
        labels : names of labels, or of whole columns; None is all
        contrast : two levels of the category, or two values of the number, that `labels` names:
            the effect of going from the first to the second
        method : ``"calibrated"``, or ``"ratio"`` for the weights of the scaling functions with
            their own posterior, which is further from the truth
        random_state : a seed; equal seeds give equal intervals

        Returns
        -------
        A frame of the library the labels came in, else pandas, with the columns label, contrast,
        topic, effect, lower, upper, expected (the proportion after) and otherwise (before).
        """
        columns = effect_columns(self, level, labels, contrast, method, random_state)
        return make_frame(columns, self._frames)

    def predict_labels(
        self,
        X: Any,
        target: str,
        labels: object = None,
        values: Sequence[Any] | None = None,
        prior: bool = True,
    ) -> Any:
        """The probabilities of a label's values given documents' words: a table, a row a document.

        A category's levels or a number's values are alternatives and add up to 1; each tag has a
        probability of its own. Words count by the topics that labels lead one to expect, and by
        how much more often a tag or level uses them than its topics say.

        Parameters
        ----------
        X : [M, V] counts or a `Corpus`
        target : the column of labels to predict, such as ``"rating"`` or ``"tags"``
        labels : what is known besides, as in `fit`; the target's own values are not looked at,
            and what is missing says nothing
        values : the values to choose from; None is all of training
        prior : whether values that were frequent in training are more probable beforehand
        """
        columns = probability_columns(self, X, target, labels, values, prior)
        return make_frame(columns, self._frames)

    def top_words(self, n: int = 10) -> list[list[str]]:
        """The `n` most probable words of each topic."""
        check_is_fitted(self)
        return [[self.words_[i] for i in row] for row in topic_top_words(self.components_, n)]

    def topics(self, n_words: int = 10) -> Any:
        """A table of topics: id, weight, share of tokens, words, coherence.

        A frame of the library the labels came in, else a pandas frame. `coherence` is the mean
        NPMI of the ten top words in the training documents; `distinctive_words` are those whose
        probability the topic raises most; `raised_by` and `lowered_by` are the labels that change
        its expected proportion most (`label_effects`).
        """
        return make_frame(topic_columns(self, n_words), self._frames)

    def simulate(
        self,
        labels: object = None,
        *,
        n_documents: int | None = None,
        document_length: float = 100.0,
        random_state: Any = None,
    ) -> Corpus:
        """Draw new documents from the fitted model: the generative process forwards.

        Parameters
        ----------
        labels : of the new documents, as in `fit`; None draws `n_documents` without labels
        document_length : the mean of the Poisson distribution of lengths
        """
        check_is_fitted(self)
        parsed, design = self._read_labels(labels, n_documents, "HDSP.simulate")
        rng = make_generator(random_state)
        lengths = rng.poisson(document_length, size=len(parsed)).astype(np.float64)
        truth = self._model.draw(rng)
        counts, _ = draw_documents(truth, self._model.scaling, design, lengths, rng)
        return Corpus(counts, words=self.words_, labels=parsed)

    @property
    def label_schema_(self) -> LabelSchema:
        """The label space of training: blocks of tags, categories and numbers."""
        check_is_fitted(self)
        return self._model.schema

    def _used(self) -> BoolArray:
        """Which labels the scaling function takes, [J]."""
        return used_columns(self._model.scaling, self._model.schema.n_labels)

    @cached_property
    def components_(self) -> FloatArray:
        """[T, V] Dirichlet parameters of the topics, made when first asked for."""
        return np.ascontiguousarray(self._model.state.topics.T, dtype=np.float64)

    @property
    def _n_features_out(self) -> int:
        return self._model.state.n_topics

    def _threads(self) -> Threads:
        # All cores by default, but one inside a joblib worker, which has its own share of them.
        return Threads(joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))

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
        "coherence": model._coherence.tolist(),
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
) -> Columns:
    """The columns of `HDSP.predict_labels`."""
    check_is_fitted(model)
    check_flag(prior, "prior", "HDSP.predict_labels")
    candidates = make_candidates(model._model, target, values, prior)
    counts, design = model._read_new(X, labels, "predict_labels")
    known = without_target(model._model.schema, target, design)
    found = model._model.label_probabilities(counts, known, candidates)
    return dict(zip(candidates.names, found.T.tolist(), strict=True))
