"""The structural topic model: proportions are logistic normal, with a mean linear in labels."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer
from hdsp_studies.peers.documents import KnownLabels, normalised, tokens, topica_topics
from hdsp_studies.types import FloatArray

_STEPS = {False: 100, True: 15}
_DRAWS = 200


class FittedSTM(Fitted):
    """topica's STM with labels of every kind as prevalence covariates."""

    def __init__(self, model: Any, train: Corpus, known: KnownLabels, seed: int) -> None:
        self.model = model
        self.known = known
        self.seed = seed
        self.topics, self.topic_tokens = topica_topics(model, train)

    def given_labels(self, labels: Labels) -> FloatArray:
        """The mean of the logistic normal, by draws from it."""
        design = self.known.design(labels).toarray()
        mean = np.column_stack([np.ones(len(labels)), design])
        mean = mean @ np.asarray(self.model.prevalence_effects)
        covariance = np.asarray(self.model.topic_covariance)
        spread, directions = np.linalg.eigh(covariance)
        root = directions * np.sqrt(np.maximum(spread, 0.0))
        normal = np.random.default_rng(self.seed).normal(size=(_DRAWS, len(covariance)))
        total = np.zeros((len(labels), len(covariance) + 1))
        for shift in normal @ root.T:
            # The last topic is the one that the others are measured against.
            score = np.column_stack([mean + shift, np.zeros(len(labels))])
            total += normalised(np.exp(score - score.max(axis=1, keepdims=True)))
        return total / _DRAWS

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """By topica's variational step with the mean that labels give."""
        import topica

        design = self.known.design(labels).toarray()
        found = topica.stm.transform(self.model, tokens(counts), prevalence=design)
        return normalised(np.asarray(found))


class StructuralTopicModel(Peer):
    """topica's STM, fitted by variational EM from a spectral start."""

    libraries = ("topica",)

    def fit(self, train: Corpus, settings: FitSettings) -> FittedSTM:
        """Fit."""
        import topica

        known = KnownLabels.of(train.labels)
        model = topica.STM(settings.n_topics, seed=settings.seed)
        model.fit(
            tokens(train.counts),
            prevalence=known.design(train.labels).toarray(),
            iters=_STEPS[settings.quick],
            keep_eta_cov=False,
            num_threads=settings.n_jobs,
            progress=False,
        )
        return FittedSTM(model, train, known, settings.seed)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Steps of EM at most."""
        return {"steps": _STEPS[settings.quick]}
