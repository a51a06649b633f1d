"""The methods and attributes of a fitted model."""

import difflib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import joblib
import numpy as np
from scipy.sparse import csr_array, eye_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hdsp.corpus import (
    Corpus,
    Labels,
    LabelSchema,
    StoredCorpus,
    TextSettings,
    make_frame,
    warn_unknown,
)
from hdsp.execution import InProcess
from hdsp.metrics import topic_top_words
from hdsp.model import Problem, draw_documents, make_problem, split_tokens, word_log_likelihood
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.persistence import fingerprint
from hdsp.prediction import (
    LABEL_METHODS,
    METHODS,
    FittedModel,
    LabelMethod,
    Method,
    associated_labels,
    bootstrap_interval,
    distinctive_words,
    make_candidates,
    make_contrasts,
    over_refits,
    without_target,
)
from hdsp.progress import shown
from hdsp.resampling import refit_sides
from hdsp.scaling import Design, encode_labels, used_columns
from hdsp.validation import (
    check_choice,
    check_counts,
    check_flag,
    check_indices,
    check_not_texts,
    check_share,
    check_weights,
    check_whole,
    count_rows,
    make_generator,
    quoted,
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

    max_iter: int
    tol: float
    n_jobs: int | None
    verbose: int | bool
    _current: FittedModel
    # Whether there were documents since the model was made.
    _stale: bool = False

    @property
    def _model(self) -> FittedModel:
        if self._stale:
            self._refresh()
        return self._current

    @_model.setter
    def _model(self, model: FittedModel) -> None:
        self._current = model
        self._stale = False

    def _refresh(self) -> None:
        """Make the model anew from all documents that it has seen."""

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
        found = [proportions for _, proportions in transformed_parts(self, X, labels)]
        return found[0] if len(found) == 1 else np.concatenate(found)

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
        check_is_fitted(self)
        log_likelihood, tokens = self._predicted(X, labels, "completion", "calibrated", "score")
        if sample_weight is not None:
            weight = check_weights(sample_weight, len(tokens), "HDSP.score")
            log_likelihood, tokens = weight * log_likelihood, weight * tokens
        _check_tokens(tokens, "score")
        return float(log_likelihood.sum() / tokens.sum())

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
        return self._model.groups.sum(self._model.expected(design, method))

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
        check_choice(method, METHODS, "method", "HDSP.perplexity")
        check_choice(given, ("labels", "completion"), "given", "HDSP.perplexity")
        log_likelihood, tokens = self._predicted(X, labels, given, method, "perplexity")
        if per_document:
            with np.errstate(invalid="ignore"):
                return np.where(tokens > 0, np.exp(-log_likelihood / tokens), np.nan)
        _check_tokens(tokens, "perplexity")
        perplexity = float(np.exp(-log_likelihood.sum() / tokens.sum()))
        if interval is None:
            return perplexity
        return perplexity, *bootstrap_interval(log_likelihood, tokens, interval)

    def _predicted(
        self, X: Any, labels: object, given: str, method: Method, name: str
    ) -> tuple[FloatArray, FloatArray]:
        """Log probabilities of the predicted tokens of each document, and their numbers, [M]."""
        log_likelihoods, tokens = [], []
        halves = np.random.default_rng(0)
        word_share = self._model.word_share()
        for _, counts, design in self._new_parts(X, labels, name):
            with self._executor():
                if given == "labels":
                    proportions, scored = self._model.expected(design, method), counts
                else:
                    observed, scored = split_tokens(counts, halves)
                    proportions = self._model.posterior(observed, design)
                log_likelihoods.append(word_log_likelihood(scored, proportions, word_share))
            tokens.append(np.asarray(scored.sum(axis=1)))
        return np.concatenate(log_likelihoods), np.concatenate(tokens)

    def label_effects(
        self,
        level: float = 0.9,
        *,
        labels: str | Sequence[str] | None = None,
        contrast: tuple[Any, Any] | None = None,
        method: Literal["calibrated", "ratio"] = "calibrated",
        refits: int | None = None,
        corpus: Corpus | None = None,
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
            The share of intervals that are to contain the effect which many more documents, read
            with the same topics, would show.
        labels : str, list of str or None, default=None
            Names of labels, or of whole columns; None is all.
        contrast : tuple of two values or None, default=None
            Two levels of the category, or two values of the number, that `labels` names: the
            effect of changing from the first to the second. Dates and times, also as text
            ("2020-05-31"), and booleans are taken as they were in training.
        method : str, default="calibrated"
            The method of `expected_topics`: ``"calibrated"``, or ``"ratio"`` for the scaling
            function's weights with their own posterior, which is less accurate.
        refits : int or None, default=None
            How often topics are learned again, from resampled documents; 20 are enough. Intervals
            then include how much effects change with the topics. None takes the topics as they
            are.
        corpus : Corpus or None, default=None
            The documents that the model was fitted to, with their labels: what `refits` needs. Of
            counts it is ``Corpus(X, words=model.words_, labels=labels)``.
        random_state : int, default=0
            A seed; equal seeds give equal intervals.

        Returns
        -------
        table
            One row per label and topic, with the columns `label`, `contrast`, `topic`, `name` if
            topics have names, `effect`, `lower`, `upper`, `expected` (the proportion after the
            change) and `otherwise` (before it). Its library is that of the training labels,
            otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
        >>> fast = model.label_effects(labels="news")
        >>> thorough = model.label_effects(labels="news", refits=5, corpus=corpus)
        >>> len(fast) == len(thorough) == len(model.components_)
        True
        """
        with shown(quiet=not self.verbose):
            columns = effect_columns(
                self, level, labels, contrast, method, random_state, refits, corpus
            )
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
            One row per topic: `topic`; `name`, if topics have names; `fitted_topics`, if some were
            merged; `weight`; `token_share`; `top_words`; `distinctive_words`,
            whose probability the topic raises most; `coherence`, the mean NPMI of the ten top
            words in the training documents; and, if there are labels, `raised_by` and
            `lowered_by`, those that change the topic's expected proportion most
            (`label_effects`). Its library is that of the training labels, otherwise pandas.
        """
        return make_frame(topic_columns(self, n_words), self._model.source.frames)

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
            `probability` of the word in the topic; and `top_words`. Its library is that of the
            training labels, otherwise pandas.
        """
        return make_frame(word_columns(self, word), self._model.source.frames)

    def typical_documents(
        self,
        X: Any,
        labels: object = None,
        *,
        label: str | None = None,
        n: int = 3,
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

        Returns
        -------
        table
            One row per document, the most typical first: `topic`, its `name` if topics have names,
            and the `proportion` of the topic in the document, or `label` and the `probability` of
            the label; `document`, the row of `X`; and `id`, if `X` is a corpus with ids. Its
            library is that of the training labels, otherwise pandas.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
        >>> model.typical_documents(corpus, n=1)["topic"].tolist()
        [0, 1, 2]
        >>> document = model.typical_documents(corpus, label="sport", n=1)["document"].item()
        >>> document % 2
        1
        """
        return make_frame(typical_columns(self, X, labels, label, n), self._model.source.frames)

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
        counts = draw_documents(truth, self._model.scaling, design, lengths, rng)
        return Corpus(counts, words=self.words_, labels=parsed)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_current")

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
        fitted = self._fitted()
        return fitted.groups.sum(fitted.state.topic_weight)

    @property
    def n_documents_(self) -> int:
        """The number of training documents."""
        return self._fitted().training.n_documents

    @property
    def topic_tokens_(self) -> FloatArray:
        """Expected training tokens of each topic, [T]."""
        fitted = self._fitted()
        return fitted.groups.sum(fitted.topic_tokens())

    @property
    def fitted_topics_(self) -> tuple[tuple[int, ...], ...]:
        """The topics of the fit that each topic holds: one, unless some were merged."""
        return self._fitted().groups.members

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
        if self._model.merged_topics is not None:
            # By as much as the sum of its topics, each by its weight.
            weight = np.maximum(self._model.state.topic_weight, 1e-300)
            groups = self._model.merged_topics
            scale = groups.sum(scale * weight) / groups.sum(weight)
        return np.asarray(scale).T

    def _used(self) -> BoolArray:
        """Which labels the scaling function takes, [J]."""
        return used_columns(self._model.scaling, self._model.schema.n_labels)

    @cached_property
    def components_(self) -> FloatArray:
        """Dirichlet parameters of the topics, [T, V], largest topic first."""
        return np.ascontiguousarray(self._fitted().topics().T)

    @property
    def _n_features_out(self) -> int:
        return len(self._model.groups)

    def _executor(self) -> InProcess:
        # All cores by default, but one inside a joblib worker.
        return InProcess(joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))

    def _new_parts(
        self, X: Any, labels: object, method: str
    ) -> Iterator[tuple[Any, csr_array, Design]]:
        """Yield documents with counts and design: all, or part by part if they are on disk."""
        if labels is not None or not isinstance(X, StoredCorpus):
            yield X, *self._read_new(X, labels, method)
            return
        unknown = []
        for part in X.parts():
            yield part, *self._read_new(part, None, method, warn=False)
            unknown.append(self._model.schema.unknown(part.labels))
        warn_unknown(unknown)

    def _read_new(
        self, X: Any, labels: object, method: str, warn: bool = True
    ) -> tuple[csr_array, Design]:
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
            check_not_texts(X, owner)
            check_indices(X, f"X of {owner}")
            X = validate_data(self, X, reset=False, **VALIDATION)
            counts = check_counts(X, owner)
        if counts.shape[0] == 0:
            raise ValueError(f"X of {owner} has no documents.")
        return counts, self._read_labels(labels, counts.shape[0], owner, warn)[1]

    def _read_labels(
        self, labels: Any, n_documents: int | None, owner: str, warn: bool = True
    ) -> tuple[Labels, Design]:
        """Labels of new documents and their design [M, J]."""
        if n_documents is None:
            if labels is None:
                remedy = ", or `n_documents`" if owner == "HDSP.simulate" else ""
                raise ValueError(f"{owner} needs labels{remedy}: one row for each document.")
            n_documents = count_rows(labels, owner)
        parsed = self._model.schema.read(labels, n_documents, owner)
        return parsed, encode_labels(self._model.schema, self._model.scaling, parsed, warn)


def _check_tokens(tokens: FloatArray, name: str) -> None:
    if tokens.sum() == 0:
        raise ValueError(f"HDSP.{name} found no token to predict. Pass documents with more words.")


def topic_columns(model: FittedQueries, n_words: int = 10) -> Columns:
    """The columns of `HDSP.topics`."""
    check_is_fitted(model)
    fitted = model._model
    distinctive = distinctive_words(_word_share(model), model.topic_weight_, n_words)
    tokens = model.topic_tokens_
    n_topics = len(tokens)
    columns: Columns = {"topic": list(range(n_topics))}
    if fitted.topic_names:
        columns["name"] = [fitted.topic_names.get(k, "") for k in range(n_topics)]
    if fitted.merged_topics is not None:
        columns["fitted_topics"] = ["+".join(map(str, own)) for own in model.fitted_topics_]
    columns |= {
        "weight": model.topic_weight_.tolist(),
        "token_share": (tokens / tokens.sum()).tolist(),
        "top_words": [" ".join(words) for words in model.top_words(n_words)],
        "distinctive_words": [" ".join(model.words_[i] for i in row) for row in distinctive],
        "coherence": model._model.report.coherence.tolist(),
    }
    contrasts = make_contrasts(fitted.schema, model._used(), None, None, fitted.missing())
    if contrasts:
        effect = fitted.groups.sum(fitted.typical_effects(contrasts))
        names = [contrast.label for contrast in contrasts]
        raised, lowered = associated_labels(effect, _ASSOCIATED)
        columns["raised_by"] = [[names[j] for j in row] for row in raised]
        columns["lowered_by"] = [[names[j] for j in row] for row in lowered]
    return columns


def _word_share(model: FittedQueries) -> FloatArray:
    """E[phi], [T, V]; rows sum to 1."""
    return np.asarray(model.components_ / model.components_.sum(axis=1, keepdims=True))


def effect_columns(
    model: FittedQueries,
    level: float = 0.9,
    labels: str | Sequence[str] | None = None,
    contrast: tuple[Any, Any] | None = None,
    method: Literal["calibrated", "ratio"] = "calibrated",
    random_state: int = 0,
    refits: int | None = None,
    corpus: Corpus | None = None,
) -> Columns:
    """The columns of `HDSP.label_effects`."""
    check_is_fitted(model)
    problem = _refitted(model, method, refits, corpus)
    check_share(level, "level", "HDSP.label_effects")
    check_choice(method, ("calibrated", "ratio"), "method", "HDSP.label_effects")
    fitted = model._model
    contrasts = make_contrasts(fitted.schema, model._used(), labels, contrast, fitted.missing())
    found = fitted.effects(contrasts, level, method, random_state)
    if refits is not None and problem is not None and contrasts:
        sides = refit_sides(
            fitted,
            problem,
            contrasts,
            refits,
            max_iter=model.max_iter,
            tol=model.tol,
            n_jobs=model._executor().n_threads,
            seed=random_state,
        )
        found = over_refits(found, fitted.groups.sum(sides), level)
    n_topics = len(model.components_)
    columns: Columns = {
        "label": [c.label for c in contrasts for _ in range(n_topics)],
        "contrast": [c.description for c in contrasts for _ in range(n_topics)],
        "topic": list(range(n_topics)) * len(contrasts),
    }
    if fitted.topic_names:
        columns["name"] = [fitted.topic_names.get(k, "") for k in columns["topic"]]
    for name in ("effect", "lower", "upper", "expected", "otherwise"):
        columns[name] = getattr(found, name).ravel().tolist()
    return columns


def _refitted(
    model: FittedQueries, method: str, refits: int | None, corpus: Corpus | None
) -> Problem | None:
    """What refits are of, or None without refits."""
    if refits is None:
        return None
    owner = "HDSP.label_effects"
    check_whole(refits, "refits", 2)
    if method != "calibrated":
        raise ValueError(f'`refits` of {owner} go with `method="calibrated"`. Got {method!r}.')
    if corpus is None:
        raise ValueError(
            f"`refits` of {owner} needs the training documents, which a model does not hold: pass "
            "them as `corpus`."
        )
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"`corpus` of {owner} must be a Corpus. Got {type(corpus).__name__}: of counts make "
            "Corpus(X, words=model.words_, labels=labels)."
        )
    fitted = model._model
    counts, design = model._read_new(corpus, None, "label_effects")
    problem = make_problem(counts, design, fitted.scaling, fitted.priors)
    if isinstance(corpus, StoredCorpus) and corpus.fingerprint == fitted.source.fingerprint:
        return problem
    if fingerprint(counts, problem.design) != fitted.source.fingerprint:
        raise ValueError(
            f"`corpus` of {owner} must be the documents that the model was fitted to, with the "
            f"same labels and in the same order. Got {len(corpus)} documents, where training had "
            f"{fitted.training.n_documents}, or others."
        )
    return problem


def word_columns(model: FittedQueries, word: str) -> Columns:
    """The columns of `HDSP.topics_of_word`."""
    check_is_fitted(model)
    if word not in model.words_:
        near = difflib.get_close_matches(str(word), model.words_, n=3)
        raise ValueError(
            f"`word` of HDSP.topics_of_word must be one of the model's {len(model.words_)} words. "
            f"Got {word!r}. {f'Did you mean {quoted(near)}?' if near else 'It counts others.'}"
        )
    fitted = model._model
    probability = _word_share(model)[:, model.words_.index(word)]
    share = probability * model.topic_tokens_
    share = share / share.sum()
    order = np.argsort(-share, kind="stable")
    words = model.top_words()
    columns: Columns = {"topic": order.tolist()}
    if fitted.topic_names:
        columns["name"] = [fitted.topic_names.get(int(k), "") for k in order]
    return columns | {
        "share": share[order].tolist(),
        "probability": probability[order].tolist(),
        "top_words": [" ".join(words[k]) for k in order],
    }


def typical_columns(
    model: FittedQueries, X: Any, labels: object, label: str | None, n: int
) -> Columns:
    """The columns of `HDSP.typical_documents`."""
    check_is_fitted(model)
    check_whole(n, "n", 1)
    if label is None:
        score = model.transform(X, labels=labels)
        of: list[Any] = list(range(score.shape[1]))
        names = ("topic", "proportion")
    else:
        score = _label_scores(model, X, labels, label)
        of, names = [label], ("label", "probability")
    # Of as many documents as there are, and none without the label.
    chosen = [
        [m for m in np.argsort(-column, kind="stable")[:n] if column[m] >= 0] for column in score.T
    ]
    columns: Columns = {names[0]: [one for one, rows in zip(of, chosen, strict=True) for _ in rows]}
    if label is None and model._model.topic_names:
        columns["name"] = [model._model.topic_names.get(k, "") for k in columns["topic"]]
    columns |= {
        "document": [int(m) for rows in chosen for m in rows],
        names[1]: [float(score[m, k]) for k, rows in enumerate(chosen) for m in rows],
    }
    if isinstance(X, Corpus) and X.ids is not None:
        columns["id"] = [X.ids[m] for m in columns["document"]]
    return columns


def _label_scores(model: FittedQueries, X: Any, labels: object, label: str) -> FloatArray:
    """The probability of a label for documents that have it, -1 for others, [M, 1]."""
    schema = model._model.schema
    indicators = {
        name: (block, column)
        for name, (block, column) in zip(
            schema.names,
            ((block, column) for block in schema.blocks for column in block.columns),
            strict=True,
        )
        if block.kind != "number"
    }
    if label not in indicators:
        raise ValueError(
            "`label` of HDSP.typical_documents must be a tag or a level that the model knows. "
            f"Got {label!r}. It knows {quoted(indicators) or 'none'}."
        )
    block, column = indicators[label]
    found = probability_columns(model, X, block.name, labels)[column]
    _, design = model._read_new(X, labels, "typical_documents")
    carried = design[:, [schema.names.index(label)]].toarray()[:, 0] > 0
    return np.where(carried, found, -1.0)[:, None]


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
    columns: dict[str, list[Any]] = {}
    for _, found in probability_parts(model, X, target, labels, values, prior, method):
        for name, probabilities in found.items():
            columns.setdefault(name, []).extend(probabilities)
    return columns


def transformed_parts(
    model: FittedQueries, X: Any, labels: object = None
) -> Iterator[tuple[Any, FloatArray]]:
    """Yield documents with their `HDSP.transform`: all, or part by part if they are on disk."""
    check_is_fitted(model)
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    for part, counts, design in model._new_parts(X, labels, "transform"):
        with model._executor():
            found = model._model.groups.sum(model._model.posterior(counts, design))
        yield part, found.astype(dtype)


def probability_parts(
    model: FittedQueries,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool = True,
    method: LabelMethod | None = None,
) -> Iterator[tuple[Any, Columns]]:
    """Yield documents with the columns of `HDSP.predict_labels`: all, or part by part on disk."""
    check_is_fitted(model)
    check_flag(prior, "prior", "HDSP.predict_labels")
    if method is not None:
        check_choice(method, LABEL_METHODS, "method", "HDSP.predict_labels")
    candidates = make_candidates(model._model, target, values, prior)
    if method is None:
        method = "calibrated" if target in model._model.label_regressions else "generative"
    elif method == "calibrated" and target not in model._model.label_regressions:
        raise ValueError(
            f"HDSP.predict_labels has nothing to calibrate {target!r} with: the model was saved by "
            "an earlier version, or too few training documents tell. Fit it again, or choose "
            '`method="generative"`.'
        )
    for part, counts, design in model._new_parts(X, labels, "predict_labels"):
        known = without_target(model._model.schema, target, design)
        with model._executor():
            found = model._model.label_probabilities(counts, known, candidates, method)
        yield part, dict(zip(candidates.names, found.T.tolist(), strict=True))
