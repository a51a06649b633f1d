"""Versions of topics: which words the groups of documents use differently, and their tokens.

To the document step a word of group g is a word of its own, so that it knows nothing of groups:
word i of group g is the word ``i (G + 1) + g``, and g = 0 are documents without a group. What
versions are is told in `hdsp.model.versions`.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp.model.priors import Priors, add_seeds, prior_at, prior_totals
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.functions import Design

if TYPE_CHECKING:
    from hdsp.model.state import GlobalState

# No label tells groups.
NO_CONTENT: IntArray = np.empty(0, dtype=np.int64)
# kappa before any word is known to differ.
_STRENGTH = 100.0


@dataclass(frozen=True, eq=False)
class Versions:
    """The versions of topics.

    Attributes
    ----------
    tokens : float array of shape [V (G + 1), T]
        Expected tokens of each word, group and topic.
    columns : int array of shape [G]
        The columns of the design that tell documents' groups.
    spread : float array of shape [V]
        By how much the tokens of a word vary more than by chance, as documents repeat it.
    words, topics : int arrays of shape [F]
        The words of topics that groups use differently; all others are common.
    shared : float array of shape [F]
        Dirichlet parameters of the differing words' shares of their topic, for all groups.
    common : float array of shape [T]
        Those of the common words together.
    strength : float
        The tokens kappa that the shared shares count in every group.
    """

    tokens: FloatArray
    columns: IntArray
    spread: FloatArray
    words: IntArray
    topics: IntArray
    shared: FloatArray
    common: FloatArray
    strength: float = _STRENGTH

    @classmethod
    def none(
        cls, spread: FloatArray, n_topics: int, columns: IntArray, dtype: np.dtype[np.floating]
    ) -> "Versions":
        """Versions before anything is known of them: all words are common."""
        return cls(
            np.zeros((len(spread) * (len(columns) + 1), n_topics), dtype=dtype),
            columns,
            spread,
            NO_CONTENT,
            NO_CONTENT,
            np.empty(0),
            np.ones(n_topics),
        )

    @property
    def n_groups(self) -> int:
        """G + 1: with the documents that have no group."""
        return len(self.columns) + 1

    @property
    def n_topics(self) -> int:
        """T."""
        return int(self.tokens.shape[1])

    def by_group(self) -> FloatArray:
        """The tokens, [V, G + 1, T]."""
        return self.tokens.reshape(-1, self.n_groups, self.n_topics)

    def pooled(self) -> FloatArray:
        """The tokens of all groups together, [V, T]."""
        return np.asarray(self.by_group().sum(axis=1))

    def take(self, order: IntArray) -> "Versions":
        """The topics in another order, or some of them."""
        place = np.full(self.n_topics, -1)
        place[order] = np.arange(len(order))
        kept = place[self.topics] >= 0
        return replace(
            self,
            tokens=np.ascontiguousarray(self.tokens[:, order]),
            words=self.words[kept],
            topics=place[self.topics[kept]],
            shared=self.shared[kept],
            common=self.common[order],
        )

    def expand(self, counts: csr_array, design: Design) -> csr_array:
        """Counts [M, V] as counts of the groups' words, [M, V (G + 1)]."""
        return expand_counts(counts, design, self.columns)


def word_spread(counts: csr_array) -> FloatArray:
    """The tokens of a word in a document that has it, [V]; 1 at least."""
    tokens = np.asarray(counts.sum(axis=0), dtype=np.float64)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.maximum(tokens / np.maximum(documents, 1), 1.0)


def expand_counts(counts: csr_array, design: Design, columns: IntArray) -> csr_array:
    """Counts [M, V] as counts of the words of documents' groups, [M, V (G + 1)].

    `columns` [G] of the design are 1 where a document belongs to a group.
    """
    n_groups = len(columns) + 1
    member = csr_array(csr_array(design)[:, columns])
    group = np.asarray(member @ np.arange(1, n_groups, dtype=np.float64)).astype(np.int64)
    places = counts.indices * n_groups + np.repeat(group, np.diff(counts.indptr))
    return csr_array(
        (counts.data, places.astype(counts.indices.dtype), counts.indptr),
        shape=(counts.shape[0], counts.shape[1] * n_groups),
    )


# One word in twenty differs in nineteen of twenty topics, and the others in one of twenty.
_LOG_ODDS = float(np.log(19.0))
# Fewer tokens of a word tell nothing.
_FEWEST_TOKENS = 1.0
_LEAST_STRENGTH, _MOST_STRENGTH = 1.0, 1e6
# The most that an update changes ln kappa, and less than which is not worth it.
_LARGEST_STEP, _SMALL_STEP = 2.0, 1e-3
# Updates of the shared shares of words that were not known to differ.
_FIRST_UPDATES = 3
_SMALLEST_ENTRY = 1e-20


@dataclass(frozen=True, eq=False)
class Parts:
    """Tokens by what versions divide: differing words, and all common ones together.

    Attributes
    ----------
    pairs : float array of shape [F, G + 1]
        Of each differing word of a topic.
    totals : float array of shape [G + 1, T]
        Of each topic.
    common : float array of shape [G + 1, T]
        Of each topic's common words.
    """

    pairs: FloatArray
    totals: FloatArray
    common: FloatArray

    @classmethod
    def of(cls, versions: Versions) -> "Parts":
        """The parts of versions."""
        by_group = versions.by_group()
        pairs = by_group[versions.words, :, versions.topics].astype(np.float64)
        totals = by_group.sum(axis=0, dtype=np.float64)
        differing = np.array([by_topic(versions, column) for column in pairs.T])
        # A difference of float32 sums.
        return cls(pairs, totals, np.maximum(totals - differing, 0.0))


def by_topic(versions: Versions, values: FloatArray) -> FloatArray:
    """The sums [T] of the values [F] of differing words."""
    return np.bincount(versions.topics, values, minlength=versions.n_topics).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shares:
    """The shared shares of differing words and of all common ones, E[ln omega].

    Attributes
    ----------
    pairs : float array of shape [F]
        Of differing words.
    common : float array of shape [T]
        Of the common words together.
    """

    pairs: FloatArray
    common: FloatArray

    @classmethod
    def of(cls, versions: Versions) -> "Shares":
        """The shared shares of versions."""
        total = psi(versions.common + by_topic(versions, versions.shared))
        return cls(psi(versions.shared) - total[versions.topics], psi(versions.common) - total)


@dataclass(frozen=True, eq=False)
class VersionSums:
    """What the tokens of groups say at some shared shares and strength.

    Attributes
    ----------
    pairs, common : float arrays of shape [F] and [T]
        The tokens that the shared shares answer for (33).
    value : float array of shape [T]
        (32) by topic.
    pull : float array of shape [T]
        Those tokens times E[ln omega], by topic.
    slope : float array of shape [T]
        The tokens times the derivatives of (32).
    rise : float
        The derivative of all of (32) by ln kappa.
    """

    pairs: FloatArray
    common: FloatArray
    value: FloatArray
    pull: FloatArray
    slope: FloatArray
    rise: float


def sum_versions(versions: Versions, parts: Parts, strength: float | None = None) -> VersionSums:
    """The sums at the versions' shared shares, and at their strength or another one."""
    kappa = versions.strength if strength is None else strength
    shares = Shares.of(versions)
    log_x = np.log(kappa) + shares.pairs[:, None]
    x, n = np.exp(log_x), parts.pairs[:, 1:]
    # Less than a token is no evidence that the group uses the word otherwise.
    some = n >= 1.0
    at = np.where(some, x + n, 1.0)
    pairs = np.where(some, x * (psi(at) - psi(x)), n).sum(axis=1)
    value = np.where(some, gammaln(at) - gammaln(x), n * log_x).sum(axis=1)
    slope = np.where(some, n * psi(at), n * log_x).sum(axis=1)
    x_common, n_common = kappa * np.exp(shares.common), parts.common[1:]
    totals = parts.totals[1:]
    common = (x_common * (psi(x_common + n_common) - psi(x_common))).sum(axis=0)
    of_common = (gammaln(x_common + n_common) - gammaln(x_common)).sum(axis=0)
    of_all = (gammaln(kappa + totals) - gammaln(kappa)).sum(axis=0)
    per_topic = by_topic(versions, value) + of_common - of_all
    pull = by_topic(versions, pairs * shares.pairs) + common * shares.common
    sloped = by_topic(versions, slope) + (n_common * psi(x_common + n_common)).sum(axis=0)
    sloped -= (totals * psi(kappa + totals)).sum(axis=0)
    rise = pairs.sum() + common.sum() - kappa * (psi(kappa + totals) - psi(kappa)).sum()
    return VersionSums(pairs, common, per_topic, pull, sloped, float(rise))


@dataclass(frozen=True, eq=False)
class TreePrior:
    """The prior eta of differing words, and of the common words together.

    Attributes
    ----------
    pairs : float array of shape [F]
        Of differing words.
    common : float array of shape [T]
        The sums over common words.
    totals : float array of shape [T]
        The sums over all words.
    """

    pairs: FloatArray
    common: FloatArray
    totals: FloatArray

    @classmethod
    def of(cls, priors: Priors, seeded: IntArray, versions: Versions) -> "TreePrior":
        """The prior of versions."""
        n_words = len(versions.tokens) // versions.n_groups
        eta, seeds = priors.topic_prior, priors.seeds
        pairs = prior_at(versions.words, versions.topics, eta, seeds, seeded)
        totals = prior_totals(n_words, versions.n_topics, eta, seeds, seeded)
        return cls(pairs, totals - by_topic(versions, pairs), totals)


def version_table(table: FloatArray, state: "GlobalState") -> FloatArray:
    """The words' factors of the responsibilities of the groups' words, [V (G + 1), K] (35).

    `table` [V, K] is exp(psi(lambda) - psi(sum lambda)) of `state.topics`.
    """
    versions = state.versions
    assert versions is not None
    parts, shares, kappa = Parts.of(versions), Shares.of(versions), versions.strength
    total, common = _common_totals(state, versions)
    x, x_common = kappa * np.exp(shares.pairs), kappa * np.exp(shares.common)
    per_token = psi(kappa + parts.totals)
    log_factor = psi(x_common + parts.common) - per_token
    log_factor[0] = shares.common
    factor = np.exp(log_factor + psi(total) - psi(common)).astype(table.dtype)
    result = np.zeros((len(table), versions.n_groups, table.shape[1]), dtype=table.dtype)
    np.multiply(table[:, None, : state.n_topics], factor[None], out=result[:, :, : state.n_topics])
    n = parts.pairs
    log_own = np.where(n >= 1.0, psi(x[:, None] + n), np.log(x)[:, None])
    log_own -= per_token[:, versions.topics].T
    log_own[:, 0] = shares.pairs
    own = np.exp(log_own)
    result[versions.words, :, versions.topics] = np.where(own > _SMALLEST_ENTRY, own, 0.0)
    return result.reshape(-1, table.shape[1])


def version_share(state: "GlobalState", share: FloatArray) -> FloatArray:
    """E[phi] of the groups' words, [V (G + 1), T]; `share` [V, T] is that of `state.topics`."""
    versions = state.versions
    assert versions is not None
    parts, kappa = Parts.of(versions), versions.strength
    total, common = _common_totals(state, versions)
    whole = versions.common + by_topic(versions, versions.shared)
    shared, rest = versions.shared / whole[versions.topics], versions.common / whole
    factor = (kappa * rest + parts.common) / (kappa + parts.totals)
    factor[0] = rest
    result = share[:, None] * (factor * total / common)[None]
    own = (kappa * shared[:, None] + parts.pairs) / (kappa + parts.totals[:, versions.topics].T)
    own[:, 0] = shared
    result[versions.words, :, versions.topics] = own
    return np.asarray(result.reshape(-1, share.shape[1]))


def _common_totals(state: "GlobalState", versions: Versions) -> tuple[FloatArray, FloatArray]:
    """The sums of q(phi)'s parameters over all words and over common ones, [T]."""
    total = state.topics.sum(axis=0, dtype=np.float64)
    own = state.topics[versions.words, versions.topics].astype(np.float64)
    return total, total - by_topic(versions, own)


def version_terms(state: "GlobalState", priors: Priors) -> float:
    """What versions add to the bound of topics whose words are all common (34)."""
    versions = state.versions
    assert versions is not None
    if not len(versions.words):
        return 0.0
    parts = Parts.of(versions)
    prior, sums = TreePrior.of(priors, state.seeded, versions), sum_versions(versions, parts)
    own = state.topics[versions.words, versions.topics].astype(np.float64)
    total, common = _common_totals(state, versions)
    whole = versions.common + by_topic(versions, versions.shared)
    found = sums.value - sums.slope
    # Of the common words alone, in place of all.
    found -= by_topic(versions, _gap(own, prior.pairs))
    found += _gap(total, prior.totals) - _gap(common, prior.common)
    # Of the shared shares.
    found += by_topic(versions, _gap(versions.shared, prior.pairs))
    found += _gap(versions.common, prior.common) - _gap(whole, prior.totals)
    return float(found.sum())


def _gap(parameter: FloatArray, prior: FloatArray) -> FloatArray:
    """ln Gamma(lambda) - ln Gamma(eta) + (eta - lambda) psi(lambda)."""
    return np.asarray(gammaln(parameter) - gammaln(prior) + (prior - parameter) * psi(parameter))


def topic_values(versions: Versions, parts: Parts, prior: TreePrior) -> FloatArray:
    """What versions add to ``ln B(eta + n_k) - ln B(eta)`` of all tokens, [T]; 0 if none differ.

    With the shared shares at their optimum for the tangent (33).
    """
    sums = sum_versions(versions, parts)
    n_pairs, n_common = parts.pairs.sum(axis=1), parts.common.sum(axis=0)
    found = sums.value - sums.pull
    # Of the common words alone, in place of all.
    found += _rise(prior.totals, parts.totals.sum(axis=0)) - _rise(prior.common, n_common)
    found -= by_topic(versions, _rise(prior.pairs, n_pairs))
    # Of the shared shares.
    held, rest = parts.pairs[:, 0] + sums.pairs, parts.common[0] + sums.common
    found += by_topic(versions, _rise(prior.pairs, held)) + _rise(prior.common, rest)
    found -= _rise(prior.totals, rest + by_topic(versions, held))
    return np.asarray(found)


def _rise(prior: FloatArray, tokens: FloatArray) -> FloatArray:
    """ln Gamma(eta + n) - ln Gamma(eta)."""
    return np.asarray(gammaln(prior + tokens) - gammaln(prior))


def update_shares(versions: Versions, parts: Parts, prior: TreePrior) -> Versions:
    """The shared shares (33): they never lower the bound."""
    sums = sum_versions(versions, parts)
    return replace(
        versions,
        shared=prior.pairs + parts.pairs[:, 0] + sums.pairs,
        common=prior.common + parts.common[0] + sums.common,
    )


def update_strength(versions: Versions, parts: Parts) -> Versions:
    """kappa by a Newton step on its logarithm (36), shortened until (32) is no lower."""
    if not len(versions.words):
        return versions
    kappa = versions.strength
    sums, above = (sum_versions(versions, parts, kappa * factor) for factor in (1.0, 1.01))
    curvature = (above.rise - sums.rise) / np.log(1.01)
    step = -sums.rise / curvature if curvature < 0.0 else np.sign(sums.rise)
    step = float(np.clip(step, -_LARGEST_STEP, _LARGEST_STEP))
    while abs(step) > _SMALL_STEP:
        proposed = float(np.clip(kappa * np.exp(step), _LEAST_STRENGTH, _MOST_STRENGTH))
        if sum_versions(versions, parts, proposed).value.sum() > sums.value.sum():
            return replace(versions, strength=proposed)
        step *= 0.25
    return versions


def differing_words(versions: Versions, odds: float = _LOG_ODDS) -> tuple[IntArray, IntArray]:
    """The words of topics whose shares of a topic's tokens differ between groups: words, topics.

    The log Bayes factor of a word in a topic is the likelihood ratio of a share for each group
    against one for all, less half a logarithm of the tokens for each further share. Documents
    repeat words, so that tokens count for fewer. Some words differ in most topics, and most in
    few: which of the two a word is like, all topics tell. The log odds that words of the first
    kind differ are `odds`.
    """
    by_group = versions.by_group()[:, 1:]
    totals = by_group.sum(axis=0, dtype=np.float64)
    share = totals / np.maximum(totals.sum(axis=0), 1e-300)
    words, topics = np.nonzero(by_group.sum(axis=1) >= _FEWEST_TOKENS)
    n = by_group[words, :, topics].astype(np.float64)
    of_word = n.sum(axis=1)
    expected = of_word[:, None] * share[:, topics].T
    ratio = (n * np.log(np.maximum(n, 1e-300) / np.maximum(expected, 1e-300))).sum(axis=1)
    further = 0.5 * ((totals > 0.0).sum(axis=0)[topics] - 1)
    spread = versions.spread[words]
    evidence = ratio / spread - further * np.log1p(of_word / spread)
    like = np.logaddexp(evidence + _LOG_ODDS, 0.0) - np.logaddexp(evidence, _LOG_ODDS)
    differing = np.bincount(words, like, minlength=len(by_group)) > _LOG_ODDS
    known = differing[words]
    chosen = evidence > np.where(known, -odds, _LOG_ODDS)
    return words[chosen], topics[chosen]


def with_differing(
    versions: Versions, priors: Priors, seeded: IntArray, words: IntArray, topics: IntArray
) -> tuple[Versions, Parts, TreePrior]:
    """The same tokens where other words differ, with shared shares that answer them."""
    found = replace(versions, words=words, topics=topics, shared=np.ones(len(words)))
    parts, prior = Parts.of(found), TreePrior.of(priors, seeded, found)
    found = replace(
        found,
        shared=prior.pairs + parts.pairs.sum(axis=1),
        common=prior.common + parts.common.sum(axis=0),
    )
    for _ in range(_FIRST_UPDATES):
        found = update_shares(found, parts, prior)
    return found, parts, prior


def best_values(versions: Versions, priors: Priors, seeded: IntArray) -> FloatArray:
    """What versions add to the bound of topics [T] where the words differ that seem to, or none.

    Words that differ elsewhere differ at even odds, too: the higher bound counts.
    """
    values = np.zeros(versions.n_topics)
    for odds in (_LOG_ODDS, 0.0):
        chosen = differing_words(versions, odds)
        values = np.maximum(
            values, topic_values(*with_differing(versions, priors, seeded, *chosen))
        )
    return values


def choose_differing(versions: Versions, priors: Priors, seeded: IntArray) -> Versions:
    """Let other words differ, in the topics where that raises the bound."""
    words, topics = differing_words(versions)
    found, parts, prior = with_differing(versions, priors, seeded, words, topics)
    before = topic_values(versions, Parts.of(versions), TreePrior.of(priors, seeded, versions))
    better = topic_values(found, parts, prior) > before
    return _joined(versions, found, better)


def _joined(one: Versions, other: Versions, choose: BoolArray) -> Versions:
    """`other` for the topics where `choose` [T] holds, `one` for the rest."""
    kept, taken = ~choose[one.topics], choose[other.topics]
    return replace(
        one,
        words=np.concatenate([one.words[kept], other.words[taken]]),
        topics=np.concatenate([one.topics[kept], other.topics[taken]]),
        shared=np.concatenate([one.shared[kept], other.shared[taken]]),
        common=np.where(choose, other.common, one.common),
    )


def update_versions(
    priors: Priors, state: "GlobalState", tokens: FloatArray, learn: bool = True
) -> "GlobalState":
    """The words of topics and their versions, given the tokens of the groups' words.

    Parameters
    ----------
    priors : Priors
        Hyperparameters.
    state : GlobalState
        Where the shared shares start.
    tokens : float array of shape [V (G + 1), T]
        Expected tokens of the groups' words.
    learn : bool, default=True
        Whether to learn which words differ, and kappa; else these stay.
    """
    assert state.versions is not None
    versions = replace(state.versions, tokens=tokens)
    pooled = versions.pooled() + tokens.dtype.type(priors.topic_prior)
    topics = add_seeds(pooled, priors.seeds, state.seeded)
    if learn:
        versions = choose_differing(versions, priors, state.seeded)
    parts, prior = Parts.of(versions), TreePrior.of(priors, state.seeded, versions)
    versions = update_shares(versions, parts, prior)
    if learn:
        versions = update_shares(update_strength(versions, parts), parts, prior)
    return replace(state, topics=topics, versions=versions)
