"""The author-topic model: each token is by one of the document's authors."""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer, without_none
from hdsp_studies.peers.documents import KnownLabels, normalised, tokens, topica_topics
from hdsp_studies.types import FloatArray

_SWEEPS = {False: 300, True: 40}
_PASSES = {False: 20, True: 5}
_NOBODY = "nobody"


class FittedAuthors(Fitted):
    """An author-topic model, with tags and categories as authors.

    Parameters
    ----------
    topics : float array of shape [T, V]
        Word probabilities, as in `Fitted`.
    topic_tokens : float array of shape [T]
        Tokens of the topics, as in `Fitted`.
    authors : mapping of str to float array of shape [T]
        Each author's proportions of topics.
    known : KnownLabels
        Labels that training saw.
    """

    def __init__(
        self,
        topics: FloatArray,
        topic_tokens: FloatArray,
        authors: Mapping[str, FloatArray],
        known: KnownLabels,
    ) -> None:
        self.topics = topics
        self.topic_tokens = topic_tokens
        self.authors = authors
        self.known = known
        # Without a known author a document is like those that had none, or like all of them.
        average = normalised(topic_tokens[None, :])[0]
        self.unknown = authors.get(_NOBODY, average)

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

    def fit(self, train: Corpus, settings: FitSettings) -> FittedAuthors:
        """Sample; documents without tags or categories share one more author."""
        import topica

        known = KnownLabels.of(train.labels)
        model = topica.AuthorTopic(
            settings.n_topics, seed=settings.seed, **without_none(beta=settings.topic_prior)
        )
        model.fit(
            tokens(train.counts),
            _authors(known, train),
            iters=_SWEEPS[settings.quick],
            progress=False,
        )
        authors = dict(zip(model.authors, normalised(np.asarray(model.author_topic)), strict=True))
        return FittedAuthors(*topica_topics(model, train), authors, known)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Sweeps over the training documents."""
        return {"sweeps": _SWEEPS[settings.quick]}


class VariationalAuthors(Peer):
    """gensim's author-topic model, by online variational inference: many times faster."""

    libraries = ("gensim",)

    def fit(self, train: Corpus, settings: FitSettings) -> FittedAuthors:
        """Fit; documents without tags or categories share one more author."""
        from gensim.matutils import Sparse2Corpus
        from gensim.models import AuthorTopicModel

        known = KnownLabels.of(train.labels)
        model = AuthorTopicModel(
            list(Sparse2Corpus(train.counts.T.tocsc(), documents_columns=True)),
            num_topics=settings.n_topics,
            id2word={word: str(word) for word in range(train.n_words)},
            doc2author=dict(enumerate(_authors(known, train))),
            passes=_PASSES[settings.quick],
            random_state=settings.seed,
            # No bound on the way: it takes longer than a pass.
            eval_every=0,
            **without_none(eta=settings.topic_prior),
        )
        weights = np.asarray(model.state.get_lambda(), dtype=np.float64)
        shares = normalised(np.asarray(model.state.gamma))
        authors = {name: shares[place] for name, place in model.author2id.items()}
        found = (weights - np.asarray(model.eta)).sum(axis=1).clip(min=0.0)
        return FittedAuthors(normalised(weights), found, authors, known)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Passes over the training documents."""
        return {"passes": _PASSES[settings.quick]}


def _authors(known: KnownLabels, train: Corpus) -> list[list[str]]:
    return [names or [_NOBODY] for names in known.tags(train.labels)]
