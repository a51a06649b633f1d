"""Scaling functions: what a document's labels do to its topics.

A scaling function owns its parameters' prior and variational posterior, and gives the model
expected rates; everything in it is plain NumPy, so a user's own function needs no compiler.
`hdsp.testing.check_scaling` tells whether a function keeps the contract.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array, eye_array, hstack
from scipy.special import psi

from hdsp import kernels
from hdsp.checks import check_flag, check_positive, check_whole
from hdsp.numerics import FloatArray, IntArray, expected_log_gamma, gamma_divergence
from hdsp.scaling.terms import Expression, Pooled, Ramps, Slots, Term
from hdsp.storage.codec import Limits

# Variational parameters by name (a word, no colon); topics are always the first axis.
Parameters = Mapping[str, FloatArray]
# The name of a function's hyperparameters among its parameters: [T, n], the same for all topics.
PRIOR = "prior"
# Learned hyperparameters stay within these limits: labels without effect lead to a limit.
_LEAST_HYPER, _LARGEST_HYPER = 1e-4, 1e4
# SciPy's sparse arrays: label values of documents, [M, J].
Design = Any

_MONTE_CARLO_DRAWS = 2_000
# Of central differences, where rounding and curvature are about as large.
_STEP = 6e-6
_NOT_ADDITIVE = "{} has no additive update. Define `statistics` and `update_from_statistics`."


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

    labels_per_document: Annotated[int, Limits(least=1)]
    largest: Annotated[FloatArray, Limits("J")]

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


class ScalingFunction(Expression):
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
                    f"{type(self).__name__} takes names of label columns and terms. Got {name!r}."
                )
        self.columns = tuple(name for name in columns if isinstance(name, str))
        self.terms = tuple(term for term in columns if isinstance(term, Term))

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

    def learn_prior(self, parameters: Parameters) -> Parameters:
        """The parameters with hyperparameters (`PRIOR`) at which `prior_terms` sum to the most."""
        return parameters

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
        if self.log_linear:
            # One document with the sums of all labels.
            design = csr_array(np.asarray(design.sum(axis=0))[None, :])
        return np.asarray(self.expected_log_rate(parameters, design).sum(axis=0))

    def weighted_log_rate(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray
    ) -> FloatArray:
        """sum_k prior_shape_k E[ln rho_mk], [M]."""
        if self.log_linear:
            # Each label on a document of its own.
            alone = eye_array(design.shape[1], format="csr")
            return np.asarray(design @ (self.expected_log_rate(parameters, alone) @ prior_shape))
        return np.asarray(self.expected_log_rate(parameters, design) @ prior_shape)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """E[s_k(r_m)] = E[1 / rho_mk], [M, T], of equation 20.

        The default averages draws from q(w) with a fixed seed.
        """
        rng = np.random.default_rng(0)
        draws = (self.draw_posterior(parameters, rng) for _ in range(_MONTE_CARLO_DRAWS))
        return _sum(1.0 / self.rate(weights, design) for weights in draws) / _MONTE_CARLO_DRAWS

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

    def _maximise(self, start: Parameters, *arguments: Any) -> Parameters:
        """The parameters of one topic at which the objective is highest."""
        fixed = {name: value for name, value in start.items() if _is_prior(name)}
        start = {name: value for name, value in start.items() if name not in fixed}
        ends = np.cumsum([value.size for value in start.values()])[:-1]

        def unpack(flat: FloatArray) -> Parameters:
            parts = zip(start.items(), np.split(flat, ends), strict=True)
            return fixed | {
                name: (np.exp(part) if name in self.positive else part).reshape(value.shape)
                for (name, value), part in parts
            }

        def loss(flat: FloatArray) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                value = self.objective(unpack(flat), *arguments)[0]
            return float(-value) if np.isfinite(value) else 1e300

        logs = [np.log(value) if name in self.positive else value for name, value in start.items()]
        flat = np.concatenate([part.ravel() for part in logs])
        if flat.size == 0:
            return {**start, **fixed}
        found = minimize(loss, flat, method="L-BFGS-B")
        return unpack(found.x if found.fun <= loss(flat) else flat)

    @property
    def additive(self) -> bool:
        """Whether the function can be updated from sums over documents."""
        factors = self.factors if isinstance(self, Product) else (self,)
        return all(type(one).statistics is not ScalingFunction.statistics for one in factors)

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """Sums over documents from which `update_from_statistics` can raise the bound.

        Sums of parts of a corpus add up to the sums of the whole.
        """
        raise NotImplementedError(_NOT_ADDITIVE.format(type(self).__name__))

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """As `update`, from summed statistics alone: smaller steps that never lower the bound."""
        raise NotImplementedError(_NOT_ADDITIVE.format(type(self).__name__))


def _is_prior(name: str) -> bool:
    """Whether a parameter, maybe of a factor of a product, is of hyperparameters."""
    return name.split(":")[-1] == PRIOR


def take_topics(parameters: Parameters, topics: Any) -> dict[str, FloatArray]:
    """The parameters of the chosen topics, in the chosen order."""
    return {name: value[topics] for name, value in parameters.items()}


class Product(ScalingFunction):
    """Factors on disjoint labels: rates multiply, E[ln rho] and the bound's terms add.

    Written ``Categorical("tags") * LogLinear("rating")``; products of products flatten. The
    design's columns that belong to each factor are known once the labels are: `LabelDesign.fit`
    makes a product with a `split`.

    Parameters
    ----------
    *factors : ScalingFunction
        Scaling functions, or products of them.
    split : iterable of iterables of int, default=None
        The design's columns that each factor takes.

    Examples
    --------
    >>> from hdsp import Categorical, LogLinear
    >>> Categorical("tags") * LogLinear("rating")
    Categorical('tags') * LogLinear('rating')
    """

    def __init__(self, *factors: Expression, split: Iterable[Iterable[int]] | None = None) -> None:
        functions = map(as_function, factors)
        self.factors: tuple[ScalingFunction, ...] = tuple(
            inner
            for factor in functions
            for inner in (factor.factors if type(factor) is Product else [factor])
        )
        super().__init__(*[name for factor in self.factors for name in factor.columns])
        self.kinds = frozenset.intersection(*[factor.kinds for factor in self.factors])
        self.log_linear = all(factor.log_linear for factor in self.factors)
        self.split = None if split is None else tuple(np.asarray(list(c), int) for c in split)

    def __repr__(self) -> str:
        return " * ".join(map(repr, self.factors))

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """The parameters of every factor."""
        return _join(
            factor.initial(n_topics, len(columns)) for factor, _, columns in self._factors()
        )

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The product of the factors' expected rates, [M, T]."""
        parts = self._parts(parameters, design)
        return _product(factor.expected_rate(part, labels) for factor, part, labels in parts)

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The sum of the factors' expected log rates, [M, T]."""
        parts = self._parts(parameters, design)
        return _sum(factor.expected_log_rate(part, labels) for factor, part, labels in parts)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """The product of the factors' expected scales, [M, T]."""
        parts = self._parts(parameters, design)
        return _product(factor.expected_scale(part, labels) for factor, part, labels in parts)

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The sum of the factors' terms, [T]."""
        return _sum(factor.prior_terms(part) for factor, part, _ in self._factors(parameters))

    def learn_prior(self, parameters: Parameters) -> Parameters:
        """The parameters with the hyperparameters of every factor."""
        return _join(factor.learn_prior(part) for factor, part, _ in self._factors(parameters))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """The factors' weights in the columns they take, [T, J]; NaN where none takes one."""
        weights = np.full((n_topics, n_labels), np.nan)
        for factor, _, columns in self._factors():
            weights[:, columns] = factor.draw_prior(n_topics, len(columns), rng)
        return weights

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """The factors' weights in the columns they take, [T, J], up to the last that one takes."""
        factors = list(self._factors(parameters))
        last = max(columns.max(initial=-1) for _, _, columns in factors)
        weights = np.full((len(next(iter(parameters.values()))), last + 1), np.nan)
        for factor, part, columns in factors:
            weights[:, columns] = factor.draw_posterior(part, rng)
        return weights

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """The product of the factors' rates, [M, T]."""
        return _product(
            factor.rate(weights[:, columns], design[:, columns])
            for factor, _, columns in self._factors()
        )

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Each factor in turn, with the others' newest rates in its exposure."""
        parts = self._parts(parameters, design)
        updated: list[Parameters] = []
        others = [factor.expected_rate(part, labels) for factor, part, labels in parts[1:]]
        for factor, part, labels in parts:
            updated.append(factor.update(part, labels, prior_shape, _product([exposure, *others])))
            if others:
                # The next factor's own rate is the first.
                others = [*others[1:], factor.expected_rate(updated[-1], labels)]
        return _join(updated)

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """The statistics of every factor, with the others' rates in its exposure."""
        parts = self._parts(parameters, design)
        rates = [factor.expected_rate(part, labels) for factor, part, labels in parts]
        return _join(
            factor.statistics(
                part, labels, _product([exposure, *rates[:number], *rates[number + 1 :]])
            )
            for number, (factor, part, labels) in enumerate(parts)
        )

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """All factors at once: C counts the labels of all of them, so that none goes too far."""
        factors = zip(self._factors(parameters), self._factors(statistics), strict=True)
        return _join(
            factor.update_from_statistics(
                part, sums, prior_shape, replace(limits, largest=limits.largest[columns])
            )
            for (factor, part, columns), (_, sums, _) in factors
        )

    def _factors(
        self, parameters: Parameters | None = None
    ) -> Iterator[tuple[ScalingFunction, Parameters, IntArray]]:
        """Each factor, its own parameters and the design's columns that it takes."""
        if self.split is None:
            raise ValueError(f"{self!r} is not bound to label columns. Pass it to HDSP(scaling=).")
        for number, (factor, columns) in enumerate(zip(self.factors, self.split, strict=True)):
            named = {name.partition(":"): value for name, value in (parameters or {}).items()}
            own = {name: value for (n, _, name), value in named.items() if n == str(number)}
            yield factor, own, columns

    def _parts(
        self, parameters: Parameters, design: Design
    ) -> list[tuple[ScalingFunction, Parameters, Design]]:
        """Each factor, its own parameters and its own labels."""
        every = np.arange(design.shape[1])
        return [
            (factor, part, design if np.array_equal(columns, every) else design[:, columns])
            for factor, part, columns in self._factors(parameters)
        ]


def _join(parts: Iterable[Parameters]) -> Parameters:
    """The factors' parameters in one mapping: ``"weight"`` of the first is ``"0:weight"``."""
    return {
        f"{number}:{name}": value
        for number, part in enumerate(parts)
        for name, value in part.items()
    }


def _sum(arrays: Iterable[FloatArray]) -> FloatArray:
    return reduce(np.add, arrays)


def _product(arrays: Iterable[FloatArray]) -> FloatArray:
    return reduce(np.multiply, arrays)


def scale_labels(scaling: ScalingFunction, sums: Parameters, factor: FloatArray) -> Parameters:
    """Sums of `ScalingFunction.statistics`, those of each label times its own `factor` [J]."""
    by_label = _by_label(scaling, sums, len(factor))
    return {name: value * factor[columns] for name, value, columns in by_label}


def mix_labels(
    scaling: ScalingFunction, old: Parameters, new: Parameters, rate: FloatArray
) -> Parameters:
    """(1 - rate_j) old + rate_j new, for rates of labels [J]."""
    by_label = _by_label(scaling, old, len(rate))
    mixed = {name: value + rate[columns] * (new[name] - value) for name, value, columns in by_label}
    return {name: mixed.get(name, value) for name, value in old.items()}


def move_labels(
    old: ScalingFunction,
    parameters: Parameters,
    new: ScalingFunction,
    position: IntArray,
    n_topics: int,
    n_labels: int,
) -> Parameters:
    """Parameters of a function that is bound to more labels than before.

    `position` [J] has the new columns of those before; others get the parameters of `initial`.
    """
    known: dict[str, FloatArray] = {}
    for name, value, columns in _by_label(old, parameters, len(position)):
        empty = np.full((*value.shape[:-1], n_labels), np.nan)
        known.setdefault(name.split(":")[-1], empty)[..., position[columns]] = value
    moved = {}
    for name, value, columns in _by_label(new, new.initial(n_topics, n_labels), n_labels):
        before = known.get(name.split(":")[-1], np.full(n_labels, np.nan))[..., columns]
        moved[name] = np.where(np.isnan(before), value, before)
    return new.learn_prior({**new.initial(n_topics, n_labels), **moved})


def _by_label(
    scaling: ScalingFunction, arrays: Parameters, n_labels: int
) -> Iterator[tuple[str, FloatArray, IntArray]]:
    """Each array but the hyperparameters, and the design's columns along its last axis."""
    for name, value in arrays.items():
        if _is_prior(name):
            continue
        factor, columns = scaling, np.arange(n_labels)
        if isinstance(scaling, Product) and scaling.split is not None:
            number = int(name.split(":")[0])
            factor, columns = scaling.factors[number], scaling.split[number]
        if value.shape[-1] != len(columns):
            raise ValueError(
                f"{type(factor).__name__} cannot be fitted by steps on part of the documents: the "
                f"last axis of {name!r} must be its {len(columns)} columns. Got {value.shape[-1]}."
            )
        yield name, value, columns


def _positive(value: float | None, name: str, owner: str) -> float | None:
    """A positive number or None; a NumPy number would decide the precision of sums."""
    if value is not None:
        check_positive(value, name, owner)
    return None if value is None else float(value)


class Categorical(ScalingFunction):
    """rho_mk = prod_j lambda_kj^r_mj for r_mj in {0, 1}, lambda_kj ~ Gamma(a_w, b_w).

    A label j that a document carries scales topic k by w_kj = 1 / lambda_kj, an inverse-gamma
    variable; a label it does not carry, or whose value is missing, does nothing. The posterior is
    q(lambda_kj) = Gamma(a'_kj, b'_kj). The prior is shared by all labels and topics.

    Parameters
    ----------
    *columns : str or Term
        Tag or category columns; without names, all that no other factor takes.
    weight_shape : float or None, default=None
        The prior's a_w. None learns it in batch inference, from 1.
    weight_rate : float or None, default=None
        The prior's b_w. None learns it in batch inference, from 1.
    parents : str or None, default=None
        A category in whose levels those of `columns` are nested, such as venues of authors: it has
        weights of its own, and the weights of its children are drawn around them (see `Pooled`).

    Examples
    --------
    >>> Categorical("department", weight_shape=2.0)
    Categorical('department', weight_shape=2.0)
    >>> Categorical("author", parents="venue")
    Categorical(Pooled('author', parents='venue'))
    """

    kinds = frozenset({"tags", "category"})
    positive = frozenset({"shape", "rate", PRIOR})
    log_linear = True

    def __init__(
        self,
        *columns: str | Term,
        weight_shape: float | None = None,
        weight_rate: float | None = None,
        parents: str | None = None,
    ) -> None:
        if parents is not None:
            if not columns:
                raise ValueError(f"Categorical must name what is nested in {parents!r}.")
            columns = tuple(Pooled(str(column), parents=parents) for column in columns)
        super().__init__(*columns)
        self.weight_shape = _positive(weight_shape, "weight_shape", "Categorical")
        self.weight_rate = _positive(weight_rate, "weight_rate", "Categorical")

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """E[lambda] = 1, with the prior's shape; the hyperparameters are a_w and b_w."""
        prior = np.array([self.weight_shape or 1.0, self.weight_rate or 1.0])
        shape = np.full((n_topics, n_labels), prior[0])
        return {"shape": shape, "rate": shape.copy(), PRIOR: np.tile(prior, (n_topics, 1))}

    def learn_prior(self, parameters: Parameters) -> Parameters:
        """a_w and b_w at the maximum of sum_kj E[ln Gamma(lambda_kj; a_w, b_w)]."""
        shape, rate = parameters["shape"], parameters["rate"]
        if not shape.size or None not in (self.weight_shape, self.weight_rate):
            return parameters
        mean, log_mean = (shape / rate).mean(), expected_log_gamma(shape, rate).mean()

        def slope(log_shape: float) -> float:
            """The derivative by a_w, at the best b_w."""
            at = np.exp(log_shape)
            return float(np.log(self.weight_rate or at / mean) + log_mean - psi(at))

        # It falls from +inf.
        low, high = np.log([_LEAST_HYPER, _LARGEST_HYPER])
        a_w = self.weight_shape or np.exp(brentq(slope, low, high) if slope(high) < 0 else high)
        prior = np.array([a_w, self.weight_rate or a_w / mean])
        return {**parameters, PRIOR: np.tile(prior, (len(shape), 1))}

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """prod_j (a'_kj / b'_kj)^r_mj, [M, T]."""
        mean = (parameters["shape"] / parameters["rate"]).astype(design.dtype)
        return np.asarray(kernels.exp_product(design, np.log(mean).T))

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """sum_j r_mj (psi(a'_kj) - ln b'_kj), [M, T]."""
        return np.asarray(design @ expected_log_gamma(parameters["shape"], parameters["rate"]).T)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """prod_j (b'_kj / (a'_kj - 1))^r_mj, [M, T].

        An inverse gamma of shape 1 or less has no mean; b' / a', 1 over the expected rate, stands
        in.
        """
        shape, rate = parameters["shape"], parameters["rate"]
        mean = rate / np.where(shape > 1.0, shape - 1.0, shape)
        return np.asarray(np.exp(design @ np.log(mean).T))

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The negative divergence of q(lambda_k) from its prior, [T]."""
        prior = parameters[PRIOR][0]
        divergence = gamma_divergence(parameters["shape"], parameters["rate"], *prior)
        return np.asarray(divergence.sum(axis=1))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Scales w, [T, J]; of a prior that is learned, where it starts."""
        shape, rate = self.weight_shape or 1.0, self.weight_rate or 1.0
        return 1.0 / rng.gamma(shape, 1.0 / rate, size=(n_topics, n_labels))

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """Scales w, [T, J]."""
        return 1.0 / np.maximum(rng.gamma(parameters["shape"], 1.0 / parameters["rate"]), 1e-300)

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """prod_j w_kj^-r_mj, [M, T]."""
        return np.asarray(np.exp(-(design @ np.log(weights).T)))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Equation 15, one label at a time."""
        weight_shape, weight_rate = parameters[PRIOR][0].tolist()
        # a' changes first, at fixed E[lambda], so that the rates stay as they were.
        shape = weight_shape + np.outer(prior_shape, design.sum(axis=0))
        start = {"shape": shape, "rate": parameters["rate"] * shape / parameters["shape"]}
        load = np.ascontiguousarray(self.expected_rate(start, design) * exposure)
        by_label = design.tocsc()
        rate = start["rate"].T.copy()
        kernels.sweep_gamma_weights(
            *kernels.csr_arrays(by_label)[:2],
            load,
            np.ascontiguousarray(shape.T),
            weight_rate,
            rate,
        )
        return {**parameters, "shape": shape, "rate": np.ascontiguousarray(rate.T)}

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """n_j and sum_{m: r_mj = 1} E[rho_mk] exposure_mk, [T, J]."""
        load = self.expected_rate(parameters, design) * exposure
        return {"carriers": np.asarray(design.sum(axis=0)), "load": np.asarray(design.T @ load).T}

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """Equation 15 for all labels at once, damped to 1/C in the logarithm of E[lambda].

        With at most C labels on a document, prod_j x_j^r_j <= (1/C) sum_j x_j^(C r_j): the step
        maximises what the objective becomes with that sum over labels in place of the rates.
        """
        weight_shape, weight_rate = parameters[PRIOR][0].tolist()
        shape = weight_shape + np.outer(prior_shape, statistics["carriers"])
        mean = parameters["shape"] / parameters["rate"]
        target = shape / (weight_rate + statistics["load"] / mean)
        damping = 1.0 / limits.labels_per_document
        new_mean = mean ** (1.0 - damping) * target**damping
        return {**parameters, "shape": shape, "rate": shape / new_mean}


# Steps of an update, and how often each is halved before it is given up.
_STEPS, _HALVINGS = 3, 12
_CHUNK = 2_048


class PointFunction(ScalingFunction):
    """A function that is given by its log scale, with weights w_kj ~ Normal(0, variance).

    The posterior is a point, with Laplace's approximation of the variance there. A variance cannot
    be learned with a point: the bound would grow without limit as it falls.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The prior's variance.
    """

    positive = frozenset({"spread"})

    def __init__(self, *columns: str | Term, variance: float = 1.0) -> None:
        check_positive(variance, "variance", type(self).__name__)
        super().__init__(*columns)
        # A NumPy number would decide the precision of what it is added to.
        self.variance = float(variance)

    @abstractmethod
    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk of given weights, [M, T]; 0 where all labels or all weights are 0."""

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """w = 0, with the prior's variance."""
        weight = np.zeros((n_topics, n_labels))
        return {"weight": weight, "spread": np.full_like(weight, self.variance)}

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """1 / s_mk, [M, T]."""
        return np.asarray(np.exp(-self.log_scale(weights, design)))

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The same at the point w, [M, T]."""
        return self.rate(parameters["weight"], design)

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """-ln s_mk, [M, T]."""
        return -self.log_scale(parameters["weight"], design)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """s_mk, [M, T]."""
        return 1.0 / self.rate(parameters["weight"], design)

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """ln Normal(w_k; 0, variance), [T]."""
        weight = parameters["weight"]
        constant = -0.5 * weight.shape[1] * np.log(2.0 * np.pi * self.variance)
        return np.asarray(constant - 0.5 * (weight**2).sum(axis=1) / self.variance)

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Weights w, [T, J]."""
        return rng.normal(0.0, np.sqrt(self.variance), size=(n_topics, n_labels))

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """The point w, [T, J]."""
        return parameters["weight"]

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Gauss and Newton's steps, each halved until no topic's objective is lower."""
        weight, spread = parameters["weight"], parameters["spread"]

        def value(weight: FloatArray) -> FloatArray:
            with np.errstate(all="ignore"):
                found = self.objective({"weight": weight}, design, prior_shape, exposure)
            return np.where(np.isfinite(found), found, -np.inf)

        before = value(weight)
        for _ in range(_STEPS):
            slope, curvature = self._expansion(weight, design, prior_shape, exposure)
            step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
            spread = 1.0 / np.einsum("kjj->kj", curvature)
            for _ in range(_HALVINGS):
                after = value(weight + step)
                lower = after < before
                if not lower.any():
                    break
                step[lower] /= 2.0
            step[after < before] = 0.0
            weight, before = weight + step, np.maximum(after, before)
        return {"weight": weight, "spread": spread}

    def _expansion(
        self, weight: FloatArray, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The objective's slope [T, J], and its curvature [T, J, J] but for that of the scale."""
        slope = -weight / self.variance
        curvature = np.tile(np.eye(weight.shape[1]) / self.variance, (len(weight), 1, 1))
        for first in range(0, design.shape[0], _CHUNK):
            rows = design[first : first + _CHUNK]
            load = self.rate(weight, rows) * exposure[first : first + _CHUNK]
            gradient = self.log_scale_gradient(weight, rows)
            slope = slope + np.einsum("jmk,mk->kj", gradient, load - prior_shape)
            curvature += np.einsum("imk,jmk,mk->kij", gradient, gradient, load, optimize=True)
        return slope, curvature


# exp(x) <= 1 + x + 0.7183 x^2 for |x| <= 1
_QUADRATIC = np.e - 2.0
# The variance of weights before any update, at which E[rho] is 1 to the last digit.
_NO_SPREAD = 1e-13


class LogLinear(ScalingFunction):
    """rho_mk = exp(w_k . r_m), w_kj ~ Normal(0, variance): a positive weight holds a topic back.

    Takes labels of every kind: numbers standardised, tags and categories as 0 and 1. The posterior
    is q(w_kj) = Normal(weight_kj, spread_kj). The prior is shared by all labels and topics.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float or None, default=None
        The prior's variance (the paper's sigma). None learns it in batch inference, from 1.
    standardize : bool, default=True
        Whether numbers are standardised. False takes them as they are, as the paper does.

    Examples
    --------
    >>> LogLinear("rating", variance=0.5)
    LogLinear('rating', variance=0.5)
    """

    positive = frozenset({"spread", PRIOR})
    log_linear = True

    def __init__(
        self, *columns: str | Term, variance: float | None = None, standardize: bool = True
    ) -> None:
        check_flag(standardize, "standardize", "LogLinear")
        super().__init__(*columns)
        self.variance = _positive(variance, "variance", "LogLinear")
        self.standardize = bool(standardize)

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """w = 0; the hyperparameter is the variance."""
        weight = np.zeros((n_topics, n_labels))
        prior = np.full((n_topics, 1), self.variance or 1.0)
        return {"weight": weight, "spread": np.full_like(weight, _NO_SPREAD), PRIOR: prior}

    def learn_prior(self, parameters: Parameters) -> Parameters:
        """The variance at the maximum of sum_kj E[ln Normal(w_kj; 0, variance)]."""
        weight, prior = parameters["weight"], parameters[PRIOR]
        if not weight.size or self.variance is not None:
            return parameters
        variance = float((weight**2 + parameters["spread"]).mean())
        variance = min(max(variance, _LEAST_HYPER), _LARGEST_HYPER)
        return {**parameters, PRIOR: np.full_like(prior, variance)}

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """exp(sum_j w_kj r_mj + spread_kj r_mj^2 / 2), [M, T]."""
        weight, half = parameters["weight"].T, parameters["spread"].T / 2.0
        if (design.data == 1.0).all():
            return np.asarray(kernels.exp_product(design, weight + half))
        both = csr_array(hstack([design, design.power(2)], format="csr"))
        return np.asarray(kernels.exp_product(both, np.concatenate([weight, half])))

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """w_k . r_m, [M, T]."""
        return np.asarray(design @ parameters["weight"].T)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """exp(sum_j -w_kj r_mj + spread_kj r_mj^2 / 2), [M, T]."""
        return self.expected_rate({**parameters, "weight": -parameters["weight"]}, design)

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The negative divergence of q(w_k) from its prior, [T]."""
        part = parameters["spread"] / parameters[PRIOR]
        terms = np.log(part) + 1.0 - part - parameters["weight"] ** 2 / parameters[PRIOR]
        return np.asarray(0.5 * terms.sum(axis=1))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Weights w, [T, J]; of a prior that is learned, where it starts."""
        return rng.normal(0.0, np.sqrt(self.variance or 1.0), size=(n_topics, n_labels))

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """Weights w, [T, J]."""
        return rng.normal(parameters["weight"], np.sqrt(parameters["spread"]))

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """-w_k . r_m, [M, T]."""
        return -np.asarray(design @ weights.T)

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """exp(w_k . r_m), [M, T]."""
        return np.asarray(kernels.exp_product(design, weights.T))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Equation 16: a step with halving on mean and variance of each label's weights in turn.

        A sweep costs the stored labels times the topics, for any number of label columns.
        """
        load = np.ascontiguousarray(self.expected_rate(parameters, design) * exposure)
        by_label = design.tocsc()
        weight, spread = parameters["weight"].T.copy(), parameters["spread"].T.copy()
        kernels.sweep_normal_weights(
            *kernels.csr_arrays(by_label),
            load,
            np.asarray(prior_shape, dtype=np.float64),
            float(parameters[PRIOR][0, 0]),
            weight,
            spread,
        )
        weight, spread = np.ascontiguousarray(weight.T), np.ascontiguousarray(spread.T)
        return {**parameters, "weight": weight, "spread": spread}

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """sum_m r_mj, and sums of r_mj and r_mj^2 times E[rho_mk] exposure_mk, [T, J]."""
        load = self.expected_rate(parameters, design) * exposure
        return {
            "total": np.asarray(design.sum(axis=0)),
            "slope": np.asarray(design.T @ load).T,
            "curvature": np.asarray(design.power(2).T @ load).T,
        }

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        limits: DesignLimits,
    ) -> Parameters:
        """One step for all labels at once that cannot overshoot.

        A document's rate changes by exp(sum_j r_j d_j + r_j^2 e_j / 2) if weights change by d and
        spreads by e. With at most C labels on a document that is at most the mean over labels of
        exp(C (r_j d_j + r_j^2 e_j / 2)), and each of these lies below a quadratic while both parts
        are at most 1/2: the step maximises what the objective becomes with these, in that range.
        """
        weight, spread = parameters["weight"], parameters["spread"]
        precision, load = 1.0 / parameters[PRIOR], statistics["curvature"]
        n_labels, largest = limits.labels_per_document, np.maximum(limits.largest, 1e-150)
        gradient = np.outer(prior_shape, statistics["total"]) - statistics["slope"]
        gradient -= weight * precision
        bend = 2.0 * _QUADRATIC * n_labels * load
        step = gradient / (2.0 * bend + precision)
        longest = 0.5 / (n_labels * largest)
        # The maximum of ln(x) - q (x - spread)^2 - (load + precision) x.
        quadratic = 0.5 * bend * largest**2
        linear = load + precision - 2.0 * quadratic * spread
        wide = 2.0 / (linear + np.sqrt(linear**2 + 8.0 * quadratic))
        most = 1.0 / (n_labels * largest**2)
        return {
            **parameters,
            "weight": weight + np.clip(step, -longest, longest),
            "spread": np.clip(wide, spread - most, spread + most),
        }


class Constant(Product):
    """rho_mk = 1 for every document and topic. The model is then the HDP.

    Examples
    --------
    >>> Constant()
    Constant()
    """

    def __init__(self) -> None:
        # The log-linear function of no columns.
        super().__init__(LogLinear(), split=[()])
        self.kinds = frozenset()

    def __repr__(self) -> str:
        return "Constant()"


def as_function(value: Expression) -> ScalingFunction:
    """A scaling function, or the log-linear function of a term."""
    if isinstance(value, Term):
        return LogLinear(value)
    assert isinstance(value, ScalingFunction)
    return value


# Functions that are not log-linear: growing slowly, rising or falling only, or a user's own.

# Below it, the softplus is the exponential to the last digit.
_LOWEST = -40.0


class _ByScore(PointFunction):
    """A function whose log scale depends on the score w_k . r_m alone."""

    @abstractmethod
    def _link(self, score: FloatArray) -> FloatArray:
        """ln s_mk of scores, [M, T]."""

    @abstractmethod
    def _slope(self, score: FloatArray) -> FloatArray:
        """The derivative of `_link`, [M, T]."""

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, [M, T]."""
        return self._link(np.asarray(design @ weights.T, dtype=np.float64))

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """r_mj times the slope of the log scale, [J, M, T]."""
        slope = self._slope(np.asarray(design @ weights.T, dtype=np.float64))
        return np.asarray(design.toarray().T[:, :, None] * slope)


class Softplus(_ByScore):
    """s_mk = ln(1 + exp(w_k . r_m)) / ln 2: a scale that grows as a line, not as the exponential.

    Labels that hold a topic back do so as in `LogLinear`; those that raise it add to its scale. A
    positive weight raises a topic.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> Softplus("price")
    Softplus('price')
    """

    def _link(self, score: FloatArray) -> FloatArray:
        found = np.log(np.logaddexp(0.0, np.maximum(score, _LOWEST)))
        return np.asarray(found + np.minimum(score - _LOWEST, 0.0) - np.log(np.log(2.0)))

    def _slope(self, score: FloatArray) -> FloatArray:
        score = np.maximum(score, _LOWEST)
        return np.asarray(1.0 / ((1.0 + np.exp(-score)) * np.logaddexp(0.0, score)))


class Power(_ByScore):
    """s_mk = (x + sqrt(1 + x^2))^2, x = w_k . r_m / 2: a scale that grows as a square.

    Near 0 it is the exponential of `LogLinear`, far from it the square of the score or 1 over it,
    so that numbers with a long tail do not rule. A positive weight raises a topic.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> Power("price")
    Power('price')
    """

    def _link(self, score: FloatArray) -> FloatArray:
        return np.asarray(2.0 * np.arcsinh(score / 2.0))

    def _slope(self, score: FloatArray) -> FloatArray:
        return np.asarray(1.0 / np.sqrt(1.0 + score**2 / 4.0))


class Monotone(PointFunction):
    """A scale that only rises, or only falls, with a number, as fast as documents show.

    ln s_mk is a line that bends at quantiles of the number: w_k0 times the sum of the parts c_mi of
    the number in each interval, in proportion to exp(w_ki). With equal w_ki it is straight, as in
    `LogLinear`; beyond the training documents it stays as it is. A positive w_k0 raises a topic.

    Parameters
    ----------
    *columns : str or Term
        The name of one number.
    n_knots : int, default=8
        The number of intervals, each with as many training documents.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> Monotone("year")
    Monotone(Ramps('year', n_knots=8))
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns: str | Term, n_knots: int = 8, variance: float = 1.0) -> None:
        if len(columns) != 1 or not isinstance(columns[0], (str, Ramps)):
            raise ValueError(f"Monotone takes the name of one number. Got {columns!r}.")
        terms = [Ramps(c, n_knots=n_knots) if isinstance(c, str) else c for c in columns]
        super().__init__(*terms, variance=variance)

    def _parts(self, weights: FloatArray, design: Design) -> tuple[FloatArray, FloatArray]:
        """The parts c_mi, [M, n], and what each counts in topics, [n, T]."""
        parts = design.toarray().astype(np.float64)
        if parts.shape[1] > 1:
            # The number itself stands before its parts.
            parts = parts[:, 1:]
        bend = np.exp(weights[:, 1:] - weights[:, 1:].max(axis=1, initial=0.0, keepdims=True)).T
        shape = bend / np.maximum(bend.mean(axis=0), 1e-300) if len(bend) else np.ones((1, 1))
        return parts, np.broadcast_to(shape, (parts.shape[1], len(weights)))

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, [M, T]."""
        parts, shape = self._parts(weights, design)
        return np.asarray(weights[:, 0] * (parts @ shape))

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """By the direction and by what each part counts, [J, M, T]."""
        parts, shape = self._parts(weights, design)
        whole = parts @ shape
        away = parts.T[: weights.shape[1] - 1, :, None] - whole / len(shape)
        bends = weights[:, 0] * shape[: len(away), None] * away
        return np.concatenate([whole[None], bends])


# Takes labels [J, M, 1] and weights [W, T]; returns [M, T], or such an array for each weight.
LogScale = Callable[[FloatArray, FloatArray], Any]


class Custom(PointFunction):
    """A scaling function of one's own, by its log scale: s_mk = exp(log_scale(r_m, w_k)).

    It counts from labels that are all 0 (the mean of a number, the absence of a tag), where the
    scale is 1, as it is for labels that are missing.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    log_scale : callable
        Takes labels and weights, and returns the log scale of documents. ``labels[j]`` is a column
        of the labels of all documents, [M, 1], numbers in standard units; ``weights[i]`` are the
        weights of all topics, [T]. An expression of these is [M, T], as it should be. Where weights
        are 0, labels must do nothing, and the first change of some weight must do something.
    n_weights : int or None, default=None
        The number of a topic's weights; None is one for each column of labels. For more weights
        than that, the columns must be named, and the last be a number.
    gradient : callable, "jax" or None, default=None
        Takes the same, and returns for each weight the derivative of the log scale by it, [M, T].
        ``"jax"`` derives `log_scale`, which must then be written with ``jax.numpy``; None takes
        central differences.
    variance : float, default=1.0
        The variance of the weights' normal prior.

    Examples
    --------
    >>> import numpy as np
    >>> def levelling(labels, weights):
    ...     return weights[0] * np.tanh(labels[0] * np.exp(weights[1]))
    >>> Custom("price", log_scale=levelling, n_weights=2)
    Custom('price', log_scale=levelling, n_weights=2)
    """

    def __init__(
        self,
        *columns: str | Term,
        log_scale: LogScale,
        n_weights: int | None = None,
        gradient: LogScale | Literal["jax"] | None = None,
        variance: float = 1.0,
    ) -> None:
        if not callable(log_scale) or not (gradient in (None, "jax") or callable(gradient)):
            raise TypeError(
                "`log_scale` of Custom must be a function of labels and weights, and `gradient` "
                f"such a function, 'jax' or None. Got {log_scale!r} and {gradient!r}."
            )
        if n_weights is not None:
            check_whole(n_weights, "n_weights", 1, "Custom")
        self.function, self.n_weights, self.gradient = log_scale, n_weights, gradient
        if gradient == "jax":
            _jax()
        self._written = columns
        self._slots = max((n_weights or 0) - len(columns), 0) if columns else 0
        if self._slots:
            # More weights than columns: the last names a number.
            columns = (*columns[:-1], Slots(str(columns[-1]), n=self._slots))
        super().__init__(*columns, variance=variance)

    def settings(self) -> dict[str, Any]:
        """What the constructor takes by name."""
        return {**super().settings(), "log_scale": self.function}

    def __repr__(self) -> str:
        shown = {name: getattr(own, "__name__", repr(own)) for name, own in self.changed().items()}
        settings = [f"{name}={value}" for name, value in shown.items()]
        return f"Custom({', '.join([*map(repr, self._written), *settings])})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Custom) or repr(self) != repr(other):
            return False
        return self.function is other.function and self.gradient == other.gradient

    __hash__ = ScalingFunction.__hash__

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """w = 0, with the prior's variance; raises unless labels then do nothing."""
        if self.n_weights is not None and self.n_weights > n_labels:
            raise ValueError(
                f"`n_weights` of Custom must be at most {n_labels}, as there are columns. Got "
                f"{self.n_weights}. Name the columns, the last of them a number, to have more."
            )
        start = super().initial(n_topics, n_labels)
        if n_topics and n_labels:
            labels = csr_array(np.array([[-1.0], [1.0]]) * np.ones(n_labels))
            scale = self.log_scale(start["weight"], labels)
            slope = self.log_scale_gradient(start["weight"], labels)
            if np.abs(scale).max() > 1e-12 or not np.abs(slope).max() > 1e-9:
                raise ValueError(
                    "Where all weights are 0, `log_scale` of Custom must not depend on labels (at "
                    f"1, it is {scale[1, 0]:.4g} more than at 0), and must change with some "
                    "weight: write exp(w) for a weight that others multiply."
                )
        return start

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """ln s_mk, less that of labels that are all 0, [M, T]."""
        labels, document = self._labels(design)
        given = self._call(self.function, labels, weights)
        found = _checked(given, (len(labels), len(weights)), "log_scale")
        return np.asarray((found - found[0])[document])

    def log_scale_gradient(self, weights: FloatArray, design: Design) -> FloatArray:
        """As `gradient` says, less those of labels that are all 0, [J, M, T]."""
        if self.gradient is None:
            return super().log_scale_gradient(weights, design)
        labels, document = self._labels(design)
        by_jax = partial(_derivatives, self.function)
        given = self._call(by_jax if self.gradient == "jax" else self.gradient, labels, weights)
        n_used = self.n_weights or weights.shape[1]
        if len(given) != n_used:
            raise ValueError(
                f"`gradient` of Custom must return one array for each of {n_used} weights. "
                f"Got {len(given)}."
            )
        # 0 for weights that the function does not use.
        found = np.zeros((weights.shape[1], len(labels), len(weights)))
        found[:n_used] = [_checked(one, found.shape[1:], "gradient") for one in given]
        return np.asarray((found - found[:, :1])[:, document])

    def _labels(self, design: Design) -> tuple[FloatArray, Any]:
        """The different labels [U, J] of documents, after labels that are all 0; and whose."""
        dense = design[:, : design.shape[1] - self._slots].toarray().astype(np.float64)
        different, document = np.unique(dense, axis=0, return_inverse=True)
        return np.vstack([np.zeros(dense.shape[1]), different]), document.reshape(-1) + 1

    def _call(self, function: LogScale, labels: FloatArray, weights: FloatArray) -> Any:
        used = np.asarray(weights.T[: self.n_weights], dtype=np.float64)
        with _jax().enable_x64(True) if self.gradient == "jax" else nullcontext():
            return function(labels.T[:, :, None], used)


def _derivatives(function: LogScale, labels: FloatArray, weights: FloatArray) -> list[Any]:
    """The derivatives of a function of ``jax.numpy`` by each weight."""
    units = np.eye(len(weights))[:, :, None] * np.ones(weights.shape)
    along = partial(_jax().jvp, partial(function, labels), (weights,))
    return [along((unit,))[1] for unit in units]


def _checked(found: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """An array of documents and topics; raises where it is none."""
    try:
        return np.broadcast_to(np.asarray(found, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise ValueError(
            f"`{name}` of Custom must return numbers [M, T] = {list(shape)} for labels[j] of shape "
            f"[M, 1] and weights[i] of shape [T]. Got the shape {list(np.shape(found))}."
        ) from None


def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise ImportError(
            "`gradient='jax'` of Custom needs JAX: pip install 'hdsp[jax]', or leave `gradient` "
            "out for differences."
        ) from None
    return jax


# The functions that model files name. A file holds no code, and so no function of a user's own.
FUNCTIONS: dict[str, type[ScalingFunction]] = {
    function.__name__: function
    for function in (Categorical, Constant, LogLinear, Monotone, Power, Softplus)
}
