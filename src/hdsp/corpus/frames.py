"""Tables of pandas, polars and pyarrow: recognised, taken apart into columns, and built."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from hdsp.checks import check_unique

LIBRARIES = ("pandas", "polars", "pyarrow")


def library_of(frame: object) -> str | None:
    """The library of a table or a column: 'pandas', 'polars', 'pyarrow' or None."""
    homes = (cls.__module__.partition(".")[0] for cls in type(frame).__mro__)
    return next((home for home in homes if home in LIBRARIES), None)


def is_frame(value: object) -> bool:
    """Whether a value is a table in memory."""
    names = {cls.__name__ for cls in type(value).__mro__}
    return library_of(value) is not None and not names.isdisjoint(("DataFrame", "Table"))


def is_series(value: object) -> bool:
    """Whether a value is one column of a table."""
    names = {cls.__name__ for cls in type(value).__mro__}
    return library_of(value) is not None and not names.isdisjoint(
        ("Series", "Array", "ChunkedArray")
    )


def make_frame(columns: Mapping[str, Sequence[Any] | NDArray[Any]], like: str | None = None) -> Any:
    """A table of one of the `LIBRARIES`, by default of pandas.

    Examples
    --------
    >>> make_frame({"label": ["Dresses"], "effect": [0.5]}).shape
    (1, 2)
    """
    data = {
        name: values if hasattr(values, "dtype") else list(values)
        for name, values in columns.items()
    }
    if like in (None, "pandas"):
        from hdsp.corpus.printing import Table

        return Table(data)
    library = import_module(like)
    return library.table(data) if like == "pyarrow" else library.DataFrame(data)


def open_columns(frame: Any, subject: str) -> dict[str, Any]:
    """The columns of a table by name, in its own library."""
    native_names = getattr(frame, "column_names", None)
    native_names = list(frame.columns if native_names is None else native_names)
    names = list(map(str, native_names))
    check_unique(names, "column names", subject)
    return {name: frame[native] for name, native in zip(names, native_names, strict=True)}


def as_series(column: Any) -> Any:
    """A column of any library, or a sequence of any values, as a pandas Series.

    Integers with gaps become objects, because floats would round large ones.
    """
    import pandas as pd

    library = library_of(column)
    if library == "polars":
        column = column.to_list() if str(column.dtype) == "Object" else column.to_arrow()
    elif library == "pandas" and isinstance(column.dtype, pd.ArrowDtype):
        import pyarrow

        column = pyarrow.array(column.array)
    if library_of(column) == "pyarrow":
        if hasattr(column, "unify_dictionaries"):
            column = column.unify_dictionaries()
        return column.to_pandas(integer_object_nulls=True)
    if library_of(column) == "pandas":
        return column.reset_index(drop=True)
    return pd.Series(column, dtype=object)
