"""The product of scaling functions on disjoint label columns."""

from collections.abc import Iterable
from functools import reduce

import numpy as np

from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.base import Design, DesignLimits, Parameters, ScalingFunction


class Product(ScalingFunction):
    """Factors on disjoint labels: rates multiply, E[ln rho] and the bound's terms add.

    Written ``Categorical("tags") * LogLinear("rating")``; products of products flatten. The
    design's columns that belong to each factor are known once the labels are: `bind_labels` then
    makes a product with a `split`.

    Parameters
    ----------
    *factors : ScalingFunction
        Scaling functions, or products of them.
    split : iterable of iterables of int, default=None
        The design's columns that each factor takes.
    n_labels : int, default=None
        The number of the design's columns; None where the factors take every one.

    Examples
    --------
    >>> from hdsp.scaling import Categorical, LogLinear
    >>> Categorical("tags") * LogLinear("rating")
    Categorical('tags', weight_shape=1.0, weight_rate=1.0) * LogLinear('rating', variance=1.0)
    """

    def __init__(
        self,
        *factors: ScalingFunction,
        split: Iterable[Iterable[int]] | None = None,
        n_labels: int | None = None,
    ) -> None:
        if not factors:
            raise ValueError("Product needs at least one scaling function.")
        flat = [
            inner
            for factor in factors
            for inner in (factor.factors if isinstance(factor, Product) else [factor])
        ]
        super().__init__(*[name for factor in flat for name in factor.columns])
        self.factors: tuple[ScalingFunction, ...] = tuple(flat)
        self.kinds = frozenset.intersection(*[factor.kinds for factor in flat])
        self.log_linear = all(factor.log_linear for factor in flat)
        self.n_labels = n_labels
        self.split = None if split is None else tuple(np.asarray(list(c), int) for c in split)

    def __repr__(self) -> str:
        return " * ".join(map(repr, self.factors))

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """The parameters of every factor."""
        return _join(factor.initial(n_topics, len(columns)) for factor, columns in self._columns())

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The product of the factors' expected rates, [M, T]."""
        parts = self._parts(parameters, design)
        return _product(factor.expected_rate(part, labels) for factor, part, labels in parts)

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The sum of the factors' expected log rates, [M, T]."""
        parts = self._parts(parameters, design)
        return _sum(factor.expected_log_rate(part, labels) for factor, part, labels in parts)

    def log_rate_total(self, parameters: Parameters, design: Design) -> FloatArray:
        """The sum of the factors' totals, [T]."""
        parts = self._parts(parameters, design)
        return _sum(factor.log_rate_total(part, labels) for factor, part, labels in parts)

    def weighted_log_rate(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray
    ) -> FloatArray:
        """The sum of the factors' weighted log rates, [M]."""
        parts = self._parts(parameters, design)
        return _sum(
            factor.weighted_log_rate(part, labels, prior_shape) for factor, part, labels in parts
        )

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """The product of the factors' expected scales, [M, T]."""
        parts = self._parts(parameters, design)
        return _product(factor.expected_scale(part, labels) for factor, part, labels in parts)

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The sum of the factors' terms, [T]."""
        return _sum(factor.prior_terms(part) for factor, part in self._factors(parameters))

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """The factors' weights side by side, [T, J], in the order of the design's columns."""
        return self._side_by_side(
            factor.draw_prior(n_topics, len(columns), rng) for factor, columns in self._columns()
        )

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """The factors' weights side by side, [T, J], in the order of the design's columns."""
        return self._side_by_side(
            factor.draw_posterior(part, rng) for factor, part in self._factors(parameters)
        )

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """The product of the factors' rates, [M, T]."""
        return _product(
            factor.rate(weights[:, columns], design[:, columns])
            for factor, columns in self._columns()
        )

    def update(
        self, parameters: Parameters, design: Design, prior_shape: FloatArray, exposure: FloatArray
    ) -> Parameters:
        """Each factor in turn, with the others' newest rates in its exposure."""
        parts = self._parts(parameters, design)
        updated: list[Parameters] = []
        before: list[FloatArray] = []
        after = [factor.expected_rate(part, labels) for factor, part, labels in parts[1:]]
        for factor, part, labels in parts:
            exposed = _product([exposure, *before, *after])
            updated.append(factor.update(part, labels, prior_shape, exposed))
            if after:
                del after[0]
                before.append(factor.expected_rate(updated[-1], labels))
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
        sums = [part for _, part in self._factors(statistics)]
        return _join(
            factor.update_from_statistics(
                part,
                sums[number],
                prior_shape,
                DesignLimits(limits.labels_per_document, limits.largest[columns]),
            )
            for number, ((factor, part), (_, columns)) in enumerate(
                zip(self._factors(parameters), self._columns(), strict=True)
            )
        )

    def _columns(self) -> list[tuple[ScalingFunction, IntArray]]:
        """Each factor and the design's columns that it takes."""
        if self.split is None:
            raise ValueError(
                f"{self!r} is not bound to label columns. Pass it to HDSP(scaling=...), or give "
                "`split`."
            )
        return list(zip(self.factors, self.split, strict=True))

    def _factors(self, parameters: Parameters) -> list[tuple[ScalingFunction, Parameters]]:
        """Each factor and its own parameters."""
        parts: list[dict[str, FloatArray]] = [{} for _ in self.factors]
        for key, value in parameters.items():
            number, name = key.split(":")
            parts[int(number)][name] = value
        return list(zip(self.factors, parts, strict=True))

    def _parts(
        self, parameters: Parameters, design: Design
    ) -> list[tuple[ScalingFunction, Parameters, Design]]:
        """Each factor, its own parameters and its own labels."""
        every = np.arange(design.shape[1])
        return [
            (factor, part, design if np.array_equal(columns, every) else design[:, columns])
            for (factor, columns), (_, part) in zip(
                self._columns(), self._factors(parameters), strict=True
            )
        ]

    def _side_by_side(self, weights: Iterable[FloatArray]) -> FloatArray:
        """Weights of the factors in the order of the design's columns; NaN where none takes one."""
        parts = list(weights)
        columns = [columns for _, columns in self._columns()]
        out = np.full((len(parts[0]), self.n_labels or sum(map(len, columns))), np.nan)
        for part, own in zip(parts, columns, strict=True):
            out[:, own] = part
        return out


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
