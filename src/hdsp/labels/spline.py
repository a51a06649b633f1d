"""Curves of a number: smooth ones, and those of straight parts."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import eigh
from scipy.sparse import csr_array

from hdsp.checks import check_positive
from hdsp.labels.term import NO_EFFECT, Term, number_columns
from hdsp.numerics import FloatArray

_DEGREE = 3
# Numbers of which fewer different values are known have no curve, only a line.
_FEWEST_VALUES = 4
# Points of a table between two knots, and in all, where there are many periods.
_POINTS_BETWEEN, _MOST_POINTS = 17, 20_000


class Curve(Term):
    """A number, and functions of it between knots that are learned.

    Parameters
    ----------
    *columns : str
        The name of the number.
    n_knots : int, default=5
        The number of intervals, each with as many training documents.

    Attributes
    ----------
    part : str
        What the names of the functions call each.
    """

    kinds = frozenset({"number"})
    part: ClassVar[str]

    def __init__(self, *columns: str, n_knots: int = 5) -> None:
        super().__init__(*columns)
        if type(n_knots) is not int or not 1 <= n_knots <= 100:
            name = type(self).__name__
            raise ValueError(f"`n_knots` of {name} must be 1 to 100. Got {n_knots!r}.")
        self.n_knots = n_knots

    def settings(self) -> dict[str, Any]:
        """The number of intervals."""
        return {"n_knots": self.n_knots}

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The curve of the one number that its label column has."""
        if len(sources[0]) != 1:
            raise ValueError(
                f"{type(self).__name__} takes a single number. {self.columns[0]!r} has "
                f"{len(sources[0])} columns."
            )
        return super().bound(sources, fitted or self.learn([csr_array((0, 1))]))

    @abstractmethod
    def functions(self, values: FloatArray) -> FloatArray:
        """The functions at values of the number, [M, n]."""

    @property
    def _knots(self) -> FloatArray:
        return np.asarray(self.fitted["knots"], dtype=np.float64)

    @property
    def names(self) -> tuple[str, ...]:
        """The number's own name, and one for each function."""
        (name,) = self.sources[0]
        n_functions = self.functions(np.zeros(0)).shape[1]
        return (name, *(f"{name} ({self.part} {i + 1})" for i in range(n_functions)))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The number, and the functions at its values, [M, n]."""
        values = csr_array(parts[0])
        found = self.functions(values.data.astype(np.float64))
        return number_columns(values, found, self.value_scale)


class Spline(Curve):
    """A cubic spline of a number: its line, and the ways in which it may bend.

    The columns besides the line are the spline's Demmler-Reinsch functions: in training they are
    uncorrelated with each other and with the line, and each is scaled so that a coefficient of
    variance 1 has the same expected roughness, the integral of the squared second derivative. So
    coefficients that share a variance make a smoothing spline, whose smoothing is learned with the
    variance; the line has a variance of its own. Beyond the outermost knots curves go on as they
    end.

    With a period, as for months and hours, the curve and its slope go on where they began, and
    there is no line.

    Parameters
    ----------
    *columns : str
        The name of the number.
    n_knots : int, default=5
        The number of intervals, each with as many training documents; with a period, each as long.
    period : float or None, default=None
        After how much of the number the curve begins again: 12 for months, 24 for hours. Dates
        count in years, so that 1 is a year; a week is 7 / 365.25.

    Examples
    --------
    >>> Spline("month", period=12)
    Spline('month', n_knots=5, period=12.0)
    """

    part = "bend"

    def __init__(self, *columns: str, n_knots: int = 5, period: float | None = None) -> None:
        super().__init__(*columns, n_knots=n_knots)
        if period is not None:
            check_positive(period, "period", "Spline")
        if period is not None and n_knots < 3:
            raise ValueError(f"Spline with a period needs `n_knots` of 3 or more. Got {n_knots}.")
        self.period = None if period is None else float(period)

    def settings(self) -> dict[str, Any]:
        """The number of knots, and the period if there is one."""
        period = {} if self.period is None else {"period": self.period}
        return super().settings() | period

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The spline of the one number that its label column has."""
        copy = super().bound(sources, fitted)
        knots = copy._knots
        n_splines = len(knots) - _DEGREE - 1
        fits = len(copy.fitted["coefficients"]) % max(n_splines, 1) == 0
        # Of curves that come round, the period is between the inner knots.
        empty = (
            self.period is not None
            and not (knots[_DEGREE:-_DEGREE] > knots[_DEGREE : _DEGREE + 1]).any()
        )
        if len(knots) and (n_splines < 1 or not fits or (np.diff(knots) < 0).any() or empty):
            raise ValueError("A spline's knots must rise, and its coefficients be one per spline.")
        return copy

    @property
    def value_scale(self) -> float:
        """A period has no line."""
        return 1.0 if self.period is None else NO_EFFECT

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """Knots, and the coefficients of the functions in B-splines."""
        values = np.asarray(parts[0].data, dtype=np.float64)
        if self.period is None:
            different = np.unique(values)
            fewest = _FEWEST_VALUES
        else:
            period = self.period / unit
            start = values.min(initial=np.inf)
            values = start + np.mod(values - start, period) if len(values) else values
            # Months are the same month whatever year they are of, but for rounding.
            different = np.unique(np.round((values - start) / period, 9) % 1.0)
            fewest = 2
        if len(different) < fewest:
            return {"knots": [], "coefficients": []}
        if self.period is None:
            inner = np.unique(np.quantile(values, np.linspace(0.0, 1.0, self.n_knots + 1)))
            knots = np.concatenate([np.full(_DEGREE, inner[0]), inner, np.full(_DEGREE, inner[-1])])
            to_splines = np.eye(len(knots) - _DEGREE - 1)
            # What a line explains is taken out: of the functions, in training.
            greville = np.array(
                [knots[i + 1 : i + 1 + _DEGREE].mean() for i in range(len(to_splines))]
            )
            free = np.column_stack([np.ones_like(greville), greville])
        else:
            step = period / self.n_knots
            knots = start + step * np.arange(-_DEGREE, self.n_knots + _DEGREE + 1)
            # The last splines are the first ones again.
            places = np.arange(self.n_knots + _DEGREE) % self.n_knots
            to_splines = np.eye(self.n_knots)[places]
            free = np.ones((self.n_knots, 1))
        basis = BSpline(knots, to_splines, _DEGREE)(values)
        without = np.eye(len(free)) - free @ np.linalg.lstsq(basis @ free, basis, rcond=None)[0]
        gram = (basis @ without).T @ (basis @ without) / len(values)
        roughness = to_splines.T @ _roughness(knots) @ to_splines
        # Directions that are uncorrelated in training, from the smoothest to the roughest.
        n_free = min(len(free), len(different)) - free.shape[1]
        size, axes = np.linalg.eigh(gram)
        axes = axes[:, -n_free:] / np.sqrt(size[-n_free:])
        rough, turn = eigh(axes.T @ roughness @ axes)
        coefficients = without @ axes @ turn / np.sqrt(np.maximum(rough / rough[0], 1.0))
        return {
            "knots": knots.tolist(),
            "coefficients": (to_splines @ coefficients).ravel().tolist(),
        }

    @property
    def _coefficients(self) -> FloatArray:
        n_splines = max(len(self._knots) - _DEGREE - 1, 1)
        return np.asarray(self.fitted["coefficients"], dtype=np.float64).reshape(n_splines, -1)

    def points(self, low: float, high: float) -> FloatArray:
        """As many values between any two knots."""
        knots = np.unique(self._knots)
        if not len(knots):
            return super().points(low, high)
        if self.period is not None:
            step = knots[1] - knots[0]
            n_points = _POINTS_BETWEEN * ((high - low) / step + 2.0)
            if n_points > _MOST_POINTS:
                return np.linspace(low, high, _MOST_POINTS)
            first, last = np.floor((np.array([low, high]) - knots[0]) / step)
            knots = knots[0] + step * np.arange(first, last + 2.0)
        within = np.linspace(knots[:-1], knots[1:], _POINTS_BETWEEN, axis=1).ravel()
        return np.unique(np.concatenate([[low, high], within[(within > low) & (within < high)]]))

    def functions(self, values: FloatArray) -> FloatArray:
        """The ways in which the curve bends, at values of the number, [M, n]."""
        knots, coefficients = self._knots, self._coefficients
        if not coefficients.shape[1]:
            return np.zeros((len(values), 0))
        if self.period is None:
            inside = np.clip(values, knots[0], knots[-1])
        else:
            first, last = knots[_DEGREE], knots[-_DEGREE - 1]
            inside = first + np.mod(values - first, last - first)
        return np.asarray(BSpline(knots, coefficients, _DEGREE)(inside))


def _roughness(knots: FloatArray) -> FloatArray:
    """The integrals of products of the splines' second derivatives, [n, n]."""
    n_splines = len(knots) - _DEGREE - 1
    second = BSpline(knots, np.eye(n_splines), _DEGREE).derivative(2)
    inner = np.unique(knots[_DEGREE : len(knots) - _DEGREE])
    # Second derivatives are lines between knots: Simpson's rule is exact for their products.
    width = np.diff(inner)
    total = np.zeros((n_splines, n_splines))
    for share, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0)):
        # Just inside each interval.
        points = inner[:-1] + np.clip(share, 1e-9, 1.0 - 1e-9) * width
        value = second(points)
        total += value.T @ (value * (weight * width / 6.0)[:, None])
    return total


class Ramps(Curve):
    """A number, and its parts between quantiles: how far it goes into each of n intervals.

    The parts sum to the number, within the range of training. They count from the mean.

    Parameters
    ----------
    *columns : str
        The name of the number.
    n_knots : int, default=8
        The number of intervals, each with as many training documents.
    """

    part = "part"

    def __init__(self, *columns: str, n_knots: int = 8) -> None:
        super().__init__(*columns, n_knots=n_knots)

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The parts of the one number that its label column has."""
        copy = super().bound(sources, fitted)
        if (np.diff(copy._knots) <= 0).any():
            raise ValueError("The knots of a term must rise.")
        return copy

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """The quantiles at which intervals begin and end."""
        if not parts[0].nnz:
            return {"knots": []}
        values = np.asarray(parts[0].data, dtype=np.float64)
        knots = np.unique(np.quantile(values, np.linspace(0.0, 1.0, self.n_knots + 1)))
        return {"knots": knots.tolist()}

    def points(self, low: float, high: float) -> FloatArray:
        """The knots too, where curves bend."""
        knots = self._knots[(self._knots > low) & (self._knots < high)]
        return np.unique(np.concatenate([super().points(low, high), knots]))

    def functions(self, values: FloatArray) -> FloatArray:
        """How far the number goes into each interval, [M, n]."""
        first, last = self._knots[:-1], self._knots[1:]
        return np.asarray(np.clip(values[:, None], first, last) - np.clip(0.0, first, last))
