"""What users ask of a fitted model."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hdsp.corpus import Corpus, make_frame
from hdsp.model import draw_documents
from hdsp.numerics.types import FloatArray
from hdsp.prediction import METHODS, LabelMethod, Method, bootstrap_interval
from hdsp.progress import shown
from hdsp.queries.attributes import FittedAttributes
from hdsp.queries.documents import predicted_tokens, transformed, typical_columns
from hdsp.queries.effects import effect_columns
from hdsp.queries.labels import probability_columns
from hdsp.queries.topics import top_words, topic_columns, word_columns
from hdsp.validation import check_choice, check_share, check_weights, make_generator


class FittedQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FittedAttributes):
    """The methods of a fitted `HDSP`: what they take and return, and tables of their results."""

    verbose: int | bool

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
        return transformed(self, X, labels)

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
        log_likelihood, tokens = predicted_tokens(
            self, X, labels, "completion", "calibrated", "score"
        )
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
        log_likelihood, tokens = predicted_tokens(self, X, labels, given, method, "perplexity")
        if per_document:
            with np.errstate(invalid="ignore"):
                return np.where(tokens > 0, np.exp(-log_likelihood / tokens), np.nan)
        _check_tokens(tokens, "perplexity")
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
            independent and is far too sure. None is ``"calibrated"``, except where too few
            training documents tell.

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
        return top_words(self, n)

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


def _check_tokens(tokens: FloatArray, name: str) -> None:
    if tokens.sum() == 0:
        raise ValueError(f"HDSP.{name} found no token to predict. Pass documents with more words.")
