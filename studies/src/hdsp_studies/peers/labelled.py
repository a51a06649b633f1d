"""Topics that belong to labels: labelled and partially labelled LDA."""

from typing import Any

import numpy as np

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings
from hdsp_studies.peers.documents import KnownLabels, normalised
from hdsp_studies.peers.sampling import Sampled, Sampler, sampler_options, train_sampler
from hdsp_studies.types import FloatArray


class SampledByLabel(Sampled):
    """A document has the topics of its labels, and the background's.

    Attributes
    ----------
    use : float array of shape [T]
        Each topic's share of the tokens of the labelled training documents that may have it.
    """

    use: FloatArray

    def prior(self, labels: Labels) -> FloatArray:
        """The same on each of a document's own topics; on all where it has no known label."""
        each = self.model.topics_per_label
        place = {name: number for number, name in enumerate(self.model.topic_label_dict)}
        weights = np.zeros((len(labels), self.model.k))
        for row, names in zip(weights, self._names(labels), strict=True):
            # Background topics come after those of all labels.
            row[len(place) * each if names else 0 :] = 1.0
            for name in names:
                row[place[name] * each : (place[name] + 1) * each] = 1.0
        return weights

    def given_labels(self, labels: Labels) -> FloatArray:
        """A document's own topics by their use; without known labels, all by their tokens."""
        labelled = np.array([[bool(names)] for names in self._names(labels)]).reshape(-1, 1)
        weights = np.where(labelled, self.use, np.asarray(self.topic_tokens))
        return normalised(self.prior(labels) * weights)

    def learn_use(self, labels: Labels) -> None:
        """Find how much labelled documents use the topics that they may have.

        Parameters
        ----------
        labels : Labels
            Labels of the documents that the model was trained on.
        """
        held, possible = np.zeros(self.model.k), np.zeros(self.model.k)
        rows = zip(self.model.docs, self._names(labels), self.prior(labels), strict=True)
        for document, names, allowed in rows:
            if names:
                held += np.bincount(document.topics, minlength=self.model.k)
                possible += allowed * len(document.topics)
        self.use = held / np.maximum(possible, 1.0)

    def metadata(self, labels: Labels) -> list[dict[str, Any]]:
        """The known labels."""
        return [{"labels": names} for names in self._names(labels)]

    def _names(self, labels: Labels) -> list[list[str]]:
        # A label whose documents were all empty is known to us, and not to tomotopy.
        known = set(self.model.topic_label_dict)
        return [[name for name in row if name in known] for row in self.known.tags(labels)]


class LabelledLDA(Sampler):
    """tomotopy's partially labelled LDA.

    With one topic for each label and no background it is labelled LDA.

    Parameters
    ----------
    topics_per_label : int
        Number of topics of each tag or level of a category.
    background : int
        Number of topics that every document has.
    """

    def __init__(self, topics_per_label: int, background: int) -> None:
        self.topics_per_label = topics_per_label
        self.background = background

    def fit(self, train: Corpus, settings: FitSettings) -> SampledByLabel:
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
        # It would learn a prior as if every document could have every topic, and then expect a rare
        # label's topic to be rare even in documents with that label.
        model.optim_interval = 0
        metadata = [{"labels": row} if row or self.background else None for row in names]
        sampled = train_sampler(model, train, metadata, settings)
        fitted = SampledByLabel(model, train.n_words, known, settings)
        fitted.learn_use(train.labels[sampled])
        return fitted

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Sweeps, topics of a label and of all, and what is expected of a document."""
        own = {
            "topics_per_label": self.topics_per_label,
            "background_topics": self.background,
            "document_prior": "symmetric",
            "expected_topics": "by use",
        }
        return super().details(settings) | own
