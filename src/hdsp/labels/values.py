"""Terms of single values: an effect for each, free or alike for neighbours."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, hstack

from hdsp.checks import quoted
from hdsp.corpus.schema import BlockSchema
from hdsp.labels.term import NO_EFFECT, Term, number_columns
from hdsp.numerics import BoolArray, FloatArray, IntArray

_MOST_VALUES = 50
# Values are the same if they differ by less than this share of the smallest step between two.
_SAME = 1e-3


class Factor(Term):
    """A number as a category: each of its values has an effect of its own.

    Values that training did not have do nothing.

    Parameters
    ----------
    *columns : str
        The name of a number of at most 50 different values.

    Examples
    --------
    >>> Factor("rating")
    Factor('rating')
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns: str) -> None:
        super().__init__(*columns)

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The term of the values that its label column has."""
        copy = super().bound(sources, fitted or {"values": [], "basis": []})
        if "number" in self.kinds and len(sources[0]) != 1 and not copy.has_levels:
            raise ValueError(
                f"{type(self).__name__} takes a single number. {self.columns[0]!r} has "
                f"{len(sources[0])} columns."
            )
        n_values, n_entries = len(copy.fitted["values"]), len(copy.fitted["basis"])
        uneven = n_entries % n_values if n_values else n_entries
        if uneven or not (np.diff(copy._values) > 0).all():
            raise ValueError("The values of a term must rise, and each have as many columns.")
        return copy

    @property
    def value_scale(self) -> float:
        """The number itself has no line."""
        return NO_EFFECT

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """The values of a number, or the positions of levels, and the columns of each."""
        if self.has_levels:
            counts = np.bincount(parts[0].indices, minlength=parts[0].shape[1])
            values = np.arange(len(counts), dtype=np.float64)
        else:
            values, counts = np.unique(np.asarray(parts[0].data, np.float64), return_counts=True)
        if len(values) > _MOST_VALUES:
            name, instead = self.columns[0], "Categorical" if self.has_levels else "Spline"
            raise ValueError(
                f"{type(self).__name__} takes labels of at most {_MOST_VALUES} different values. "
                f"{name!r} has {len(values)}: use {instead}({name!r}) instead."
            )
        return {"values": values.tolist(), "basis": self._basis(counts).ravel().tolist()}

    def _basis(self, counts: IntArray) -> FloatArray:
        """The columns of each value, [L, n]."""
        return np.eye(len(counts))

    @property
    def has_levels(self) -> bool:
        """Whether the label is a category."""
        return False

    @property
    def _values(self) -> FloatArray:
        return np.asarray(self.fitted["values"], dtype=np.float64)

    @property
    def _columns(self) -> FloatArray:
        n_values = max(len(self.fitted["values"]), 1)
        return np.asarray(self.fitted["basis"], dtype=np.float64).reshape(n_values, -1)

    @property
    def names(self) -> tuple[str, ...]:
        """The label's own names, and one for each further column."""
        further = range(1, self._columns.shape[1] + 1)
        return (*self.sources[0], *(f"{self.columns[0]} (value {i})" for i in further))

    @property
    def indicator(self) -> BoolArray:
        """All columns but the number itself."""
        return np.arange(len(self.names)) > 0

    def points(self, low: float, high: float) -> FloatArray:
        """Values, and either side of the places where one takes over from the next."""
        values = self._values
        if len(values) < 2:
            return super().points(low, high)
        places, _ = self._steps()
        beside = _SAME**2 * np.diff(values).min()
        found = np.concatenate([values, places - beside, places + beside])
        return np.unique(np.concatenate([[low, high], found[(found > low) & (found < high)]]))

    def _steps(self) -> tuple[FloatArray, FloatArray]:
        """Where numbers begin to count as another value; and the columns from there on.

        The first columns are those before all places.
        """
        values, columns = self._values, self._columns
        width = _SAME * np.diff(values).min(initial=1.0)
        places = np.column_stack([values - width, values + width]).ravel()
        between = np.zeros((len(places) + 1, columns.shape[1]))
        between[1::2] = columns
        return places, between

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The values without an effect, then the columns of each, [M, n]."""
        part = csr_array(parts[0])
        if not len(self._values):
            functions = np.zeros((part.nnz, 0))
        else:
            places, columns = self._steps()
            functions = columns[np.searchsorted(places, part.data.astype(np.float64))]
        return number_columns(part, functions, self.value_scale)


class Ordered(Factor):
    """An effect for each value of an ordered label, such as a rating or a wave: neighbours alike.

    The effects are a random walk along the values: what changes from one value to the next has a
    variance that is learned. A number that training did not have counts as the nearest one.

    Parameters
    ----------
    *columns : str
        The name of a number of at most 50 different values, or of a category.
    levels : list of str or None, default=None
        The levels of a category from the lowest to the highest. It can be left out where levels are
        written as numbers, and where they are in order as in a table's ordered categorical column.

    Examples
    --------
    >>> Ordered("rating")
    Ordered('rating')
    >>> Ordered("size", levels=["small", "large"])
    Ordered('size', levels=['small', 'large'])
    """

    kinds = frozenset({"number", "category"})

    def __init__(self, *columns: str, levels: Sequence[str] | None = None) -> None:
        super().__init__(*columns)
        if levels is not None and (
            isinstance(levels, str)
            or not all(isinstance(level, str) for level in levels)
            or len(set(levels)) < max(len(levels), 2)
        ):
            raise ValueError(
                "`levels` of Ordered must be a list of two or more different levels, as strings. "
                f"Got {levels!r}."
            )
        self.levels = None if levels is None else list(levels)

    def settings(self) -> dict[str, Any]:
        """The order of levels, if it was given."""
        return {} if self.levels is None else {"levels": self.levels}

    @property
    def has_levels(self) -> bool:
        """A number's only source has the name of its label column."""
        return self.sources[0] != self.columns

    def value_names(self, block: BlockSchema) -> tuple[str, ...]:
        """The names of values, such as ``"rating=2"``."""
        if self.has_levels:
            return tuple(self.sources[0])
        numbers = self._values * block.scale[0] + block.mean[0]
        return tuple(f"{block.name}={number:.6g}" for number in numbers)

    def _order(self) -> IntArray:
        """The positions of levels from the lowest to the highest."""
        prefix = f"{self.columns[0]}="
        found = [name.removeprefix(prefix) for name in self.sources[0]]
        if self.levels is not None:
            if absent := [level for level in found if level not in self.levels]:
                raise ValueError(
                    f"`levels` of {self!r} must have all levels of the label. It lacks "
                    f"{quoted(absent)}."
                )
            return np.argsort([self.levels.index(level) for level in found], kind="stable")
        try:
            return np.argsort([float(level) for level in found], kind="stable")
        except ValueError:
            # Levels without an order of their own are sorted by name.
            if len(found) > 2 and found == sorted(found):
                raise ValueError(
                    f"Ordered needs the order of the levels of {self.columns[0]!r}: write "
                    f"Ordered({self.columns[0]!r}, levels=[...]), from the lowest to the highest "
                    f"of {quoted(found)}."
                ) from None
            return np.arange(len(found))

    def _basis(self, counts: IntArray) -> FloatArray:
        """Functions of values that are uncorrelated in training, the smoothest first, [L, n].

        Each is scaled so that a coefficient of variance 1 has the same expected sum of squared
        changes from value to value: coefficients that share a variance make a random walk.
        """
        n_values = len(counts)
        if n_values < 2:
            return np.zeros((n_values, 0))
        order = self._order() if self.has_levels else np.arange(n_values)
        share = np.maximum(counts[order], 1) / np.maximum(counts, 1).sum()
        changes = np.diff(np.eye(n_values), axis=0)
        without = np.eye(n_values) - share
        size, axes = np.linalg.eigh(without.T @ (share[:, None] * without))
        axes = without @ (axes[:, 1:] / np.sqrt(size[1:]))
        rough, turn = eigh(axes.T @ changes.T @ changes @ axes)
        basis = np.empty((n_values, n_values - 1))
        basis[order] = axes @ turn / np.sqrt(np.maximum(rough / rough[0], 1.0))
        return basis

    @property
    def indicator(self) -> BoolArray:
        """None: levels themselves have no effect."""
        return np.zeros(len(self.names), dtype=np.bool_)

    def _steps(self) -> tuple[FloatArray, FloatArray]:
        """The nearest value counts."""
        values = self._values
        return (values[1:] + values[:-1]) / 2.0, self._columns

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The values without an effect, then the functions, [M, n]."""
        if not self.has_levels:
            return super().expand(parts)
        levels = csr_array(parts[0])
        basis, n_known = self._columns, len(self._values)
        # Levels that came later have no columns yet.
        known = basis if n_known else np.zeros((0, 0))
        further = np.zeros((levels.shape[1], known.shape[1]))
        further[:n_known] = known
        both = [self.value_scale * levels, levels @ csr_array(further)]
        return csr_array(hstack(both, format="csr"))
