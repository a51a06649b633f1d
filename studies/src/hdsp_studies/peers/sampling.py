"""What tomotopy's Gibbs samplers have in common."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings, Fitted, Peer, without_none
from hdsp_studies.peers.documents import KnownLabels, nonempty_rows, normalised, tokens, word_shares
from hdsp_studies.types import FloatArray, IntArray

SWEEPS = {False: 300, True: 40}
# tomotopy's proportions of a new document are those of the state in which its chain ends, and the
# chain is the same in every call. So it runs to several lengths, and the mean is taken.
CHAIN_LENGTHS = {False: tuple(range(50, 150, 10)), True: tuple(range(20, 40, 4))}


def n_sweeps(settings: FitSettings) -> int:
    """The number of sweeps of a fit."""
    return settings.sweeps or SWEEPS[settings.quick]


class Sampler(Peer):
    """A model of tomotopy."""

    libraries = ("tomotopy",)

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Sweeps over the training documents, and over a new one."""
        chains = CHAIN_LENGTHS[settings.quick]
        return {"sweeps": n_sweeps(settings), "inference_sweeps": chains}


class Sampled(Fitted):
    """The state in which a sampler ended: one sample, not a mean of several.

    Parameters
    ----------
    model : object
        The trained model of tomotopy.
    n_words : int
        Size of our vocabulary, V.
    known : KnownLabels
        Labels that training saw.
    settings : FitSettings
        Settings that all models share.
    """

    def __init__(self, model: Any, n_words: int, known: KnownLabels, settings: FitSettings) -> None:
        self.model = model
        self.known = known
        self.settings = settings
        self.live = self.live_topics()
        weights = np.array([model.get_topic_word_dist(k) for k in self.live], dtype=np.float64)
        places = np.array([int(word) for word in model.used_vocabs], dtype=np.int64)
        self.topics = word_shares(weights, places, n_words)
        self.topic_tokens = np.asarray(model.get_count_by_topics(), dtype=np.float64)[self.live]

    def live_topics(self) -> IntArray:
        """The topics there are, as tomotopy counts them."""
        return np.arange(self.model.k)

    def prior(self, labels: Labels) -> FloatArray:
        """Weights of topics before any word is seen, [M, T]: by default the learned prior's."""
        return np.tile(np.asarray(self.model.alpha, dtype=np.float64), (len(labels), 1))

    def metadata(self, labels: Labels) -> list[dict[str, Any]]:
        """Further arguments of tomotopy's `make_doc` for each document."""
        return [{} for _ in range(len(labels))]

    def given_labels(self, labels: Labels) -> FloatArray | None:
        """The prior's mean."""
        return normalised(self.prior(labels))

    def given_words(self, counts: csr_array, labels: Labels) -> FloatArray:
        """By sampling the new documents with the topics as they are; a mean of several states."""
        # All that is known of a document without words is the prior.
        found = normalised(self.prior(labels))
        nonempty = nonempty_rows(counts)
        total = np.zeros((len(nonempty), len(self.live)))
        for _, proportions in self.states(csr_array(counts[nonempty]), labels[nonempty]):
            total += normalised(proportions)
        found[nonempty] = normalised(total)
        return found

    def states(self, counts: csr_array, labels: Labels) -> Iterator[tuple[list[Any], FloatArray]]:
        """States of the chains of new documents, none of them empty: tomotopy's, and [M, T]."""
        words, metadata = tokens(counts), self.metadata(labels)
        for length in CHAIN_LENGTHS[self.settings.quick] if words else ():
            pairs = zip(words, metadata, strict=True)
            documents = [self.model.make_doc(row, **extra) for row, extra in pairs]
            found, _ = self.model.infer(documents, iterations=length, workers=self.settings.n_jobs)
            yield documents, np.array(found, dtype=np.float64)[:, self.live]


def train_sampler(
    model: Any, train: Corpus, metadata: Iterable[Mapping[str, Any] | None], settings: FitSettings
) -> IntArray:
    """Add the documents and run the sampler.

    Parameters
    ----------
    model : object
        An empty model of tomotopy.
    train : Corpus
        The M training documents.
    metadata : iterable of dict or None
        Further arguments of `add_doc` for each document; one with None is left out.
    settings : FitSettings
        Settings that all models share.

    Returns
    -------
    int array
        Positions of the documents that the sampler has, in its order.
    """
    added = []
    pairs = zip(tokens(train.counts), metadata, strict=True)
    for number, (words, extra) in enumerate(pairs):
        if words and extra is not None:
            model.add_doc(words, **extra)
            added.append(number)
    model.train(n_sweeps(settings), workers=settings.n_jobs, show_progress=False)
    return np.array(added, dtype=np.int64)


def sampler_options(settings: FitSettings) -> dict[str, Any]:
    """Options of every model of tomotopy: a positive seed, and the topic prior."""
    return {"seed": settings.seed + 1, **without_none(eta=settings.topic_prior)}
