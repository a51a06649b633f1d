"""The contract of a term.

A term is first what a user writes, such as ``Spline("day")``, and then bound to the columns that
it is made from. `hdsp.testing.check_term` tells whether a term keeps the contract.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics import BoolArray, FloatArray, csr_from_entries

# Points at which a term of a number is tabulated.
_POINTS = 129
# What values are multiplied by where they have no effect by themselves. A power of 2, so that they
# can be had back to the last bit; so small that whatever is learned of them is nothing.
NO_EFFECT = 2.0**-40


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a term at values of its number, for those who cannot call `Term.expand`.

    Attributes
    ----------
    values : float array of shape [G]
        Values of the number in standard units, in order.
    columns : float array of shape [G, n]
        The term's columns there; between two values they are nearly straight.
    """

    values: FloatArray
    columns: FloatArray


def stored_column(values: FloatArray) -> csr_array:
    """A sparse column [M, 1] in which every value is stored, zeros too."""
    n = len(values)
    return csr_array((values, np.zeros(n, dtype=np.int64), np.arange(n + 1)), shape=(n, 1))


def number_columns(values: csr_array, functions: FloatArray, value_scale: float) -> csr_array:
    """Stored numbers [M, 1] times `value_scale`, then functions [n_stored, n] of them."""
    n_columns = 1 + functions.shape[1]
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    entries = np.column_stack([value_scale * values.data, functions])
    stored = entries != 0.0
    stored[:, 0] = True
    places = np.broadcast_to(np.arange(n_columns), entries.shape)
    return csr_from_entries(
        np.repeat(rows, stored.sum(axis=1)),
        places[stored],
        entries[stored],
        (values.shape[0], n_columns),
    )


class Term(ABC):
    """Columns of the design that are made from label columns.

    A *main* term is made from the values of one label column (indicators of tags or levels, or a
    number in standard units), and its first columns are these values times `value_scale`, so that
    values can be had back from a design: every label column has one main term. Other terms are made
    from the columns of the main terms of their label columns.

    Terms multiply like scaling functions: ``Categorical("dept") * Spline("day")``. A term is then a
    `LogLinear` of it.

    Parameters
    ----------
    *columns : str
        The names of the label columns.

    Attributes
    ----------
    columns : tuple of str
        The names of the label columns.
    sources : tuple of tuple of str
        The names of the columns that a bound term is made from, for each label column.
    fitted : mapping of str to list
        What a bound term has learned from training, as plain lists of numbers.
    main : bool
        Whether the term holds the values of its label column.
    n_sources : int
        How many label columns the term takes.
    kinds : frozenset of str
        The kinds of label columns it takes, of ``"tags"``, ``"category"``, ``"number"``.
    exclusive : bool
        Whether a document has at most one of the columns, whose effects are compared with each
        other.
    value_scale : float
        1, or `NO_EFFECT` where the values have no effect by themselves, only the further columns.
    """

    main: ClassVar[bool] = True
    n_sources: ClassVar[int] = 1
    kinds: ClassVar[frozenset[str]] = frozenset({"tags", "category", "number"})
    exclusive: bool = False

    def __init__(self, *columns: str) -> None:
        name = type(self).__name__
        if len(columns) != self.n_sources or not all(isinstance(c, str) for c in columns):
            raise TypeError(
                f"{name} takes {self.n_sources} names of label columns. Got {columns!r}."
            )
        if len(set(columns)) < len(columns):
            raise ValueError(f"{name} takes different label columns. Got {columns[0]!r} twice.")
        self.columns = columns
        self.sources: tuple[tuple[str, ...], ...] = ()
        self.fitted: Mapping[str, list[float]] = {}

    def __repr__(self) -> str:
        settings = [f"{key}={value!r}" for key, value in self.settings().items()]
        return f"{type(self).__name__}({', '.join([*map(repr, self.columns), *settings])})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __mul__(self, other: "Term | TermProduct") -> "TermProduct":
        return TermProduct(self) * other

    def settings(self) -> dict[str, Any]:
        """The term's own settings, by the names that its constructor takes."""
        return {}

    @property
    def value_scale(self) -> float:
        """What the values are multiplied by in the first columns of a main term."""
        return 1.0

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The label columns that `learn` sees."""
        return self.columns

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The term, made from columns of these names.

        Parameters
        ----------
        sources : sequence of sequence of str
            For each label column the names of its values, or of its main term's columns.
        fitted : mapping of str to list or None, default=None
            What `learn` returned.
        """
        copy = type(self)(*self.columns, **self.settings())
        copy.sources = tuple(map(tuple, sources))
        copy.fitted = dict(fitted or {})
        return copy

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """What the term learns from training, such as knots: plain lists of numbers.

        Parameters
        ----------
        parts : sequence of sparse array
            Some training documents' columns of each of `learns_from`; a stored value is an observed
            one.
        unit : float, default=1.0
            How much of the number one standard unit is.
        """
        return {}

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the n columns of a bound term."""

    @abstractmethod
    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The term's columns [M, n] of documents, from those of its sources.

        Nothing is stored where a source has nothing, so that missing labels have no effect.
        """

    @property
    def indicator(self) -> BoolArray:
        """Which columns hold only 0 and 1, [n]."""
        return np.zeros(len(self.names), dtype=np.bool_)

    def table(self, low: float, high: float) -> Table | None:
        """The columns along a number, between two values; None for other terms."""
        own = self.indicator[: len(self.sources[0])]
        if self.n_sources > 1 or len(self.sources[0]) > 1 or own.any():
            return None
        values = self.points(low, high)
        return Table(values, self.expand([stored_column(values)]).toarray())

    def points(self, low: float, high: float) -> FloatArray:
        """The values of a number at which `table` is made: dense where columns bend."""
        return np.linspace(low, high, _POINTS)

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """For each column the columns of the two sources that it is the product of, if it is."""
        return ()


class TermProduct:
    """Terms that are multiplied with each other, before a scaling function takes them.

    Parameters
    ----------
    *terms : Term
        The terms.
    """

    def __init__(self, *terms: Term) -> None:
        self.terms = terms

    def __mul__(self, other: "Term | TermProduct") -> "TermProduct":
        if isinstance(other, Term):
            return TermProduct(*self.terms, other)
        if isinstance(other, TermProduct):
            return TermProduct(*self.terms, *other.terms)
        return NotImplemented

    def __repr__(self) -> str:
        return " * ".join(map(repr, self.terms))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermProduct) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)
