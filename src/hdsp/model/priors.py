"""Hyperparameters, and the prior of topics over words: eta, and more of it on seed words.

Seed set s is a row of `Priors.seeds` [S, V], the tokens that its words have beyond eta, and steers
the topic `GlobalState.seeded[s]`.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp.numerics import FloatArray, IntArray
from hdsp.storage.codec import SMALLEST, Limits

Positive = Annotated[float, Limits(least=SMALLEST)]
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
        The tokens of seed words beyond `topic_prior` (`seed_prior`).
    """

    topic_prior: Positive
    corpus_concentration: tuple[Positive, Positive] | None
    document_concentration: tuple[Positive, Positive] | None
    seeds: Annotated[csr_array, Limits("S V", 0.0)] | None = field(default=None, compare=False)

    @property
    def n_seeded(self) -> int:
        """How many topics are seeded."""
        return 0 if self.seeds is None else int(self.seeds.shape[0])

    def for_part(self, share: float) -> "Priors":
        """The priors of a part of the corpus: seeds are worth a share of its tokens."""
        return self if self.seeds is None else replace(self, seeds=csr_array(self.seeds * share))

    def of_topics(self, seeded: IntArray) -> "TopicPrior":
        """The prior of topics over words; seed sets steer the topics `seeded` [S]."""
        return TopicPrior(self.topic_prior, self.seeds, seeded)


def seed_prior(word_sets: list[IntArray], word_tokens: FloatArray, strength: float) -> csr_array:
    """The tokens [S, V] that seed words have beyond eta.

    `strength` is the prior's tokens for each token of the corpus, and `word_tokens` [V] counts
    these.
    """
    words = np.concatenate([NOT_SEEDED, *word_sets])
    ends = np.cumsum([len(words) for words in word_sets])
    # A seed word that no document has counts as one token.
    tokens = strength * np.maximum(word_tokens[words], 1.0)
    return csr_array((tokens, words, np.append(0, ends)), shape=(len(ends), len(word_tokens)))


@dataclass(frozen=True, eq=False)
class TopicPrior:
    """The Dirichlet prior of some topics over words.

    Attributes
    ----------
    eta : float
        The parameter of every word.
    seeds : sparse array of shape [S, V] or None
        What seed words have beyond it.
    seeded : int array of shape [S]
        The topic of each row of `seeds`.
    """

    eta: float
    seeds: csr_array | None
    seeded: IntArray

    def _entries(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The words, topics and tokens of all seeds."""
        if self.seeds is None:
            return NOT_SEEDED, NOT_SEEDED, np.empty(0)
        topics = np.repeat(self.seeded, np.diff(self.seeds.indptr))
        return self.seeds.indices, topics, self.seeds.data

    def add_to(self, tokens: FloatArray, sign: float = 1.0) -> FloatArray:
        """The prior plus `tokens` [V, T]: the parameters of q(phi); -1 subtracts the prior."""
        words, topics, more = self._entries()
        parameters = tokens + tokens.dtype.type(sign * self.eta)
        # A word is once in a row, and every row has its own topic.
        parameters[words, topics] += (sign * more).astype(tokens.dtype)
        return np.asarray(parameters)

    def totals(self, n_words: int, n_topics: int) -> FloatArray:
        """The sum of the prior over words, [T]."""
        total = np.full(n_topics, n_words * self.eta)
        if self.seeds is not None:
            total[self.seeded] += np.asarray(self.seeds.sum(axis=1))
        return total

    def at(self, words: IntArray, topics: IntArray) -> FloatArray:
        """The prior of some words of topics, [F]."""
        prior = np.full(len(words), self.eta)
        if self.seeds is not None and len(words):
            row_of_topic = np.full(int(max(topics.max(), self.seeded.max())) + 1, -1)
            row_of_topic[self.seeded] = np.arange(len(self.seeded))
            steered = np.flatnonzero(row_of_topic[topics] >= 0)
            rows = row_of_topic[topics[steered]]
            prior[steered] += np.asarray(self.seeds[rows, words[steered]]).ravel()
        return prior

    def seed_bound(self, parameters: FloatArray) -> float:
        """What seeds add to sum_i ln Gamma(lambda_i) - ln Gamma(eta_i) + (eta_i - lambda_i) psi.

        `parameters` [V, T] are lambda, and psi is psi(lambda_i).
        """
        words, topics, more = self._entries()
        at_seeds = parameters[words, topics].astype(np.float64)
        gain = gammaln(self.eta) - gammaln(self.eta + more) + more * psi(at_seeds)
        return float(gain.sum())

    def seed_word_terms(self, topic_words: FloatArray) -> FloatArray:
        """What seeds add to sum_i ln Gamma(eta_i + n_i) - ln Gamma(eta_i), [Q].

        `topic_words` [Q, V] are the tokens n.
        """
        words, topics, more = self._entries()
        tokens = topic_words[topics, words].astype(np.float64)
        prior = self.eta + more
        gain = gammaln(prior + tokens) - gammaln(prior)
        gain -= gammaln(self.eta + tokens) - gammaln(self.eta)
        return np.bincount(topics, gain, minlength=len(topic_words)).astype(np.float64)
