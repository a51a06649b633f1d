"""Tables of pandas, polars and pyarrow, read through narwhals and written by their own library."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hdsp.checks import check_unique
from hdsp.corpus.labels import Kind
from hdsp.corpus.values import ValueGroup, groups_of
from hdsp.numerics import FloatArray

if TYPE_CHECKING:
    import narwhals as nw

LIBRARIES = ("pandas", "polars", "pyarrow")

_KIND_OF_GROUP: dict[ValueGroup, Kind] = {
    "text": "category",
    "boolean": "category",
    "number": "number",
    "date": "number",
    "list": "tags",
}


def library_of(frame: object) -> str | None:
    """Return the library of a table or a column, 'pandas', 'polars' or 'pyarrow', else None."""
    library = type(frame).__module__.partition(".")[0]
    return library if library in LIBRARIES else None


def make_frame(columns: Mapping[str, Sequence[Any] | NDArray[Any]], like: str | None = None) -> Any:
    """Build a table.

    Parameters
    ----------
    columns : mapping of str to sequence or array
        Values by column, of equal lengths.
    like : {"pandas", "polars", "pyarrow"} or None, default=None
        Library of the table; None is pandas. See `library_of`.

    Returns
    -------
    pandas, polars or pyarrow table
        The table.

    Examples
    --------
    >>> make_frame({"label": ["Dresses"], "effect": [0.5]}).shape
    (1, 2)
    """
    data = {
        name: values if isinstance(values, np.ndarray) else list(values)
        for name, values in columns.items()
    }
    if like not in (None, *LIBRARIES):
        raise ValueError(
            f"`like` of make_frame must be 'pandas', 'polars' or 'pyarrow'. Got {like!r}. "
            "Leave it out for pandas."
        )
    library = import_module(like or "pandas")
    return library.table(data) if like == "pyarrow" else library.DataFrame(data)


def is_frame(value: object) -> bool:
    """Return whether a value is a table in memory."""
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(value)


def is_series(value: object) -> bool:
    """Return whether a value is one column of a table."""
    import narwhals as nw

    return nw.dependencies.is_into_series(value)


def open_series(series: Any) -> "nw.Series[Any]":
    """Return one column, not yet read."""
    import narwhals as nw

    return nw.from_native(series, series_only=True)


def open_columns(frame: Any, subject: str) -> "dict[str, nw.Series[Any]]":
    """Return a table's columns by name, not yet read."""
    import narwhals as nw

    # Before narwhals, which refuses duplicate names with a message of its own.
    native_names = getattr(frame, "column_names", None)
    names = [str(name) for name in (frame.columns if native_names is None else native_names)]
    check_unique(names, "column names", subject)
    table = nw.from_native(frame, eager_only=True)
    return {str(name): table[name] for name in table.columns}


def column_values(series: "nw.Series[Any]") -> FloatArray | list[object]:
    """Return a number column as an array with NaN for what is missing, any other as a list."""
    import narwhals as nw

    if series.dtype.is_float() or series.dtype.is_integer():
        return np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    return list(series.to_list())


def level_order(series: "nw.Series[Any]") -> tuple[object, ...] | None:
    """Return the levels of an ordered categorical in their order, None for any other column."""
    import narwhals as nw

    dtype, native = series.dtype, series.to_native()
    if isinstance(dtype, nw.Enum):
        return tuple(dtype.categories)
    # Of pyarrow's dictionaries, narwhals does not tell which are ordered.
    if getattr(getattr(native, "type", None), "ordered", False):
        chunks = native.unify_dictionaries().chunks
        return tuple(chunks[0].dictionary.to_pylist()) if chunks else ()
    return None


def column_kind(name: str, series: "nw.Series[Any]", subject: str) -> Kind:
    """Return the kind of a column's labels, by its type or else by its values."""
    import narwhals as nw

    if series.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean):
        return "category"
    if series.dtype.is_numeric() or series.dtype in (nw.Date, nw.Datetime):
        return "number"
    if series.dtype in (nw.List, nw.Array):
        return "tags"
    values = series.to_list()
    seen = groups_of(values)
    if "other" in seen:
        row = seen["other"]
        raise TypeError(
            f"{subject} must hold text, booleans, numbers, dates or lists of tags. "
            f"Got a {type(values[row]).__name__} at row {row}, column {name!r}. "
            "Convert the column, or drop it."
        )
    if len(seen) > 1:
        (one, row), (other, other_row) = list(seen.items())[:2]
        raise TypeError(
            f"{subject} must hold values of one type in each column. Got {one} at row {row} and "
            f"{other} at row {other_row} of column {name!r}. Convert the column, or name its kind "
            "with Labels.from_frame."
        )
    # No value and no type that tells: a category without levels has no effect.
    return next((_KIND_OF_GROUP[group] for group in seen), "category")
