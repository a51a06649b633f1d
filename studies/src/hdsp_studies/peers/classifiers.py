"""Classifiers of one label column from words: scikit-learn's."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer
from hdsp_studies.peers.documents import KnownLabels, with_narrow_indices
from hdsp_studies.peers.lda import FittedLDA, VariationalLDA
from hdsp_studies.peers.targets import other_labels, target_values
from hdsp_studies.types import FloatArray


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
        if self.known is not None:
            design = self.known.design(other_labels(labels, self.target))
            counts = csr_array(hstack([counts, design], format="csr"))
        return with_narrow_indices(counts)


class FittedTopicClassifier(FittedClassifier):
    """A classifier of LDA's proportions."""

    def __init__(self, lda: FittedLDA, classifier: Any, known: KnownLabels, target: str) -> None:
        super().__init__(classifier, known, target)
        self.lda = lda
        self.topics, self.topic_tokens = lda.topics, lda.topic_tokens

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """LDA's, from words alone."""
        return self.lda.given_words(counts, labels)

    def features(self, counts: csr_array, labels: Labels) -> Any:
        """Proportions, and other labels beside them, [M, T + J]."""
        return super().features(csr_array(self.given_words(counts, labels)), labels)


class Classifier(Peer):
    """A classifier, which has no topics.

    Parameters
    ----------
    kind : {"nb", "logistic", "svm", "tree"}
        Naive Bayes or a decision tree (CART) on counts; logistic regression or a linear SVM on
        tf-idf weights. All but naive Bayes, whose features are counts, see the other labels too.
    balanced : bool, default=False
        Whether rare values of the target count as much as frequent ones.
    """

    needs_target = True

    def __init__(self, kind: str, balanced: bool = False) -> None:
        self.kind = kind
        self.balanced = balanced

    def fit(self, train: Corpus, settings: FitSettings) -> FittedClassifier:
        """Fit to the documents that have a value of the target."""
        target = _target(settings)
        known = None
        if self.kind != "nb":
            known = KnownLabels.of(other_labels(train.labels, target))
        fitted = FittedClassifier(self._make(train.n_words, settings), known, target)
        return _fit_classifier(fitted, train)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Whether values of the target are balanced."""
        return {"balanced": self.balanced}

    def _make(self, n_words: int, settings: FitSettings) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC
        from sklearn.tree import DecisionTreeClassifier

        if self.kind == "nb":
            return MultinomialNB(fit_prior=not self.balanced)
        options: dict[str, Any] = {
            "class_weight": "balanced" if self.balanced else None,
            "random_state": settings.seed,
        }
        if self.kind == "tree":
            return DecisionTreeClassifier(**options)
        weights = ColumnTransformer(
            [("words", TfidfTransformer(sublinear_tf=True), slice(0, n_words))],
            remainder="passthrough",
        )
        if self.kind == "logistic":
            return make_pipeline(weights, LogisticRegression(max_iter=500, **options))
        return make_pipeline(weights, LinearSVC(**options))


class TopicClassifier(Peer):
    """LDA without labels, then a linear SVM on its proportions and the other labels.

    Parameters
    ----------
    passes : int, default=20
        Passes of LDA.
    """

    needs_target = True

    def __init__(self, passes: int = 20) -> None:
        self.lda = VariationalLDA(passes)

    def fit(self, train: Corpus, settings: FitSettings) -> FittedClassifier:
        """Fit LDA to all documents, the SVM to those that have a value of the target."""
        from sklearn.svm import LinearSVC

        target = _target(settings)
        known = KnownLabels.of(other_labels(train.labels, target))
        lda = self.lda.fit(train, settings)
        fitted = FittedTopicClassifier(lda, LinearSVC(random_state=settings.seed), known, target)
        return _fit_classifier(fitted, train)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Passes of LDA."""
        return self.lda.details(settings)


def _target(settings: FitSettings) -> str:
    if settings.target is None:
        raise ValueError("A classifier predicts one label column: name it as the target.")
    return settings.target


def _fit_classifier(fitted: FittedClassifier, train: Corpus) -> FittedClassifier:
    """Fit to the documents that have a value of the target."""
    values = target_values(train.labels, fitted.target)
    rows = np.array([m for m, value in enumerate(values) if value is not None], dtype=np.int64)
    features = fitted.features(train.counts[rows], train.labels[rows])
    fitted.classifier.fit(features, [values[m] for m in rows])
    return fitted
