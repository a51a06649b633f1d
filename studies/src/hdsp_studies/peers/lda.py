"""Topic models without labels: LDA by sampling and by variational inference, HDP by sampling."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer
from hdsp_studies.peers.documents import KnownLabels, normalised, with_narrow_indices
from hdsp_studies.peers.sampling import Sampled, Sampler, sampler_options, train_sampler
from hdsp_studies.types import FloatArray, IntArray

_QUICK_PASSES = 5


class LDA(Sampler):
    """tomotopy's LDA, with an asymmetric prior that it learns."""

    def fit(self, train: Corpus, settings: FitSettings) -> Sampled:
        """Sample."""
        import tomotopy

        model = tomotopy.LDAModel(k=settings.n_topics, **sampler_options(settings))
        train_sampler(model, train, _nothing(train), settings)
        return Sampled(model, train.n_words, KnownLabels.of(train.labels), settings)


class SampledHDP(Sampled):
    """An HDP, of whose topics some have died."""

    def live_topics(self) -> IntArray:
        """Topics that hold tokens."""
        live = [k for k in range(self.model.k) if self.model.is_live_topic(k)]
        return np.array(live, dtype=np.int64)

    def prior(self, labels: Labels) -> FloatArray:
        """Topics by their share of the tokens: tomotopy does not tell their tables."""
        return np.tile(np.asarray(self.topic_tokens), (len(labels), 1))


class HDPSampler(Sampler):
    """tomotopy's HDP, which finds its number of topics and starts from few."""

    def fit(self, train: Corpus, settings: FitSettings) -> SampledHDP:
        """Sample."""
        import tomotopy

        model = tomotopy.HDPModel(**sampler_options(settings))
        train_sampler(model, train, _nothing(train), settings)
        return SampledHDP(model, train.n_words, KnownLabels.of(train.labels), settings)


class FittedLDA(Fitted):
    """scikit-learn's LDA."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.topics = normalised(model.components_)
        self.topic_tokens = (model.components_ - model.topic_word_prior_).sum(axis=1).clip(min=0.0)

    def given_labels(self, labels: Labels) -> FloatArray:
        """Topics by their share of the tokens."""
        return normalised(np.tile(np.asarray(self.topic_tokens), (len(labels), 1)))

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """By the variational posterior."""
        return normalised(self.model.transform(with_narrow_indices(counts)))


class VariationalLDA(Peer):
    """scikit-learn's LDA, by batch variational inference.

    Parameters
    ----------
    passes : int, default=20
        Passes over the training documents; a quick fit makes 5.
    """

    def __init__(self, passes: int = 20) -> None:
        self.passes = passes

    def fit(self, train: Corpus, settings: FitSettings) -> FittedLDA:
        """Fit."""
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            settings.n_topics,
            topic_word_prior=settings.topic_prior,
            learning_method="batch",
            max_iter=_QUICK_PASSES if settings.quick else self.passes,
            random_state=settings.seed,
            n_jobs=settings.n_jobs,
        )
        return FittedLDA(model.fit(with_narrow_indices(train.counts)))

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Passes over the training documents."""
        return {"passes": _QUICK_PASSES if settings.quick else self.passes}


def _nothing(train: Corpus) -> list[dict[str, Any]]:
    return [{} for _ in range(len(train))]
