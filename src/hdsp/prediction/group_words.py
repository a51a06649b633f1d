"""How groups of documents use words: ratios to what is expected of them, with intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, psi, xlogy

from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.word_factors import WordFactors

# Words with fewer tokens in a topic have no ratio, nor those of which a label has and is expected
# to have fewer.
FEWEST_TOKENS = 5.0
# A word differs one time in twenty, before anything is known of it.
_LOG_ODDS = float(np.log(19.0))
# Tokens that a word is taken to have beside those counted, in proportion to the levels' tokens.
_PRIOR_TOKENS = 1.0


@dataclass(frozen=True, eq=False)
class WordRatios:
    """How much more a level uses words of topics than other levels do, or labels use words.

    Attributes
    ----------
    words, owners : int arrays of shape [Q]
        The words, and the topics that a level uses them in, or the labels that use them.
    ratio, lower, upper : float arrays of shape [Q]
        The ratio of the word's shares of the topic, or of its tokens to those that are expected,
        shrunk towards 1, and its interval.
    tokens : float array of shape [Q]
        The tokens of the word in the level's documents of the topic, or in the label's documents.
    """

    words: IntArray
    owners: IntArray
    ratio: FloatArray
    lower: FloatArray
    upper: FloatArray
    tokens: FloatArray


def word_ratios(
    own: FloatArray, others: FloatArray, spread: FloatArray, level: float
) -> WordRatios:
    """Ratios of shares in a level and in the others, from tokens [V, T] of both.

    The ratio of most words is 1. That it is not has the probability of the likelihood ratio, less
    half a logarithm of the tokens, against odds of 19 to 1; then tokens are gamma distributed.

    Parameters
    ----------
    own, others : float arrays of shape [V, T]
        Expected tokens.
    spread : float array of shape [V]
        By how much tokens of a word vary more than by chance.
    level : float
        The probability of intervals.
    """
    words, topics = np.nonzero(own + others >= FEWEST_TOKENS)
    n, rest = own[words, topics], others[words, topics]
    totals = np.maximum(own.sum(axis=0), 1e-300), np.maximum(others.sum(axis=0), 1e-300)
    # A topic that one of the sides does not have says nothing of it, but divides by no zero.
    share = np.clip(totals[0] / (totals[0] + totals[1]), 1e-9, 1.0 - 1e-9)[topics]
    ratio = xlogy(n, n / (n + rest) / share) + xlogy(rest, rest / (n + rest) / (1.0 - share))
    spread = spread[words]
    evidence = ratio / spread - 0.5 * np.log1p((n + rest) / spread)
    probability = expit(evidence - _LOG_ODDS)
    from scipy.stats import beta

    found = beta(n / spread + _PRIOR_TOKENS * share, rest / spread + _PRIOR_TOKENS * (1.0 - share))
    mean = psi(n / spread + _PRIOR_TOKENS * share)
    mean -= psi(rest / spread + _PRIOR_TOKENS * (1.0 - share)) + logit(share)
    limits = [
        np.exp(np.clip(logit(np.clip(at, 1e-15, 1.0 - 1e-15)) - logit(share), -30.0, 30.0))
        for at in _limits(found, share, probability, level)
    ]
    return WordRatios(
        words, topics, np.exp(probability * np.clip(mean, -30.0, 30.0)), limits[0], limits[1], n
    )


def factor_ratios(factors: WordFactors, level: float) -> WordRatios:
    """Ratios of words' tokens to those that topics and other labels lead one to expect.

    As in `word_ratios`, most of them are 1. The others are gamma distributed. Only those whose
    interval excludes 1 are returned.

    Parameters
    ----------
    factors : WordFactors
        The tokens that were counted, and those that are expected.
    level : float
        The probability of intervals.
    """
    observed, rows = factors.observed, np.diff(factors.observed.indptr)
    labels, words = np.repeat(np.arange(len(rows)), rows), observed.indices
    n, expected = observed.data.astype(np.float64), factors.expected.astype(np.float64)
    spread, strength = factors.spread[words], factors.strength[labels]
    evidence = (xlogy(n, n / expected) - (n - expected)) / spread
    probability = expit(evidence - 0.5 * np.log1p((n + expected) / spread) - _LOG_ODDS)
    # No interval excludes 1 that has more than the tail's probability. The last are no label's.
    kept = (n + expected >= FEWEST_TOKENS) & (probability > (1.0 + level) / 2.0)
    kept &= labels < len(rows) - 1
    shape, rate, probability = (
        values[kept]
        for values in ((strength + n) / spread, (strength + expected) / spread, probability)
    )
    from scipy.stats import gamma

    lower, upper = _limits(gamma(shape, scale=1.0 / rate), np.ones(len(rate)), probability, level)
    ratio = np.exp(probability * (psi(shape) - np.log(rate)))
    found = WordRatios(words[kept], labels[kept], ratio, lower, upper, n[kept])
    apart = (lower > 1.0) | (upper < 1.0)
    return WordRatios(*(values[apart] for values in vars(found).values()))


def _limits(
    found: Any, one: FloatArray, probability: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """The limits of intervals of a variable that is `one`, unless it has a distribution `found`.

    The latter has the `probability`.
    """
    tail = (1.0 - level) / 2.0
    # The distribution function at one, without and with the probability that it has.
    below = probability * found.cdf(one)
    limits = []
    for quantile in (tail, 1.0 - tail):
        jumped = np.where(quantile < below, quantile, quantile - (1.0 - probability))
        at = found.ppf(np.clip(jumped / np.maximum(probability, 1e-300), 0.0, 1.0))
        known = (below <= quantile) & (quantile <= below + 1.0 - probability)
        limits.append(np.where(known, one, at))
    return limits[0], limits[1]
