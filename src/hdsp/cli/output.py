"""Answers of commands: JSON, files, tables for reading, and messages that name options."""

import io
import json
import re
import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from hdsp.cli.options import STANDARD
from hdsp.progress import printable
from hdsp.storage.delimited import guarded, plain, write_delimited

# A table by columns: sequences, or arrays of numbers.
Table: TypeAlias = Mapping[str, Any]

# Columns that are printed otherwise than by str.
_FORMATS = {
    **dict.fromkeys(("share", "proportion", "found", "expected"), ".1%"),
    **dict.fromkeys(("coherence", "similarity"), ".2f"),
    **dict.fromkeys(("correlation", "raw"), "+.2f"),
    "perplexity": ",.1f",
    "n_documents": ",",
    "z": "+.1f",
}

# A parameter in a message: `name`, `name` of its owner, name=value, or scikit-learn's.
_PARAMETER = re.compile(
    r"(?:The '(?P<checked>\w+)' parameter|`(?P<name>\w+)`"
    r"|\b(?P<bare>max_iter|tol|language|n_components|max_components)\b(?!\.\w)"
    r"(?:=(?P<value>None|[\d.e-]*\d))?)"
    r"(?: of (?:[A-Z]|\w+_)[\w.]*\w)?"
)
# Options that are called otherwise than their parameters, and advice for the command line.
_OTHER_NAMES = {"labels": "label", "interval": "level", "path": "output"}
_ADVICE = {
    "pass another `pattern`": "let the names of texts end in .txt",
    "pass `text_settings` that keep more words": "keep more with --min-df, --max-df or --language",
    "pass them as `corpus`": "name their file",
    "or no document has it.": "or no document has it: name a file and pass it in --formula.",
    "Count it with the vectoriser the model was trained with": "Use hdsp prepare --like MODEL",
    "pass the groups as `groups`": "name their column with --groups",
}


def named_options(text: str, options: Namespace | None) -> str:
    """A message of the library with the options of a command in place of parameters.

    Examples
    --------
    >>> named_options("pass `encoding`, such as 'cp1252'", Namespace(encoding=None))
    "pass --encoding, such as 'cp1252'"
    """
    names = vars(options or Namespace())

    def name_option(match: re.Match[str]) -> str:
        name = match["checked"] or match["name"] or match["bare"]
        name = name if name in names else _OTHER_NAMES.get(name, name)
        if name not in names:
            return match["name"] or match[0]
        value = f" {match['value'].lower()}" if match["value"] else ""
        return f"--{name.replace('_', '-')}{value}"

    for phrase, advice in _ADVICE.items():
        text = text.replace(phrase, advice)
    text = re.sub(r"HDSP\(content='(.*?)'\)", r"hdsp fit --content '\1'", text)
    # Instances of random generators cannot be typed.
    text = re.sub(r", an instance of .*?(?=\. Got)", "", text)
    return _PARAMETER.sub(name_option, text)


@contextmanager
def printed_warnings(options: Namespace) -> Iterator[None]:
    """Print the warnings of the work inside, one line each, on standard error when it is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
    for text in dict.fromkeys(one_line(warning.message) for warning in caught):
        print(f"hdsp: warning: {named_options(text, options)}", file=sys.stderr)


def one_line(message: object) -> str:
    """A message as one line that a terminal can show."""
    return printable(" ".join(str(message).split()))


def print_json(value: object) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(plain(value), allow_nan=False))


def answer(options: Namespace, facts: Mapping[str, Any], *sentences: str) -> None:
    """Print facts as JSON, or sentences."""
    if options.json:
        print_json(facts)
        return
    for sentence in sentences:
        print(printable(sentence))


def answer_table(
    options: Namespace,
    name: str,
    table: Table | Iterable[Table],
    show: Callable[[Any], None] | None = None,
    empty: str = "",
    **facts: object,
) -> None:
    """Print a table as JSON with `facts`, or write it to the output, or show it unless `empty`.

    A table of many rows may come in pieces, which are never in memory together.
    """
    pieces = [table] if isinstance(table, Mapping) else table
    if options.json:
        print_json({**facts, name: [row for piece in pieces for row in records(piece)]})
    elif options.output is not None or show is None:
        path = options.output or STANDARD
        write_pieces(pieces, path, options.formulas)
        if path != STANDARD and not options.quiet:
            print(f"hdsp: wrote {printable(path)}.", file=sys.stderr)
    elif empty and isinstance(table, Mapping) and not any(map(len, table.values())):
        print(empty)
    else:
        show(table)


def write_pieces(pieces: Iterable[Table], path: str, formulas: bool = False) -> None:
    """Write a table that comes in pieces, by the suffix of `path`; - is CSV on standard output.

    In CSV and TSV, texts that a spreadsheet would compute get an apostrophe, unless `formulas`.
    """
    from hdsp.storage.container import replacing

    guard, suffix = str if formulas else guarded, Path(path).suffix.lower()
    if path == STANDARD:
        # A file or a program gets all characters, a terminal those it can show.
        show = printable if sys.stdout.isatty() else str
        write_delimited(pieces, sys.stdout, ",", lambda text: show(guard(text)))
        return
    with replacing(Path(path)) as file:
        if suffix == ".parquet":
            _write_parquet(pieces, file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if suffix == ".jsonl":
            for record in (record for piece in pieces for record in records(piece)):
                text.write(json.dumps(plain(record), ensure_ascii=False) + "\n")
        else:
            write_delimited(pieces, text, "\t" if suffix == ".tsv" else ",", guard)
        text.detach()


def _write_parquet(pieces: Iterable[Table], file: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    def column(values: Sequence[Any]) -> Any:
        # Arrow cannot infer the type of lists that are all empty.
        is_lists = any(isinstance(value, list) for value in values)
        return pa.array(values, type=pa.list_(pa.string()) if is_lists else None)

    writer: Any = None
    for piece in pieces:
        table = pa.table({name: column(values) for name, values in piece.items()})
        writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def records(table: Table) -> list[dict[str, Any]]:
    """The rows of a table."""
    columns = [v.tolist() if hasattr(v, "tolist") else v for v in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def rows_of(table: Table, chosen: Iterable[int]) -> dict[str, Any]:
    """Some rows of a table, in the order given."""
    chosen = list(chosen)
    return {name: [values[row] for row in chosen] for name, values in table.items()}


def head(table: Table, n_rows: int | None) -> dict[str, Any]:
    """The first rows of a table."""
    return {name: values[:n_rows] for name, values in table.items()}


def print_columns(table: Table, *names: str) -> None:
    """Print columns of a table under their names, aligned; the last may be long.

    Columns that the table does not have, and names of topics without names, are left out.
    """
    cells = []
    for name in names or table:
        values = [_cell(value, _FORMATS.get(name, "")) for value in table.get(name, ())]
        if name in table and not (name == "name" and not any(values)):
            cells.append([name.removeprefix("n_").replace("_", " "), *values])
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in cells]
    for row in zip(*padded, strict=True):
        print("  ".join(row).rstrip())


def _cell(value: Any, format_spec: str) -> str:
    return printable(format(value, format_spec)) if value == value else ""


def intervals(table: Table, format_spec: str, scale: float = 1.0) -> list[str]:
    """The intervals of a table as texts."""
    limits = zip(table["lower"], table["upper"], strict=True)
    return [f"{scale * low:{format_spec}} to {scale * high:{format_spec}}" for low, high in limits]
