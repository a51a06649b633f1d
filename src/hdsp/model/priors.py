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
        if self.seeds is None:
            return TopicPrior(self.topic_prior)
        topics = np.repeat(seeded, np.diff(self.seeds.indptr))
        return TopicPrior(self.topic_prior, self.seeds.indices, topics, self.seeds.data)


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
    words, topics : int arrays of shape [E]
        Seed words, and the topics that they steer; each pair is there once.
    tokens : float array of shape [E]
        What these have beyond eta.
    """

    eta: float
    words: IntArray = field(default_factory=NOT_SEEDED.copy)
    topics: IntArray = field(default_factory=NOT_SEEDED.copy)
    tokens: FloatArray = field(default_factory=lambda: np.empty(0))

    def add_to(self, tokens: FloatArray, sign: float = 1.0) -> FloatArray:
        """The prior plus `tokens` [V, T]: the parameters of q(phi); -1 subtracts the prior."""
        parameters = tokens + tokens.dtype.type(sign * self.eta)
        parameters[self.words, self.topics] += (sign * self.tokens).astype(tokens.dtype)
        return np.asarray(parameters)

    def totals(self, n_words: int, n_topics: int) -> FloatArray:
        """The sum of the prior over words, [T]."""
        seeds = np.bincount(self.topics, self.tokens, minlength=n_topics)
        return np.asarray(n_words * self.eta + seeds)

    def at(self, words: IntArray, topics: IntArray) -> FloatArray:
        """The prior of some words of topics, [F]."""
        prior = np.full(len(words), self.eta)
        for word, topic, more in zip(self.words, self.topics, self.tokens, strict=True):
            prior[(words == word) & (topics == topic)] += more
        return prior

    def seed_bound(self, parameters: FloatArray) -> float:
        """What seeds add to sum_i ln Gamma(lambda_i) - ln Gamma(eta_i) + (eta_i - lambda_i) psi.

        `parameters` [V, T] are lambda, and psi is psi(lambda_i).
        """
        at_seeds = parameters[self.words, self.topics].astype(np.float64)
        gain = gammaln(self.eta) - gammaln(self.eta + self.tokens) + self.tokens * psi(at_seeds)
        return float(gain.sum())

    def seed_word_terms(self, topic_words: FloatArray) -> FloatArray:
        """What seeds add to sum_i ln Gamma(eta_i + n_i) - ln Gamma(eta_i), [Q].

        `topic_words` [Q, V] are the tokens n.
        """
        tokens = topic_words[self.topics, self.words].astype(np.float64)
        prior = self.eta + self.tokens
        gain = gammaln(prior + tokens) - gammaln(prior)
        gain -= gammaln(self.eta + tokens) - gammaln(self.eta)
        return np.bincount(self.topics, gain, minlength=len(topic_words)).astype(np.float64)
