"""Topic models of short texts, of topica."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer
from hdsp_studies.peers.documents import normalised, tokens, topica_topics
from hdsp_studies.types import FloatArray

# Sweeps by model; a quick fit makes the second number.
_SWEEPS = {"GSDMM": (30, 10), "BTM": (500, 20), "PT": (500, 20)}


class FittedShort(Fitted):
    """A model of short texts.

    Parameters
    ----------
    model : object
        The model of topica.
    train : Corpus
        The training documents.
    """

    def __init__(self, model: Any, train: Corpus) -> None:
        self.model = model
        self.topics, self.topic_tokens = topica_topics(model, train)

    def given_labels(self, labels: Labels) -> FloatArray:
        """Topics by their share of the tokens."""
        return normalised(np.tile(np.asarray(self.topic_tokens), (len(labels), 1)))

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """By the model's own inference."""
        return normalised(np.asarray(self.model.transform(tokens(counts))))


class ShortTextModel(Peer):
    """A mixture of unigrams (GSDMM), a model of pairs of words (BTM) or of pseudo-documents (PT).

    Parameters
    ----------
    kind : str
        ``"GSDMM"``, ``"BTM"`` or ``"PT"``.
    """

    libraries = ("topica",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, train: Corpus, settings: FitSettings) -> FittedShort:
        """Sample."""
        import topica

        model = getattr(topica, self.kind)(settings.n_topics, seed=settings.seed)
        sweeps = _SWEEPS[self.kind][settings.quick]
        model.fit(tokens(train.counts), iters=sweeps, num_threads=settings.n_jobs, progress=False)
        return FittedShort(model, train)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Sweeps of the sampler."""
        return {"sweeps": _SWEEPS[self.kind][settings.quick]}
