"""Scaling functions: what a document's labels do to its topics.

A scaling function owns its parameters' prior and variational posterior, and gives the model
expected rates; everything in it is plain NumPy, so a user's own function needs no compiler.
`hdsp.testing.check_scaling` tells whether a function keeps the contract.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, eye_array

from hdsp import kernels
from hdsp.checks import check_positive
from hdsp.numerics import FloatArray, IntArray, expected_log_gamma, gamma_divergence
from hdsp.scaling.terms import Expression, Pooled, Term
from hdsp.storage.codec import Limits

# Variational parameters by name (a word, no colon); topics are always the first axis.
Parameters = Mapping[str, FloatArray]
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
        ends = np.cumsum([value.size for value in start.values()])[:-1]

        def unpack(flat: FloatArray) -> Parameters:
            parts = zip(start.items(), np.split(flat, ends), strict=True)
            return {
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
            return start
        found = minimize(loss, flat, method="L-BFGS-B")
        return unpack(found.x) if found.fun <= loss(flat) else start

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
    Categorical('tags', weight_shape=1.0, weight_rate=1.0) * LogLinear('rating', variance=1.0)
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
    return {name: value + rate[columns] * (new[name] - value) for name, value, columns in by_label}


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
    return moved


def _by_label(
    scaling: ScalingFunction, arrays: Parameters, n_labels: int
) -> Iterator[tuple[str, FloatArray, IntArray]]:
    """Each array, and the design's columns along its last axis."""
    for name, value in arrays.items():
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


class Categorical(ScalingFunction):
    """rho_mk = prod_j lambda_kj^r_mj for r_mj in {0, 1}, lambda_kj ~ Gamma(a_w, b_w).

    A label j that a document carries scales topic k by w_kj = 1 / lambda_kj, an inverse-gamma
    variable; a label it does not carry, or whose value is missing, does nothing. The posterior is
    q(lambda_kj) = Gamma(a'_kj, b'_kj).

    Parameters
    ----------
    *columns : str or Term
        Tag or category columns; without names, all that no other factor takes.
    weight_shape : float, default=1.0
        The prior's a_w.
    weight_rate : float, default=1.0
        The prior's b_w.
    parents : str or None, default=None
        A category in whose levels those of `columns` are nested, such as venues of authors: it has
        weights of its own, and the weights of its children are drawn around them (see `Pooled`).

    Examples
    --------
    >>> Categorical("department", weight_shape=2.0)
    Categorical('department', weight_shape=2.0, weight_rate=1.0)
    >>> Categorical("author", parents="venue")
    Categorical(Pooled('author', parents='venue'), weight_shape=1.0, weight_rate=1.0)
    """

    kinds = frozenset({"tags", "category"})
    positive = frozenset({"shape", "rate"})
    log_linear = True

    def __init__(
        self,
        *columns: str | Term,
        weight_shape: float = 1.0,
        weight_rate: float = 1.0,
        parents: str | None = None,
    ) -> None:
        check_positive(weight_shape, "weight_shape", "Categorical")
        check_positive(weight_rate, "weight_rate", "Categorical")
        if parents is not None:
            if not columns:
                raise ValueError(f"Categorical must name what is nested in {parents!r}.")
            columns = tuple(Pooled(str(column), parents=parents) for column in columns)
        super().__init__(*columns)
        # A NumPy number would decide the precision of what it is added to.
        self.weight_shape = float(weight_shape)
        self.weight_rate = float(weight_rate)

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """E[lambda] = 1, with the prior's shape."""
        ones = np.full((n_topics, n_labels), self.weight_shape)
        return {"shape": ones, "rate": ones.copy()}

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """prod_j (a'_kj / b'_kj)^r_mj, [M, T]."""
        mean = (parameters["shape"] / parameters["rate"]).astype(design.dtype)
        return np.asarray(kernels.exp_product(design, np.log(mean).T))

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """sum_j r_mj (psi(a'_kj) - ln b'_kj), [M, T]."""
        return np.asarray(design @ expected_log_gamma(parameters["shape"], parameters["rate"]).T)

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """prod_j (b'_kj / (a'_kj - 1))^r_mj, [M, T].

        An inverse gamma of shape 1 or less has no mean; its mode b' / (a' + 1) stands in.
        """
        shape, rate = parameters["shape"], parameters["rate"]
        mean = np.where(shape > 1.0, rate / np.maximum(shape - 1.0, 1e-300), rate / (shape + 1.0))
        return np.asarray(np.exp(design @ np.log(mean).T))

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The negative divergence of q(lambda_k) from its prior, [T]."""
        divergence = gamma_divergence(
            parameters["shape"], parameters["rate"], self.weight_shape, self.weight_rate
        )
        return np.asarray(divergence.sum(axis=1))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """Scales w, [T, J]."""
        return 1.0 / rng.gamma(self.weight_shape, 1.0 / self.weight_rate, size=(n_topics, n_labels))

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
        # a' changes first, at fixed E[lambda], so that the rates stay as they were.
        shape = self.weight_shape + np.outer(prior_shape, design.sum(axis=0))
        start = {"shape": shape, "rate": parameters["rate"] * shape / parameters["shape"]}
        load = np.ascontiguousarray(self.expected_rate(start, design) * exposure)
        by_label = design.tocsc()
        rate = start["rate"].T.copy()
        kernels.sweep_gamma_weights(
            *kernels.csr_arrays(by_label)[:2],
            load,
            np.ascontiguousarray(shape.T),
            self.weight_rate,
            rate,
        )
        return {"shape": shape, "rate": np.ascontiguousarray(rate.T)}

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
        shape = self.weight_shape + np.outer(prior_shape, statistics["carriers"])
        mean = parameters["shape"] / parameters["rate"]
        target = shape / (self.weight_rate + statistics["load"] / mean)
        damping = 1.0 / limits.labels_per_document
        new_mean = mean ** (1.0 - damping) * target**damping
        return {"shape": shape, "rate": shape / new_mean}


# Steps of an update, and how often each is halved before it is given up.
_STEPS, _HALVINGS = 3, 12
_CHUNK = 2_048


class PointFunction(ScalingFunction):
    """A function that is given by its log scale, with weights w_kj ~ Normal(0, variance).

    The posterior is a point, with Laplace's approximation of the variance there.

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


class LogLinear(PointFunction):
    """rho_mk = exp(w_k . r_m), w_kj ~ Normal(0, variance): a positive weight holds a topic back.

    Takes labels of every kind: numbers enter standardised, tags and categories as 0 and 1. The
    posterior is a point, with Laplace's approximation of the variance there.

    Parameters
    ----------
    *columns : str or Term
        Label columns; without names, all that no other factor takes.
    variance : float, default=1.0
        The prior's variance (the paper's sigma).

    Examples
    --------
    >>> LogLinear("rating", variance=0.5)
    LogLinear('rating', variance=0.5)
    """

    log_linear = True

    def log_scale(self, weights: FloatArray, design: Design) -> FloatArray:
        """-w_k . r_m, [M, T]."""
        return -np.asarray(design @ weights.T)

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """exp(w_k . r_m), [M, T]."""
        return np.asarray(kernels.exp_product(design, weights.T))

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Equation 16: a Newton step with halving on each label in turn.

        A sweep costs the stored labels times the topics, for any number of label columns.
        """
        load = np.ascontiguousarray(self.expected_rate(parameters, design) * exposure)
        by_label = design.tocsc()
        weight = parameters["weight"].T.copy()
        spread = np.empty_like(weight)
        kernels.sweep_normal_weights(
            *kernels.csr_arrays(by_label),
            load,
            np.asarray(prior_shape, dtype=np.float64),
            self.variance,
            weight,
            spread,
        )
        return {"weight": np.ascontiguousarray(weight.T), "spread": np.ascontiguousarray(spread.T)}

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

        With at most C labels on a document, exp(sum_j r_j d_j) <= (1/C) sum_j exp(C r_j d_j), and
        each exponential lies below a quadratic while abs(C r_j d_j) <= 1: the step maximises what
        the objective becomes with those quadratics, within that range.
        """
        weight = parameters["weight"]
        n_labels = limits.labels_per_document
        gradient = np.outer(prior_shape, statistics["total"]) - statistics["slope"]
        gradient -= weight / self.variance
        curvature = 2.0 * _QUADRATIC * n_labels * statistics["curvature"] + 1.0 / self.variance
        longest = 1.0 / (n_labels * np.maximum(limits.largest, 1e-300))
        return {
            "weight": weight + np.clip(gradient / curvature, -longest, longest),
            "spread": 1.0 / (statistics["curvature"] + 1.0 / self.variance),
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
