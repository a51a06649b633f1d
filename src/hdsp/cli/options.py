"""Declarations of commands, and of options that several commands share."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

# Standard input or output in place of a file.
STANDARD = "-"

_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")


def _delimiter(text: str) -> str:
    r"""A character; shells do not turn \t into a tab."""
    return "\t" if text == "\\t" else text


def _frequency(text: str) -> int | float:
    """A number of documents, or a share of documents if it has a point."""
    return float(text) if "." in text or "e" in text.lower() else int(text)


def _n_components(text: str) -> int | str:
    try:
        return text if text == "auto" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be an integer or auto. Got {text!r}") from None


def column(help: str) -> dict[str, Any]:
    """An option that names a column."""
    return {"metavar": "COLUMN", "help": help}


def columns(help: str) -> dict[str, Any]:
    """An option that names a column and may be repeated."""
    return {"metavar": "COLUMN", "action": "append", "help": f"{help}; may be repeated"}


def integer(help: str, default: int | None = None) -> dict[str, Any]:
    """An option that takes an integer."""
    return {"type": int, "metavar": "N", "default": default, "help": help}


# How files are read: parameters of readers of the same names.
FILE: dict[str, dict[str, Any]] = {
    "--text": column("column of the texts (default: text)"),
    "--ids": column("column of document IDs (default: id, if the file has it)"),
    "--groups": column(
        "column of groups, such as authors or outlets, whose documents are not independent"
    ),
    "--tag-separator": {"metavar": "TEXT", "help": "separator of tags in one text, such as ;"},
    "--metadata": {"metavar": "FILE", "help": "table of labels for a folder of texts or counts"},
    "--format": {
        "help": "csv, tsv, jsonl, parquet, arrow, xlsx, dta, ldac, uci, svmlight, mtx or mallet "
        "(default: by the file name)"
    },
    "--encoding": {"help": "encoding of a text file, such as cp1252 (default: utf-8)"},
    "--delimiter": {
        "type": _delimiter,
        "metavar": "CHAR",
        "help": "CSV field delimiter (default: a comma)",
    },
    "--decimal": {"choices": (".", ","), "help": "CSV decimal separator (default: a point)"},
}
LABELS: dict[str, dict[str, Any]] = {
    "--tags": columns("column of tag lists"),
    "--categories": columns("column with one category per document"),
    "--numeric": columns("column of numbers or dates"),
}
# How texts become counts: parameters of TextSettings, and the words of count files.
TEXT: dict[str, dict[str, Any]] = {
    "--words": {
        "metavar": "FILE",
        "help": "words to count, one per line (required for formats that store only counts)",
    },
    "--language": {"help": "language of the stop words, or none (default: english)"},
    "--stop-words": {"metavar": "FILE", "help": "more stop words, one per line"},
    "--stem": {"metavar": "LANGUAGE", "help": "count words by their stems"},
    "--tokenizer": {
        "metavar": "NAME",
        "help": "jieba (Chinese), sudachi (Japanese) or pythainlp (Thai); default: by letters, and "
        "in scripts without spaces by pairs of characters",
    },
    "--ngrams": integer("count phrases of up to N words (default: 1)"),
    "--min-df": {"type": _frequency, "metavar": "N", "help": "minimum documents of a word"},
    "--max-df": {"type": _frequency, "metavar": "N", "help": "maximum documents of a word"},
    "--max-features": integer("keep the N most frequent words"),
}
# Parameters of HDSP.
MODEL: dict[str, dict[str, Any]] = {
    "--n-components": {
        "type": _n_components,
        "metavar": "N",
        "help": "number of topics (default: auto, chosen by held-out words)",
    },
    "--max-components": integer("maximum number of topics when it is chosen (default: 200)"),
    "--scaling": {
        "metavar": "FORMULA",
        "help": 'formula of the labels, such as "~ party * s(day) + (1 | blog)" (default: all '
        "labels, additive)",
    },
    "--content": {
        "metavar": "LABEL",
        "help": "category whose levels use different words for the same topics",
    },
    "--seeds": {
        "metavar": "FILE",
        "help": 'seed words of topics as JSON: {"budget": ["tax", "deficit"]}',
    },
    "--init": {"help": "start: auto, nmf, words, pairs, lda or random (default: auto)"},
    "--topic-prior": {"type": float, "metavar": "X", "help": "prior of words (default: 0.05)"},
    "--random-state": integer("random seed (default: 0)", 0),
    "--max-iter": integer("maximum number of passes (default: 100)"),
    "--tol": {"type": float, "metavar": "X", "help": "tolerance of convergence (default: 0.001)"},
    "--n-jobs": integer("number of threads (default: all cores)"),
    "--checkpoint": {"metavar": "DIR", "help": "save every pass here, and resume from it"},
}
LARGE: dict[str, dict[str, Any]] = {
    "--inference": {"help": "batch (default), or stochastic: steps on batches of documents"},
    "--batch-size": integer("documents per stochastic step (default: by their number)"),
    "--executor": {
        "metavar": "ADDRESS",
        "help": "scheduler address of a Dask cluster, such as tcp://host:8786",
    },
}
# Options of several commands about models.
SHARED: dict[str, dict[str, Any]] = {
    "--n-jobs": MODEL["--n-jobs"],
    "--random-state": MODEL["--random-state"],
    "--level": {
        "type": float,
        "default": 0.9,
        "metavar": "P",
        "help": "confidence level of the intervals (default: 0.9)",
    },
    "--refits": integer(
        "refit topics to N resamples of the documents, so that intervals include the uncertainty "
        "of the topics; 20 are enough"
    ),
    "--all": {"action": "store_true", "help": "print all rows"},
    "--names": {"metavar": "FILE", "help": "topic names saved by a report"},
}


def parameter(option: str) -> str:
    """The parameter of an option: n_jobs of --n-jobs."""
    return option[2:].replace("-", "_")


def add_options(
    parser: argparse._ActionsContainer, options: dict[str, dict[str, Any]], *names: str
) -> None:
    """Add declared options: those of these names, or all."""
    for name in names or options:
        parser.add_argument(name, **options[name])


def chosen(namespace: argparse.Namespace, options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Values of the options that the user passed, by their parameters."""
    values = {parameter(name): getattr(namespace, parameter(name), None) for name in options}
    return {name: value for name, value in values.items() if value is not None}


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
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )
    parser.set_defaults(run=run)
    return parser


def add_files(parser: argparse.ArgumentParser) -> None:
    """Files of documents, their label columns, and how texts become counts."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a table, a folder of texts, a stored corpus or counts; - is standard input",
    )
    add_options(parser.add_argument_group("columns and files"), LABELS | FILE)
    add_options(parser.add_argument_group("texts"), TEXT)


def add_model(
    parser: argparse.ArgumentParser, documents: str | None = None, required: bool = True
) -> None:
    """A model, and documents after it."""
    parser.add_argument("model", metavar="MODEL", help="a model written by hdsp fit")
    if documents is None:
        return
    parser.add_argument(
        "file", metavar="FILE", nargs=None if required else "?", help=f"{documents}; - is stdin"
    )
    group = parser.add_argument_group("documents", "Read as the model's were, unless you say else.")
    add_options(group, FILE)
    add_options(group, SHARED, "--n-jobs")


def add_output(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """A file for a table."""
    parser.add_argument(
        "-o",
        "--output",
        default=default,
        metavar="FILE",
        help="a file to write: .csv, .tsv, .jsonl or .parquet; - is CSV on standard output",
    )
    parser.add_argument(
        "--formulas",
        action="store_true",
        help="write texts that begin like a formula (=, +, -, @) without an apostrophe in CSV",
    )
