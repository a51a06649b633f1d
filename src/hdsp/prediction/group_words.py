"""How the levels of a category use the words of topics: ratios of their shares, with intervals."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, psi, xlogy
from scipy.stats import beta

from hdsp.numerics.types import FloatArray, IntArray

# Words with fewer tokens in a topic have no ratio.
FEWEST_TOKENS = 5.0
# A word of a topic differs one time in twenty, before anything is known of it.
_LOG_ODDS = float(np.log(19.0))
# Tokens that a word is taken to have beside those counted, in proportion to the levels' tokens.
_PRIOR_TOKENS = 1.0


@dataclass(frozen=True, eq=False)
class WordRatios:
    """How much more a level uses words of topics than the other levels do.

    Attributes
    ----------
    words, topics : int arrays of shape [Q]
        The words, and their topics.
    ratio, lower, upper : float arrays of shape [Q]
        The ratio of the word's shares of the topic, shrunk towards 1, and its interval.
    tokens : float array of shape [Q]
        The tokens of the word in the level's documents of the topic.
    """

    words: IntArray
    topics: IntArray
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
    found = beta(n / spread + _PRIOR_TOKENS * share, rest / spread + _PRIOR_TOKENS * (1.0 - share))
    mean = psi(n / spread + _PRIOR_TOKENS * share)
    mean -= psi(rest / spread + _PRIOR_TOKENS * (1.0 - share)) + logit(share)
    tail = (1.0 - level) / 2.0
    # The distribution function at a ratio of 1, without and with the words whose ratio it is.
    below = probability * found.cdf(share)
    limits = []
    for quantile in (tail, 1.0 - tail):
        jumped = np.where(quantile < below, quantile, quantile - (1.0 - probability))
        at = found.ppf(np.clip(jumped / np.maximum(probability, 1e-300), 0.0, 1.0))
        limit = np.exp(np.clip(logit(np.clip(at, 1e-15, 1.0 - 1e-15)) - logit(share), -30.0, 30.0))
        known = (below <= quantile) & (quantile <= below + 1.0 - probability)
        limits.append(np.where(known, 1.0, limit))
    return WordRatios(
        words, topics, np.exp(probability * np.clip(mean, -30.0, 30.0)), limits[0], limits[1], n
    )
