"""Topics that belong to labels: labelled and partially labelled LDA."""

from typing import Any

import numpy as np

from hdsp.corpus import Corpus, Labels
from hdsp.numerics.types import FloatArray
from hdsp.peers.base import Settings
from hdsp.peers.documents import KnownLabels
from hdsp.peers.sampling import Sampled, Sampler, sampler_options, train_sampler


class SampledByLabel(Sampled):
    """A document has the topics of its labels, and the background's."""

    def prior(self, labels: Labels) -> FloatArray:
        """The learned prior on a document's own topics; on all where it has no known label."""
        alpha = np.asarray(self.model.alpha, dtype=np.float64)
        each = self.model.topics_per_label
        place = {name: number for number, name in enumerate(self.model.topic_label_dict)}
        weights = np.zeros((len(labels), self.model.k))
        for row, names in zip(weights, self._names(labels), strict=True):
            if not names:
                row[:] = alpha
                continue
            # Background topics come after those of all labels.
            row[len(place) * each :] = alpha[len(place) * each :]
            for name in names:
                own = slice(place[name] * each, (place[name] + 1) * each)
                row[own] = alpha[own]
        return weights

    def metadata(self, labels: Labels) -> list[dict[str, Any]]:
        """The known labels."""
        return [{"labels": names} for names in self._names(labels)]

    def _names(self, labels: Labels) -> list[list[str]]:
        # A label whose documents were all empty is known to us, and not to tomotopy.
        known = set(self.model.topic_label_dict)
        return [[name for name in row if name in known] for row in self.known.tags(labels)]


class LabelledLDA(Sampler):
    """tomotopy's partially labelled LDA; with one topic a label and no background, labelled LDA.

    Parameters
    ----------
    topics_per_label : topics of each tag or category
    background : topics that every document has
    """

    def __init__(self, topics_per_label: int, background: int) -> None:
        self.topics_per_label = topics_per_label
        self.background = background

    def fit(self, train: Corpus, settings: Settings) -> SampledByLabel:
        """Sample; without background topics, only documents that have labels."""
        import tomotopy

        known = KnownLabels.of(train.labels)
        names = known.tags(train.labels)
        if not any(names):
            raise ValueError("A labelled LDA needs tags or categories: the documents have none.")
        model = tomotopy.PLDAModel(
            latent_topics=self.background,
            topics_per_label=self.topics_per_label,
            **sampler_options(settings),
        )
        metadata = [{"labels": row} if row or self.background else None for row in names]
        train_sampler(model, train, metadata, settings)
        return SampledByLabel(model, train.n_words, known, settings)

    def details(self, settings: Settings) -> dict[str, object]:
        """Sweeps, and topics of a label and of all."""
        own = {"topics_per_label": self.topics_per_label, "background_topics": self.background}
        return super().details(settings) | own
