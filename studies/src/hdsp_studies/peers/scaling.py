"""The models of this package: HDSP, with either scaling function of the paper, and the HDP."""

import warnings
from typing import Any, Literal

from scipy.sparse import csr_array

from hdsp import HDSP, Constant, Corpus, Labels, ScalingFunction
from hdsp_studies.peers.base import FitSettings, Fitted, Peer, without_none
from hdsp_studies.peers.documents import labels_in_use, normalised
from hdsp_studies.peers.targets import other_labels
from hdsp_studies.types import FloatArray

_PASSES = {False: 100, True: 15}
_WARM_UP_DOCUMENTS = 50
# How `HDSP.expected_topics` finds proportions.
Method = Literal["regression", "exact", "ratio"] | None


class FittedHDSP(Fitted):
    """A fitted HDSP.

    Parameters
    ----------
    model : HDSP
        The fitted estimator.
    target : str or None
        Label column to predict.
    """

    def __init__(self, model: HDSP, target: str | None) -> None:
        self.model = model
        self.target = target
        self.topics = normalised(model.components_)
        # The Dirichlet's parameters are the prior plus the expected tokens.
        tokens: FloatArray = (model.components_ - model.topic_prior).sum(axis=1, dtype=float)
        self.topic_tokens = tokens.clip(min=0.0)

    def given_labels(self, labels: Labels, method: Method = "regression") -> FloatArray:
        """By the regression of `HDSP.expected_topics`, or another method; None is the model's own.

        Tokens weigh the same, as they do in perplexities.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self.model.expected_topics(labels, method=method, weight="tokens")
            return normalised(found)

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """By the variational posterior."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return normalised(self.model.transform(counts, labels=labels))

    def predict(self, counts: csr_array, labels: Labels) -> list[str] | None:
        """The most probable value."""
        if self.target is None or self.target not in self.model.label_schema_.slices():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = other_labels(labels, self.target)
            found = self.model.predict_labels(counts, self.target, labels=known)
        names = list(found.columns)
        return [names[place] for place in found.to_numpy().argmax(axis=1)]


class ScalingProcess(Peer):
    """HDSP with a scaling function.

    Parameters
    ----------
    scaling : str or ScalingFunction
        Scaling function, as in `HDSP`; with `Constant` it is the HDP, which predicts no labels.
    **options : Any
        Further parameters of `HDSP`.
    """

    def __init__(self, scaling: str | ScalingFunction, **options: Any) -> None:
        self.scaling = scaling
        self.options = options

    def fit(self, train: Corpus, settings: FitSettings) -> FittedHDSP:
        """Fit by batch variational inference."""
        model = self.estimator(train, settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(train.counts, labels=labels_in_use(train.labels))
        return FittedHDSP(model, None if isinstance(self.scaling, Constant) else settings.target)

    def estimator(self, train: Corpus, settings: FitSettings) -> HDSP:
        """The estimator to be fitted."""
        options = {
            "scaling": self.scaling,
            "max_iter": _PASSES[settings.quick],
            "n_jobs": settings.n_jobs,
            "random_state": settings.seed,
            **without_none(topic_prior=settings.topic_prior),
        }
        return HDSP(settings.n_topics, **(options | self.options))

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Passes at most, the tolerance, the scaling function and whatever else was set."""
        return {
            "max_iter": _PASSES[settings.quick],
            "tol": HDSP().tol,
            "scaling": str(self.scaling),
            **self.options,
        }

    def warm_up(self, train: Corpus) -> None:
        """Compile, or load what is compiled."""
        few = train[:_WARM_UP_DOCUMENTS]
        if few.counts.nnz:
            self.fit(few, FitSettings(n_topics=4, quick=True))
