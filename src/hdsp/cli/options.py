"""Declarations of commands, and of the options that several commands share."""

import argparse
import inspect
import json
import re
import tempfile
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

# Standard input or output in place of a file.
STANDARD = "-"

_PAPER = ("HDSP", "wHDSP", "HDP")
_SEEDS = '{"budget": ["tax", "deficit"]}'
_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


class Option(NamedTuple):
    """An option or a positional argument, as `add_argument` takes it."""

    flags: tuple[str, ...]
    arguments: dict[str, Any]

    @property
    def parameter(self) -> str:
        """The parameter of the option: n_jobs of --n-jobs."""
        return self.flags[-1].lstrip("-").replace("-", "_")

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the option to a parser or a group."""
        parser.add_argument(*self.flags, **self.arguments)


def option(
    flags: str, metavar: Any, help: str, type: Any = str, default: Any = None, **more: Any
) -> Option:
    """An option; without a metavar it takes no value."""
    arguments: dict[str, Any] = {"help": help, "action": "store_true", **more}
    if metavar is not None:
        shown = "" if default is None else f" (default: {default})"
        arguments = {"help": help + shown, "metavar": metavar, "type": type, "default": default}
    return Option(tuple(flags.split()), {**arguments, **more})


class Group:
    """Options under a title of the help; without a title only one can be chosen."""

    def __init__(self, title: str | None, *options: Option) -> None:
        self.title, self.options = title, options

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the options to a parser."""
        if self.title is None:
            group: argparse._ActionsContainer = parser.add_mutually_exclusive_group()
        else:
            group = parser.add_argument_group(self.title)
        for each in self.options:
            each.add_to(group)


class Command(NamedTuple):
    """A function as a command of its name; its docstring is the help, with examples at its end."""

    run: Callable[[Namespace], None]
    options: tuple[Option | Group, ...]

    def add_parser(self, commands: Any) -> None:
        """Add the command to the others."""
        description, _, examples = (inspect.getdoc(self.run) or "").partition("\n\n")
        parser: argparse.ArgumentParser = commands.add_parser(
            self.run.__name__,
            help=f"{description[0].lower()}{description[1:].rstrip('.')}",
            description=description,
            epilog="examples:\n" + indent(examples, "  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # Otherwise -1e3 is taken for an option, unlike -1000.
        parser._negative_number_matcher = _NEGATIVE
        for each in (*self.options, JSON, QUIET):
            each.add_to(parser)
        parser.set_defaults(run=self.run)


def command(*options: Option | Group) -> Callable[[Callable[[Namespace], None]], Command]:
    """Declare a function as a command with these options."""
    return lambda run: Command(run, options)


def chosen(namespace: Namespace, *groups: Group) -> dict[str, Any]:
    """Values of the options that the user passed, by their parameters."""
    names = [each.parameter for group in groups for each in group.options]
    values = {name: getattr(namespace, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


# How values are read and checked, before any work.


def count(text: str) -> int:
    """An integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be an integer >= 1, got {text!r}")
    return int(text)


def number_or_text(text: str) -> int | float | str:
    """An integer, another number, or a text, which the parameter itself checks."""
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text


def formula(text: str) -> str:
    """A formula whose tilde may have been left out."""
    return text if text.lstrip().startswith("~") else f"~ {text}"


def json_file(path: str) -> Any:
    """The seed words in a file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"{path} is not JSON such as {_SEEDS} ({error})") from error


def delimiter(text: str) -> str:
    r"""A character; shells do not turn \t into a tab."""
    return "\t" if text == "\\t" else text


def output_folder(path: str) -> str:
    """A folder, or a file, that can be created where it is to be."""
    folder = Path(path).resolve().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return path
    except OSError as error:
        reason = f"folder {str(folder)!r} cannot be written to ({error.strerror})"
        raise ArgumentTypeError(f"{reason}: create it, or choose another") from error


def output_file(path: str) -> str:
    """A file that can be written."""
    if Path(path).is_dir():
        raise ArgumentTypeError(f"{path!r} is a folder: name a file to write")
    return path if path == STANDARD else output_folder(path)


def output_table(path: str) -> str:
    """A file for a table, whose name specifies a format."""
    if path != STANDARD and Path(output_file(path)).suffix.lower() not in _SUFFIXES:
        kinds = ", ".join(_SUFFIXES)
        raise ArgumentTypeError(f"{path!r} does not specify a format: end it with one of {kinds}")
    return path


# Options of every command.
JSON = option("--json", None, "print one JSON object and nothing else")
QUIET = option("-q --quiet", None, "show no progress")
# How files of documents are read: parameters of readers.
FILE = Group(
    "documents (of a model, by default as those of its fit)",
    option("--text", "COLUMN", "column of the texts (default: text)"),
    option("--ids", "COLUMN", "column of document IDs (default: id, if the file has it)"),
    option("--groups", "COLUMN", "column of groups, such as authors, of dependent documents"),
    option("--tag-separator", "TEXT", "separator of tags in one text, such as ;"),
    option("--metadata", "FILE", "table of labels for a folder of texts or counts"),
    option("--words", "FILE", "words of counts, or words to count, one per line"),
    option("--format", "NAME", "csv, jsonl, parquet, uci, ... (default: by the file name)"),
    option("--encoding", "NAME", "encoding of a text file, such as cp1252 (default: utf-8)"),
    option("--delimiter", "CHAR", "CSV field delimiter (default: a comma)", delimiter),
    option("--decimal", "CHAR", "CSV decimal separator (default: a point)", choices=(".", ",")),
)
LABELS = Group(
    "labels (each option may be repeated)",
    option("--tags", "COLUMN", "column of tag lists", action="append"),
    option("--categories", "COLUMN", "column with one category per document", action="append"),
    option("--numeric", "COLUMN", "column of numbers or dates", action="append"),
)
# How texts become counts: parameters of TextSettings.
TEXT = Group(
    "texts",
    option("--language", "NAME", "language of stop words, or none (default: english)", str.lower),
    option("--stop-words", "FILE", "more stop words, one per line"),
    option("--stem", "LANGUAGE", "count words by their stems", str.lower),
    option("--tokenizer", "NAME", "jieba (Chinese), sudachi (Japanese) or pythainlp (Thai)"),
    option("--ngrams", "N", "count phrases of up to N words (default: 1)", int),
    option("--min-df", "N", "minimum documents of a word", number_or_text),
    option("--max-df", "N", "maximum documents of a word", number_or_text),
    option("--max-features", "N", "keep the N most frequent words", int),
)
N_JOBS = option("--n-jobs", "N", "number of threads (default: all cores)", int)
N_COMPONENTS = option("--n-components", "N", "number of topics", number_or_text, "auto")
RANDOM_STATE = option("--random-state", "N", "random seed", int, 0)
# Parameters of HDSP.
MODEL = Group(
    "model",
    N_COMPONENTS,
    option("--max-components", "N", "maximum number of topics (default: 200)", int),
    option("--scaling", "FORMULA", 'label formula, such as "~ party * s(day)"', formula),
    option("--content", "LABEL", "category whose levels use different words in the same topics"),
    option("--seeds", "FILE", f"seed words of topics as JSON: {_SEEDS}", json_file),
    option("--init", "NAME", "start: auto, nmf, words, pairs, lda or random (default: auto)"),
    option("--topic-prior", "X", "prior of words in topics (default: 0.05)", float),
    RANDOM_STATE,
    option("--max-iter", "N", "maximum number of passes (default: 100)", int),
    option("--tol", "X", "tolerance of convergence (default: 0.001)", float),
    N_JOBS,
    option("--checkpoint", "DIR", "save every pass here, and resume from it"),
    option("--inference", "NAME", "batch (default), or stochastic: steps on document batches"),
    option("--batch-size", "N", "documents per stochastic step (default: by their number)", int),
    option("--executor", "ADDRESS", "scheduler of a Dask cluster, such as tcp://host:8786"),
    option("--as-published", "NAME", "settings of Kim & Oh: HDSP, wHDSP or HDP", choices=_PAPER),
)
_KINDS = "a table, a folder of texts, a stored corpus, counts, or - for standard input"
FILES = option("files", "FILE", _KINDS, nargs="+")
MODEL_FILE = option("model", "MODEL", "a model written by hdsp fit")
# A model, and documents after it.
DOCUMENTS = (MODEL_FILE, option("file", "FILE", _KINDS), N_JOBS, FILE)
OPTIONAL_DOCUMENTS = (MODEL_FILE, option("file", "FILE", _KINDS, nargs="?"), N_JOBS, FILE)
LEVEL = option("--level", "P", "confidence level of the intervals", float, 0.9)
REFITS = option("--refits", "N", "refits for intervals that include topic uncertainty, as 20", int)
ALL = option("--all", None, "print all rows")
NAMES = option("--names", "FILE", "topic names saved by a report")
N_WORDS = option("--n-words", "N", "words per topic or label", count, 8)
FORMULA = option("--formula", "FORMULA", "labels of another regression, columns of FILE", formula)


def output(metavar: str, help: str, type: Any, default: str | None = None, **more: Any) -> Option:
    """The option of an output, which is checked before any work."""
    return option("-o --output", metavar, help, type, default, **more)


FORMULAS = option("--formulas", None, "write =, +, - and @ without an apostrophe in CSV")
_TABLE = "a table to write: .csv, .tsv, .jsonl or .parquet; - prints CSV"
TABLE = (output("FILE", _TABLE, output_table), FORMULAS)
