"""Classifiers of one label column from words: scikit-learn's."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.corpus import Corpus, Labels
from hdsp.numerics.types import FloatArray
from hdsp.peers.base import Fitted, Peer, Settings
from hdsp.peers.documents import KnownLabels, normalised
from hdsp.peers.targets import target_values, without_target

_LDA_PASSES = {False: 20, True: 5}


class FittedClassifier(Fitted):
    """A classifier of words, and of the other labels where it takes them."""

    def __init__(self, classifier: Any, known: KnownLabels | None, target: str) -> None:
        self.classifier = classifier
        self.known = known
        self.target = target

    def predict(self, counts: csr_array, labels: Labels) -> list[str]:
        """The classifier's choice."""
        found = self.classifier.predict(self.features(counts, labels))
        return [str(value) for value in found]

    def features(self, counts: csr_array, labels: Labels) -> Any:
        """Words, and other labels beside them, [M, V + J]."""
        if self.known is None:
            return _narrow(counts)
        return _beside(counts, self.known.design(without_target(labels, self.target)))


class FittedTopicClassifier(FittedClassifier):
    """A classifier of LDA's proportions."""

    def __init__(self, lda: Any, classifier: Any, known: KnownLabels, target: str) -> None:
        super().__init__(classifier, known, target)
        self.lda = lda
        self.topics = normalised(lda.components_)
        self.topic_tokens = (lda.components_ - lda.topic_word_prior_).sum(axis=1).clip(min=0.0)

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """LDA's, from words alone."""
        return normalised(self.lda.transform(_narrow(counts)))

    def features(self, counts: csr_array, labels: Labels) -> Any:
        """Proportions, and other labels beside them, [M, T + J]."""
        return super().features(csr_array(self.given_words(counts, labels)), labels)


class Classifier(Peer):
    """A classifier, which has no topics.

    Parameters
    ----------
    kind : ``"svm"`` on tf-idf weights, ``"nb"`` or ``"tree"`` on counts. All but naive Bayes,
        whose features are counts, see the other labels, too
    """

    needs_target = True

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, train: Corpus, settings: Settings) -> FittedClassifier:
        """Fit to the documents that have a value of the target."""
        target, rows, values = _labelled_rows(train, settings)
        known = None
        if self.kind != "nb":
            known = KnownLabels.of(without_target(train.labels, target))
        fitted = FittedClassifier(self._make(train.n_words, settings), known, target)
        features = fitted.features(train.counts[rows], train.labels[rows])
        fitted.classifier.fit(features, values)
        return fitted

    def _make(self, n_words: int, settings: Settings) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC
        from sklearn.tree import DecisionTreeClassifier

        if self.kind == "nb":
            return MultinomialNB()
        if self.kind == "tree":
            return DecisionTreeClassifier(random_state=settings.seed)
        words = slice(0, n_words)
        weights = ColumnTransformer(
            [("words", TfidfTransformer(sublinear_tf=True), words)], remainder="passthrough"
        )
        return make_pipeline(weights, LinearSVC(random_state=settings.seed))


class TopicClassifier(Peer):
    """LDA without labels, then a linear SVM on its proportions and the other labels."""

    needs_target = True

    def fit(self, train: Corpus, settings: Settings) -> FittedTopicClassifier:
        """Fit LDA to all documents, the SVM to those that have a value of the target."""
        from sklearn.decomposition import LatentDirichletAllocation
        from sklearn.svm import LinearSVC

        target, rows, values = _labelled_rows(train, settings)
        lda = LatentDirichletAllocation(
            settings.n_topics,
            topic_word_prior=settings.topic_prior,
            learning_method="batch",
            max_iter=_LDA_PASSES[settings.quick],
            random_state=settings.seed,
            n_jobs=1,
        ).fit(_narrow(train.counts))
        known = KnownLabels.of(without_target(train.labels, target))
        fitted = FittedTopicClassifier(lda, LinearSVC(random_state=settings.seed), known, target)
        features = fitted.features(train.counts[rows], train.labels[rows])
        fitted.classifier.fit(features, values)
        return fitted

    def details(self, settings: Settings) -> dict[str, object]:
        """Passes of LDA."""
        return {"passes": _LDA_PASSES[settings.quick]}


def _labelled_rows(train: Corpus, settings: Settings) -> tuple[str, Any, list[str]]:
    if settings.target is None:
        raise ValueError("A classifier predicts one label column: name it as the target.")
    values = target_values(train.labels, settings.target)
    rows = np.array([m for m, value in enumerate(values) if value is not None], dtype=np.int64)
    return settings.target, rows, [value for value in values if value is not None]


def _beside(words: csr_array, labels: csr_array) -> csr_array:
    return _narrow(csr_array(hstack([words, labels], format="csr")))


def _narrow(matrix: csr_array) -> csr_array:
    """With 32-bit indices, the only ones that scikit-learn's trees and LDA take."""
    arrays = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return csr_array(arrays, shape=matrix.shape)
