"""Options that say how to read a corpus, and reading it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp.cli.common import reading, source

if TYPE_CHECKING:
    from hdsp.corpus import Corpus, TextSettings

_TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")
_COUNTED = ("ldac", "uci", "svmlight", "mtx")
_OTHERS = ("folder", "mallet", *_COUNTED)


def add_reading(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """The file (or one or more `files`), its labels, and how texts become counts."""
    what = "a table, a folder of texts, or another format; - is standard input"
    if several:
        parser.add_argument("files", nargs="+", metavar="file", help=what)
    else:
        parser.add_argument("file", help=what)
    labels = parser.add_argument_group("labels")
    for name, help_text in (
        ("--tags", "a column of lists of tags; may be given several times"),
        ("--category", "a column with one category per document; may be given several times"),
        ("--numeric", "a column of numbers or dates; may be given several times"),
    ):
        labels.add_argument(name, action="append", default=[], metavar="COLUMN", help=help_text)
    labels.add_argument("--tag-separator", help="between tags written as one text, such as ;")
    labels.add_argument("--metadata", metavar="FILE", help="a table of labels beside the file")
    labels.add_argument("--id", default="id", help="its column of file names (default: id)")
    text = parser.add_argument_group("text")
    text.add_argument("--text", default="text", help="the column of the texts (default: text)")
    text.add_argument("--format", choices=(*_TABLES, *_OTHERS), help="else by the file's name")
    text.add_argument("--vocabulary", metavar="FILE", help="the words, of ldac, uci and mtx files")
    text.add_argument(
        "--language", default="english", help="english, or none for no stop words (default english)"
    )
    text.add_argument(
        "--stop-words", metavar="FILE", help="further words to leave out, one per line"
    )
    text.add_argument("--phrases", type=int, default=1, metavar="N", help="count up to N words")
    text.add_argument("--min-df", type=_frequency, help="least documents (or share) of a word")
    text.add_argument("--max-df", type=_frequency, help="most documents (or share) of a word")
    text.add_argument("--max-words", type=int, metavar="N", help="keep the N most frequent words")


def read_corpus(options: argparse.Namespace) -> "Corpus":
    """The corpus that the options ask for."""
    with reading(options.file):
        return read_file(options.file, options, text_settings(options))


def read_file(file: str, options: argparse.Namespace, settings: "TextSettings") -> "Corpus":
    """The corpus of one file, with texts counted by these settings."""
    from hdsp.corpus import readers

    labels: dict[str, Any] = {
        "tags": options.tags,
        "categories": options.category,
        "numeric": options.numeric,
    }
    kind = options.format
    if kind is None and file != "-" and Path(file).is_dir():
        kind = "folder"
    if kind is None or kind in _TABLES:
        return readers.read_table(
            source(file),
            text=options.text,
            format=kind,
            tag_separator=options.tag_separator,
            text_settings=settings,
            **labels,
        )
    if kind == "mallet":
        return readers.read_mallet(source(file), text_settings=settings)
    if kind == "svmlight":
        return readers.read_svmlight(source(file))
    if options.metadata is None and any(labels.values()):
        raise ValueError(f"Labels of {kind} files are columns of a table: name it with --metadata.")
    if kind == "folder":
        return readers.read_folder(
            file,
            options.metadata,
            id=options.id,
            text_settings=settings,
            tag_separator=options.tag_separator,
            **labels,
        )
    if options.vocabulary is None:
        raise ValueError(
            f"The words of a {kind} file are in another file: name it with --vocabulary."
        )
    read = {"ldac": readers.read_ldac, "uci": readers.read_uci, "mtx": readers.read_matrix_market}[
        kind
    ]
    return read(
        file,
        options.vocabulary,
        options.metadata,
        tag_separator=options.tag_separator,
        **labels,
    )


def text_settings(options: argparse.Namespace) -> "TextSettings":
    """How the options have texts become counts."""
    from hdsp.corpus import TextSettings

    return TextSettings(
        language=None if options.language.lower() == "none" else options.language,
        stop_words=options.stop_words or (),
        ngrams=options.phrases,
        min_df=options.min_df,
        max_df=options.max_df,
        max_features=options.max_words,
    )


def is_counted(options: argparse.Namespace) -> bool:
    """Whether the format holds counts, so that there are no texts to choose words of."""
    return options.format in _COUNTED


def _frequency(text: str) -> int | float:
    """A number of documents, or a share of them where there is a point."""
    return float(text) if "." in text or "e" in text.lower() else int(text)
