"""Terms that give a scaling function room for its weights: one weight is one column."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels.term import Term, number_columns
from hdsp.numerics.types import FloatArray, IntArray


class Slots(Term):
    """A number, and columns that hold nothing, for a function of it with several weights.

    Parameters
    ----------
    *columns : str
        The name of the number.
    n : int, default=1
        The number of further columns.
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns: str, n: int = 1) -> None:
        super().__init__(*columns)
        self.n = n

    def settings(self) -> dict[str, Any]:
        """The number of further columns."""
        return {"n": self.n}

    @property
    def names(self) -> tuple[str, ...]:
        """The number's own name, and one for each further weight."""
        further = range(2, self.n + 2)
        return (*self.sources[0], *(f"{self.columns[0]} (weight {i})" for i in further))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The number, and nothing, [M, 1 + n]."""
        return number_columns(csr_array(parts[0]), np.zeros((parts[0].nnz, self.n)), 1.0)


class Ramps(Term):
    """A number, and its parts between quantiles: how far it goes into each of n intervals.

    The parts sum to the number, within the range of training. They count from the mean.

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
            raise ValueError(f"`n_knots` of Ramps must be 1 to 100. Got {n_knots!r}.")
        self.n_knots = n_knots

    def settings(self) -> dict[str, Any]:
        """The number of intervals."""
        return {"n_knots": self.n_knots}

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The parts of the one number that its label column has."""
        if len(sources[0]) != 1:
            raise ValueError(
                f"Ramps takes a single number. {self.columns[0]!r} has {len(sources[0])} columns."
            )
        copy = super().bound(sources, fitted or {"knots": []})
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

    @property
    def _knots(self) -> FloatArray:
        return np.asarray(self.fitted["knots"], dtype=np.float64)

    @property
    def names(self) -> tuple[str, ...]:
        """The number's own name, and one for each part."""
        parts = range(1, len(self._knots))
        return (*self.sources[0], *(f"{self.columns[0]} (part {i})" for i in parts))

    @property
    def groups(self) -> IntArray:
        """The number by itself, and its parts together."""
        return np.array([0] + [1] * (len(self.names) - 1))

    def points(self, low: float, high: float) -> FloatArray:
        """The knots too, where curves bend."""
        knots = self._knots[(self._knots > low) & (self._knots < high)]
        return np.unique(np.concatenate([super().points(low, high), knots]))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The number, and its parts, [M, 1 + n]."""
        values = csr_array(parts[0])
        first, last = self._knots[:-1], self._knots[1:]
        inside = np.clip(values.data.astype(np.float64)[:, None], first, last)
        return number_columns(values, inside - np.clip(0.0, first, last), 1.0)
