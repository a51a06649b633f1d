"""What subcommands share: reading documents, loading models, writing tables."""

import argparse
import csv
import io
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp import progress

if TYPE_CHECKING:
    from hdsp.corpus import Corpus
    from hdsp.estimator import HDSP

# A table by columns.
Table = Mapping[str, Sequence[Any]]

STANDARD = "-"
_WRITTEN = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather")


def add_command(
    commands: Any, name: str, summary: str, examples: Sequence[str]
) -> argparse.ArgumentParser:
    """A subcommand with examples under its help; all of them can be quiet."""
    lines = "\n".join(f"  {example}" for example in examples)
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"examples:\n{lines}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    return parser


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model a subcommand works on."""
    parser.add_argument("model", help="a model that `hdsp fit` has written")


def add_documents(parser: argparse.ArgumentParser) -> None:
    """New documents for a model."""
    add_model(parser)
    parser.add_argument("file", help="a table of documents; - reads standard input")
    add_reading(parser)


def add_reading(parser: argparse._ActionsContainer) -> None:
    """How a table of documents is read, and with how many threads it is worked on."""
    parser.add_argument("--text", default="text", help="the column of the texts (default: text)")
    parser.add_argument("--format", help="csv, tsv, jsonl, parquet or arrow; else by the name")
    parser.add_argument("--tag-separator", help="between tags written as one text, such as ;")
    parser.add_argument("--jobs", type=int, help="threads; default: all cores")


def add_output(parser: argparse.ArgumentParser, default: str | None = STANDARD) -> None:
    """Where a table goes."""
    parser.add_argument(
        "-o",
        "--output",
        default=default,
        help="a file to write: .csv, .tsv, .jsonl, .parquet, .arrow; - is CSV on standard output",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """JSON in place of words."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )


def load(options: argparse.Namespace) -> "HDSP":
    """The model that was asked for."""
    with progress.task(f"Loading {options.model}"):
        from hdsp.estimator import HDSP

        model = HDSP.load(options.model)
    if getattr(options, "jobs", None) is not None:
        model.set_params(n_jobs=options.jobs)
    return model


class StandardInput(io.BytesIO):
    """What came from standard input, with a name for messages."""

    name = "standard input"


def source(path: str) -> str | StandardInput:
    """A path, or all of standard input."""
    return StandardInput(sys.stdin.buffer.read()) if path == STANDARD else path


def reading(file: str) -> progress.Task:
    """The task of reading a file."""
    return progress.task(f"Reading {StandardInput.name if file == STANDARD else file}", unit=None)


def read_new(options: argparse.Namespace, model: "HDSP", without: str | None = None) -> "Corpus":
    """Documents in the way of the model: its words, and those of its labels that the file has."""
    from hdsp.corpus.readers import read_table, table_columns

    kinds: dict[str, list[str]] = {"tags": [], "category": [], "number": []}
    blocks = {block.name: block.kind for block in model.label_schema_.blocks}
    documents = source(options.file)
    if options.file == STANDARD and options.format is None:
        raise ValueError("What comes from standard input has no name to tell its format: --format.")
    present = set(table_columns(documents, format=options.format))
    if not isinstance(documents, str):
        documents.seek(0)
    for name, kind in blocks.items():
        if name in present and name != without:
            kinds[kind].append(name)
    absent = [name for name in blocks if name not in present]
    if absent and len(absent) == len(blocks):
        warnings.warn(
            f"{options.file} has none of the model's label columns ({', '.join(absent)}), so all "
            "labels are missing.",
            UserWarning,
            stacklevel=2,
        )
    with reading(options.file):
        return read_table(
            documents,
            text=options.text,
            tags=kinds["tags"],
            categories=kinds["category"],
            numeric=kinds["number"],
            format=options.format,
            tag_separator=options.tag_separator,
            like=model,
        )


@contextmanager
def told_warnings() -> Iterator[None]:
    """Warnings as single lines on standard error, once the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        print(f"hdsp: warning: {_in_options(text)}", file=sys.stderr)


def _in_options(text: str) -> str:
    """A message of the library in the words of the command line."""
    for name, option in (
        ("n_components of HDSP", "--topics"),
        ("raise max_iter or tol", "raise --max-iter or --tol"),
    ):
        text = text.replace(name, option)
    return text


def print_json(value: object) -> None:
    """One JSON object on standard output; what is no number is null."""
    print(json.dumps(_plain(value), allow_nan=False))


def write_table(table: Table, path: str) -> None:
    """Write a table by the suffix of `path`; - is CSV on standard output."""
    if path == STANDARD:
        _write_delimited(table, sys.stdout, ",")
        return
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITTEN:
        raise ValueError(
            f"The name {path!r} does not tell in which format to write. End it with one of "
            f"{', '.join(_WRITTEN)}."
        )
    if suffix in (".csv", ".tsv"):
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            _write_delimited(table, file, "," if suffix == ".csv" else "\t")
    elif suffix == ".jsonl":
        with Path(path).open("w", encoding="utf-8") as file:
            for record in records(table):
                file.write(json.dumps(_plain(record), ensure_ascii=False) + "\n")
    else:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet

        arrow = pa.table({name: list(values) for name, values in table.items()})
        if suffix == ".parquet":
            pyarrow.parquet.write_table(arrow, path)
        else:
            pyarrow.feather.write_feather(arrow, path)


def check_output(path: str | None) -> None:
    """Raise, before any work, where a result could not be written."""
    if path in (None, STANDARD):
        return
    folder = Path(str(path)).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"There is no folder {str(folder)!r} to write {path!r} to: make it first.")


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """An aligned table for reading: the last column may be long."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())


def records(table: Table) -> list[dict[str, Any]]:
    """The rows of a table."""
    return [dict(zip(table, row, strict=True)) for row in _rows(table)]


def _write_delimited(table: Table, file: Any, delimiter: str) -> None:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table)
    for row in _rows(table):
        writer.writerow([";".join(map(str, v)) if isinstance(v, list) else v for v in row])


def _rows(table: Table) -> Iterator[tuple[Any, ...]]:
    return zip(*table.values(), strict=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value
