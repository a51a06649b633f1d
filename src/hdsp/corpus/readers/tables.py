"""Tables: one document per row, in CSV, TSV, JSON Lines, Parquet, Arrow, Excel or Stata files.

To add a format, write functions that yield its batches and return its columns, and add a line to
`TABLE_FORMATS`.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from hdsp import progress
from hdsp.checks import check_choice, count_of, quoted
from hdsp.corpus.columns import is_missing, make_block, names_of, warn_dates
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.frames import as_series, library_of
from hdsp.corpus.labels import Kind, Labels, Names, ReadingSettings, label_kinds
from hdsp.corpus.readers.opening import (
    FileOrPath,
    FilePath,
    as_path,
    as_read_error,
    check_encoding,
    damaged,
    name_of,
    no_documents,
    open_binary,
    read_error,
    read_lines,
    shortened,
    wrong_encoding,
)
from hdsp.corpus.text import counting_rules
from hdsp.exceptions import ReadError

# Values by column, of equal lengths: texts as a list, other columns also as pyarrow or pandas
# have them.
Batch: TypeAlias = Mapping[str, Any]

_ROWS = 1024
# The bytes of a row of a CSV file.
_LONGEST_ROW = 1 << 23
# The characters of a value in a CSV file.
_LONGEST_VALUE = 1 << 25
# The number of rows in which keys of JSON Lines are looked for.
_HEAD = 1_000
_JSON_REMEDY = """write one object per line, such as {"text": "..."}"""


@dataclass(frozen=True)
class Wanted:
    """The columns of a table that are read: the kinds of label columns, and what others are."""

    kinds: Mapping[str, Kind]
    text: str | None = None
    ids: str | None = None
    tag_separator: str | None = None
    groups: str | None = None

    @property
    def columns(self) -> list[str]:
        """All wanted columns, without repeats."""
        named = (self.text, self.ids, self.groups, *self.kinds)
        return list(dict.fromkeys(name for name in named if name is not None))


@dataclass(frozen=True)
class TableFile:
    """A table that can be read several times."""

    path: FilePath
    name: str
    format: str
    encoding: str
    delimiter: str
    decimal: str

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Yield the wanted columns, some rows at a time."""
        return TABLE_FORMATS[self.format].batches(self, wanted)

    def columns(self) -> tuple[str, ...]:
        """The names of all columns; of JSON Lines, the keys of the first rows."""
        return tuple(TABLE_FORMATS[self.format].columns(self))


class TableFormat(NamedTuple):
    """How the names of a format's files end, and how they are read."""

    suffixes: tuple[str, ...]
    batches: Callable[[TableFile, Wanted], Iterator[Batch]]
    columns: Callable[[TableFile], list[str]]


def check_columns(name: str, wanted: Iterable[str], present: Sequence[str]) -> None:
    """Raise unless a table has the wanted columns, each of them once."""
    counted = Counter(present)
    for column in wanted:
        if column not in counted:
            choice = f"choose from {quoted(map(shortened, present))}" if present else "it has none"
            raise read_error(name, f"there is no column {column!r}", choice)
        if counted[column] > 1:
            problem = f"{counted[column]} columns are called {column!r}"
            raise read_error(name, problem, "rename all but one")


# CSV and TSV.


def _csv_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield wanted columns as texts; an empty value is missing."""
    import pyarrow
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    _check_header(file, wanted)
    _check_quotes(file)
    parse = arrow_csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(wanted.columns, pyarrow.string()),
        include_columns=wanted.columns,
        null_values=[""],
        strings_can_be_null=True,
    )
    read = arrow_csv.ReadOptions(use_threads=False, block_size=_LONGEST_ROW, encoding=file.encoding)
    numbers = [name for name, kind in wanted.kinds.items() if kind == "number"]
    with open_binary(file.path, file.name) as source:
        try:
            for batch in arrow_csv.open_csv(source.stream, read, parse, convert):
                for name in numbers if file.decimal != "." else ():
                    place = batch.schema.get_field_index(name)
                    values = compute.replace_substring(batch[name], file.decimal, ".")
                    batch = batch.set_column(place, name, values)
                # pyarrow reads in a thread of its own, which has no task.
                source.show_progress()
                yield from _arrow_slices(batch, wanted)
        except (pyarrow.ArrowException, UnicodeError, KeyError) as error:
            if "Empty CSV file" not in str(error):
                raise _csv_error(file, error) from error


def _csv_columns(file: TableFile) -> list[str]:
    return next(_csv_rows(file), [])


def _csv_rows(file: TableFile) -> Iterator[list[str]]:
    """Yield rows by Python's reader, which raises at a quote that is never closed."""
    # By default it limits a value to 128 kB, which is less than some documents have.
    csv.field_size_limit(_LONGEST_VALUE)
    lines = (f"{line}\n" for _, line in read_lines(file.path, file.encoding, file.name))
    rows, start = csv.reader(lines, delimiter=file.delimiter, strict=True), 1
    try:
        for row in rows:
            yield row
            start = rows.line_num + 1
    except csv.Error as error:
        problem = f"a quoted value that begins here is not closed ({error})"
        remedy = "close it, and write quotes in values twice"
        raise read_error(file.name, problem, remedy, line=start) from error


def _check_header(file: TableFile, wanted: Wanted) -> None:
    """Raise unless a table has the wanted columns; it may have them with another delimiter."""
    header = _csv_columns(file)
    for other in (";", "\t", "|", ","):
        if len(header) == 1 and set(wanted.columns) <= set(header[0].split(other)) - set(header):
            problem = f"its columns are not separated by {file.delimiter!r}"
            raise read_error(file.name, problem, f"pass {other!r} as `delimiter`", line=1)
    check_columns(file.name, wanted.columns, header)


def _check_quotes(file: TableFile) -> None:
    """Raise if a quote is never closed, which pyarrow takes for one that closes at the end."""
    with open_binary(file.path, file.name) as source:
        chunks = iter(partial(source.stream.read, _LONGEST_ROW), b"")
        n_quotes = sum(chunk.count(b'"') for chunk in chunks)
    if n_quotes % 2:
        for _ in _csv_rows(file):
            pass


def _csv_error(file: TableFile, error: Exception) -> ReadError:
    """The error at which pyarrow stopped, which counts rows from that of the header."""
    message = str(error)
    found = re.search(r"Row #(\d+)", message)
    row = int(found[1]) - 2 if found else None
    if isinstance(error, UnicodeError) or "invalid UTF8" in message:
        return wrong_encoding(file.name, file.encoding, row=row)
    if counts := re.search(r"Expected (\d+) columns, got (\d+): (.*)", message, re.DOTALL):
        problem = (
            f"this row has {count_of(int(counts[2]), 'value')}, but the header has "
            f"{count_of(int(counts[1]), 'column')}: {shortened(repr(counts[3]))}"
        )
        remedy = "quote values that contain the delimiter, and close quotes"
        return read_error(file.name, problem, remedy, row=row)
    return damaged(file.name, error)


# JSON Lines: Python reads them, because pyarrow takes the types of the first rows for all.


def _json_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield wanted columns; a key that a row lacks is missing."""
    rows, columns = _json_rows(file), wanted.columns
    seen: dict[str, None] = {}
    while batch := list(islice(rows, _ROWS)):
        seen.update(dict.fromkeys(chain.from_iterable(batch)))
        # The first column is that of the texts, without which reading on is of no use.
        check_columns(file.name, columns[:1], list(seen))
        yield {column: [row.get(column) for row in batch] for column in columns}
    if seen:
        check_columns(file.name, columns, list(seen))


def _json_columns(file: TableFile) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(islice(_json_rows(file), _HEAD))))


def _json_rows(file: TableFile) -> Iterator[dict[str, Any]]:
    """Yield the objects of the lines, or those of a file that is one array."""
    lines = read_lines(file.path, file.encoding, file.name)
    for number, line in lines:
        if line.lstrip().startswith("["):
            line = "\n".join([line, *(rest for _, rest in lines)])
        try:
            value = json.loads(line) if line.strip() else []
        except (ValueError, RecursionError) as error:
            problem = f"this is not JSON ({shortened(str(error))})"
            raise read_error(file.name, problem, _JSON_REMEDY, line=number) from error
        for row in value if isinstance(value, list) else [value]:
            if not isinstance(row, dict):
                problem = f"this is not a JSON object: {shortened(repr(row))}"
                raise read_error(file.name, problem, _JSON_REMEDY, line=number)
            yield row


# Parquet and Arrow, by pyarrow.


@contextmanager
def _open_arrow(file: TableFile) -> Iterator[tuple[list[str], int | None, Callable[..., Any]]]:
    """The columns of a Parquet or Arrow file, its rows if known, and a function of its batches."""
    import pyarrow
    from pyarrow import ipc, parquet

    try:
        # Not closed, because threads of pyarrow may still read ahead.
        data = pyarrow.OSFile(str(file.path))
        if file.format == "parquet":
            table = parquet.ParquetFile(data)
            read = partial(table.iter_batches, _ROWS)
            yield table.schema_arrow.names, table.metadata.num_rows, read
        else:
            table = ipc.open_file(data)
            numbers = range(table.num_record_batches)
            yield table.schema.names, None, lambda columns: map(table.get_batch, numbers)
    except ReadError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError, ArithmeticError) as error:
        raise damaged(file.name, error) from error


def _arrow_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    with _open_arrow(file) as (names, total, read):
        check_columns(file.name, wanted.columns, names)
        n_rows = 0
        for batch in read(columns=wanted.columns):
            yield from _arrow_slices(batch, wanted)
            n_rows += len(batch)
            progress.update(n_rows, total)


def _arrow_columns(file: TableFile) -> list[str]:
    with _open_arrow(file) as (names, _, _):
        return names


def _arrow_slices(batch: Any, wanted: Wanted) -> Iterator[Batch]:
    """Yield some rows at a time of a batch, which may be the entire table."""
    # Damage can leave offsets that point anywhere; pyarrow looks only when it is asked to.
    batch.validate(full=True)
    for first in range(0, max(len(batch), 1), _ROWS):
        rows = batch.slice(first, _ROWS)
        columns = {name: rows.column(name) for name in wanted.columns}
        if wanted.text is not None:
            columns[wanted.text] = columns[wanted.text].to_pylist()
        yield columns


# Excel and Stata, by pandas, all at once.


def _read_frame(file: TableFile) -> Any:
    import pandas as pd

    read: Any = partial(pd.read_excel, dtype=object) if file.format == "xlsx" else pd.read_stata
    try:
        return read(io.BytesIO(Path(file.path).read_bytes())).rename(columns=str)
    except ImportError:
        raise
    # Parsers of damaged files fail in any way.
    except Exception as error:
        raise damaged(file.name, error) from error


def _frame_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    frame = _read_frame(file)
    check_columns(file.name, wanted.columns, list(frame.columns))
    columns = {name: frame[name] for name in wanted.columns}
    if wanted.text is not None:
        columns[wanted.text] = columns[wanted.text].tolist()
    yield columns


def _frame_columns(file: TableFile) -> list[str]:
    return list(_read_frame(file).columns)


TABLE_FORMATS = {
    "csv": TableFormat((".csv",), _csv_batches, _csv_columns),
    "tsv": TableFormat((".tsv", ".tab"), _csv_batches, _csv_columns),
    "jsonl": TableFormat((".jsonl", ".ndjson", ".json"), _json_batches, _json_columns),
    "parquet": TableFormat((".parquet", ".pq"), _arrow_batches, _arrow_columns),
    "arrow": TableFormat((".arrow", ".feather"), _arrow_batches, _arrow_columns),
    "xlsx": TableFormat((".xlsx",), _frame_batches, _frame_columns),
    "dta": TableFormat((".dta",), _frame_batches, _frame_columns),
}


@contextmanager
def open_table(
    path: FileOrPath,
    owner: str,
    format: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
) -> Iterator[TableFile]:
    """Open a table; see `read_table` for the arguments."""
    check_encoding(encoding)
    name = name_of(path)
    suffixes = {key: known.suffixes for key, known in TABLE_FORMATS.items()}
    with as_path(path) as source:
        format = format_of(name, format, suffixes, owner)
        delimiter = delimiter or ("\t" if format == "tsv" else ",")
        if len(delimiter) != 1:
            raise ValueError(f"`delimiter` of {owner} must be one character. Got {delimiter!r}.")
        yield TableFile(source, name, format, encoding, delimiter, decimal)


def format_of(
    name: str, format: str | None, suffixes: Mapping[str, tuple[str, ...]], owner: str
) -> str:
    """The format of a file: a given one, or that which its name shows."""
    if format is not None:
        check_choice(format, tuple(suffixes), "format", owner)
        return format
    plain = re.sub(r"\.(gz|bz2|zstd?)$", "", name.lower())
    for key, known in suffixes.items():
        if plain.endswith(known):
            return key
    problem = f"the name does not show {owner} which format the file has"
    raise read_error(name, problem, f"pass `format`, one of {quoted(suffixes)}")


def table_columns(
    path: FileOrPath,
    format: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> tuple[str, ...]:
    """The names of a table's columns; see `read_table` for the arguments."""
    with open_table(path, "table_columns", format, encoding, delimiter) as table:
        return table.columns()


class Columns:
    """The wanted columns of a table, collected batch by batch; texts are passed on and not kept.

    Messages count rows from `first_row`.
    """

    def __init__(self, name: str, wanted: Wanted, first_row: int = 0) -> None:
        self.name, self.wanted = name, wanted
        self.n_rows = 0
        self._first_row = first_row
        kept = (*wanted.kinds, wanted.ids, wanted.groups)
        self._parts: dict[str, list[Any]] = {name: [] for name in kept if name is not None}

    def texts(self, batches: Iterable[Batch]) -> Iterator[str]:
        """Yield the texts of the batches, "" for a missing one, and keep the other columns."""
        column = self.wanted.text
        for batch in batches:
            for name, parts in self._parts.items():
                parts.append(batch[name])
            first = self._first_row + self.n_rows
            self.n_rows += len(next(iter(batch.values()), ()))
            for row, value in enumerate(() if column is None else batch[column], start=first):
                if isinstance(value, str):
                    yield value
                elif is_missing(value):
                    yield ""
                else:
                    problem = f"column {column!r} holds {shortened(repr(value))}, which is not text"
                    remedy = "name a column of text with `text`"
                    raise read_error(self.name, problem, remedy, row=row)
        if not self.n_rows:
            raise no_documents(self.name)

    def _values(self, column: str) -> Any:
        """All values of a column as a pandas Series."""
        parts = self._parts[column]
        library = library_of(parts[0])
        if library == "pyarrow":
            import pyarrow

            values = as_series(pyarrow.chunked_array(parts))
        else:
            # pandas reads a table at once.
            values = as_series(parts[0] if library else list(chain.from_iterable(parts)))
        values.index += self._first_row
        return values

    def ids(self) -> tuple[str, ...] | None:
        """The documents' ids, or None if they are not wanted."""
        ids = self._names(self.wanted.ids)
        if ids is not None and "" in ids:
            problem = f"column {self.wanted.ids!r} is empty"
            row = ids.index("") + self._first_row
            raise read_error(self.name, problem, "give every document an id", row=row)
        return ids

    def groups(self) -> tuple[str, ...] | None:
        """The documents' groups, "" for none, or None if they are not wanted."""
        return self._names(self.wanted.groups)

    def _names(self, column: str | None) -> tuple[str, ...] | None:
        if column is None:
            return None
        with as_read_error(self.name):
            return names_of(self._values(column), column, self.name)

    def labels(self) -> Labels:
        """The labels of all rows."""
        wanted = self.wanted
        with as_read_error(self.name):
            blocks = [
                make_block(column, kind, self._values(column), self.name, wanted.tag_separator)
                for column, kind in wanted.kinds.items()
            ]
        return Labels(tuple(blocks), self.n_rows)


def label_columns(
    path: FileOrPath,
    kinds: dict[str, Kind],
    owner: str,
    tag_separator: str | None = None,
    encoding: str = "utf-8",
    ids: str | None = None,
) -> Columns:
    """The label columns of a table about documents, and its ids if their column is named."""
    if not kinds:
        raise ValueError(
            f"`tags`, `categories` or `numeric` of {owner} must name the columns to read "
            f"of {name_of(path)}. Got none. Name them, or leave the table out."
        )
    wanted = Wanted(kinds, ids=ids, tag_separator=tag_separator)
    with open_table(path, owner, encoding=encoding) as table:
        columns = Columns(table.name, wanted)
        for _ in columns.texts(table.batches(wanted)):
            pass
    return columns


def read_table(
    path: FileOrPath,
    text: str | None = None,
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    format: str | None = None,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    ids: str | None = None,
    groups: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Corpus:
    """Read a table with one document per row.

    Only the named columns are read, and the texts are counted while they are read, so that they
    are never in memory together. A row without text is an empty document, so that the corpus has
    a document for every row. Without names of label columns there are no labels.

    Parameters
    ----------
    path : path or binary file object
        A CSV, TSV, JSON Lines, Parquet, Arrow, Feather, Excel (.xlsx) or Stata (.dta) file, or a
        file object such as ``sys.stdin.buffer``. Text files that are compressed by
        gzip, bzip2 or Zstandard are decompressed.
    text : str, default=None
        Column of the texts; None is "text".
    tags : str or sequence of str, default=()
        Columns of tags: lists, lists written as JSON, or text with `tag_separator` between tags.
    categories : str or sequence of str, default=()
        Columns with one category per document.
    numeric : str or sequence of str, default=()
        Columns of numbers or dates; dates count in years.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "xlsx", "dta"}, default=None
        The format; by the file's name if it is None.
    tag_separator : str, default=None
        What separates tags that are written as one text, such as ``";"`` in "a;b".
    text_settings : TextSettings, CountVectorizer or callable, default=None
        How texts are split into words, and which words are counted. A callable returns the words
        of a text. None is ``TextSettings()``, or the settings of `like`.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are counted, in its order; other words are dropped.
        All that you do not name is read as its documents were, if the table has it: texts, ids
        (or a column "id"), groups, the encoding, and, if you name no labels, its labels.
    ids : str, default=None
        Column of the documents' names.
    groups : str, default=None
        Column of the documents' groups, such as authors, outlets or respondents: documents of a
        group are not independent. One without a value is on its own.
    encoding : str, default=None
        The encoding of a text file; None is UTF-8.
    delimiter : str, default=None
        The character between the values of a CSV file; None is a comma.
    decimal : {".", ","}, default=None
        The character before the decimals of numbers in a CSV file; None is a point.

    Returns
    -------
    Corpus
        One document per row.

    Raises
    ------
    ReadError
        If the file is damaged, or not in the format that it should have.
    FileNotFoundError
        If there is no such file.
    """
    owner = "read_table"
    kinds = label_kinds(tags, categories, numeric, owner)
    settings, words = counting_rules(text_settings, like, owner)
    named: dict[str, Any] = {
        "text": text,
        "ids": ids,
        "groups": groups,
        "tag_separator": tag_separator,
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
    }
    given = {name: value for name, value in named.items() if value is not None}
    known = getattr(like, "reading", getattr(like, "reading_", None))
    reading = replace(known or ReadingSettings(), **given)
    written = (reading.encoding, reading.delimiter, reading.decimal)
    with open_table(path, owner, format, *written) as table:
        if like is not None:
            kinds, reading = _as_known(table, kinds, reading, given, like)
        wanted = Wanted(kinds, reading.text, reading.ids, reading.tag_separator, reading.groups)
        columns = Columns(table.name, wanted)
        with as_read_error(table.name):
            counts, words = settings.count(columns.texts(table.batches(wanted)), words)
    described: Any = {"ids": columns.ids(), "groups": columns.groups(), "text_settings": settings}
    corpus = Corpus(counts, words, columns.labels(), **described)
    if like is None:
        warn_dates(corpus.labels)
    return corpus.replaced(reading=reading)


def _as_known(
    table: TableFile,
    kinds: dict[str, Kind],
    reading: ReadingSettings,
    given: Mapping[str, str],
    like: Any,
) -> tuple[dict[str, Kind], ReadingSettings]:
    """The label kinds and columns of `like` that are not given and that the table has."""
    present = set(table.columns())
    if not kinds:
        schema = getattr(like, "label_schema_", None) or like.schema
        kinds = {block.name: block.kind for block in schema.blocks if block.name in present}
    if "ids" not in given:
        ids = next((name for name in (reading.ids, "id") if name in present), None)
        reading = replace(reading, ids=ids)
    if "groups" not in given and reading.groups not in present:
        reading = replace(reading, groups=None)
    return kinds, reading
