"""Tables: one document per row, in CSV, TSV, JSON Lines, Parquet, Arrow, Excel or Stata files.

To add a format, write functions that yield its batches and return its columns, and add a line to
`TABLE_FORMATS`.
"""

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

from hdsp import progress
from hdsp.checks import count_of, quoted
from hdsp.corpus.columns import is_missing, level_name, make_block, warn_dates
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.frames import as_series, library_of
from hdsp.corpus.labels import Kind, Labels, Names, ReadingSettings, label_kinds
from hdsp.corpus.readers.opening import (
    CHUNK,
    LONGEST_LINE,
    BinaryReader,
    FileOrPath,
    Lines,
    as_read_error,
    damaged,
    is_utf8,
    name_of,
    no_documents,
    open_binary,
    open_lines,
    read_error,
    shortened,
    spooled,
)
from hdsp.corpus.text import NoWordsError, TextSettings, counting_rules
from hdsp.exceptions import ReadError

# Values by column, of equal lengths: texts as a list, other columns also as pyarrow or pandas
# have them.
Batch: TypeAlias = Mapping[str, Any]

_ROWS = 1024
# The bytes of a row of a CSV file.
_LONGEST_ROW = 1 << 23
# The number of rows in which keys of JSON Lines are looked for.
_HEAD = 1_000
# The characters of a file that is one JSON array.
_LONGEST_ARRAY = 1 << 27
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
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
    def columns(self) -> tuple[str, ...]:
        """All wanted columns, without repeats."""
        named = (self.text, self.ids, self.groups, *self.kinds)
        return tuple(dict.fromkeys(name for name in named if name is not None))


@dataclass(frozen=True)
class TableFile:
    """A table that can be read several times; `source` is its path or a spooled file."""

    source: FileOrPath
    name: str
    format: "TableFormat"
    encoding: str
    delimiter: str
    decimal: str

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Yield the wanted columns, some rows at a time."""
        return self.format.batches(self, wanted)

    def columns(self) -> tuple[str, ...]:
        """The names of all columns; of JSON Lines, the keys of the first rows."""
        return self.format.columns(self)


class TableFormat(NamedTuple):
    """How the names of a format's files end, and how they are read."""

    suffixes: tuple[str, ...]
    batches: Callable[[TableFile, Wanted], Iterator[Batch]]
    columns: Callable[[TableFile], tuple[str, ...]]


def check_columns(name: str, wanted: Iterable[str], present: Sequence[str]) -> None:
    """Raise unless a table has the wanted columns, each of them once."""
    counted = Counter(present)
    for column in wanted:
        if column not in counted:
            names = quoted(n if len(n) <= 40 else f"{n[:37]}..." for n in present)
            choice = f"choose from {names}" if present else "it has no columns"
            raise read_error(name, f"there is no column {column!r}", choice)
        if counted[column] > 1:
            raise read_error(
                name, f"{counted[column]} columns are called {column!r}", "rename all but one"
            )


# CSV and TSV: pyarrow reads them; if it fails, Python's csv tells the line.


def _csv_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield wanted columns as texts; an empty value is missing."""
    import pyarrow
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    header = _csv_columns(file)
    _check_delimiter(file, header, wanted)
    check_columns(file.name, wanted.columns, header)
    utf8 = is_utf8(file.encoding)
    options = {
        "read_options": arrow_csv.ReadOptions(
            use_threads=False, block_size=_LONGEST_ROW, encoding="utf8" if utf8 else file.encoding
        ),
        "parse_options": arrow_csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(wanted.columns, pyarrow.string()),
            include_columns=wanted.columns,
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    numbers = [name for name, kind in wanted.kinds.items() if kind == "number"]
    with open_binary(file.source, file.name) as stream:
        try:
            for batch in arrow_csv.open_csv(
                pyarrow.PythonFile(_Blocks(stream), mode="r"), **options
            ):
                for name in numbers if file.decimal != "." else ():
                    place = batch.schema.get_field_index(name)
                    values = compute.replace_substring(batch[name], file.decimal, ".")
                    batch = batch.set_column(place, name, values)
                # pyarrow reads in a thread of its own, which has no task.
                stream.raw.show_progress()
                yield from _arrow_batches(batch, wanted)
        except (pyarrow.ArrowException, UnicodeError, KeyError) as error:
            _check_rows(file)
            raise damaged(file.name, error) from error
        # pyarrow takes an open quote for one that closes at the end of the file.
        if utf8 and (stream.raw.n_quotes % 2 or stream.raw.n_nuls):
            _check_rows(file)


class _Blocks:
    """A stream that gives large blocks, and allocates no more than it gives."""

    closed = False

    def __init__(self, stream: BinaryReader) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._stream.read(min(size, CHUNK))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _csv_columns(file: TableFile) -> tuple[str, ...]:
    return tuple(next(_csv_rows(file), []))


def _check_delimiter(file: TableFile, header: Sequence[str], wanted: Wanted) -> None:
    """Raise if the header is one value, but would have the columns with another delimiter."""
    for other in (";", "\t", "|", ","):
        if len(header) == 1 and set(wanted.columns) <= set(header[0].split(other)) - set(header):
            raise read_error(
                file.name,
                f"its columns are not separated by {file.delimiter!r}",
                f"pass {other!r} as `delimiter`",
                line=1,
            )


def _check_rows(file: TableFile) -> None:
    """Raise at the line that is wrong, if there is one."""
    if sum(1 for _ in _csv_rows(file)) < 2:
        raise no_documents(file.name)


def _csv_rows(file: TableFile) -> Iterator[list[str]]:
    """Yield the rows, which must be as long as the first, by Python's strict reader."""
    # By default it limits a value to 128 kB, which is less than some documents have.
    csv.field_size_limit(max(LONGEST_LINE, csv.field_size_limit()))
    with open_lines(file.source, file.encoding, file.name) as text:
        lines = csv.reader(text.full, delimiter=file.delimiter, strict=True)
        n_columns, start = 0, 1
        try:
            for row in lines:
                n_columns = n_columns or len(row)
                if row and len(row) != n_columns:
                    raise read_error(
                        file.name,
                        f"this row has {count_of(len(row), 'value')}, but the header has "
                        f"{count_of(n_columns, 'column')}, and begins with "
                        f"{shortened(repr(row[0]))}",
                        "quote values that contain the delimiter",
                        line=start,
                    )
                if row:
                    yield row
                start = lines.line_num + 1
        except csv.Error as error:
            if "end of data" in str(error):
                problem, remedy = "a quoted value that begins here is never closed", "close it"
            else:
                problem = f"malformed row ({error})"
                remedy = "quote values that contain quotes, and write those twice"
            raise read_error(file.name, problem, remedy, line=start) from error


# JSON Lines: Python reads them, because pyarrow takes the types of the first rows for all.


def _json_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield wanted columns; a key that a row lacks is missing."""
    rows, columns = _json_rows(file), wanted.columns
    seen: dict[str, None] = {}
    while batch := list(islice(rows, _ROWS)):
        seen.update(dict.fromkeys(key for row in batch for key in row))
        # The first column is that of the texts, without which reading on is of no use.
        check_columns(file.name, columns[:1], list(seen))
        yield {column: [row.get(column) for row in batch] for column in columns}
    if seen:
        check_columns(file.name, columns, list(seen))


def _json_columns(file: TableFile) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for row in islice(_json_rows(file), _HEAD) for key in row))


def _json_rows(file: TableFile) -> Iterator[dict[str, Any]]:
    """Yield the objects of the lines, or those of a file that is one array."""
    with open_lines(file.source, file.encoding, file.name) as lines:
        first = True
        for line in lines.text:
            if not line.strip():
                continue
            if first and line.lstrip().startswith("["):
                yield from _json_array(line, lines)
                return
            first = False
            row = _parsed_json(line, lines)
            if not isinstance(row, dict):
                raise lines.error(
                    f"this is not a JSON object: {shortened(repr(line.strip()))}", _JSON_REMEDY
                )
            yield row


def _json_array(first: str, lines: Lines) -> list[dict[str, Any]]:
    text = "\n".join([first, *_limited(lines, _LONGEST_ARRAY)])
    rows: list[dict[str, Any]] = _parsed_json(text, lines)
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise lines.error(f"entry {number} of the array is not a JSON object", _JSON_REMEDY, 1)
    return rows


def _limited(lines: Lines, size: int) -> Iterator[str]:
    for line in lines.text:
        size -= len(line)
        if size < 0:
            raise lines.error("this JSON array is too long to read at once", _JSON_REMEDY)
        yield line


def _parsed_json(text: str, lines: Lines) -> Any:
    try:
        value = json.loads(text)
        if "\\u" in text:
            # Half of a character could not be written out again.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        detail = "nested too deep" if isinstance(error, RecursionError) else str(error)
        if isinstance(error, UnicodeEncodeError):
            detail = f"the escape \\u{ord(error.object[error.start]):04x} is half of a character"
        problem = f"this is not JSON ({shortened(detail)})"
        raise lines.error(problem, _JSON_REMEDY) from error


# Parquet and Arrow, by pyarrow.


def _parquet_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    from pyarrow import parquet

    with _opened_arrow(file) as source:
        table = parquet.ParquetFile(source)
        _check_schema(table.schema_arrow, file.name, wanted)
        n_rows = 0
        for batch in table.iter_batches(_ROWS, columns=list(wanted.columns)):
            yield from _arrow_batches(batch, wanted)
            n_rows += len(batch)
            progress.update(n_rows, table.metadata.num_rows)


def _parquet_columns(file: TableFile) -> tuple[str, ...]:
    from pyarrow import parquet

    with _opened_arrow(file) as source:
        return tuple(parquet.ParquetFile(source).schema_arrow.names)


def _ipc_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    with _opened_arrow(file) as source:
        opened = _open_ipc(source)
        _check_schema(opened.schema, file.name, wanted)
        n_batches = getattr(opened, "num_record_batches", None)
        for batch in opened if n_batches is None else map(opened.get_batch, range(n_batches)):
            yield from _arrow_batches(batch, wanted)


def _ipc_columns(file: TableFile) -> tuple[str, ...]:
    with _opened_arrow(file) as source:
        return tuple(_open_ipc(source).schema.names)


def _open_ipc(source: Any) -> Any:
    """Open an Arrow or Feather file, or an Arrow stream."""
    from pyarrow import ipc

    is_file = source.read(6) == b"ARROW1"
    source.seek(0)
    return ipc.open_file(source) if is_file else ipc.open_stream(source)


@contextmanager
def _opened_arrow(file: TableFile) -> Iterator[Any]:
    """A file that can be read from its end; damage is a `ReadError`."""
    import pyarrow

    with open_binary(file.source, file.name) as stream:
        plain = isinstance(file.source, (str, os.PathLike)) and not stream.raw.is_decompressed
        source = pyarrow.OSFile(str(file.source)) if plain else io.BytesIO(stream.read())
        try:
            yield source
        except ReadError:
            raise
        except (pyarrow.ArrowException, OSError, MemoryError, ValueError, ArithmeticError) as error:
            raise damaged(file.name, error) from error


def _check_schema(schema: Any, name: str, wanted: Wanted) -> None:
    """Raise unless the wanted columns are there, and that of the texts is one."""
    import pyarrow

    check_columns(name, wanted.columns, schema.names)
    texts = (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.null())

    def is_text(kind: Any) -> bool:
        return (kind.value_type if pyarrow.types.is_dictionary(kind) else kind) in texts

    if wanted.text is not None and not is_text(schema.field(wanted.text).type):
        others = quoted(field.name for field in schema if is_text(field.type)) or "none"
        raise read_error(
            name,
            f"column {wanted.text!r} holds {schema.field(wanted.text).type} and not text",
            f"name a column of text with `text` (there are: {others})",
        )


def _arrow_batches(batch: Any, wanted: Wanted) -> Iterator[Batch]:
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


def _excel(file: TableFile) -> Any:
    import pandas as pd

    try:
        return _by_pandas(file, lambda stream: pd.read_excel(stream, dtype=object))
    except ImportError as error:
        raise ImportError(
            f"{file.name}: Excel files need openpyxl; install it with pip install 'hdsp[excel]'."
        ) from error


def _stata(file: TableFile) -> Any:
    import pandas as pd

    return _by_pandas(file, pd.read_stata)


def _by_pandas(file: TableFile, read: Callable[[Any], Any]) -> Any:
    with open_binary(file.source, file.name) as stream:
        try:
            return read(io.BytesIO(stream.read()))
        except ImportError:
            raise
        # Parsers of damaged files fail in any way.
        except Exception as error:
            raise damaged(file.name, error) from error


def _frame_format(suffix: str, read: Callable[[TableFile], Any]) -> TableFormat:
    def batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
        frame = read(file)
        check_columns(file.name, wanted.columns, list(map(str, frame.columns)))
        frame.columns = frame.columns.map(str)
        columns = {name: frame[name] for name in wanted.columns}
        if wanted.text is not None:
            columns[wanted.text] = columns[wanted.text].tolist()
        yield columns

    return TableFormat((suffix,), batches, lambda file: tuple(map(str, read(file).columns)))


TABLE_FORMATS = {
    "csv": TableFormat((".csv",), _csv_batches, _csv_columns),
    "tsv": TableFormat((".tsv", ".tab"), _csv_batches, _csv_columns),
    "jsonl": TableFormat((".jsonl", ".ndjson", ".json"), _json_batches, _json_columns),
    "parquet": TableFormat((".parquet", ".pq"), _parquet_batches, _parquet_columns),
    "arrow": TableFormat((".arrow", ".feather", ".ipc", ".arrows"), _ipc_batches, _ipc_columns),
    "xlsx": _frame_format(".xlsx", _excel),
    "dta": _frame_format(".dta", _stata),
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
    name = name_of(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(
            f"`delimiter` of {owner} must be one character. Got {delimiter!r}. "
            "Pass one such as ';', or leave it out for a comma."
        )
    if decimal not in (".", ","):
        raise ValueError(f"`decimal` of {owner} must be '.' or ','. Got {decimal!r}.")
    with spooled(path) as source:
        format = _format_of(name, owner) if format is None else format
        if format not in TABLE_FORMATS:
            raise ValueError(
                f"`format` of {owner} must be one of {quoted(TABLE_FORMATS)}. Got {format!r}. "
                "Leave it out to go by the file's name."
            )
        delimiter = delimiter or ("\t" if format == "tsv" else ",")
        yield TableFile(source, name, TABLE_FORMATS[format], encoding, delimiter, decimal)


def suffix_of(name: str) -> str:
    """How the name of a file ends, before the suffix of its compression."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _format_of(name: str, owner: str) -> str:
    """The format that a file's name shows."""
    suffix = suffix_of(name)
    for format_name, table_format in TABLE_FORMATS.items():
        if suffix in table_format.suffixes:
            return format_name
    if suffix in (".xls", ".ods"):
        raise read_error(name, "this is a spreadsheet", "save the sheet as .xlsx or as CSV")
    raise read_error(
        name,
        f"the name does not show {owner} which format the file has",
        f"pass `format`, one of {quoted(TABLE_FORMATS)}",
    )


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

    def take(self, batches: Iterable[Batch]) -> None:
        """Keep the columns of a table that has no texts."""
        for _ in self.texts(batches):
            pass

    def _values(self, column: str) -> Any:
        """All values of a column as a pandas Series."""
        parts = self._parts[column]
        library = library_of(parts[0]) if parts else None
        if library == "pyarrow":
            import pyarrow

            return as_series(pyarrow.chunked_array(parts))
        # pandas reads a table at once.
        return as_series(parts[0] if library else list(chain.from_iterable(parts)))

    def ids(self) -> tuple[str, ...] | None:
        """The documents' ids, or None if they are not wanted."""
        return self._names(self.wanted.ids, None, "give every row a text or a number as its id")

    def groups(self) -> tuple[str, ...] | None:
        """The documents' groups, "" for none, or None if they are not wanted."""
        remedy = "name a column of texts or numbers with `group`"
        return self._names(self.wanted.groups, "", remedy)

    def _names(
        self, column: str | None, missing: str | None, remedy: str
    ) -> tuple[str, ...] | None:
        if column is None:
            return None
        with as_read_error(self.name):
            values = self._values(column).tolist()
        names = [missing if is_missing(value) else level_name(value) for value in values]
        if None in names:
            row = names.index(None)
            problem = f"column {column!r} holds {shortened(repr(values[row]))}, which is not a name"
            raise read_error(self.name, problem, remedy, row=row + self._first_row)
        return tuple(map(str, names))

    def labels(self) -> Labels:
        """The labels of all rows."""
        with as_read_error(self.name):
            blocks = [
                make_block(
                    column,
                    kind,
                    self._values(column),
                    self.name,
                    self._first_row,
                    self.wanted.tag_separator,
                )
                for column, kind in self.wanted.kinds.items()
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
        columns.take(table.batches(wanted))
    return columns


def corpus_of_texts(
    name: str,
    texts: Iterator[str],
    rules: tuple[TextSettings, tuple[str, ...] | None],
    describe: Callable[[], tuple[Labels, tuple[str, ...] | None]],
    what: str,
) -> Corpus:
    """Count texts while they are read, and add the labels and ids that `describe` returns then."""
    settings, words = rules
    counted, cause = None, None
    try:
        counted = settings.count(texts, words)
    except NoWordsError as error:
        cause = error
    labels, ids = describe()
    if not len(labels):
        raise no_documents(name) from cause
    if counted is None:
        raise no_words(name, what) from cause
    return Corpus(*counted, labels, text_settings=settings, ids=ids)


def no_words(name: str, what: str) -> ReadError:
    """The error of texts of which no word is counted."""
    return read_error(
        name,
        f"no word of {what} is left to count",
        "check that this is text, or pass `text_settings` that keep more words",
    )


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
    group: str | None = None,
    stem: str | None = None,
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
        file object such as ``sys.stdin.buffer``. gzip, bzip2, xz and Zstandard are decompressed.
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
    group : str, default=None
        Column of the documents' groups, such as authors, outlets or respondents: documents of a
        group are not independent. One without a value is on its own.
    stem : str, default=None
        The language, or its code, in which words are counted by their stems: "english" counts
        "runs" and "running" as "run".
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
    rules = counting_rules(text_settings, like, owner, stem)
    named = {
        "text": text,
        "ids": ids,
        "groups": group,
        "tag_separator": tag_separator,
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
    }
    known = getattr(like, "reading", getattr(like, "reading_", None))
    given: Any = {name: value for name, value in named.items() if value is not None}
    reading = replace(known or ReadingSettings(), **given)
    written = (reading.encoding, reading.delimiter, reading.decimal)
    with open_table(path, owner, format, *written) as table:
        if like is not None:
            kinds, reading = _as_known(table, kinds, reading, given, like)
        wanted = Wanted(kinds, reading.text, reading.ids, reading.tag_separator, reading.groups)
        columns = Columns(table.name, wanted)
        corpus = corpus_of_texts(
            columns.name,
            columns.texts(table.batches(wanted)),
            rules,
            lambda: (columns.labels(), columns.ids()),
            f"column {reading.text!r}",
        )
    if like is None:
        warn_dates(corpus.labels)
    corpus = corpus.replaced(reading=reading)
    return corpus if reading.groups is None else corpus.with_groups(columns.groups())


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
        reading = replace(
            reading, ids=next(filter(present.__contains__, (reading.ids, "id")), None)
        )
    if "groups" not in given and reading.groups not in present:
        reading = replace(reading, groups=None)
    return kinds, reading
