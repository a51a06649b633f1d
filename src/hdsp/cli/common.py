"""What subcommands share: reading documents, loading models, writing tables."""

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
from typing import TYPE_CHECKING, Any

from hdsp import progress
from hdsp.cli.tables import STANDARD, Table, as_json, records, table_suffix, write_pieces
from hdsp.progress import printable

if TYPE_CHECKING:
    from hdsp.analysis.fitted import FittedModel
    from hdsp.corpus import Corpus
    from hdsp.estimator import HDSP

# Parameters that options of the same name stand for, and those whose options have other names.
_SAME_NAME = (
    *("checkpoint", "contrast", "corpus", "decimal", "delimiter", "encoding", "format", "formula"),
    *("group", "language", "level", "max_df", "max_iter", "metadata", "min_df", "numeric"),
    *("refits", "seeds", "stability", "stem", "stop_words", "tag_separator", "tags", "target"),
    *("text", "time", "tokenizer", "tol"),
)
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SAME_NAME} | {
    "categories": "--category",
    "executor": "--dask",
    "groups": "--group",
    "interval": "--level",
    "max_features": "--max-words",
    "n_components": "--topics",
    "n_jobs": "--jobs",
    "ngrams": "--phrases",
    "random_state": "--seed",
    "values": "--value",
    "words": "--vocabulary",
}
# What the library advises, in the words of the command line.
_PHRASES = {
    "`labels` of HDSP.label_effects": "--label",
    "`labels` of TopicRegression.effects": "--label",
    "groups of documents, or no document has it.": "groups of documents, or no document has it. To "
    "estimate it, pass --corpus FILE and name it in --formula.",
    "raise max_iter or tol": "raise --max-iter or --tol",
    ", or use read_folder for a folder of texts": "",
    ", or use read_table for one file": "",
    "'pythainlp' for Thai, or a function": "'pythainlp' for Thai",
    "pass another `pattern`": "let the names of texts end in .txt",
    "pass `text_settings` that keep more words": "keep more with --min-df, --max-df or --language",
}
# A parameter in a message: `name` or `name` of its owner, or name=value.
_PARAMETER = re.compile(
    r"`(?P<name>\w+)`(?: of [A-Za-z_.]*\w)?"
    r"|\b(?P<bare>max_iter|tol|language|n_components)(?:=(?P<value>None|[\d.e-]*\d)| of HDSP)+"
)
_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")


def add_command(
    commands: Any,
    name: str,
    summary: str,
    examples: Sequence[str],
    run: Callable[[argparse.Namespace], None] | None = None,
) -> argparse.ArgumentParser:
    """A subcommand that calls `run`, with examples under its help; all of them can be quiet."""
    lines = "\n".join(f"  {example}" for example in examples)
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"examples:\n{lines}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Otherwise -1e3 is taken for an option, unlike -1000.
    parser._negative_number_matcher = _NEGATIVE
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=run)
    return parser


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model a subcommand works on."""
    parser.add_argument("model", help="a model that `hdsp fit` has written")


def add_documents(parser: argparse.ArgumentParser) -> None:
    """New documents for a model."""
    add_model(parser)
    parser.add_argument(
        "file",
        help="a table of documents, a folder of texts, or a stored corpus; - is standard input",
    )
    add_table_options(parser)


def add_corpus(
    parser: argparse._ActionsContainer, what: str, group: str | None = None, required: bool = False
) -> None:
    """Documents beside a model, and their groups where a command asks for them."""
    parser.add_argument("--corpus", dest="file", metavar="FILE", required=required, help=what)
    if group is not None:
        parser.add_argument("--group", metavar="COLUMN", help=group)
    add_table_options(parser)


def add_table_options(parser: argparse._ActionsContainer) -> None:
    """How a table of documents is read, and how many threads work on it."""
    add_columns(parser, parser, "csv, tsv, jsonl, parquet or arrow")
    parser.add_argument("--jobs", type=int, help="threads; default: all cores")


def add_columns(
    labels: argparse._ActionsContainer, text: argparse._ActionsContainer, formats: str
) -> None:
    """How files of documents are written, and what their columns are."""
    labels.add_argument("--tag-separator", help="between tags written as one text, such as ;")
    labels.add_argument("--metadata", metavar="FILE", help="a table of labels beside the texts")
    labels.add_argument(
        "--id",
        metavar="COLUMN",
        help="a column of the documents' names (default: id, where there is one)",
    )
    text.add_argument("--text", default="text", help="the column of the texts (default: text)")
    text.add_argument("--format", help=f"{formats}; else by the file's name")
    text.add_argument(
        "--encoding", default="utf-8", help="of a text file, such as cp1252 (default utf-8)"
    )
    text.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="CHARACTER",
        help="between the values of a CSV file, such as ';' (default a comma)",
    )
    text.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        help="before the decimals of numbers in a CSV file (default a point)",
    )


def file_options(options: argparse.Namespace) -> dict[str, Any]:
    """How a table is written."""
    return {name: getattr(options, name) for name in ("format", "encoding", "delimiter")}


def _delimiter(text: str) -> str:
    r"""A character; shells do not turn \t into a tab."""
    return "\t" if text == "\\t" else text


def add_output(parser: argparse.ArgumentParser, default: str | None = STANDARD) -> None:
    """Where a table goes."""
    parser.add_argument(
        "-o",
        "--output",
        default=default,
        help="a file to write: .csv, .tsv, .jsonl, .parquet, .arrow; - is CSV on standard output",
    )
    parser.add_argument(
        "--formulas",
        action="store_true",
        help="leave texts that begin as formulas do (=, +, -, @) as they are in CSV and TSV",
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


def fitted_model(model: "HDSP") -> "FittedModel":
    """The fitted model of an estimator, which the functions of `hdsp.analysis` take."""
    return model._model


def load_fitted(options: argparse.Namespace) -> "FittedModel":
    """The fitted model of a file, without the slow import of scikit-learn."""
    with progress.task(f"Loading {options.model}"):
        from hdsp.persistence.model_file import load_model

        return load_model(Path(options.model))[0]


class StandardInput(io.BytesIO):
    """What came from standard input, with a name for messages."""

    name = "standard input"


def source(path: str) -> str | StandardInput:
    """A path, or all of standard input."""
    return StandardInput(sys.stdin.buffer.read()) if path == STANDARD else path


def reading(file: str) -> progress.Task:
    """The task of reading a file."""
    return progress.task(f"Reading {StandardInput.name if file == STANDARD else file}", unit=None)


def written_formula(text: str) -> str:
    """A formula, whose first sign may be left out."""
    return text if text.lstrip().startswith("~") else f"~ {text}"


def formula_columns(text: str | None) -> list[str]:
    """The columns of labels that a formula names."""
    if text is None:
        return []
    from hdsp.scaling.formula import parse_formula
    from hdsp.scaling.functions import Product

    found = parse_formula(written_formula(text))
    factors = found.factors if isinstance(found, Product) else (found,)
    names = [name for one in factors for name in one.columns]
    names += [name for one in factors for term in one.terms for name in term.learns_from]
    return list(dict.fromkeys(names))


def check_format(options: argparse.Namespace, files: Sequence[str]) -> None:
    """Raise if the format of a file cannot be told."""
    if STANDARD in files and options.format is None:
        raise ValueError("What comes from standard input has no name to tell its format: --format.")


def is_stored(file: str) -> bool:
    """Whether a path is the folder of a stored corpus."""
    return file != STANDARD and (Path(file) / "manifest.json").is_file()


def is_folder(file: str) -> bool:
    """Whether a path is that of a folder of texts."""
    return file != STANDARD and Path(file).is_dir() and not is_stored(file)


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Print the warnings of the work inside, one line each, on standard error when it is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(one_line(warning.message) for warning in caught):
        print(f"hdsp: warning: {with_option_names(text)}", file=sys.stderr)


def one_line(message: object) -> str:
    """A message as one line that a terminal can show."""
    return printable(" ".join(str(message).split()))


def with_option_names(text: str) -> str:
    """A message of the library with options in place of parameters.

    Examples
    --------
    >>> with_option_names("pass the file's `encoding`, such as 'cp1252'")
    "pass the file's --encoding, such as 'cp1252'"
    """

    def option(match: re.Match[str]) -> str:
        name = _OPTIONS.get(match["name"] or match["bare"])
        if name is None:
            return match[0]
        return name if match["value"] is None else f"{name} {match['value'].lower()}"

    for phrase, said in _PHRASES.items():
        text = text.replace(phrase, said)
    text = re.sub(r"HDSP\(content='(.*?)'\)", r"hdsp fit --content '\1'", text)
    return _PARAMETER.sub(option, text)


def print_json(value: object) -> None:
    """Print one JSON object on standard output; NaN becomes null."""
    print(json.dumps(as_json(value), allow_nan=False))


def with_ids(corpus: "Corpus", table: Table) -> Table:
    """A table of documents, with their names in front where they have any."""
    return table if corpus.ids is None else {"id": list(corpus.ids), **table}


def check_output(path: str | None) -> None:
    """Raise before any work if a result could not be written."""
    if path is None or path == STANDARD:
        return
    check_parent(path)
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{path!r} is a folder: name a file to write.")
    check_writable(Path(os.path.realpath(file) if file.exists() else file.absolute()).parent)


def check_parent(path: str) -> None:
    """Raise unless there is a folder to write `path` to."""
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise ValueError(f"There is no folder {str(parent)!r} to write {path!r} to: make it first.")


def check_counts(options: argparse.Namespace, *names: str) -> None:
    """Raise if an option that counts something is below 1."""
    for name in names:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} must be at least 1. Got {value}.")


def check_table_output(path: str | None) -> None:
    """Raise before any work if a table could not be written, or in no known format."""
    check_output(path)
    if path is not None and path != STANDARD:
        table_suffix(path)


def check_writable(folder: Path) -> None:
    """Raise unless files can be made in a folder, or in the one in which it is to be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(
            f"Nothing can be written to the folder {str(folder)!r} ({error.strerror}): choose "
            "another, or change its permissions."
        ) from error


def print_columns(columns: Mapping[str, Iterable[object]]) -> None:
    """Print an aligned table for reading, of columns by their headings; the last may be long."""
    cells = [[name, *(printable(str(cell)) for cell in own)] for name, own in columns.items()]
    padded = [[cell.ljust(max(map(len, own))) for cell in own] for own in cells]
    for row in zip(*padded, strict=True):
        print("  ".join(row).rstrip())


def percentages(shares: Iterable[float]) -> list[str]:
    """Shares as they are printed."""
    return [f"{share:.1%}" for share in shares]


def is_answered(options: argparse.Namespace, table: Table, name: str, **others: object) -> bool:
    """Print a table as JSON, with `others`, or write it; False where it is to be printed."""
    if options.json:
        print_json({**others, name: records(table)})
    elif options.output is not None:
        say_written(options, write_answer([table], options))
    return options.json or options.output is not None


def write_answer(pieces: Iterable[Table], options: argparse.Namespace) -> int:
    """Write a table to the output, of which some rows come at a time; return their number."""
    sizes: list[int] = []

    def measured() -> Iterator[Table]:
        for piece in pieces:
            sizes.append(len(next(iter(piece.values()), ())))
            yield piece

    write_pieces(measured(), options.output, options.formulas)
    return sum(sizes)


def say_written(options: argparse.Namespace, n_rows: int) -> None:
    """Say what was written, unless it went to standard output, which may be closed."""
    if options.output != STANDARD and not options.quiet:
        rows = f"{n_rows:,} row{'s' if n_rows != 1 else ''}"
        print(f"hdsp: wrote {printable(options.output)}, {rows}.", file=sys.stderr)
