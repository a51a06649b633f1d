"""A fitted model as a scikit-learn object: its attributes, and how it reads new documents."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeAlias

import joblib
import numpy as np
from scipy.sparse import csr_array, eye_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from hdsp.corpus import Corpus, Labels, LabelSchema, StoredCorpus, TextSettings, warn_unknown
from hdsp.execution import InProcess
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.prediction import FittedModel
from hdsp.scaling import Design, encode_labels, used_columns
from hdsp.validation import check_counts, check_indices, check_not_texts, count_rows

# A table before it is a frame of some library.
Columns: TypeAlias = dict[str, list[Any]]
# How scikit-learn validates counts.
VALIDATION: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_non_negative": True,
}


class FittedAttributes(BaseEstimator):
    """The attributes of a fitted `HDSP`.

    They all read `_model`, which a subclass sets.
    """

    max_iter: int
    tol: float
    n_jobs: int | None
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
    def stages_(self) -> list[dict[str, Any]]:
        """One row per stage of the fit, and of what followed it: `stage` and `seconds`."""
        return self._fitted().report.stages

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
