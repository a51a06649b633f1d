"""The variational family: global state, documents' state, and the statistics between them."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

import numpy as np

from hdsp.model.priors import NOT_SEEDED
from hdsp.model.versions import NO_CONTENT, Versions
from hdsp.numerics import FloatArray, IntArray, sticks_from_weights, weights_from_sticks
from hdsp.scaling.functions import DesignLimits, Parameters, take_topics
from hdsp.storage.codec import SMALLEST, Limits, require

# Topics are padded to whole vector registers in the compiled document step.
_PADDING = 16


def padded(n_topics: int) -> int:
    """The number of topics rounded up to a multiple of the padding."""
    return -(-n_topics // _PADDING) * _PADDING


@dataclass(frozen=True, eq=False)
class TopicWeights:
    """What documents know of some topics beside their words.

    Attributes
    ----------
    prior_shape : float array of shape [Q]
        The prior shape beta p_k.
    scaling : mapping of str to array
        The scaling function's parameters for these topics.
    """

    prior_shape: FloatArray
    scaling: Parameters

    def take(self, topics: IntArray | slice) -> "TopicWeights":
        """Some of these topics."""
        return TopicWeights(self.prior_shape[topics], take_topics(self.scaling, topics))

    def merged(self, pairs: IntArray) -> "TopicWeights":
        """One topic for each pair [Q, 2]: weights are sums, and labels' weights averages."""
        one, other = (self.take(topics) for topics in pairs.T)
        prior_shape = one.prior_shape + other.prior_shape
        share = one.prior_shape / prior_shape
        scaling = {
            name: value * share.reshape(-1, *[1] * (value.ndim - 1))
            + other.scaling[name] * (1.0 - share).reshape(-1, *[1] * (value.ndim - 1))
            for name, value in one.scaling.items()
        }
        return TopicWeights(prior_shape, scaling)


@dataclass(frozen=True, eq=False)
class GlobalState:
    """Everything about a model but its documents.

    Attributes
    ----------
    topics : float array of shape [V, T]
        Dirichlet parameters of q(phi), word-major.
    sticks : float array of shape [T - 1]
        The stick proportions V_k, point estimates.
    corpus_concentration, document_concentration : float
        The concentrations alpha and beta.
    scaling : mapping of str to array
        The scaling function's variational parameters.
    seeded : int array of shape [S]
        The topics that seed words steer; empty where there are none.
    versions : Versions or None, default=None
        The topics' words by group, if groups have versions; `topics` are then those of all.
    """

    topics: Annotated[FloatArray, Limits("V T", SMALLEST)]
    sticks: Annotated[FloatArray, Limits("T-1", SMALLEST, 1.0)]
    corpus_concentration: Annotated[float, Limits(least=SMALLEST)]
    document_concentration: Annotated[float, Limits(least=SMALLEST)]
    scaling: Parameters
    seeded: Annotated[IntArray, Limits("S", below="T")] = field(default_factory=NOT_SEEDED.copy)
    versions: Versions | None = None

    def check_stored(self) -> None:
        """Raise if a file holds a state that no fit makes."""
        require(self.topics.size, "it has no topics")
        require(len(np.unique(self.seeded)) == len(self.seeded), "its seeds share a topic")

    @property
    def n_topics(self) -> int:
        """T."""
        return int(self.topics.shape[1])

    @property
    def content(self) -> IntArray:
        """The columns of the design that tell groups with versions of topics, [G]."""
        return NO_CONTENT if self.versions is None else self.versions.columns

    @property
    def topic_weight(self) -> FloatArray:
        """p, [T]."""
        return weights_from_sticks(self.sticks)

    @property
    def prior_shape(self) -> FloatArray:
        """beta p, [T]."""
        return self.document_concentration * self.topic_weight

    @property
    def weights(self) -> TopicWeights:
        """What documents know of topics beside their words."""
        return TopicWeights(self.prior_shape, self.scaling)

    def by_size(self) -> IntArray:
        """The order of topics in which the largest is first, [T]."""
        return np.argsort(-self.topics.sum(axis=0, dtype=np.float64), kind="stable")

    def reordered(self, order: IntArray) -> "GlobalState":
        """The same topics in another order; their weights go with them."""
        return replace(
            self,
            topics=np.ascontiguousarray(self.topics[:, order]),
            sticks=sticks_from_weights(self.topic_weight[order]),
            scaling=take_topics(self.scaling, order),
            seeded=np.argsort(order)[self.seeded],
            versions=None if self.versions is None else self.versions.take(order),
        )


@dataclass(frozen=True, eq=False)
class DocumentState:
    """q(pi) of consecutive documents: the part that cannot be recomputed.

    Attributes
    ----------
    token_counts : float array of shape [M, K]
        The expected tokens of topic k in document m, sum_i c_mi gamma_mik; K is T padded, and
        padding is zero.
    tangent : float array of shape [M]
        The tangent points xi_m.

    Notes
    -----
    The rest follows from these, the prior and the labels (equation 11): a_mk = beta p_k plus the
    tokens, b_mk = E[rho_mk] + N_m / xi_m. Keeping the tokens and not a_mk makes continuing from an
    earlier solution an exact coordinate update of q(pi), whatever has changed meanwhile.
    """

    token_counts: Annotated[FloatArray, Limits("M K")]
    tangent: Annotated[FloatArray, Limits("M")]

    def rows(self, rows: slice | IntArray) -> "DocumentState":
        """Some of the documents; with a slice, a view."""
        return DocumentState(self.token_counts[rows], self.tangent[rows])

    def tokens(self, topics: slice | IntArray) -> FloatArray:
        """The tokens of some topics, [M, Q], or of sums of pairs [Q, 2] of topics."""
        if isinstance(topics, slice):
            return self.token_counts[:, topics]
        one, other = topics.T
        return self.token_counts[:, one] + self.token_counts[:, other]

    def regrouped(self, members: Sequence[Sequence[int]]) -> "DocumentState":
        """The documents with new topics, each with the sum of its member topics."""
        counts, n_topics = self.token_counts, len(members)
        new = np.zeros((len(counts), padded(n_topics)), dtype=counts.dtype)
        new[:, :n_topics] = counts[:, [first for first, *_ in members]]
        for topic, (_, *others) in enumerate(members):
            for other in others:
                new[:, topic] += counts[:, other]
        return DocumentState(new, self.tangent)


@dataclass(frozen=True)
class BoundTerms:
    """A lower bound of the log joint density of the words and of the points, term by term.

    Points are the sticks, the concentrations and log-linear weights. Terms add: a block of
    documents has its part of some and zero of the others. Everything that shows, stores or sums
    terms goes by these fields.

    Attributes
    ----------
    words : float, default=0.0
        (6) The words, given topics and proportions.
    tangent : float, default=0.0
        (7) The normaliser of the proportions.
    proportions : float, default=0.0
        (8) + (9) E[ln p(pi)] - E[ln q(pi)].
    topics : float, default=0.0
        (10) E[ln p(phi)] - E[ln q(phi)], and (34) of versions.
    scaling : float, default=0.0
        (10) E[ln p(w)] - E[ln q(w)].
    sticks : float, default=0.0
        (10) ln p(V).
    concentrations : float, default=0.0
        (10) ln p(alpha) + ln p(beta), for those that are learned.
    """

    words: float = 0.0
    tangent: float = 0.0
    proportions: float = 0.0
    topics: float = 0.0
    scaling: float = 0.0
    sticks: float = 0.0
    concentrations: float = 0.0

    def __add__(self, other: "BoundTerms") -> "BoundTerms":
        return BoundTerms(*map(operator.add, vars(self).values(), vars(other).values()))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The terms' names, in order."""
        return tuple(f.name for f in fields(cls))

    def items(self) -> dict[str, float]:
        """The terms by name."""
        return dict(vars(self))

    @property
    def total(self) -> float:
        """The bound."""
        return sum(self.items().values())


@dataclass(frozen=True, eq=False)
class Statistics:
    """What the global step and the bound need of the documents; the sum over any partition.

    Attributes
    ----------
    n_documents : int
        The number of documents M.
    word_counts : float array of shape [V, T]
        Expected tokens, sum_m c_mi gamma_mik; of the groups' words where these have versions.
    log_proportion : float array of shape [T]
        The sum over documents of E[ln pi_mk].
    label_total : float array of shape [J]
        The sum over documents of each label's values.
    carriers : float array of shape [J]
        How many documents have a value of each label.
    limits : DesignLimits
        What an additive update of the scaling function must know of the documents.
    scaling : mapping of str to array
        The scaling function's own sums; empty where its update uses the documents themselves.
    bound : BoundTerms
        The documents' part of the bound.
    inner_iterations : int
        Inner iterations of the document step, summed over documents.
    """

    n_documents: int
    word_counts: FloatArray
    log_proportion: FloatArray
    label_total: FloatArray
    carriers: FloatArray
    limits: DesignLimits
    scaling: Parameters
    bound: BoundTerms
    inner_iterations: int

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(
            *[_sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        )


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, DesignLimits):
        return one | other
    if isinstance(one, Mapping):
        return {name: one[name] + other[name] for name in one}
    return one + other
