"""Terms: how label columns become columns of a design.

A *label column* is what people have: tags, a category, a number. A *term* makes columns of the
design from one or more of them. A term is first what a user writes, such as ``Spline("day")``, and
then bound to the columns that it is made from. `hdsp.testing.check_term` tells whether a term
keeps the contract.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.interpolate import BSpline
from scipy.linalg import eigh
from scipy.sparse import csr_array

from hdsp.checks import check_positive, count_of, quoted
from hdsp.corpus import Kind
from hdsp.corpus.schema import BlockSchema
from hdsp.numerics import FloatArray, IntArray, csr_from_entries

if TYPE_CHECKING:
    from hdsp.scaling.functions import Product

# Points between which a term of a number is nearly straight.
_POINTS = 513


class Expression(ABC):
    """What a user writes: a term or a scaling function, equal to others that are written alike."""

    columns: tuple[str, ...]
    terms: tuple["Term", ...] = ()

    def settings(self) -> dict[str, Any]:
        """What the constructor takes by name: the attributes of these names that are not None."""
        parameters = signature(type(self)).parameters.values()
        names = [own.name for own in parameters if own.kind is own.KEYWORD_ONLY]
        return {name: value for name in names if (value := getattr(self, name, None)) is not None}

    def changed(self) -> dict[str, Any]:
        """The settings that are not the default."""
        default = {own.name: own.default for own in signature(type(self)).parameters.values()}
        return {name: value for name, value in self.settings().items() if value != default[name]}

    def __repr__(self) -> str:
        settings = [f"{key}={value!r}" for key, value in self.changed().items()]
        parts = [*map(repr, (*self.columns, *self.terms)), *settings]
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __mul__(self, other: "Expression") -> "Product":
        from hdsp.scaling.functions import Product

        return Product(self, other) if isinstance(other, Expression) else NotImplemented


class Term(Expression):
    """Columns of the design that are made from label columns.

    A *main* term is made from the values of one label column (indicators of tags or levels, or a
    number in standard units), which act besides its own columns: every label column has one main
    term. Other terms are made from the acting columns of the main terms of their label columns.

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
        Whether the term is that of its label column.
    n_sources : int
        How many label columns the term takes.
    kinds : frozenset of str
        The kinds of label columns it takes, of ``"tags"``, ``"category"``, ``"number"``.
    exclusive : bool
        Whether a document has at most one of the label's values, whose effects are compared with
        each other.
    with_values : bool
        Whether the values of the label act by themselves; they do where the term has no columns.
    """

    main: ClassVar[bool] = True
    n_sources: ClassVar[int] = 1
    kinds: ClassVar[frozenset[str]] = frozenset({"tags", "category", "number"})
    exclusive: bool = False
    with_values: bool = True

    def __init__(self, *columns: str) -> None:
        names = {name for name in columns if isinstance(name, str)}
        if not len(names) == len(columns) == self.n_sources:
            wanted = count_of(self.n_sources, "label column")
            raise TypeError(f"{type(self).__name__} must name {wanted}. Got {columns!r}.")
        self.columns = columns
        self.sources: tuple[tuple[str, ...], ...] = ()
        self.fitted: Mapping[str, list[float]] = {}

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
            For each label column the names of its values, or of its acting columns.
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
        """The names of the n columns that a bound term makes."""

    @abstractmethod
    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The term's columns [M, n] of documents, from those of its sources.

        Nothing is stored where a source has nothing, so that missing labels have no effect.
        """

    def points(self, low: float, high: float) -> FloatArray:
        """Values of a number between two others, between which the columns are nearly straight."""
        return np.linspace(low, high, _POINTS)

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """For each column the columns of the two sources that it is the product of, if it is."""
        return ()


class Number(Term):
    """Numbers in standard units, as they are."""

    kinds = frozenset({"number"})

    @property
    def names(self) -> tuple[str, ...]:
        """None: only the values act."""
        return ()

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """No columns, [M, 0]."""
        return csr_array((parts[0].shape[0], 0))


class Tags(Number):
    """An indicator of each tag, of which a document may have several."""

    kinds = frozenset({"tags"})


class Levels(Tags):
    """An indicator of each level of a category, of which a document has at most one."""

    kinds = frozenset({"category"})
    exclusive = True


# The plain term of a label column of each kind.
PLAIN: dict[Kind, type[Term]] = {"tags": Tags, "category": Levels, "number": Number}


class Pooled(Tags):
    """An indicator of each level or tag, whose effects share a variance that is learned.

    With `parents`, levels are nested in those of another category, such as authors in venues: the
    parent has effects of its own, and a level's effect is how it differs from them. A document that
    has a level and no parent gets the parent that most training documents with this level have; of
    a level that training did not have, its parent is what is known.

    Parameters
    ----------
    *columns : str
        The name of the category or of the tags.
    parents : str or None, default=None
        The name of the category whose levels these belong to.

    Examples
    --------
    >>> Pooled("author", parents="venue")
    Pooled('author', parents='venue')
    """

    kinds = frozenset({"tags", "category"})

    def __init__(self, *columns: str, parents: str | None = None) -> None:
        super().__init__(*columns)
        if parents is not None and (not isinstance(parents, str) or parents in columns):
            raise ValueError(f"`parents` of Pooled must be another label column. Got {parents!r}.")
        self.parents = parents

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The label, and its parents."""
        return self.columns if self.parents is None else (*self.columns, self.parents)

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The term of levels; what it has learned says whether they exclude each other."""
        copy = super().bound(sources, fitted)
        copy.exclusive = bool(copy.fitted.get("exclusive", [0.0])[0])
        return copy

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """Whether a document has at most one of them; the position of each one's parent, or -1."""
        learned = {"exclusive": [float(np.diff(parts[0].indptr).max(initial=0) <= 1)]}
        if self.parents is not None:
            together = csr_array(parts[0].T @ parts[1])
            # Older releases of SciPy give a column.
            most = np.asarray(together.argmax(axis=1)).ravel()
            parent = np.where(np.diff(together.indptr) > 0, most, -1)
            learned["parent"] = parent.astype(np.float64).tolist()
        return learned

    def implied(self, own: csr_array, parents: csr_array) -> csr_array:
        """The values of parents [M, n], with those that levels imply where there are none."""
        parent = np.asarray(self.fitted.get("parent", []), dtype=np.int64)
        known = np.flatnonzero((parent >= 0) & (parent < parents.shape[1]))
        belongs = csr_array(
            (np.ones(len(known)), (known, parent[known])), shape=(own.shape[1], parents.shape[1])
        )
        lacking = np.diff(parents.indptr) == 0
        found = csr_array(csr_array(own.multiply(lacking[:, None])) @ belongs)
        rows = np.flatnonzero(np.diff(found.indptr))
        if not len(rows):
            return parents
        # Of several tags, the parent that most have.
        most = np.asarray(found[rows].argmax(axis=1)).ravel()
        added = csr_array((np.ones(len(rows)), (rows, most)), shape=parents.shape)
        return csr_array(parents + added)


class NumberTerm(Term):
    """Functions of a number that are learned."""

    kinds = frozenset({"number"})
    # What functions are called. Without anything learned there are none.
    part: ClassVar[str]

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The functions of the one number that its label column has."""
        copy = super().bound(sources, fitted)
        if self.kinds == {"number"} and len(sources[0]) != 1:
            raise ValueError(
                f"{type(self).__name__} takes a single number. {self.columns[0]!r} has "
                f"{len(sources[0])} columns."
            )
        # Raises if what was learned does not fit together.
        copy.functions(np.zeros(1))
        return copy

    @abstractmethod
    def functions(self, values: FloatArray) -> FloatArray:
        """The functions at values of the number, [M, n]."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each function."""
        n_functions = self.functions(np.zeros(0)).shape[1]
        return tuple(f"{self.columns[0]} ({self.part} {i + 1})" for i in range(n_functions))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The functions at each document's value, [M, n]."""
        values = csr_array(parts[0])
        stored = csr_array(self.functions(values.data.astype(np.float64)))
        indptr = stored.indptr[values.indptr]
        return csr_array((stored.data, stored.indices, indptr), (values.shape[0], stored.shape[1]))


_MOST_VALUES = 50
# Values are the same if they differ by less than this share of the smallest step between two.
_SAME = 1e-3


class Factor(NumberTerm):
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

    part = "value"
    with_values = False
    # Whether a number that training did not have counts as the nearest one.
    nearest: ClassVar[bool] = False

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
    def values(self) -> FloatArray:
        """The values of training, or the positions of levels, [L]."""
        return np.asarray(self.fitted.get("values", ()), dtype=np.float64)

    @property
    def _columns(self) -> FloatArray:
        """The columns of each value, [L, n]."""
        n_values = len(self.values)
        return np.reshape(self.fitted.get("basis", ()), (max(n_values, 1), -1))[:n_values]

    def functions(self, values: FloatArray) -> FloatArray:
        """The columns of the nearest value, [M, n]."""
        known, columns = self.values, self._columns
        if not len(known):
            return np.zeros((len(values), 0))
        place = np.searchsorted((known[1:] + known[:-1]) / 2.0, values)
        if self.nearest:
            return columns[place]
        width = _SAME * np.diff(known).min(initial=1.0)
        return np.where(np.abs(values - known[place])[:, None] <= width, columns[place], 0.0)


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
    nearest = True

    def __init__(self, *columns: str, levels: Sequence[str] | None = None) -> None:
        super().__init__(*columns)
        names = {level for level in levels or () if isinstance(level, str)}
        if levels is not None and (isinstance(levels, str) or len(names) < max(len(levels), 2)):
            raise ValueError(
                f"`levels` of Ordered must be a list of two or more strings. Got {levels!r}."
            )
        self.levels = None if levels is None else list(levels)

    @property
    def has_levels(self) -> bool:
        """A number's only source has the name of its label column."""
        return self.sources[0] != self.columns

    def value_names(self, block: BlockSchema) -> tuple[str, ...]:
        """The names of values, such as ``"rating=2"``."""
        if self.has_levels:
            return tuple(self.sources[0])
        numbers = self.values * block.scale[0] + block.mean[0]
        return tuple(f"{block.name}={number:.6g}" for number in numbers)

    def _order(self) -> IntArray:
        """The positions of levels from the lowest to the highest."""
        prefix = f"{self.columns[0]}="
        found = [name.removeprefix(prefix) for name in self.sources[0]]
        place: Callable[[str], float] = float if self.levels is None else self.levels.index
        try:
            return np.argsort([place(level) for level in found], kind="stable")
        except ValueError:
            # Levels without an order of their own are sorted by name.
            if self.levels is None and (len(found) <= 2 or found != sorted(found)):
                return np.arange(len(found))
            name = self.columns[0]
            raise ValueError(
                f"Ordered needs the order of all levels of {name!r}: write Ordered({name!r}, "
                f"levels=[...]), from the lowest to the highest of {quoted(found)}."
            ) from None

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
        gram = without.T @ (share[:, None] * without)
        basis = np.empty((n_values, n_values - 1))
        basis[order] = without @ _smoothest(gram, changes.T @ changes, n_values - 1)
        return basis

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The functions of each document's value, [M, n]."""
        if not self.has_levels:
            return super().expand(parts)
        # Levels that came later have no columns yet.
        levels = csr_array(parts[0])[:, : len(self.values)]
        return csr_array(levels @ csr_array(self._columns))


_DEGREE = 3
# Numbers of which fewer different values are known have no curve, only a line.
_FEWEST_VALUES = 4
# Points of a table between two knots, and in all, where there are many periods.
_POINTS_BETWEEN, _MOST_POINTS = 17, 20_000


class Curve(NumberTerm):
    """Functions of a number between knots."""

    def __init__(self, *columns: str, n_knots: int = 5) -> None:
        super().__init__(*columns)
        if type(n_knots) is not int or not 1 <= n_knots <= 100:
            name = type(self).__name__
            raise ValueError(f"`n_knots` of {name} must be 1 to 100. Got {n_knots!r}.")
        self.n_knots = n_knots

    @property
    def _knots(self) -> FloatArray:
        return np.asarray(self.fitted.get("knots", ()), dtype=np.float64)


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
    Spline('month', period=12.0)
    """

    part = "bend"

    def __init__(self, *columns: str, n_knots: int = 5, period: float | None = None) -> None:
        super().__init__(*columns, n_knots=n_knots)
        if period is not None:
            check_positive(period, "period", "Spline")
        if period is not None and n_knots < 3:
            raise ValueError(f"Spline with a period needs `n_knots` of 3 or more. Got {n_knots}.")
        self.period = None if period is None else float(period)
        # A season has no line.
        self.with_values = period is None

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
            return {}
        if self.period is None:
            inner = np.unique(np.quantile(values, np.linspace(0.0, 1.0, self.n_knots + 1)))
            knots = np.concatenate([np.full(_DEGREE, inner[0]), inner, np.full(_DEGREE, inner[-1])])
            to_splines = np.eye(len(knots) - _DEGREE - 1)
            # What a line explains is taken out: of the functions, in training.
            greville = sliding_window_view(knots[1:-1], _DEGREE).mean(axis=1)
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
        n_free = min(len(free), len(different)) - free.shape[1]
        coefficients = to_splines @ without @ _smoothest(gram, roughness, n_free)
        return {"knots": knots.tolist(), "coefficients": coefficients.ravel().tolist()}

    def points(self, low: float, high: float) -> FloatArray:
        """Also of many periods, as many values between any two knots."""
        knots = np.unique(self._knots)
        if self.period is None or not len(knots):
            return super().points(low, high)
        n_points = _POINTS_BETWEEN * ((high - low) / (knots[1] - knots[0]) + 2.0)
        return np.linspace(low, high, int(np.clip(n_points, _POINTS, _MOST_POINTS)))

    def functions(self, values: FloatArray) -> FloatArray:
        """The ways in which the curve bends, at values of the number, [M, n]."""
        knots = self._knots
        if not len(knots):
            return np.zeros((len(values), 0))
        coefficients = np.reshape(self.fitted["coefficients"], (len(knots) - _DEGREE - 1, -1))
        curve = BSpline(knots, coefficients, _DEGREE)
        first, last = knots[_DEGREE], knots[-_DEGREE - 1]
        if self.period is None:
            inside = np.clip(values, first, last)
        else:
            inside = first + np.mod(values - first, last - first)
        return np.asarray(curve(inside))


def _smoothest(gram: FloatArray, roughness: FloatArray, n: int) -> FloatArray:
    """Directions [L, n] that are uncorrelated by `gram` [L, L], the smoothest first.

    Each is as much smaller as it is rougher than the first.
    """
    size, axes = np.linalg.eigh(gram)
    axes = axes[:, -n:] / np.sqrt(size[-n:])
    rough, turn = eigh(axes.T @ roughness @ axes)
    return np.asarray(axes @ turn / np.sqrt(np.maximum(rough / rough[0], 1.0)))


def _roughness(knots: FloatArray) -> FloatArray:
    """The integrals of products of the splines' second derivatives, [n, n]."""
    n_splines = len(knots) - _DEGREE - 1
    second = BSpline(knots, np.eye(n_splines), _DEGREE).derivative(2)
    inner = np.unique(knots[_DEGREE : len(knots) - _DEGREE])
    middle, half = (inner[1:] + inner[:-1]) / 2.0, np.diff(inner) / 2.0
    # Second derivatives are lines between knots: two Gauss points are exact for their products.
    points = np.append(middle - half / np.sqrt(3.0), middle + half / np.sqrt(3.0))
    values = second(points) * np.sqrt(np.tile(half, 2))[:, None]
    return np.asarray(values.T @ values)


class Ramps(Curve):
    """A number, and its parts between quantiles: how far it goes into each of n intervals.

    The parts sum to the number, within the range of training. They count from the mean.
    """

    part = "part"

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """The quantiles at which intervals begin and end."""
        if not parts[0].nnz:
            return {}
        values = np.asarray(parts[0].data, dtype=np.float64)
        knots = np.unique(np.quantile(values, np.linspace(0.0, 1.0, self.n_knots + 1)))
        return {"knots": knots.tolist()}

    def functions(self, values: FloatArray) -> FloatArray:
        """How far the number goes into each interval, [M, n]."""
        first, last = self._knots[:-1], self._knots[1:]
        return np.asarray(np.clip(values[:, None], first, last) - np.clip(0.0, first, last))


class Interaction(Term):
    """The products of the columns of two labels: the effect of one may depend on the other.

    Parameters
    ----------
    *columns : str
        The names of two label columns, whose own effects the model has besides.

    Examples
    --------
    >>> Interaction("ideology", "day")
    Interaction('ideology', 'day')
    """

    main = False
    n_sources = 2

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each pair of columns."""
        first, second = self.sources
        return tuple(f"{a} × {b}" for a in first for b in second)

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """The pairs, those of the first source's first column first."""
        first, second = self.sources
        return tuple((i, j) for i in range(len(first)) for j in range(len(second)))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """r_mi r_mj for each pair of columns whose values are both there, [M, n]."""
        first, second = map(csr_array, parts)
        rows = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
        # Each entry of the first meets every entry of the second in its row.
        met = csr_array(second[rows])
        entry = np.repeat(np.arange(len(rows)), np.diff(met.indptr))
        return csr_from_entries(
            rows[entry],
            first.indices[entry].astype(np.int64) * second.shape[1] + met.indices,
            first.data[entry] * met.data,
            (first.shape[0], first.shape[1] * second.shape[1]),
        )


class Slots(Term):
    """A number, and columns that hold nothing, for a function of it with several weights."""

    kinds = frozenset({"number"})

    def __init__(self, *columns: str, n: int = 1) -> None:
        super().__init__(*columns)
        self.n = n

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each further weight."""
        return tuple(f"{self.columns[0]} (weight {i})" for i in range(2, self.n + 2))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """Nothing, [M, n]."""
        return csr_array((parts[0].shape[0], self.n))


# The terms that users can name: model files find them here.
TERMS: dict[str, type[Term]] = {
    term.__name__: term for term in (Factor, Interaction, Ordered, Pooled, Ramps, Spline)
}
