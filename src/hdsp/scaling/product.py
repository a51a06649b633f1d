"""The product of scaling functions on disjoint label columns."""

from collections.abc import Iterable

import numpy as np

from hdsp.numerics.types import FloatArray
from hdsp.scaling.base import Design, DesignBounds, Parameters, ScalingFunction


class Product(ScalingFunction):
    """Factors on disjoint labels: rates multiply, E[ln rho] and the bound's terms add.

    Written ``Categorical("tags") * LogLinear("rating")``; products of products flatten. Bound to
    label columns by `split`, which every factor's share of the design comes from.

    Parameters
    ----------
    *factors : scaling functions, or products of them
    split : the design columns of each factor, once the labels are known
    n_labels : all columns of the design, where the factors do not take every one

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
        flat = [one for factor in factors for one in _flatten(factor)]
        super().__init__(*[name for factor in flat for name in factor.columns])
        self.factors: tuple[ScalingFunction, ...] = tuple(flat)
        self.kinds = frozenset.intersection(*[factor.kinds for factor in flat])
        self.n_labels = n_labels
        self.split = None if split is None else tuple(np.asarray(list(c), int) for c in split)

    def __repr__(self) -> str:
        return " * ".join(map(repr, self.factors))

    def _designs(self, design: Design) -> list[Design]:
        if self.split is None:
            raise ValueError(
                f"{self!r} is not bound to label columns. Pass it to HDSP(scaling=...), or give "
                "`split`."
            )
        every = np.arange(design.shape[1])
        return [
            design if np.array_equal(columns, every) else design[:, columns]
            for columns in self.split
        ]

    def _parts(self, parameters: Parameters) -> list[Parameters]:
        parts: list[dict[str, FloatArray]] = [{} for _ in self.factors]
        for key, value in parameters.items():
            number, name = key.split(":")
            parts[int(number)][name] = value
        return list(parts)

    def _join(self, parts: Iterable[Parameters]) -> Parameters:
        return {
            f"{number}:{name}": value
            for number, part in enumerate(parts)
            for name, value in part.items()
        }

    def initial(self, n_topics: int, n_labels: int) -> Parameters:
        """Every factor's own."""
        if self.split is None:
            raise ValueError(f"{self!r} is not bound to label columns; give `split`.")
        return self._join(
            factor.initial(n_topics, len(columns))
            for factor, columns in zip(self.factors, self.split, strict=True)
        )

    def expected_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The product of the factors' expected rates, [M, T]."""
        return np.asarray(np.prod(self._rates(parameters, design), axis=0))

    def expected_log_rate(self, parameters: Parameters, design: Design) -> FloatArray:
        """The sum of the factors' expected log rates, [M, T]."""
        return np.asarray(
            np.sum(
                [
                    factor.expected_log_rate(part, columns)
                    for factor, part, columns in self._each(parameters, design)
                ],
                axis=0,
            )
        )

    def log_rate_total(self, parameters: Parameters, design: Design) -> FloatArray:
        """The sum of the factors' totals, [T]."""
        return np.asarray(
            np.sum(
                [
                    factor.log_rate_total(part, columns)
                    for factor, part, columns in self._each(parameters, design)
                ],
                axis=0,
            )
        )

    def weighted_log_rate(
        self, parameters: Parameters, design: Design, weights: FloatArray
    ) -> FloatArray:
        """The sum of the factors' own, [M]."""
        return np.asarray(
            np.sum(
                [
                    factor.weighted_log_rate(part, columns, weights)
                    for factor, part, columns in self._each(parameters, design)
                ],
                axis=0,
            )
        )

    def expected_scale(self, parameters: Parameters, design: Design) -> FloatArray:
        """The product of the factors' expected scales, [M, T]."""
        return np.asarray(
            np.prod(
                [
                    factor.expected_scale(part, columns)
                    for factor, part, columns in self._each(parameters, design)
                ],
                axis=0,
            )
        )

    def prior_terms(self, parameters: Parameters) -> FloatArray:
        """The sum of the factors' terms, [T]."""
        return np.asarray(
            np.sum(
                [
                    factor.prior_terms(part)
                    for factor, part in zip(self.factors, self._parts(parameters), strict=True)
                ],
                axis=0,
            )
        )

    def draw_prior(self, n_topics: int, n_labels: int, rng: np.random.Generator) -> FloatArray:
        """The factors' weights side by side, [T, J], in the order of the design's columns."""
        if self.split is None:
            raise ValueError(f"{self!r} is not bound to label columns; give `split`.")
        return self._side_by_side(
            factor.draw_prior(n_topics, len(columns), rng)
            for factor, columns in zip(self.factors, self.split, strict=True)
        )

    def draw_posterior(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """The factors' weights side by side, [T, J], in the order of the design's columns."""
        return self._side_by_side(
            factor.draw_posterior(part, rng)
            for factor, part in zip(self.factors, self._parts(parameters), strict=True)
        )

    def draw_uncertain(self, parameters: Parameters, rng: np.random.Generator) -> FloatArray:
        """The factors' weights side by side, [T, J], in the order of the design's columns."""
        return self._side_by_side(
            factor.draw_uncertain(part, rng)
            for factor, part in zip(self.factors, self._parts(parameters), strict=True)
        )

    def rate(self, weights: FloatArray, design: Design) -> FloatArray:
        """The product of the factors' rates, [M, T]."""
        assert self.split is not None
        return np.asarray(
            np.prod(
                [
                    factor.rate(weights[:, columns], design[:, columns])
                    for factor, columns in zip(self.factors, self.split, strict=True)
                ],
                axis=0,
            )
        )

    def update(
        self,
        parameters: Parameters,
        design: Design,
        prior_shape: FloatArray,
        exposure: FloatArray,
    ) -> Parameters:
        """Each factor in turn, exposed to the others' rates."""
        parts = self._parts(parameters)
        designs = self._designs(design)
        if len(self.factors) == 1:
            return self._join([self.factors[0].update(parts[0], designs[0], prior_shape, exposure)])
        rates = self._rates(parameters, design)
        for number, factor in enumerate(self.factors):
            others = [rate for other, rate in enumerate(rates) if other != number]
            parts[number] = factor.update(
                parts[number], designs[number], prior_shape, np.prod([exposure, *others], axis=0)
            )
            rates[number] = factor.expected_rate(parts[number], designs[number])
        return self._join(parts)

    def statistics(
        self, parameters: Parameters, design: Design, exposure: FloatArray
    ) -> Parameters:
        """Every factor's own, exposed to the others' rates."""
        rates = self._rates(parameters, design)
        return self._join(
            factor.statistics(
                part,
                columns,
                np.prod([exposure, *rates[:number], *rates[number + 1 :]], axis=0),
            )
            for number, (factor, part, columns) in enumerate(self._each(parameters, design))
        )

    def update_from_statistics(
        self,
        parameters: Parameters,
        statistics: Parameters,
        prior_shape: FloatArray,
        bounds: DesignBounds,
    ) -> Parameters:
        """All factors at once: C counts the labels of all of them, so the bound still holds."""
        assert self.split is not None
        return self._join(
            factor.update_from_statistics(
                part,
                sums,
                prior_shape,
                DesignBounds(bounds.labels_per_document, bounds.largest[columns]),
            )
            for factor, part, sums, columns in zip(
                self.factors,
                self._parts(parameters),
                self._parts(statistics),
                self.split,
                strict=True,
            )
        )

    def _each(
        self, parameters: Parameters, design: Design
    ) -> list[tuple[ScalingFunction, Parameters, Design]]:
        return list(zip(self.factors, self._parts(parameters), self._designs(design), strict=True))

    def _rates(self, parameters: Parameters, design: Design) -> list[FloatArray]:
        return [
            factor.expected_rate(part, columns)
            for factor, part, columns in self._each(parameters, design)
        ]

    def _side_by_side(self, blocks: Iterable[FloatArray]) -> FloatArray:
        assert self.split is not None
        parts = list(blocks)
        width = self.n_labels or sum(map(len, self.split))
        # A column that no factor takes has no weight.
        weights = np.full((len(parts[0]), width), np.nan)
        for part, columns in zip(parts, self.split, strict=True):
            weights[:, columns] = part
        return weights


def _flatten(factor: ScalingFunction) -> tuple[ScalingFunction, ...]:
    return factor.factors if isinstance(factor, Product) else (factor,)
