"""The prior of topics that seed words steer: eta, and more of it on their words.

Seed set s is a row of `Priors.seeds` [S, V], which holds what its words have beyond eta, and steers
the topic `GlobalState.seeded[s]`. Every function here changes or corrects those few entries of what
the symmetric prior gives.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp.numerics import FloatArray, IntArray

# No topic is steered.
NOT_SEEDED: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Priors:
    """The hyperparameters that are not learned.

    Attributes
    ----------
    topic_prior : float
        The Dirichlet parameter eta of every word in a topic.
    corpus_concentration, document_concentration : tuple of two floats, or None
        (shape, rate) of the gamma priors of alpha and beta; with None the concentration keeps
        its initial value.
    seeds : sparse array of shape [S, V] or None, default=None
        What the words of seeded topics have beyond `topic_prior` (`hdsp.model.priors`).
    """

    topic_prior: float
    corpus_concentration: tuple[float, float] | None
    document_concentration: tuple[float, float] | None
    seeds: csr_array | None = field(default=None, compare=False)

    @property
    def n_seeded(self) -> int:
        """How many topics are seeded."""
        return 0 if self.seeds is None else int(self.seeds.shape[0])

    def for_part(self, share: float) -> "Priors":
        """The priors of a part of the corpus: seeds are worth a share of its tokens."""
        return self if self.seeds is None else replace(self, seeds=csr_array(self.seeds * share))


def seed_prior(word_sets: list[IntArray], word_tokens: FloatArray, strength: float) -> csr_array:
    """The tokens [S, V] that seed words have beyond eta.

    Parameters
    ----------
    word_sets : list of int arrays
        The words of each seeded topic.
    word_tokens : float array of shape [V]
        The tokens of each word in the corpus.
    strength : float
        The prior's tokens for each token of the corpus.
    """
    words = np.concatenate([NOT_SEEDED, *word_sets])
    ends = np.cumsum([len(words) for words in word_sets])
    # A word of the vocabulary that no document has is a seed all the same.
    tokens = strength * np.maximum(word_tokens[words], 1.0)
    return csr_array((tokens, words, np.append(0, ends)), shape=(len(ends), len(word_tokens)))


def add_seeds(topics: FloatArray, seeds: csr_array | None, seeded: IntArray) -> FloatArray:
    """Add the seeds' prior to `topics` [V, T], in place, and return them."""
    if seeds is not None:
        # A word is once in a row, and every row has its own topic.
        topics[seeds.indices, _topics(seeds, seeded)] += seeds.data.astype(topics.dtype)
    return topics


def prior_totals(
    n_words: int, n_topics: int, topic_prior: float, seeds: csr_array | None, seeded: IntArray
) -> FloatArray:
    """The sum of the prior over words, [T]."""
    total = np.full(n_topics, n_words * topic_prior)
    if seeds is not None:
        total[seeded] += np.asarray(seeds.sum(axis=1))
    return total


def prior_at(
    words: IntArray, topics: IntArray, topic_prior: float, seeds: csr_array | None, seeded: IntArray
) -> FloatArray:
    """The prior of some words of topics, [F]."""
    prior = np.full(len(words), topic_prior)
    if seeds is not None and len(words):
        sets = np.full(int(max(topics.max(), seeded.max())) + 1, -1)
        sets[seeded] = np.arange(len(seeded))
        steered = np.flatnonzero(sets[topics] >= 0)
        prior[steered] += np.asarray(seeds[sets[topics[steered]], words[steered]]).ravel()
    return prior


def seed_bound(
    topics: FloatArray, topic_prior: float, seeds: csr_array | None, seeded: IntArray
) -> float:
    """What sum_i ln Gamma(lambda_i) - ln Gamma(eta_i) + (eta_i - lambda_i) psi(lambda_i) gains.

    That is, by seeds beyond `topic_prior`, for all topics [V, T].
    """
    if seeds is None:
        return 0.0
    found = topics[seeds.indices, _topics(seeds, seeded)].astype(np.float64)
    gained = gammaln(topic_prior) - gammaln(topic_prior + seeds.data) + seeds.data * psi(found)
    return float(gained.sum())


def seed_word_terms(
    topic_words: FloatArray, topic_prior: float, seeds: csr_array | None, seed_sets: IntArray
) -> FloatArray:
    """What sum_i ln Gamma(eta_i + n_i) - ln Gamma(eta_i) gains by seeds, [Q].

    `topic_words` [Q, V] are tokens, and `seed_sets` [Q] the seed set of each topic, or -1.
    """
    gained = np.zeros(len(topic_words))
    if seeds is None:
        return gained
    for topic in np.flatnonzero(seed_sets >= 0):
        row = slice(*seeds.indptr[seed_sets[topic] : seed_sets[topic] + 2])
        tokens = topic_words[topic, seeds.indices[row]].astype(np.float64)
        for sign, prior in ((1.0, topic_prior + seeds.data[row]), (-1.0, topic_prior)):
            gained[topic] += sign * (gammaln(prior + tokens) - gammaln(prior)).sum()
    return gained


def seed_sets(n_topics: int, seeded: IntArray) -> IntArray:
    """The seed set of each topic, [T]; -1 for topics that none steers."""
    found = np.full(n_topics, -1, dtype=np.int64)
    found[seeded] = np.arange(len(seeded))
    return found


def _topics(seeds: csr_array, seeded: IntArray) -> IntArray:
    """The topic of each stored entry."""
    return np.repeat(seeded, np.diff(seeds.indptr))
