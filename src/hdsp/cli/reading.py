"""Options that say how to read a corpus, and reading it."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hdsp.cli.common import add_columns, check_format, file_options, is_stored, reading, source
from hdsp.cli.tables import STANDARD

if TYPE_CHECKING:
    from hdsp.corpus import Corpus, TextSettings


def add_reading(parser: argparse.ArgumentParser) -> None:
    """One or more files, their labels, and how texts become counts."""
    what = "a table, a folder of texts, or another format; - is standard input"
    parser.add_argument("files", nargs="+", metavar="file", help=what)
    labels = parser.add_argument_group("labels")
    for name, help_text in (
        ("--tags", "a column of lists of tags; may be given several times"),
        ("--category", "a column with one category per document; may be given several times"),
        ("--numeric", "a column of numbers or dates; may be given several times"),
    ):
        labels.add_argument(name, action="append", default=[], metavar="COLUMN", help=help_text)
    labels.add_argument(
        "--group",
        metavar="COLUMN",
        help="a table's column of authors, outlets or respondents, whose documents are not "
        "independent",
    )
    text = parser.add_argument_group("text")
    add_columns(labels, text, "such as csv, jsonl or ldac")
    text.add_argument(
        "--vocabulary",
        metavar="FILE",
        help="the words to count, one per line; ldac, uci and mtx need it",
    )
    text.add_argument(
        "--language",
        default="english",
        help="of the stop words, such as german, or none (default english)",
    )
    text.add_argument(
        "--stop-words", metavar="FILE", help="further words to leave out, one per line"
    )
    text.add_argument(
        "--stem", metavar="LANGUAGE", help="count words by their stems, such as in english"
    )
    text.add_argument(
        "--tokenizer",
        metavar="NAME",
        help="jieba (Chinese), sudachi (Japanese) or pythainlp (Thai); default: by letters, and in "
        "scripts without spaces by pairs of characters",
    )
    text.add_argument(
        "--phrases", type=int, default=1, metavar="N", help="count phrases of up to N words"
    )
    text.add_argument("--min-df", type=_frequency, help="least documents (or share) of a word")
    text.add_argument("--max-df", type=_frequency, help="most documents (or share) of a word")
    text.add_argument("--max-words", type=int, metavar="N", help="keep the N most frequent words")


@contextmanager
def opened_corpus(options: argparse.Namespace) -> Iterator["Corpus"]:
    """The corpus that the options ask for: of a file, a stored corpus, or several files.

    Several files become a stored corpus beside the output, which is removed in the end.
    """
    first, *others = options.files
    if not others:
        yield open_stored(first, options) if is_stored(first) else read_corpus(options)
        return
    folder = Path(options.output).absolute().parent
    with TemporaryDirectory(prefix=".hdsp-", dir=folder) as aside:
        yield prepare(options, str(Path(aside) / "corpus"))


def open_stored(folder: str, options: argparse.Namespace) -> "Corpus":
    """Open a stored corpus, for which options of reading mean nothing."""
    from hdsp.corpus import open_corpus

    usual = argparse.ArgumentParser()
    add_reading(usual)
    for action in usual._actions:
        given = getattr(options, action.dest, None)
        if action.option_strings and action.dest != "help" and given != action.default:
            raise ValueError(
                f"{action.option_strings[-1]} means nothing for a stored corpus, whose words and "
                "labels hdsp prepare has chosen: leave it out."
            )
    return open_corpus(folder)


def prepare(options: argparse.Namespace, folder: str, like: object = None) -> "Corpus":
    """Write the documents of all files to a stored corpus."""
    from hdsp.corpus import prepare_corpus

    for file in options.files:
        if not is_table(options, file):
            raise ValueError(
                f"Several files must be tables, and {file} is none: name one file, or a folder."
            )
    if options.group is not None:
        raise ValueError(
            "--group goes with documents that are fitted at once in memory: name one table to "
            "hdsp fit, or leave it out."
        )
    if options.metadata is not None:
        raise ValueError("--metadata means nothing for the format table: leave it out.")
    check_format(options, options.files)
    offered = _arguments(options) | {"folder": folder, "words": options.vocabulary, "like": like}
    offered |= {"ids": _ids(options)}
    offered["text_settings"] = None if like is not None else text_settings(options)
    files = [sys.stdin.buffer if file == STANDARD else file for file in options.files]
    return call_reader(prepare_corpus, files, offered)


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """What readers are told of files and their columns."""
    return file_options(options) | {
        "text": options.text,
        "tags": options.tags,
        "categories": options.category,
        "numeric": options.numeric,
        "tag_separator": options.tag_separator,
        "decimal": options.decimal,
    }


def _ids(options: argparse.Namespace) -> str | None:
    """The column of the documents' names: `id` where it is not named and all tables have it."""
    from hdsp.corpus.readers import table_columns

    if options.id is None and STANDARD not in options.files:
        written = file_options(options)
        has_ids = all("id" in table_columns(file, **written) for file in options.files)
        return "id" if has_ids else None
    return str(options.id) if options.id else None


def read_corpus(options: argparse.Namespace) -> "Corpus":
    """The corpus of the first file, in memory."""
    return read_file(options.files[0], options, text_settings(options))


def read_file(file: str, options: argparse.Namespace, settings: "TextSettings") -> "Corpus":
    """Read the corpus of one file, with texts counted by these settings."""
    if is_stored(file):
        raise ValueError(
            f"{file} is a stored corpus, whose words are chosen: name the files that it was "
            "prepared from."
        )
    read = _reader(options, file)
    takes = signature(read).parameters
    kind = options.format or ("folder" if "id" in takes else "table")
    beside = "metadata" if "metadata" in takes else "labels"
    named = {
        **{"--tags": "tags", "--category": "categories", "--numeric": "numeric"},
        **{"--tag-separator": "tag_separator", "--group": "group", "--metadata": beside},
        **{"--vocabulary": "words", "--delimiter": "delimiter", "--decimal": "decimal"},
    }
    offered = _arguments(options) | {"text_settings": settings, "words": options.vocabulary}
    offered |= {"id": options.id, "ids": options.id, beside: options.metadata}
    offered["group"] = getattr(options, "group", None)
    for option, name in named.items():
        if offered[name] not in (None, [], ".") and name not in takes:
            raise ValueError(f"{option} means nothing for the format {kind}: leave it out.")
    labelled = options.tags or options.category or options.numeric
    if labelled and beside in takes and options.metadata is None:
        raise ValueError(f"Labels of {kind} files are columns of a table: name it with --metadata.")
    # Counts without labels of their own come without words, too.
    if "labels" in takes and options.vocabulary is None:
        raise ValueError(
            f"The words of a {kind} file are in another file: name it with --vocabulary."
        )
    with reading(file):
        return call_reader(read, file if kind == "folder" else source(file), offered)


def call_reader(read: Callable[..., "Corpus"], file: Any, offered: dict[str, Any]) -> "Corpus":
    """Read a file, with those of the arguments that the reader takes and that were asked for."""
    takes = signature(read).parameters
    return read(file, **{k: v for k, v in offered.items() if k in takes and v is not None})


def _reader(options: argparse.Namespace, file: str) -> Callable[..., "Corpus"]:
    """Return the reader of the format that is asked for, or else of a folder or a table."""
    from hdsp.corpus.readers import FORMATS, read_folder, read_table

    if options.format is None:
        return read_folder if file != STANDARD and Path(file).is_dir() else read_table
    if options.format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}. Got {options.format!r}.")
    return FORMATS[options.format]


def is_table(options: argparse.Namespace, file: str) -> bool:
    """Whether a file is a table, which can be read some rows at a time."""
    from hdsp.corpus.readers import read_table

    return _reader(options, file) is read_table


def text_settings(options: argparse.Namespace) -> "TextSettings":
    """How the options have texts become counts."""
    from hdsp.corpus import TextSettings

    return TextSettings(
        language=None if options.language.lower() == "none" else options.language.lower(),
        stop_words=options.stop_words or (),
        stem=None if options.stem is None else options.stem.lower(),
        tokenizer=options.tokenizer,
        ngrams=options.phrases,
        min_df=options.min_df,
        max_df=options.max_df,
        max_features=options.max_words,
    )


def _frequency(text: str) -> int | float:
    """A number of documents, or a share of them where there is a point."""
    return float(text) if "." in text or "e" in text.lower() else int(text)
