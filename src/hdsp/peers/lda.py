"""Topic models without labels: LDA, and the HDP by sampling."""

from typing import Any

import numpy as np

from hdsp.corpus import Corpus, Labels
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.peers.base import Settings
from hdsp.peers.documents import KnownLabels
from hdsp.peers.sampling import Sampled, Sampler, sampler_options, train_sampler


class LDA(Sampler):
    """tomotopy's LDA, with an asymmetric prior that it learns."""

    def fit(self, train: Corpus, settings: Settings) -> Sampled:
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

    def fit(self, train: Corpus, settings: Settings) -> SampledHDP:
        """Sample."""
        import tomotopy

        model = tomotopy.HDPModel(**sampler_options(settings))
        train_sampler(model, train, _nothing(train), settings)
        return SampledHDP(model, train.n_words, KnownLabels.of(train.labels), settings)


def _nothing(train: Corpus) -> list[dict[str, Any]]:
    return [{} for _ in range(len(train))]
