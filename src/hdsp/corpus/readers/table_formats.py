"""The formats of tables, and how to open a table of any of them.

To add a format, write functions that yield its batches and return its columns, and add a line to
`TABLE_FORMATS`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from hdsp.checks import quoted
from hdsp.corpus.readers.columnar import (
    Opener,
    columnar_batches,
    columnar_columns,
    open_arrow,
    open_parquet,
)
from hdsp.corpus.readers.columns import Batch, TableFile, Wanted
from hdsp.corpus.readers.common import FileOrPath, check_file, name_of, open_binary, read_error
from hdsp.corpus.readers.delimited import delimited_batches, delimited_columns
from hdsp.corpus.readers.json_lines import json_batches, json_columns

_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")


@dataclass(frozen=True)
class TableFormat:
    """A format of tables.

    Attributes
    ----------
    suffixes : tuple of str
        How the names of its files end.
    batches : callable
        Yields the wanted columns of a `TableFile`, some rows at a time.
    columns : callable
        Returns the names of all columns of a `TableFile`.
    delimiter : str, default=","
        The character between the values of a text file, where none is named.
    """

    suffixes: tuple[str, ...]
    batches: Callable[[TableFile, Wanted], Iterator[Batch]]
    columns: Callable[[TableFile], tuple[str, ...]]
    delimiter: str = ","


def _columnar(suffixes: tuple[str, ...], opener: Opener) -> TableFormat:
    batches, columns = partial(columnar_batches, opener), partial(columnar_columns, opener)
    return TableFormat(suffixes, batches, columns)


TABLE_FORMATS = {
    "csv": TableFormat((".csv",), delimited_batches, delimited_columns),
    "tsv": TableFormat((".tsv", ".tab"), delimited_batches, delimited_columns, "\t"),
    "jsonl": TableFormat((".jsonl", ".ndjson", ".json"), json_batches, json_columns),
    "parquet": _columnar((".parquet", ".pq"), open_parquet),
    "arrow": _columnar((".arrow", ".feather", ".ipc", ".arrows"), open_arrow),
}


@contextmanager
def open_table(
    path: FileOrPath,
    owner: str,
    format: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
) -> Iterator[tuple[TableFormat, TableFile]]:
    """Open a table, with its format; see `read_table` for the arguments."""
    name = name_of(path)
    if isinstance(path, (str, os.PathLike)):
        # Before the format, because a file that does not exist is the simpler error.
        check_file(path)
    format_name = _format_of(name, owner) if format is None else format
    if format_name not in TABLE_FORMATS:
        raise ValueError(
            f"`format` of {owner} must be one of {quoted(TABLE_FORMATS)}. Got {format!r}. "
            "Leave it out to go by the file's name."
        )
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(
            f"`delimiter` of {owner} must be one character. Got {delimiter!r}. "
            "Pass one such as ';', or leave it out for a comma."
        )
    table_format = TABLE_FORMATS[format_name]
    delimiter = delimiter or table_format.delimiter
    if decimal not in (".", ","):
        raise ValueError(f"`decimal` of {owner} must be '.' or ','. Got {decimal!r}.")
    with open_binary(path) as stream:
        yield table_format, TableFile(stream, name, encoding, delimiter, decimal)


def table_columns(
    path: FileOrPath,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> tuple[str, ...]:
    """Return the names of a table's columns; of JSON Lines, the keys of its first 1,000 rows.

    Parameters
    ----------
    path : path or binary file object
        The table, in any format that `read_table` reads.
    format : str, default=None
        The format; by the file's name where it is None.
    encoding : str, default="utf-8"
        The encoding of a text file.
    delimiter : str, default=None
        The character between the values of a CSV file; None is a comma.

    Returns
    -------
    tuple of str
        The names, in the order of the file.
    """
    with open_table(path, "table_columns", format, encoding, delimiter) as (table_format, file):
        return table_format.columns(file)


def _format_of(name: str, owner: str) -> str:
    """Return the format that a file's name tells."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    for format_name, table_format in TABLE_FORMATS.items():
        if suffixes and suffixes[-1] in table_format.suffixes:
            return format_name
    if suffixes and suffixes[-1] in _SPREADSHEETS:
        raise read_error(name, "this is a spreadsheet", "save the sheet as CSV in UTF-8")
    raise read_error(
        name,
        f"the name does not tell {owner} which format the file has",
        f"pass `format`, one of {quoted(TABLE_FORMATS)}",
    )
