"""The author-topic model: each token is by one of the document's authors."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Corpus, Labels
from hdsp.numerics.types import FloatArray
from hdsp.peers.base import Fitted, Peer, Settings, given
from hdsp.peers.documents import KnownLabels, normalised, tokens, word_shares

_SWEEPS = {False: 300, True: 40}
_NOBODY = "nobody"


class FittedAuthors(Fitted):
    """topica's author-topic model, with tags and categories as authors."""

    def __init__(self, model: Any, train: Corpus, known: KnownLabels) -> None:
        self.known = known
        places = np.array([int(word) for word in model.vocabulary], dtype=np.int64)
        self.topics = word_shares(np.asarray(model.topic_word), places, train.n_words)
        lengths = np.asarray(train.counts.sum(axis=1)).ravel()
        self.topic_tokens = lengths @ np.asarray(model.doc_topic)
        rows = normalised(np.asarray(model.author_topic))
        self.authors = dict(zip(model.authors, rows, strict=True))
        # Without a known author a document is like those that had none, or like all of them.
        average = normalised(self.topic_tokens[None, :])[0]
        self.unknown = self.authors.get(_NOBODY, average)

    def given_labels(self, labels: Labels) -> FloatArray:
        """The mean over a document's authors, each as likely to have written a token."""
        found = np.empty((len(labels), len(self.unknown)))
        for m, names in enumerate(self.known.tags(labels)):
            rows = [self.authors[name] for name in names if name in self.authors]
            found[m] = np.mean(rows, axis=0) if rows else self.unknown
        return normalised(found)

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """The same: given its authors, a document's tokens say nothing of one another."""
        return self.given_labels(labels)


class AuthorTopic(Peer):
    """topica's author-topic model, by sampling."""

    libraries = ("topica",)

    def fit(self, train: Corpus, settings: Settings) -> FittedAuthors:
        """Sample; documents without tags or categories share one more author."""
        import topica

        known = KnownLabels.of(train.labels)
        model = topica.AuthorTopic(
            settings.n_topics, seed=settings.seed, **given(beta=settings.topic_prior)
        )
        model.fit(
            tokens(train.counts),
            [names or [_NOBODY] for names in known.tags(train.labels)],
            iters=_SWEEPS[settings.quick],
            progress=False,
        )
        return FittedAuthors(model, train, known)

    def details(self, settings: Settings) -> dict[str, object]:
        """Sweeps over the training documents."""
        return {"sweeps": _SWEEPS[settings.quick]}
