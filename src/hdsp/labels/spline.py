"""Splines: smooth curves of a number."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import eigh
from scipy.sparse import csr_array

from hdsp.labels.term import Term
from hdsp.numerics.sparse import csr_from_entries
from hdsp.numerics.types import FloatArray, IntArray

_DEGREE = 3
# Numbers of which fewer different values are known have no curve, only a line.
_FEWEST_VALUES = 4
# Points of a table between two knots.
_POINTS_BETWEEN = 17


class Spline(Term):
    """A cubic spline of a number: its line, and the ways in which it may bend.

    The columns besides the line are the spline's Demmler-Reinsch functions: in training they are
    uncorrelated with each other and with the line, and each is scaled so that a coefficient of
    variance 1 has the same expected roughness. So coefficients that share a variance make a
    smoothing spline, and can be drawn one by one. Beyond the outermost knots curves go on as they
    end.

    Parameters
    ----------
    *columns : str
        The name of the number.
    n_knots : int, default=8
        The number of intervals, each with as many training documents.
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns: str, n_knots: int = 8) -> None:
        super().__init__(*columns)
        if type(n_knots) is not int or not 1 <= n_knots <= 100:
            raise ValueError(f"`n_knots` of Spline must be 1 to 100. Got {n_knots!r}.")
        self.n_knots = n_knots

    def settings(self) -> dict[str, Any]:
        """The number of knots."""
        return {"n_knots": self.n_knots}

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The spline of the one number that its label column has."""
        if len(sources[0]) != 1:
            raise ValueError(
                f"Spline takes a single number. {self.columns[0]!r} has {len(sources[0])} columns."
            )
        copy = super().bound(sources, fitted or {"knots": [], "coefficients": []})
        n_splines = len(copy._knots) - _DEGREE - 1
        fits = len(copy.fitted["coefficients"]) % max(n_splines, 1) == 0
        if len(copy._knots) and (n_splines < 1 or not fits or (np.diff(copy._knots) < 0).any()):
            raise ValueError("A spline's knots must rise, and its coefficients be one per spline.")
        return copy

    def learn(self, parts: Sequence[csr_array]) -> Mapping[str, list[float]]:
        """Knots at quantiles, and the coefficients of the functions in B-splines."""
        values = np.asarray(parts[0].data, dtype=np.float64)
        different = np.unique(values)
        if len(different) < _FEWEST_VALUES:
            return {"knots": [], "coefficients": []}
        inner = np.unique(np.quantile(values, np.linspace(0.0, 1.0, self.n_knots + 1)))
        knots = np.concatenate([np.full(_DEGREE, inner[0]), inner, np.full(_DEGREE, inner[-1])])
        n_splines = len(knots) - _DEGREE - 1
        basis = BSpline(knots, np.eye(n_splines), _DEGREE)(values)
        line = np.column_stack([np.ones(len(values)), values])
        # What a line explains is taken out: of the functions, in training.
        greville = np.array([knots[i + 1 : i + 1 + _DEGREE].mean() for i in range(n_splines)])
        explained = np.linalg.lstsq(line, basis, rcond=None)[0]
        in_splines = np.column_stack([np.ones_like(greville), greville])
        without_line = np.eye(n_splines) - in_splines @ explained
        gram = (basis @ without_line).T @ (basis @ without_line) / len(values)
        roughness = _roughness(knots, n_splines)
        # Directions that are uncorrelated in training, from the smoothest to the roughest.
        n_free = min(n_splines, len(different)) - line.shape[1]
        size, axes = np.linalg.eigh(gram)
        axes = axes[:, -n_free:] / np.sqrt(size[-n_free:])
        rough, turn = eigh(axes.T @ roughness @ axes)
        coefficients = without_line @ axes @ turn / np.sqrt(np.maximum(rough / rough[0], 1.0))
        return {"knots": knots.tolist(), "coefficients": coefficients.ravel().tolist()}

    @property
    def _knots(self) -> FloatArray:
        return np.asarray(self.fitted["knots"], dtype=np.float64)

    @property
    def _coefficients(self) -> FloatArray:
        n_splines = max(len(self._knots) - _DEGREE - 1, 1)
        return np.asarray(self.fitted["coefficients"], dtype=np.float64).reshape(n_splines, -1)

    @property
    def names(self) -> tuple[str, ...]:
        """The number's own name, and one for each function."""
        (name,) = self.sources[0]
        bends = range(1, self._coefficients.shape[1] + 1)
        return (name, *(f"{name} (bend {i})" for i in bends))

    @property
    def groups(self) -> IntArray:
        """The line by itself, and the rest together."""
        return np.array([0] + [1] * (len(self.names) - 1))

    def points(self, low: float, high: float) -> FloatArray:
        """As many values between any two knots."""
        knots = np.unique(self._knots)
        if not len(knots):
            return super().points(low, high)
        within = np.linspace(knots[:-1], knots[1:], _POINTS_BETWEEN, axis=1).ravel()
        return np.unique(np.concatenate([[low, high], within[(within > low) & (within < high)]]))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The number, and the functions at its values, [M, n]."""
        values = csr_array(parts[0])
        coefficients = self._coefficients
        entries = np.empty((values.nnz, 1 + coefficients.shape[1]))
        entries[:, 0] = values.data
        if coefficients.shape[1]:
            knots = self._knots
            inside = np.clip(values.data.astype(np.float64), knots[0], knots[-1])
            entries[:, 1:] = BSpline(knots, coefficients, _DEGREE)(inside)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        n = entries.shape[1]
        return csr_from_entries(
            np.repeat(rows, n),
            np.tile(np.arange(n), values.nnz),
            entries.ravel(),
            (values.shape[0], n),
        )


def _roughness(knots: FloatArray, n_splines: int) -> FloatArray:
    """The integrals of products of second derivatives, [n, n]."""
    second = BSpline(knots, np.eye(n_splines), _DEGREE).derivative(2)
    inner = np.unique(knots)
    # Second derivatives are lines between knots: Simpson's rule is exact for their products.
    width = np.diff(inner)
    total = np.zeros((n_splines, n_splines))
    for share, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0)):
        # Just inside each interval.
        points = inner[:-1] + np.clip(share, 1e-9, 1.0 - 1e-9) * width
        value = second(points)
        total += value.T @ (value * (weight * width / 6.0)[:, None])
    return total
