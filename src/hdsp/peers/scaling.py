"""The models of this package: HDSP, with either scaling function of the paper, and the HDP."""

import warnings

from scipy.sparse import csr_array

from hdsp.corpus import Corpus, Labels
from hdsp.estimator import HDSP
from hdsp.numerics.types import FloatArray
from hdsp.peers.base import Fitted, Peer, Settings, given
from hdsp.peers.documents import carried, normalised
from hdsp.peers.targets import without_target
from hdsp.prediction import Method
from hdsp.scaling import ScalingFunction

_PASSES = {False: 100, True: 15}
_WARM_UP_DOCUMENTS = 50


class FittedHDSP(Fitted):
    """A fitted HDSP."""

    def __init__(self, model: HDSP, target: str | None) -> None:
        self.model = model
        self.target = target
        self.topics = normalised(model.components_)
        # The Dirichlet's parameters are the prior plus the expected tokens.
        tokens: FloatArray = (model.components_ - model.topic_prior).sum(axis=1, dtype=float)
        self.topic_tokens = tokens.clip(min=0.0)

    def given_labels(self, labels: Labels, method: Method = "calibrated") -> FloatArray:
        """By the calibrated rule, unless another is named."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return normalised(self.model.expected_topics(labels, method=method))

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
            known = without_target(labels, self.target)
            found = self.model.predict_labels(counts, self.target, labels=known)
        names = list(found.columns)
        return [names[place] for place in found.to_numpy().argmax(axis=1)]


class ScalingProcess(Peer):
    """HDSP with a scaling function.

    Parameters
    ----------
    scaling : as of `HDSP`
    labelled : whether the model predicts labels at all
    """

    def __init__(self, scaling: str | ScalingFunction, labelled: bool = True) -> None:
        self.scaling = scaling
        self.labelled = labelled

    def fit(self, train: Corpus, settings: Settings) -> FittedHDSP:
        """Fit by batch variational inference."""
        model = self.estimator(train, settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(train.counts, labels=carried(train.labels))
        return FittedHDSP(model, settings.target if self.labelled else None)

    def estimator(self, train: Corpus, settings: Settings) -> HDSP:
        """The estimator to be fitted."""
        return HDSP(
            settings.n_topics,
            scaling=self.scaling,
            max_iter=_PASSES[settings.quick],
            n_jobs=settings.n_jobs,
            random_state=settings.seed,
            **given(topic_prior=settings.topic_prior),
        )

    def details(self, settings: Settings) -> dict[str, object]:
        """Passes at most, the tolerance and the scaling function."""
        return {
            "max_iter": _PASSES[settings.quick],
            "tol": HDSP().tol,
            "scaling": str(self.scaling),
        }

    def warm_up(self, train: Corpus) -> None:
        """Compile, or load what is compiled."""
        few = train[:_WARM_UP_DOCUMENTS]
        if few.counts.nnz:
            quick = Settings(n_topics=4, quick=True)
            self.fit(few, quick)
