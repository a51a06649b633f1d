"""Output of commands: tables in files, JSON, columns for reading, warnings and errors."""

import argparse
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hdsp.cli.options import STANDARD
from hdsp.progress import printable

# A table by columns: sequences, or arrays of numbers.
Table = Mapping[str, Any]

_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
# Options that are called otherwise than their parameters.
_OTHER_NAMES = {"labels": "label", "interval": "level", "path": "output"}
# A parameter in a message: `name`, `name` of its owner, or name=value.
_PARAMETER = re.compile(
    r"The '(?P<checked>\w+)' parameter of HDSP|`(?P<name>\w+)`(?: of [A-Za-z_.]*\w)?"
    r"|\b(?P<bare>max_iter|tol|language|n_components|max_components)"
    r"(?:(?:=(?P<value>None|[\d.e-]*\d)| of HDSP)+|(?= or )|(?=\.(?:\s|$)))"
)

# Advice of the library that the command line words otherwise.
_ADVICE = {
    "pass another `pattern`": "let the names of texts end in .txt",
    "pass `text_settings` that keep more words": "keep more with --min-df, --max-df or --language",
    ": pass them as `corpus`": ": name their file",
    "groups of documents, or no document has it.": "groups of documents, or no document has it: "
    "name a file of documents and pass it in --formula.",
    "pass the groups as `groups`": "name their column with --groups",
}


def named_options(text: str, options: argparse.Namespace | None) -> str:
    """A message of the library with the options of a command in place of parameters.

    Examples
    --------
    >>> named_options("pass `encoding`, such as 'cp1252'", argparse.Namespace(encoding=None))
    "pass --encoding, such as 'cp1252'"
    """
    names = vars(options or argparse.Namespace())

    def option(match: re.Match[str]) -> str:
        name = match["checked"] or match["name"] or match["bare"]
        name = _OTHER_NAMES.get(name, name) if name not in names else name
        if name not in names:
            return match[0]
        value = "" if match["value"] is None else f" {match['value'].lower()}"
        return f"--{name.replace('_', '-')}{value}"

    for phrase, advice in _ADVICE.items():
        text = text.replace(phrase, advice)
    text = re.sub(r"HDSP\(content='(.*?)'\)", r"hdsp fit --content '\1'", text)
    # Instances are nothing that can be typed.
    text = re.sub(
        r", an instance of '[^']*random[^']*'( or None or an instance of '[^']*')?", "", text
    )
    return _PARAMETER.sub(option, text)


@contextmanager
def printed_warnings(options: argparse.Namespace) -> Iterator[None]:
    """Print the warnings of the work inside, one line each, on standard error when it is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(one_line(warning.message) for warning in caught):
        print(f"hdsp: warning: {named_options(text, options)}", file=sys.stderr)


def one_line(message: object) -> str:
    """A message as one line that a terminal can show."""
    return printable(" ".join(str(message).split()))


def print_json(value: object) -> None:
    """Print one JSON object on standard output; NaN becomes null."""
    print(json.dumps(as_json(value), allow_nan=False))


def as_json(value: Any) -> Any:
    """A value that JSON can represent; NaN becomes None."""
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value


def answer(
    options: argparse.Namespace,
    name: str,
    table: Table | Iterable[Table],
    show: Callable[[Any], None] | None = None,
    **others: object,
) -> None:
    """Print a table as JSON with `others`, or write it to the output, or show it.

    A table of many rows may come in pieces, which are never in memory together.
    """
    pieces = [table] if isinstance(table, Mapping) else table
    if options.json:
        print_json({**others, name: [row for piece in pieces for row in records(piece)]})
    elif options.output is None and show is not None:
        show(table)
    else:
        sizes: list[int] = []
        write_pieces(_measured(pieces, sizes), options.output, options.formulas)
        if options.output != STANDARD and not options.quiet:
            rows = f"{sum(sizes):,} row{'s' if sum(sizes) != 1 else ''}"
            print(f"hdsp: wrote {printable(options.output)}, {rows}.", file=sys.stderr)


def _measured(pieces: Iterable[Table], sizes: list[int]) -> Iterator[Table]:
    for piece in pieces:
        sizes.append(len(next(iter(piece.values()), ())))
        yield piece


def write_pieces(pieces: Iterable[Table], path: str, formulas: bool = False) -> None:
    """Write a table that comes in pieces, by the suffix of `path`; - is CSV on standard output.

    In CSV and TSV, texts that a spreadsheet would compute get an apostrophe, unless `formulas`.
    """
    from hdsp.storage.delimited import guarded, write_delimited

    guard = str if formulas else guarded
    if path == STANDARD:
        # A file or a program gets all characters, a terminal those it can show.
        show = printable if sys.stdout.isatty() else str
        write_delimited(pieces, sys.stdout, ",", lambda text: show(guard(text)))
        return
    from hdsp.storage.container import replacing

    suffix = table_suffix(path)
    with replacing(Path(path)) as file:
        if suffix == ".parquet":
            _write_parquet(pieces, file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if suffix == ".jsonl":
            for piece in pieces:
                for record in records(piece):
                    text.write(json.dumps(as_json(record), ensure_ascii=False) + "\n")
        else:
            write_delimited(pieces, text, "," if suffix == ".csv" else "\t", guard)
        text.flush()
        text.detach()


def _write_parquet(pieces: Iterable[Table], file: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    def column(values: Sequence[Any]) -> Any:
        if hasattr(values, "dtype"):
            return pa.array(values)
        # Arrow cannot infer the type of lists that are all empty.
        is_lists = any(isinstance(value, list) for value in values)
        return pa.array(list(values), type=pa.list_(pa.string()) if is_lists else None)

    writer: Any = None
    for piece in pieces:
        table = pa.table({name: column(values) for name, values in piece.items()})
        writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def table_suffix(path: str) -> str:
    """The suffix of a table's name, which specifies its format."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"The name {path!r} does not specify a format: end it with one of "
            f"{', '.join(_SUFFIXES)}."
        )
    return suffix


def records(table: Table) -> list[dict[str, Any]]:
    """The rows of a table."""
    columns = [v.tolist() if hasattr(v, "tolist") else v for v in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def rows_of(table: Table, chosen: Iterable[int]) -> dict[str, Any]:
    """Some rows of a table, in the order given."""
    chosen = list(chosen)
    return {name: [values[row] for row in chosen] for name, values in table.items()}


def head(table: Table, n_rows: int) -> dict[str, Any]:
    """The first rows of a table."""
    return {name: values[:n_rows] for name, values in table.items()}


def print_columns(columns: Mapping[str, Iterable[object]]) -> None:
    """Print an aligned table of columns by their headings; the last may be long."""
    cells = [[name, *(printable(str(cell)) for cell in values)] for name, values in columns.items()]
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in cells]
    for row in zip(*padded, strict=True):
        print("  ".join(row).rstrip())


def percentages(shares: Iterable[float]) -> list[str]:
    """Shares in percent."""
    return [f"{share:.1%}" for share in shares]


def intervals(lower: Iterable[float], upper: Iterable[float], scale: float = 1.0) -> list[str]:
    """Intervals with signs."""
    digits = 1 if scale != 1.0 else 2
    return [
        f"{scale * low:+.{digits}f} to {scale * high:+.{digits}f}"
        for low, high in zip(lower, upper, strict=True)
    ]


def check_output(path: str | None, table: bool = False) -> None:
    """Raise before any work if a result could not be written, or a table in no known format."""
    if path is None or path == STANDARD:
        return
    check_parent(path)
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{path!r} is a folder: name a file to write.")
    check_writable(Path(os.path.realpath(file) if file.exists() else file.absolute()).parent)
    if table:
        table_suffix(path)


def check_parent(path: str) -> None:
    """Raise unless the folder of `path` exists."""
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise ValueError(f"Folder {str(parent)!r} does not exist: create it to write {path!r}.")


def check_writable(folder: Path) -> None:
    """Raise unless files can be created in a folder, or in its nearest existing parent."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(
            f"Folder {str(folder)!r} is not writable ({error.strerror}): choose another, or "
            "change its permissions."
        ) from error


def check_counts(options: argparse.Namespace, *names: str) -> None:
    """Raise if an option that counts something is below 1."""
    for name in names:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1. Got {value}.")
