"""Versions of topics: groups of documents that use different words for the same topic.

To the document step a word of group g is a word of its own: word i of group g is the word
``i (G + 1) + g``, and g = 0 are documents without a group.

Most words of topic k are common to all groups: they have the same proportions chi_k to each other
everywhere. Some differ. Group g divides its tokens of the topic between the common words together
and each differing word by omega_kg ~ Dirichlet(kappa omega_k), where omega_k are the shared
shares: equations 31 to 36. If no word differs, this is the model without versions.
"""

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp.model.priors import TopicPrior
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.functions import Design
from hdsp.storage.codec import SMALLEST, Limits, require

# No label tells groups.
NO_CONTENT: IntArray = np.empty(0, dtype=np.int64)
# kappa before any word is known to differ.
_STRENGTH = 100.0
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

    tokens: Annotated[FloatArray, Limits("n T", 0.0)]
    columns: Annotated[IntArray, Limits("g", below="J")]
    spread: Annotated[FloatArray, Limits("V", 1.0)]
    words: Annotated[IntArray, Limits("f", below="V")]
    topics: Annotated[IntArray, Limits("f", below="T")]
    shared: Annotated[FloatArray, Limits("f", SMALLEST)]
    common: Annotated[FloatArray, Limits("T", SMALLEST)]
    strength: Annotated[float, Limits(least=SMALLEST)] = _STRENGTH

    def check_stored(self) -> None:
        """Raise if a file holds versions that no fit makes."""
        groups = len(self.columns)
        require(len(np.unique(self.columns)) == groups > 0, "its versions share a label")
        require(
            len(self.tokens) == len(self.spread) * (groups + 1), "its versions have other words"
        )
        places = np.unique(self.words * self.n_topics + self.topics)
        require(len(places) == len(self.words), "a word differs twice in one of its topics")

    @classmethod
    def initial(
        cls, spread: FloatArray, n_topics: int, columns: IntArray, dtype: np.dtype[np.floating]
    ) -> "Versions":
        """Versions before the first pass: all words are common."""
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

    def sum_by_topic(self, values: FloatArray) -> FloatArray:
        """The sums [T] of the values [F] of differing words."""
        return np.bincount(self.topics, values, minlength=self.n_topics).astype(np.float64)

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


class Parts(NamedTuple):
    """What versions divide: values of differing words [F], of the common ones [T], and of all [T].

    Counts have an axis of groups besides: [F, G + 1], [G + 1, T] and [G + 1, T].
    """

    pairs: FloatArray
    common: FloatArray
    totals: FloatArray


def count_parts(versions: Versions) -> Parts:
    """Tokens by group."""
    by_group = versions.by_group()
    pairs = by_group[versions.words, :, versions.topics].astype(np.float64)
    totals = by_group.sum(axis=0, dtype=np.float64)
    differing = np.array([versions.sum_by_topic(column) for column in pairs.T])
    # A difference of float32 sums.
    return Parts(pairs, np.maximum(totals - differing, 0.0), totals)


def prior_parts(versions: Versions, prior: TopicPrior) -> Parts:
    """The prior eta."""
    pairs = prior.at(versions.words, versions.topics)
    n_words = len(versions.tokens) // versions.n_groups
    totals = prior.totals(n_words, versions.n_topics)
    return Parts(pairs, totals - versions.sum_by_topic(pairs), totals)


def topic_parts(versions: Versions, topics: FloatArray) -> Parts:
    """The parameters of q(phi), `topics` [V, T]."""
    pairs = topics[versions.words, versions.topics].astype(np.float64)
    totals = topics.sum(axis=0, dtype=np.float64)
    return Parts(pairs, totals - versions.sum_by_topic(pairs), totals)


def shared_parts(versions: Versions) -> Parts:
    """The Dirichlet parameters of the shared shares omega."""
    total = versions.common + versions.sum_by_topic(versions.shared)
    return Parts(versions.shared, versions.common, total)


def _expected_log_shares(versions: Versions) -> tuple[FloatArray, FloatArray]:
    """E[ln omega] of differing words [F] and of the common words together [T]."""
    shared = shared_parts(versions)
    total = psi(shared.totals)
    return psi(shared.pairs) - total[versions.topics], psi(shared.common) - total


class VersionSums(NamedTuple):
    """What the tokens of groups say at some shared shares and strength.

    `pairs` [F] and `common` [T] are the tokens that the shared shares answer for (33), `value` [T]
    is (32) by topic, `pull` [T] those tokens times E[ln omega], `slope` [T] the tokens times the
    derivatives of (32), and `rise` the derivative of all of (32) by ln kappa.
    """

    pairs: FloatArray
    common: FloatArray
    value: FloatArray
    pull: FloatArray
    slope: FloatArray
    rise: float


def sum_versions(versions: Versions, counts: Parts, strength: float | None = None) -> VersionSums:
    """The sums at the versions' shared shares, and at their strength or another one."""
    kappa = versions.strength if strength is None else strength
    log_share, log_common = _expected_log_shares(versions)
    log_x = np.log(kappa) + log_share[:, None]
    x, n = np.exp(log_x), counts.pairs[:, 1:]
    # Less than a token is no evidence that the group uses the word otherwise.
    some = n >= 1.0
    at = np.where(some, x + n, 1.0)
    pairs = np.where(some, x * (psi(at) - psi(x)), n).sum(axis=1)
    value = np.where(some, gammaln(at) - gammaln(x), n * log_x).sum(axis=1)
    slope = np.where(some, n * psi(at), n * log_x).sum(axis=1)
    x_common, n_common = kappa * np.exp(log_common), counts.common[1:]
    totals = counts.totals[1:]
    common = (x_common * (psi(x_common + n_common) - psi(x_common))).sum(axis=0)
    of_common = (gammaln(x_common + n_common) - gammaln(x_common)).sum(axis=0)
    of_all = (gammaln(kappa + totals) - gammaln(kappa)).sum(axis=0)
    per_topic = versions.sum_by_topic(value) + of_common - of_all
    pull = versions.sum_by_topic(pairs * log_share) + common * log_common
    sloped = versions.sum_by_topic(slope) + (n_common * psi(x_common + n_common)).sum(axis=0)
    sloped -= (totals * psi(kappa + totals)).sum(axis=0)
    rise = pairs.sum() + common.sum() - kappa * (psi(kappa + totals) - psi(kappa)).sum()
    return VersionSums(pairs, common, per_topic, pull, sloped, float(rise))


def version_table(versions: Versions, topics: FloatArray, table: FloatArray) -> FloatArray:
    """The words' factors of the responsibilities of the groups' words, [V (G + 1), K] (35).

    `table` [V, K] is exp(psi(lambda) - psi(sum lambda)) of `topics` [V, T].
    """
    counts, whole, kappa = count_parts(versions), topic_parts(versions, topics), versions.strength
    log_share, log_common = _expected_log_shares(versions)
    x, x_common = kappa * np.exp(log_share), kappa * np.exp(log_common)
    per_token = psi(kappa + counts.totals)
    log_factor = psi(x_common + counts.common) - per_token
    log_factor[0] = log_common
    factor = np.exp(log_factor + psi(whole.totals) - psi(whole.common)).astype(table.dtype)
    result = np.zeros((len(table), versions.n_groups, table.shape[1]), dtype=table.dtype)
    known = slice(versions.n_topics)
    np.multiply(table[:, None, known], factor[None], out=result[:, :, known])
    n = counts.pairs
    log_differing = np.where(n >= 1.0, psi(x[:, None] + n), np.log(x)[:, None])
    log_differing -= per_token[:, versions.topics].T
    log_differing[:, 0] = log_share
    differing = np.exp(log_differing)
    differing = np.where(differing > _SMALLEST_ENTRY, differing, 0.0)
    result[versions.words, :, versions.topics] = differing
    return result.reshape(-1, table.shape[1])


def version_share(versions: Versions, topics: FloatArray, share: FloatArray) -> FloatArray:
    """E[phi] of the groups' words, [V (G + 1), T]; `share` [V, T] is that of `topics` [V, T]."""
    counts, whole, kappa = count_parts(versions), topic_parts(versions, topics), versions.strength
    shared = shared_parts(versions)
    omega, rest = shared.pairs / shared.totals[versions.topics], shared.common / shared.totals
    factor = (kappa * rest + counts.common) / (kappa + counts.totals)
    factor[0] = rest
    result = share[:, None] * (factor * whole.totals / whole.common)[None]
    per_token = kappa + counts.totals[:, versions.topics].T
    differing = (kappa * omega[:, None] + counts.pairs) / per_token
    differing[:, 0] = omega
    result[versions.words, :, versions.topics] = differing
    return np.asarray(result.reshape(-1, share.shape[1]))


def version_terms(versions: Versions, topics: FloatArray, prior: TopicPrior) -> float:
    """What versions add to the bound of topics whose words are all common (34)."""
    if not len(versions.words):
        return 0.0
    eta, whole, shared = (
        prior_parts(versions, prior),
        topic_parts(versions, topics),
        shared_parts(versions),
    )
    sums = sum_versions(versions, count_parts(versions))
    terms = sums.value - sums.slope
    # Of the common words alone, instead of all.
    terms -= versions.sum_by_topic(_gap(whole.pairs, eta.pairs))
    terms += _gap(whole.totals, eta.totals) - _gap(whole.common, eta.common)
    # Of the shared shares.
    terms += versions.sum_by_topic(_gap(shared.pairs, eta.pairs))
    terms += _gap(shared.common, eta.common) - _gap(shared.totals, eta.totals)
    return float(terms.sum())


def _gap(parameter: FloatArray, prior: FloatArray) -> FloatArray:
    """ln Gamma(lambda) - ln Gamma(eta) + (eta - lambda) psi(lambda)."""
    return np.asarray(gammaln(parameter) - gammaln(prior) + (prior - parameter) * psi(parameter))


def topic_values(versions: Versions, counts: Parts, eta: Parts) -> FloatArray:
    """What versions add to ``ln B(eta + n_k) - ln B(eta)`` of all tokens, [T]; 0 if none differ.

    With the shared shares at their optimum for the tangent (33).
    """
    sums = sum_versions(versions, counts)
    n_pairs, n_common = counts.pairs.sum(axis=1), counts.common.sum(axis=0)
    values = sums.value - sums.pull
    # Of the common words alone, instead of all.
    values += _rise(eta.totals, counts.totals.sum(axis=0)) - _rise(eta.common, n_common)
    values -= versions.sum_by_topic(_rise(eta.pairs, n_pairs))
    # Of the shared shares.
    differing, rest = counts.pairs[:, 0] + sums.pairs, counts.common[0] + sums.common
    values += versions.sum_by_topic(_rise(eta.pairs, differing)) + _rise(eta.common, rest)
    values -= _rise(eta.totals, rest + versions.sum_by_topic(differing))
    return np.asarray(values)


def _rise(prior: FloatArray, tokens: FloatArray) -> FloatArray:
    """ln Gamma(eta + n) - ln Gamma(eta)."""
    return np.asarray(gammaln(prior + tokens) - gammaln(prior))


def update_shares(versions: Versions, counts: Parts, eta: Parts) -> Versions:
    """The shared shares (33): they never lower the bound."""
    sums = sum_versions(versions, counts)
    return replace(
        versions,
        shared=eta.pairs + counts.pairs[:, 0] + sums.pairs,
        common=eta.common + counts.common[0] + sums.common,
    )


def update_strength(versions: Versions, counts: Parts) -> Versions:
    """kappa by a Newton step on its logarithm (36), shortened until (32) is no lower."""
    if not len(versions.words):
        return versions
    kappa = versions.strength
    sums, above = (sum_versions(versions, counts, kappa * factor) for factor in (1.0, 1.01))
    curvature = (above.rise - sums.rise) / np.log(1.01)
    step = -sums.rise / curvature if curvature < 0.0 else np.sign(sums.rise)
    step = float(np.clip(step, -_LARGEST_STEP, _LARGEST_STEP))
    while abs(step) > _SMALL_STEP:
        proposed = float(np.clip(kappa * np.exp(step), _LEAST_STRENGTH, _MOST_STRENGTH))
        if sum_versions(versions, counts, proposed).value.sum() > sums.value.sum():
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
    penalty = 0.5 * ((totals > 0.0).sum(axis=0)[topics] - 1)
    repeats = versions.spread[words]
    evidence = ratio / repeats - penalty * np.log1p(of_word / repeats)
    like = np.logaddexp(evidence + _LOG_ODDS, 0.0) - np.logaddexp(evidence, _LOG_ODDS)
    differing = np.bincount(words, like, minlength=len(by_group)) > _LOG_ODDS
    known = differing[words]
    chosen = evidence > np.where(known, -odds, _LOG_ODDS)
    return words[chosen], topics[chosen]


def with_differing(
    versions: Versions, prior: TopicPrior, words: IntArray, topics: IntArray
) -> tuple[Versions, FloatArray]:
    """The same tokens where other words differ, and what this adds to the bound, [T]."""
    changed = replace(versions, words=words, topics=topics, shared=np.ones(len(words)))
    counts, eta = count_parts(changed), prior_parts(changed, prior)
    changed = replace(
        changed,
        shared=eta.pairs + counts.pairs.sum(axis=1),
        common=eta.common + counts.common.sum(axis=0),
    )
    for _ in range(_FIRST_UPDATES):
        changed = update_shares(changed, counts, eta)
    return changed, topic_values(changed, counts, eta)


def best_values(versions: Versions, prior: TopicPrior) -> FloatArray:
    """What versions add to the bound of topics [T] where the words differ that seem to, or none.

    Words that differ elsewhere differ at even odds, too: the higher bound counts.
    """
    values = np.zeros(versions.n_topics)
    for odds in (_LOG_ODDS, 0.0):
        _, gained = with_differing(versions, prior, *differing_words(versions, odds))
        values = np.maximum(values, gained)
    return values


def choose_differing(versions: Versions, prior: TopicPrior) -> Versions:
    """Let other words differ, in the topics where that raises the bound."""
    changed, after = with_differing(versions, prior, *differing_words(versions))
    better = after > topic_values(versions, count_parts(versions), prior_parts(versions, prior))
    kept, taken = ~better[versions.topics], better[changed.topics]
    return replace(
        versions,
        words=np.concatenate([versions.words[kept], changed.words[taken]]),
        topics=np.concatenate([versions.topics[kept], changed.topics[taken]]),
        shared=np.concatenate([versions.shared[kept], changed.shared[taken]]),
        common=np.where(better, changed.common, versions.common),
    )


def learn_versions(
    versions: Versions, prior: TopicPrior, tokens: FloatArray, choose: bool = True
) -> Versions:
    """The versions for the tokens of the groups' words, [V (G + 1), T].

    `choose` also learns which words differ, and kappa.
    """
    versions = replace(versions, tokens=tokens)
    if choose:
        versions = choose_differing(versions, prior)
    counts, eta = count_parts(versions), prior_parts(versions, prior)
    versions = update_shares(versions, counts, eta)
    if choose:
        versions = update_shares(update_strength(versions, counts), counts, eta)
    return versions
