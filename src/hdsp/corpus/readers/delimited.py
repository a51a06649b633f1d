"""CSV and TSV: text with one row per line, except that quoted values may hold line ends."""

import csv
from collections.abc import Iterator
from itertools import islice

from hdsp.checks import count_of
from hdsp.corpus.readers.columns import Batch, TableFile, Wanted, check_columns, short_repr
from hdsp.corpus.readers.common import LONGEST_LINE, Lines, read_error

_BATCH = 1024


def delimited_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of a CSV or TSV file as texts; an empty value is missing.

    The standard library's `csv` is strict about quotes and knows the line. pyarrow takes an open
    quote for the file's last value, and does not say where a row is wrong.
    """
    rows = _rows(file)
    header = next(rows, [])
    _check_delimiter(file, header, wanted)
    check_columns(file.name, wanted.columns, header)
    places = {column: place for place, column in enumerate(header)}
    while batch := list(islice(rows, _BATCH)):
        found: dict[str, list[str | None]] = {
            column: [row[places[column]] or None for row in batch] for column in wanted.columns
        }
        if file.decimal != ".":
            for column in (name for name, kind in wanted.kinds.items() if kind == "number"):
                found[column] = [x and x.replace(file.decimal, ".") for x in found[column]]
        yield found


def _check_delimiter(file: TableFile, header: list[str], wanted: Wanted) -> None:
    """Raise if the header is one value, but would have the columns with another delimiter."""
    for other in (";", "\t", "|", ","):
        if len(header) == 1 and set(wanted.columns) <= set(header[0].split(other)) - set(header):
            raise read_error(
                file.name,
                f"its columns are not separated by {file.delimiter!r}",
                f"pass {other!r} as `delimiter`",
                line=1,
            )


def delimited_columns(file: TableFile) -> tuple[str, ...]:
    """Return the names of the columns of a CSV or TSV file."""
    return tuple(next(_rows(file), []))


def _rows(file: TableFile) -> Iterator[list[str]]:
    """Yield rows, which must be as long as the first, without blank lines."""
    # The standard library limits a value to 128 kB, which is less than some documents have.
    csv.field_size_limit(max(LONGEST_LINE, csv.field_size_limit()))
    text = Lines(file.stream, file.name, file.encoding)
    lines = csv.reader(text.whole, delimiter=file.delimiter, strict=True)
    n_columns = 0
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
            raise read_error(file.name, problem, remedy, line=start) from error
        n_columns = n_columns or len(row)
        if row and len(row) != n_columns:
            raise read_error(
                file.name,
                f"this row has {count_of(len(row), 'value')}, but the header has "
                f"{count_of(n_columns, 'column')}, and begins with {short_repr(row[0])}",
                "quote values that hold the delimiter",
                line=start,
            )
        if row:
            yield row
