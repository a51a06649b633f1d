"""The contract of a scaling function.

A scaling function says how the labels of a document scale its topics. It owns its parameters'
prior and variational posterior, and gives the model expected rates; everything in it is plain
NumPy, so a user's own function needs no compiler. `hdsp.testing.check_scaling` tells whether a
function keeps the contract.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from hdsp.labels import Term, TermProduct
from hdsp.numerics import FloatArray

if TYPE_CHECKING:
    from hdsp.scaling.product import Product

# Variational parameters by name (a word, no colon); topics are always the first axis.
Parameters = Mapping[str, FloatArray]
# SciPy's sparse arrays: label values of documents, [M, J].
Design = Any

_MONTE_CARLO_DRAWS = 2_000
# Of central differences, where rounding and curvature are about as large.
_STEP = 6e-6


@dataclass(frozen=True)
class DesignLimits:
    """What an additive update must know of all documents in advance.

    Attributes
    ----------
    labels_per_document : int
        The number C of labels on the document that carries most.
    largest : float array of shape [J]
        The largest absolute value of each label.
    """

    labels_per_document: int
    largest: FloatArray

    @classmethod
    def of(cls, design: Design) -> "DesignLimits":
        """The limits of a design [M, J]."""
        per_document = np.diff(design.indptr).max(initial=1)
        largest = np.zeros(design.shape[1])
        np.maximum.at(largest, design.indices, np.abs(design.data))
        return cls(max(int(per_document), 1), largest)

    def __or__(self, other: "DesignLimits") -> "DesignLimits":
        """The limits of both designs together."""
        return DesignLimits(
            max(self.labels_per_document, other.labels_per_document),
            np.maximum(self.largest, other.largest),
        )


class ScalingFunction(ABC):
    """A factor of the rate rho_mk = 1 / s_k(r_m) that enters a document's gamma variables.

    Parameters
    ----------
    *columns : str or Term
        Label columns that the function takes: a table's columns, or ``"tags"``; or terms that are
        made from them. Without any it takes every column of its `kinds` that no other factor takes.

    Attributes
    ----------
    columns : tuple of str
        The label columns that were named.
    terms : tuple of Term
        The terms that were given.
    kinds : frozenset of str
        The kinds of labels that the function takes, of ``"tags"``, ``"category"``, ``"number"``.
    positive : frozenset of str
        Names of parameters that must stay positive. The default `update` works on their logarithm.
    log_linear : bool
        Whether ln rho is linear in the design's columns: predictions from labels are then made by a
        regression on these, and otherwise with the function's own `log_scale`.

    Notes
    -----
    The methods share their arguments, for M documents, T topics and J label columns:

    - `design`, a sparse array of shape [M, J], holds the encoded labels; a stored value is an
      observed one.
    - `parameters` maps names to arrays whose first axis is topics: the posterior q(w).
    - `weights`, of shape [T, J], are values of w.
    - `prior_shape`, of shape [T], is beta p_k.
    - `exposure`, of shape [M, T], is E[pi_mk] times the expected rates of all other factors.

    A function's part of the bound is

        sum_mk (prior_shape_k E[ln rho_mk] - E[rho_mk] exposure_mk) + sum_k prior_terms_k

    and `update` must never lower it.
    """

    kinds: frozenset[str] = frozenset({"tags", "category", "number"})
    positive: ClassVar[frozenset[str]] = frozenset()
    log_linear: bool = False

    def __init__(self, *columns: str | Term) -> None:
        for name in columns:
            if not isinstance(name, (str, Term)):
                raise TypeError(
                    f"{type(self).__name__} takes names of label columns, each a string of its "
                    f"own, and terms. Got {name!r}."
                )
        self.columns = tuple(name for name in columns if isinstance(name, str))
        self.terms = tuple(term for term in columns if isinstance(term, Term))

    def __repr__(self) -> str:
        settings = [f"{key}={value!r}" for key, value in self.settings().items()]
        parts = [*map(repr, (*self.columns, *self.terms)), *settings]
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __mul__(self, other: "ScalingFunction | Term | TermProduct") -> "Product":
        from hdsp.scaling.loglinear import of_terms
        from hdsp.scaling.product import Product

        factor = of_terms(other)
        return Product(self, factor) if isinstance(factor, ScalingFunction) else NotImplemented

    def __rmul__(self, other: "Term | TermProduct") -> "Product":
        from hdsp.scaling.loglinear import of_terms

        factor = of_terms(other)
        return factor * self if isinstance(factor, ScalingFunction) else NotImplemented

    def settings(self) -> dict[str, float]:
        """The function's own numbers, by the names its constructor takes."""
        return {}

    @abstractmethod
    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """Parameters at which every rate is 1: labels do nothing yet."""

    @abstractmethod
    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """E[rho_mk], [M, T]."""

    @abstractmethod
    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """E[ln rho_mk], [M, T]."""

    @abstractmethod
    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """E[ln p(w_k)] - E[ln q(w_k)], [T]; ln p(w_k) for a point posterior."""

    @abstractmethod
    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Weights w drawn from the prior, [T, J]."""

    @abstractmethod
    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """Weights w drawn from q(w), [T, J]; w itself for a point posterior."""

    @abstractmethod
    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """rho_mk of given weights, [M, T]."""

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk = -ln rho_mk of given weights, [M, T]."""
        return -np.log(np.maximum(self.rate(weights, design), 1e-300))

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """The derivatives of `log_scale` by each topic's own weights, [J, M, T].

        The default takes central differences.
        """
        found = np.empty((weights.shape[1], design.shape[0], len(weights)))
        for j, out in enumerate(found):
            step = np.zeros_like(weights, dtype=np.float64)
            step[:, j] = _STEP * np.maximum(np.abs(weights[:, j]), 1.0)
            ahead, behind = (self.log_scale(weights + d, design) for d in (step, -step))
            out[:] = (ahead - behind) / (2.0 * step[:, j])
        return found

    def log_rate_total(self, parameters: Parameters, design: Design) -> FloatArray:
        """sum_m E[ln rho_mk], [T]."""
        return np.asarray(self.expected_log_rate(parameters, design).sum(axis=0))

    def weighted_log_rate(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray
    ) -> FloatArray:
        """sum_k prior_shape_k E[ln rho_mk], [M]."""
        return np.asarray(self.expected_log_rate(parameters, design) @ prior_shape)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """E[s_k(r_m)] = E[1 / rho_mk], [M, T], of equation 20.

        The default averages draws from q(w) with a fixed seed.
        """
        rng = np.random.default_rng(0)
        total = np.zeros((design.shape[0], _n_topics(parameters)))
        for _ in range(_MONTE_CARLO_DRAWS):
            total += 1.0 / self.rate(self.draw_posterior(parameters, rng), design)
        return total / _MONTE_CARLO_DRAWS

    def objective(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> FloatArray:
        """The function's part of the bound, by topic, [T]."""
        load = (self.expected_rate(parameters, design) * exposure).sum(axis=0)
        pull = prior_shape * self.log_rate_total(parameters, design)
        return np.asarray(pull - load + self.prior_terms(parameters))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """New parameters at which no topic's `objective` is lower.

        The default is slow and always right: L-BFGS with numerical gradients, topic by topic.
        """
        rows = [
            self._maximise(take_topics(parameters, [k]), design, prior_shape[[k]], exposure[:, [k]])
            for k in range(len(prior_shape))
        ]
        return {name: np.concatenate([row[name] for row in rows]) for name in parameters}

    def _maximise(
        self, start: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        def pack(parameters: Parameters) -> FloatArray:
            return np.concatenate(
                [
                    np.log(value).ravel() if name in self.positive else value.ravel()
                    for name, value in parameters.items()
                ]
            )

        def unpack(flat: FloatArray) -> Parameters:
            result, position = {}, 0
            for name, value in start.items():
                part = flat[position : position + value.size].reshape(value.shape)
                result[name] = np.exp(part) if name in self.positive else part
                position += value.size
            return result

        def loss(flat: FloatArray) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                value = self.objective(unpack(flat), design, prior_shape, exposure)[0]
            return float(-value) if np.isfinite(value) else 1e300

        flat = pack(start)
        if flat.size == 0:
            return start
        found = minimize(loss, flat, method="L-BFGS-B")
        return unpack(found.x) if found.fun <= loss(flat) else start

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """Sums over documents from which `update_from_statistics` can raise the bound.

        Sums of parts of a corpus add up to the sums of the whole.
        """
        raise self._not_additive()

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """As `update`, from summed statistics alone: smaller steps that never lower the bound."""
        raise self._not_additive()

    def _not_additive(self) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__} has no additive update. Define `statistics` and "
            "`update_from_statistics` to update it from sums over documents."
        )


def take_topics(parameters: Parameters, topics: Any) -> dict[str, FloatArray]:
    """The parameters of the chosen topics, in the chosen order."""
    return {name: value[topics] for name, value in parameters.items()}


def _n_topics(parameters: Parameters) -> int:
    return len(next(iter(parameters.values())))
