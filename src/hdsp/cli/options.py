"""Declarations of commands, and of options that several commands share."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


class Option(NamedTuple):
    """An option: its flag, the name of its value, help, and how the value is read."""

    flag: str
    metavar: str | None
    help: str
    type: Callable[[str], Any] = str
    default: Any = None
    choices: tuple[str, ...] | None = None
    repeated: bool = False

    @property
    def parameter(self) -> str:
        """The parameter of the option: n_jobs of --n-jobs."""
        return self.flag[2:].replace("-", "_")

    def add(self, parser: argparse._ActionsContainer) -> None:
        """Add the option to a parser."""
        if self.metavar is None and self.choices is None:
            parser.add_argument(self.flag, action="store_true", help=self.help)
            return
        parser.add_argument(
            self.flag,
            metavar=self.metavar,
            help=f"{self.help}; may be repeated" if self.repeated else self.help,
            type=self.type,
            default=self.default,
            choices=self.choices,
            action="append" if self.repeated else "store",
        )


# How files are read: parameters of readers.
FILE = (
    Option("--text", "COLUMN", "column of the texts (default: text)"),
    Option("--ids", "COLUMN", "column of document IDs (default: id, if the file has it)"),
    Option("--groups", "COLUMN", "column of groups, such as authors, of dependent documents"),
    Option("--tag-separator", "TEXT", "separator of tags in one text, such as ;"),
    Option("--metadata", "FILE", "table of labels for a folder of texts or counts"),
    Option(
        "--format",
        "NAME",
        "csv, tsv, jsonl, parquet, arrow, xlsx, dta, ldac, uci, svmlight, mtx or mallet (default: "
        "by the file name)",
    ),
    Option("--encoding", "NAME", "encoding of a text file, such as cp1252 (default: utf-8)"),
    Option("--delimiter", "CHAR", "CSV field delimiter (default: a comma)", _delimiter),
    Option("--decimal", None, "CSV decimal separator (default: a point)", choices=(".", ",")),
)
LABELS = (
    Option("--tags", "COLUMN", "column of tag lists", repeated=True),
    Option("--categories", "COLUMN", "column with one category per document", repeated=True),
    Option("--numeric", "COLUMN", "column of numbers or dates", repeated=True),
)
WORDS = Option("--words", "FILE", "words to count, one per line (counts without words need it)")
# How texts become counts: parameters of TextSettings.
TEXT = (
    Option("--language", "NAME", "language of the stop words, or none (default: english)"),
    Option("--stop-words", "FILE", "more stop words, one per line"),
    Option("--stem", "LANGUAGE", "count words by their stems"),
    Option(
        "--tokenizer",
        "NAME",
        "jieba (Chinese), sudachi (Japanese) or pythainlp (Thai); default: by letters, and in "
        "scripts without spaces by pairs of characters",
    ),
    Option("--ngrams", "N", "count phrases of up to N words (default: 1)", int),
    Option("--min-df", "N", "minimum documents of a word", _frequency),
    Option("--max-df", "N", "maximum documents of a word", _frequency),
    Option("--max-features", "N", "keep the N most frequent words", int),
)
N_COMPONENTS = Option(
    "--n-components", "N", "number of topics (default: auto, by held-out words)", _n_components
)
RANDOM_STATE = Option("--random-state", "N", "random seed (default: 0)", int, 0)
N_JOBS = Option("--n-jobs", "N", "number of threads (default: all cores)", int)
# Parameters of HDSP.
MODEL = (
    N_COMPONENTS,
    Option("--max-components", "N", "maximum number of topics (default: 200)", int),
    Option(
        "--scaling",
        "FORMULA",
        'formula of the labels, such as "~ party * s(day) + (1 | blog)" (default: all labels, '
        "additive)",
    ),
    Option("--content", "LABEL", "category whose levels use different words in the same topics"),
    Option("--seeds", "FILE", 'seed words of topics as JSON: {"budget": ["tax", "deficit"]}'),
    Option("--init", "NAME", "start: auto, nmf, words, pairs, lda or random (default: auto)"),
    Option("--topic-prior", "X", "prior of words in topics (default: 0.05)", float),
    RANDOM_STATE,
    Option("--max-iter", "N", "maximum number of passes (default: 100)", int),
    Option("--tol", "X", "tolerance of convergence (default: 0.001)", float),
    N_JOBS,
    Option("--checkpoint", "DIR", "save every pass here, and resume from it"),
)
LARGE = (
    Option("--inference", "NAME", "batch (default), or stochastic: steps on document batches"),
    Option("--batch-size", "N", "documents per stochastic step (default: by their number)", int),
    Option("--executor", "ADDRESS", "scheduler of a Dask cluster, such as tcp://host:8786"),
)
# Options of several commands about models.
LEVEL = Option("--level", "P", "confidence level of the intervals (default: 0.9)", float, 0.9)
REFITS = Option(
    "--refits",
    "N",
    "refit topics to N resamples of the documents, so that intervals include the uncertainty of "
    "the topics; 20 are enough",
    int,
)
ALL = Option("--all", None, "print all rows")
NAMES = Option("--names", "FILE", "topic names saved by a report")
N_WORDS = Option("--n-words", "N", "words per topic or label (default: 8)", int, 8)
FORMULA = Option("--formula", "FORMULA", "labels of another regression, columns of FILE")


def add_options(parser: argparse._ActionsContainer, *options: Option) -> None:
    """Add options to a parser."""
    for option in options:
        option.add(parser)


def chosen(namespace: argparse.Namespace, *options: Option) -> dict[str, Any]:
    """Values of the options that the user passed, by their parameters."""
    values = {option.parameter: getattr(namespace, option.parameter, None) for option in options}
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
    Option("--json", None, "print one JSON object and nothing else").add(parser)
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
    add_options(parser.add_argument_group("columns and files"), *LABELS, *FILE)
    add_options(parser.add_argument_group("texts"), WORDS, *TEXT)


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
    group = parser.add_argument_group("documents", "By default, read as the model's were.")
    add_options(group, *FILE, N_JOBS)


def add_output(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """A file for a table."""
    parser.add_argument(
        "-o",
        "--output",
        default=default,
        metavar="FILE",
        help="a file to write: .csv, .tsv, .jsonl or .parquet; - is CSV on standard output",
    )
    Option("--formulas", None, "write =, +, - and @ without an apostrophe in CSV").add(parser)
