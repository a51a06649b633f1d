"""Versions of topics: groups of documents that use different words for the same topic.

To the document step a word of group g is a word of its own: word i of group g is the word
``i (G + 1) + g``, and g = 0 are documents without a group.

Most words of topic k are common to all groups: they have the same proportions chi_k to each other
everywhere. Some differ. Group g divides its tokens of the topic between the common words together
and each differing word by omega_kg ~ Dirichlet(kappa omega_k), where omega_k are the shared
shares: equations 31 to 36. If no word differs, this is the model without versions.

What a topic is divided into are its parts: F differing words, and for each of the T topics its
common words together. Arrays [F + T] have the words first.
"""

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp.model.priors import TopicPrior
from hdsp.numerics import BoolArray, FloatArray, IntArray
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
        n_tokens = len(self.spread) * (groups + 1)
        require(len(self.tokens) == n_tokens, "its versions have other words")
        places = np.unique(self.words * self.n_topics + self.topics)
        require(len(places) == len(self.words), "a word differs twice in one of its topics")

    @classmethod
    def initial(
        cls, spread: FloatArray, n_topics: int, columns: IntArray, dtype: np.dtype[np.floating]
    ) -> "Versions":
        """Versions before the first pass: all words are common."""
        tokens = np.zeros((len(spread) * (len(columns) + 1), n_topics), dtype=dtype)
        nothing = (NO_CONTENT, NO_CONTENT, np.empty(0))
        return cls(tokens, columns, spread, *nothing, common=np.ones(n_topics))

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

    @property
    def owners(self) -> IntArray:
        """The topic of each part, [F + T]."""
        return np.concatenate([self.topics, np.arange(self.n_topics)])

    @property
    def parameters(self) -> FloatArray:
        """The Dirichlet parameters of the shared shares of parts, [F + T]."""
        return np.concatenate([self.shared, self.common])

    def sum_by_topic(self, values: FloatArray) -> FloatArray:
        """The sums [T, ...] of the values of parts, or of differing words alone."""
        owners = self.owners[: len(values)]
        places = (np.ones(len(owners)), (owners, np.arange(len(owners))))
        return np.asarray(csr_array(places, shape=(self.n_topics, len(owners))) @ values)

    def parts(self, values: FloatArray) -> FloatArray:
        """Values of parts, [F + T] or [F + T, n], from those of words, [V, T] or [V, n, T]."""
        of_words = values[self.words, ..., self.topics].astype(np.float64)
        return self.with_rest(of_words, values.sum(axis=0, dtype=np.float64).T)

    def with_rest(self, of_words: FloatArray, of_topics: FloatArray) -> FloatArray:
        """Values of parts, from those of differing words and of whole topics."""
        # A difference of float32 sums.
        rest = np.maximum(of_topics - self.sum_by_topic(of_words), 0.0)
        return np.concatenate([of_words, rest])


def word_spread(counts: csr_array) -> FloatArray:
    """The tokens of a word in a document that has it, [V]; 1 at least."""
    tokens = np.asarray(counts.sum(axis=0), dtype=np.float64)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.maximum(tokens / np.maximum(documents, 1), 1.0)


def expand_counts(counts: csr_array, design: Design, columns: IntArray) -> csr_array:
    """Counts [M, V] as counts of the words of documents' groups, [M, V (G + 1)].

    `columns` [G] of the design are 1 where a document belongs to a group.
    """
    if not len(columns):
        return counts
    n_groups = len(columns) + 1
    member = csr_array(csr_array(design)[:, columns])
    group = np.asarray(member @ np.arange(1, n_groups, dtype=np.float64)).astype(np.int64)
    places = counts.indices * n_groups + np.repeat(group, np.diff(counts.indptr))
    return csr_array(
        (counts.data, places.astype(counts.indices.dtype), counts.indptr),
        shape=(counts.shape[0], counts.shape[1] * n_groups),
    )


def count_parts(versions: Versions) -> FloatArray:
    """The tokens of parts by group, [F + T, G + 1]."""
    return versions.parts(versions.by_group())


def prior_parts(versions: Versions, prior: TopicPrior) -> FloatArray:
    """The prior eta of parts, [F + T]."""
    totals = prior.totals(len(versions.spread), versions.n_topics)
    return versions.with_rest(prior.at(versions.words, versions.topics), totals)


def _expected_log_shares(versions: Versions) -> FloatArray:
    """E[ln omega] of parts, [F + T]."""
    shared = versions.parameters
    return np.asarray(psi(shared) - psi(versions.sum_by_topic(shared))[versions.owners])


def _told(versions: Versions, tokens: FloatArray) -> BoolArray:
    """Where tokens [F + T, n] are evidence of how a group uses a part: less than one is none."""
    told = tokens >= _FEWEST_TOKENS
    told[len(versions.words) :] = True
    return told


class VersionSums(NamedTuple):
    """What the tokens of groups say at some shared shares and strength.

    `tokens` [F + T] are those of parts that the shared shares answer for (33), `value` [T] is (32)
    by topic, `pull` [T] those tokens times E[ln omega], `slope` [T] the tokens times the
    derivatives of (32), and `rise` the derivative of all of (32) by ln kappa.
    """

    tokens: FloatArray
    value: FloatArray
    pull: FloatArray
    slope: FloatArray
    rise: float


def sum_versions(
    versions: Versions, counts: FloatArray, strength: float | None = None
) -> VersionSums:
    """The sums at the versions' shared shares, and at their strength or another one."""
    kappa = versions.strength if strength is None else strength
    log_share = _expected_log_shares(versions)
    log_x = np.log(kappa) + log_share[:, None]
    x, n = np.exp(log_x), counts[:, 1:]
    told, totals = _told(versions, n), versions.sum_by_topic(n)
    at = np.where(told, x + n, 1.0)
    tokens = np.where(told, x * (psi(at) - psi(x)), n).sum(axis=1)
    value = np.where(told, gammaln(at) - gammaln(x), n * log_x).sum(axis=1)
    slope = np.where(told, n * psi(at), n * log_x).sum(axis=1)
    return VersionSums(
        tokens,
        versions.sum_by_topic(value) - (gammaln(kappa + totals) - gammaln(kappa)).sum(axis=1),
        versions.sum_by_topic(tokens * log_share),
        versions.sum_by_topic(slope) - (totals * psi(kappa + totals)).sum(axis=1),
        float(tokens.sum() - kappa * (psi(kappa + totals) - psi(kappa)).sum()),
    )


def version_table(versions: Versions, topics: FloatArray, table: FloatArray) -> FloatArray:
    """The words' factors of the responsibilities of the groups' words, [V (G + 1), K] (35).

    `table` [V, K] is exp(psi(lambda) - psi(sum lambda)) of `topics` [V, T].
    """
    n, log_share = count_parts(versions), _expected_log_shares(versions)
    log_x = np.log(versions.strength) + log_share[:, None]
    log_factor = np.where(_told(versions, n), psi(np.exp(log_x) + n), log_x)
    log_factor -= psi(versions.strength + versions.sum_by_topic(n))[versions.owners]
    log_factor[:, 0] = log_share
    whole, n_words = versions.parts(topics), len(versions.words)
    log_factor[n_words:] += (psi(versions.sum_by_topic(whole)) - psi(whole[n_words:]))[:, None]
    factor = np.exp(log_factor)
    factor[:n_words][factor[:n_words] <= _SMALLEST_ENTRY] = 0.0
    return _by_word(versions, factor, table)


def version_share(versions: Versions, topics: FloatArray, share: FloatArray) -> FloatArray:
    """E[phi] of the groups' words, [V (G + 1), T]; `share` [V, T] is that of `topics` [V, T]."""
    n, shared, owners = count_parts(versions), versions.parameters, versions.owners
    omega = shared / versions.sum_by_topic(shared)[owners]
    factor = versions.strength * omega[:, None] + n
    factor /= (versions.strength + versions.sum_by_topic(n))[owners]
    factor[:, 0] = omega
    whole, n_words = versions.parts(topics), len(versions.words)
    factor[n_words:] *= (versions.sum_by_topic(whole) / whole[n_words:])[:, None]
    return _by_word(versions, factor, share)


def _by_word(versions: Versions, parts: FloatArray, words: FloatArray) -> FloatArray:
    """Values of the groups' words, [V (G + 1), K], from those of parts, [F + T, G + 1].

    A differing word has its own value, and a common one that of its topic times `words` [V, K].
    """
    n_words, known = len(versions.words), slice(versions.n_topics)
    result = np.zeros((len(words), versions.n_groups, words.shape[1]), dtype=words.dtype)
    common = parts[n_words:].T.astype(words.dtype)
    np.multiply(words[:, None, known], common, out=result[:, :, known])
    result[versions.words, :, versions.topics] = parts[:n_words]
    return result.reshape(-1, words.shape[1])


def version_terms(versions: Versions, topics: FloatArray, prior: TopicPrior) -> float:
    """What versions add to the bound of topics whose words are all common (34)."""
    if not len(versions.words):
        return 0.0
    eta, whole = prior_parts(versions, prior), versions.parts(topics)
    shared, sums = versions.parameters, sum_versions(versions, count_parts(versions))
    total, total_eta, total_shared = map(versions.sum_by_topic, (whole, eta, shared))
    # Of the common words alone, instead of all, and of the shared shares.
    terms = sums.value - sums.slope + _gap(total, total_eta) - _gap(total_shared, total_eta)
    return float(terms.sum() + (_gap(shared, eta) - _gap(whole, eta)).sum())


def _gap(parameter: FloatArray, prior: FloatArray) -> FloatArray:
    """ln Gamma(lambda) - ln Gamma(eta) + (eta - lambda) psi(lambda)."""
    return np.asarray(gammaln(parameter) - gammaln(prior) + (prior - parameter) * psi(parameter))


def topic_values(versions: Versions, counts: FloatArray, eta: FloatArray) -> FloatArray:
    """What versions add to ``ln B(eta + n_k) - ln B(eta)`` of all tokens, [T]; 0 if none differ.

    With the shared shares at their optimum for the tangent (33).
    """
    sums, n = sum_versions(versions, counts), counts.sum(axis=1)
    answered = counts[:, 0] + sums.tokens
    total, total_n, total_answered = map(versions.sum_by_topic, (eta, n, answered))
    # Of the common words alone, instead of all, and of the shared shares.
    values = sums.value - sums.pull + versions.sum_by_topic(_rise(eta, answered) - _rise(eta, n))
    return np.asarray(values + _rise(total, total_n) - _rise(total, total_answered))


def _rise(prior: FloatArray, tokens: FloatArray) -> FloatArray:
    """ln Gamma(eta + n) - ln Gamma(eta)."""
    return np.asarray(gammaln(prior + tokens) - gammaln(prior))


def update_shares(versions: Versions, counts: FloatArray, eta: FloatArray) -> Versions:
    """The shared shares (33): they never lower the bound."""
    return _with_parameters(versions, eta + counts[:, 0] + sum_versions(versions, counts).tokens)


def _with_parameters(versions: Versions, parameters: FloatArray) -> Versions:
    n_words = len(versions.words)
    return replace(versions, shared=parameters[:n_words], common=parameters[n_words:])


def update_strength(versions: Versions, counts: FloatArray) -> Versions:
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
    changed = replace(versions, words=words, topics=topics)
    counts, eta = count_parts(changed), prior_parts(changed, prior)
    changed = _with_parameters(changed, eta + counts.sum(axis=1))
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
