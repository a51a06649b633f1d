"""Versions of topics: the words of a topic in the documents of each group.

Group g uses the words phi_kg ~ Dirichlet(kappa phi_k) of topic k, where phi_k are the shared words:
these pull with the weight of kappa tokens (equations 23 to 28). To the document step a word of
group g is a word of its own, so that it knows nothing of groups: word i of group g is the word
``i (G + 1) + g``, and g = 0 are documents without a group, which use the shared words.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import Design

# No label tells groups.
NO_CONTENT: IntArray = np.empty(0, dtype=np.int64)
_WORD_RANGE = 512
# kappa is searched for between these; above, versions are the shared words.
_LEAST, _MOST = 1.0, 1e6
# The factor between strengths that are tried first, and the most that one update changes ln kappa.
_FACTOR = 10.0**0.5
_LARGEST_STEP = 2.0
_SMALL_STEP = 1e-3
# More tokens than a corpus has.
_NEVER = 1e30


@dataclass(frozen=True, eq=False)
class Versions:
    """The versions of topics.

    Attributes
    ----------
    tokens : float array of shape [V (G + 1), T]
        Expected tokens of each word, group and topic.
    strength : float
        kappa; infinite where versions are the shared words.
    columns : int array of shape [G]
        The columns of the design that tell documents' groups.
    """

    tokens: FloatArray
    strength: float
    columns: IntArray

    @property
    def n_groups(self) -> int:
        """G + 1: with the documents that have no group."""
        return len(self.columns) + 1

    def take(self, topics: IntArray) -> "Versions":
        """Some of the topics."""
        return replace(self, tokens=np.ascontiguousarray(self.tokens[:, topics]))

    def by_group(self) -> FloatArray:
        """The tokens, [V, G + 1, T]."""
        return self.tokens.reshape(-1, self.n_groups, self.tokens.shape[1])

    def totals(self) -> FloatArray:
        """The tokens of each group and topic, [G + 1, T], in float64."""
        return np.asarray(self.by_group().sum(axis=0, dtype=np.float64))

    def shared_tokens(self) -> FloatArray:
        """The tokens of all groups together, [V, T], in float64."""
        return np.asarray(self.by_group().sum(axis=1, dtype=np.float64))

    def expand(self, counts: csr_array, design: Design) -> csr_array:
        """Counts [M, V] as counts of the groups' words, [M, V (G + 1)]."""
        return expand_counts(counts, design, self.columns)


def no_versions(n_words: int, n_topics: int, columns: IntArray, dtype: np.dtype) -> Versions:
    """Versions before anything is known of them: the shared words."""
    tokens = np.zeros((n_words * (len(columns) + 1), n_topics), dtype=dtype)
    return Versions(tokens, np.inf, columns)


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


def version_table(shared: FloatArray, versions: Versions) -> FloatArray:
    """The words' factors of the responsibilities, [V (G + 1), K]; `shared` [V, K] is exp(E ln phi).

    (27) exp(ds/dn - psi(kappa + N_gk)).
    """
    dtype, n_groups = shared.dtype, versions.n_groups
    table = np.zeros((len(shared) * n_groups, shared.shape[1]), dtype=dtype)
    if np.isinf(versions.strength):
        table.reshape(-1, n_groups, shared.shape[1])[:] = shared[:, None]
        return table
    inverse_total = np.exp(-psi(versions.strength + versions.totals()))
    run_ranges(
        kernels.fill_version_table,
        len(shared),
        _WORD_RANGE,
        np.ascontiguousarray(versions.tokens),
        shared,
        dtype.type(versions.strength),
        inverse_total.astype(dtype),
        table,
    )
    return table


@dataclass(frozen=True, eq=False)
class VersionSums:
    """What tokens of versions say at some shared words and strength.

    Attributes
    ----------
    tables : float array of shape [V, T]
        The tokens that the shared words answer for (25).
    value : float array of shape [T]
        (24) Its sum over words and groups, less that of all their tokens.
    pull : float array of shape [T]
        The sum over words of tables E[ln phi].
    term : float array of shape [T]
        The versions' part of the bound (26).
    rise : float
        The derivative of the sum of `value` by ln kappa.
    """

    tables: FloatArray
    value: FloatArray
    pull: FloatArray
    term: FloatArray
    rise: float


def sum_versions(topics: FloatArray, versions: Versions) -> VersionSums:
    """The sums at q(phi) = Dirichlet(`topics` [V, T])."""
    n_words, n_topics = topics.shape
    totals, strength = versions.totals()[1:], versions.strength
    tied = np.isinf(strength)
    tables = np.empty((n_words, n_topics))
    value, pull, slope = np.zeros((3, -(-n_words // _WORD_RANGE), n_topics))
    run_ranges(
        kernels.sum_versions,
        n_words,
        _WORD_RANGE,
        _WORD_RANGE,
        np.ascontiguousarray(versions.tokens),
        versions.n_groups,
        np.ascontiguousarray(topics),
        psi(topics.sum(axis=0, dtype=np.float64)),
        0.0 if tied else float(np.log(strength)),
        _NEVER if tied else 1.0,
        tables,
        value,
        pull,
        slope,
    )
    if tied:
        # s(n, x) = n ln x, in which ln kappa cancels with that of all tokens.
        valued = value.sum(axis=0)
        return VersionSums(tables, valued, pull.sum(axis=0), np.zeros(n_topics), 0.0)
    of_all = (gammaln(strength + totals) - gammaln(strength)).sum(axis=0)
    valued = value.sum(axis=0) - of_all
    rise = tables.sum() - strength * (psi(strength + totals) - psi(strength)).sum()
    sloped = slope.sum(axis=0) - (totals * psi(strength + totals)).sum(axis=0)
    return VersionSums(tables, valued, pull.sum(axis=0), valued - sloped, float(rise))


def update_strength(topics: FloatArray, versions: Versions) -> Versions:
    """kappa (28): it never lowers the sum of `VersionSums.value`."""

    def at(strength: float) -> Versions:
        return replace(versions, strength=strength)

    def value(strength: float) -> float:
        return float(sum_versions(topics, at(strength)).value.sum())

    best = versions.strength
    if np.isinf(best):
        tied, following = value(best), _MOST
        highest = tied
        while following >= _LEAST and (found := value(following)) > highest:
            best, highest = following, found
            following /= _FACTOR
        if np.isinf(best):
            return versions
    # A Newton step in ln kappa, whose curvature is a difference of slopes.
    sums = sum_versions(topics, at(best))
    slope, before = sums.rise, sums.value.sum()
    above = sum_versions(topics, at(best * 1.01)).rise
    curvature = (above - slope) / np.log(1.01)
    step = -slope / curvature if curvature < 0.0 else np.sign(slope)
    step = float(np.clip(step, -_LARGEST_STEP, _LARGEST_STEP))
    while abs(step) > _SMALL_STEP:
        proposed = float(np.clip(best * np.exp(step), _LEAST, _MOST))
        if value(proposed) > before:
            return at(proposed)
        step *= 0.25
    return at(best)
