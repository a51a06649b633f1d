"""CSV and TSV: text with one row a line, but for quoted values that hold line ends."""

import csv
from collections.abc import Iterator
from itertools import islice

from hdsp.corpus.readers.columns import Batch, check_columns, shown
from hdsp.corpus.readers.common import BinaryReader, read_error, text_lines
from hdsp.validation import count_of

_BATCH = 1024
# The standard library's limit of 128 kB a value is less than some documents have.
_LONGEST = 2**31 - 1


def delimited_batches(
    stream: BinaryReader, name: str, columns: tuple[str, ...], encoding: str, delimiter: str
) -> Iterator[Batch]:
    """Yield the wanted columns of a CSV or TSV file as texts, an empty value being missing.

    Read by the standard library's `csv`, which is strict about quotes and knows the line:
    pyarrow's takes an open quote for the file's last value, and does not say where a row is wrong.
    """
    rows = _rows(stream, name, encoding, delimiter)
    _, header = next(rows, (1, []))
    check_columns(name, columns, header)
    positions = [header.index(column) for column in columns]
    checked = _checked(rows, len(header), name)
    while batch := list(islice(checked, _BATCH)):
        yield {
            column: [row[position] or None for row in batch]
            for column, position in zip(columns, positions, strict=True)
        }


def header_of(stream: BinaryReader, name: str, encoding: str, delimiter: str) -> tuple[str, ...]:
    """Return the names of a file's columns."""
    return tuple(next(_rows(stream, name, encoding, delimiter), (1, []))[1])


def _rows(
    stream: BinaryReader, name: str, encoding: str, delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the line that they begin in, without blank lines."""
    csv.field_size_limit(max(_LONGEST, csv.field_size_limit()))
    lines = csv.reader(text_lines(stream, name, encoding), delimiter=delimiter, strict=True)
    while True:
        start = lines.line_num + 1
        try:
            row = next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            if "end of data" in str(error):
                problem, remedy = "a quoted value that begins here is never closed", "close it"
            else:
                problem = f"this is not as a row should be ({error})"
                remedy = "quote values that hold quotes, and write those twice"
            raise read_error(name, problem, remedy, line=start) from error
        if row:
            yield start, row


def _checked(
    rows: Iterator[tuple[int, list[str]]], n_columns: int, name: str
) -> Iterator[list[str]]:
    for line, row in rows:
        if len(row) != n_columns:
            raise read_error(
                name,
                f"this row has {count_of(len(row), 'value')}, but the header has "
                f"{count_of(n_columns, 'column')}, and begins with {shown(row[0])}",
                "quote values that hold the delimiter",
                line=line,
            )
        yield row
