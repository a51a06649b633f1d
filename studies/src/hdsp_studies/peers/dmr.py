"""Dirichlet-multinomial regression: the prior of proportions is log-linear in the labels."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer, without_none
from hdsp_studies.peers.documents import KnownLabels, normalised, tokens, topica_topics
from hdsp_studies.peers.sampling import Sampled, Sampler, sampler_options, train_sampler
from hdsp_studies.types import FloatArray

_CVB_SWEEPS = {False: 100, True: 30}


class SampledDMR(Sampled):
    """tomotopy's DMR. It ends the process at a label it does not know, so none is passed on."""

    def prior(self, labels: Labels) -> FloatArray:
        """The regression's Dirichlet parameters."""
        rows = [self.model.get_topic_prior(**extra) for extra in self.metadata(labels)]
        return np.array(rows, dtype=np.float64).reshape(len(labels), self.model.k)

    def metadata(self, labels: Labels) -> list[dict[str, Any]]:
        """The known labels."""
        known = set(self.model.multi_metadata_dict)
        return [
            {"multi_metadata": [name for name in row if name in known]}
            for row in self.known.tags(labels)
        ]


class DMR(Sampler):
    """tomotopy's DMR, of tags and categories: numbers are left out."""

    def fit(self, train: Corpus, settings: FitSettings) -> SampledDMR:
        """Sample."""
        import tomotopy

        known = KnownLabels.of(train.labels)
        model = tomotopy.DMRModel(k=settings.n_topics, **sampler_options(settings))
        metadata = [{"multi_metadata": row} for row in known.tags(train.labels)]
        train_sampler(model, train, metadata, settings)
        return SampledDMR(model, train.n_words, known, settings)


class FittedRegression(Fitted):
    """topica's DMR."""

    def __init__(
        self, model: Any, train: Corpus, known: KnownLabels, settings: FitSettings
    ) -> None:
        self.model = model
        self.known = known
        self.settings = settings
        self.topics, self.topic_tokens = topica_topics(model, train)

    def given_labels(self, labels: Labels) -> FloatArray:
        """The mean of the regression's Dirichlet prior."""
        design = self.known.design(labels).toarray()
        score = np.column_stack([np.ones(len(labels)), design])
        score = score @ np.asarray(self.model.feature_effects).T
        return normalised(np.exp(score - score.max(axis=1, keepdims=True)))

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """By sampling the new documents with the topics as they are."""
        found = self.model.transform(
            tokens(counts), features=self.known.design(labels).toarray(), seed=self.settings.seed
        )
        return normalised(np.asarray(found))


class CollapsedDMR(Peer):
    """topica's DMR by collapsed variational inference, of labels of every kind."""

    libraries = ("topica",)

    def fit(self, train: Corpus, settings: FitSettings) -> FittedRegression:
        """Fit."""
        import topica

        known = KnownLabels.of(train.labels)
        sweeps = _CVB_SWEEPS[settings.quick]
        # By default it would begin to learn from labels after 200 sweeps.
        model = topica.DMR(
            num_topics=settings.n_topics,
            sampler="cvb0",
            seed=settings.seed,
            num_threads=settings.n_jobs,
            burn_in=min(40, sweeps // 3),
            optimize_interval=min(50, sweeps // 3),
            **without_none(beta=settings.topic_prior),
        )
        model.fit(
            tokens(train.counts),
            features=known.design(train.labels).toarray(),
            iters=sweeps,
            progress=False,
            keep_theta_draws=False,
        )
        return FittedRegression(model, train, known, settings)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Sweeps over the training documents."""
        return {"sweeps": _CVB_SWEEPS[settings.quick], "sampler": "cvb0"}
