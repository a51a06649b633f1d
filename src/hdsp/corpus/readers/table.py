"""Tables: one row a document, in CSV, TSV, JSON Lines, Parquet or Arrow."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.counting import counting_rules
from hdsp.corpus.labels import Kind, Labels
from hdsp.corpus.parsing import as_labels
from hdsp.corpus.readers.columnar import arrow_batches, parquet_batches
from hdsp.corpus.readers.columns import Batch, Columns, Names, Wanted, label_kinds
from hdsp.corpus.readers.common import FileOrPath, check_file, name_of, open_binary, read_error
from hdsp.corpus.readers.delimited import delimited_batches
from hdsp.corpus.readers.json_lines import json_batches
from hdsp.corpus.readers.texts import corpus_of_texts
from hdsp.validation import count_of, quoted

SUFFIXES = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")


def read_table(
    path: FileOrPath,
    text: str = "text",
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    format: str | None = None,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    ids: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Corpus:
    """Read a table with one document a row.

    Only the named columns are read, and the texts are counted as they come, so that they are
    never in memory together. A row without text is an empty document, so that the corpus has a
    document for every row. Without names of label columns there are no labels.

    Parameters
    ----------
    path
        A CSV, TSV, JSON Lines, Parquet, Arrow or Feather file, or a binary file object such as
        ``sys.stdin.buffer``. gzip, bzip2, xz and Zstandard are undone.
    text
        Column of the texts.
    tags
        Columns of lists of tags; or of lists written as JSON; or of text in which
        `tag_separator` stands between tags.
    categories
        Columns with one category a document.
    numeric
        Columns of numbers or dates; dates count in years.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"parquet"`` or ``"arrow"``; by the file's name if
        left out.
    tag_separator
        Such as ``";"`` where the tags of a document are written "a;b".
    text_settings
        How texts are cut into words and which are counted: `TextSettings`, a scikit-learn
        `CountVectorizer`, or a function from a text to its words.
    like
        A `Corpus` or a fitted `HDSP` whose words are counted, in its order and its way; other
        words are dropped.
    ids
        Column of the documents' names.
    encoding
        That of a text file.
    delimiter
        What stands between the values of a CSV file, if not a comma.

    Raises
    ------
    ReadError
        Where the file is not what it should be.
    FileNotFoundError
        Where there is no such file.
    """
    owner = "read_table"
    kinds = label_kinds(tags, categories, numeric, owner)
    columns = Columns(name_of(path), Wanted(kinds, text, ids, tag_separator))
    rules = counting_rules(text_settings, like, owner)
    with open_table(path, columns.wanted, owner, format, encoding, delimiter) as batches:
        return corpus_of_texts(
            columns.name,
            columns.texts(batches),
            rules,
            lambda: (columns.labels(), columns.ids()),
            f"column {text!r}",
        )


@contextmanager
def open_table(
    path: FileOrPath,
    wanted: Wanted,
    owner: str,
    format: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Iterator[Iterator[Batch]]:
    """Open a table as batches of its wanted columns."""
    name = name_of(path)
    if isinstance(path, (str, os.PathLike)):
        # Before its name is asked for a format: a file that is not there has a simpler fault.
        check_file(path)
    kind = format_of(name, owner) if format is None else format
    if kind not in SUFFIXES:
        raise ValueError(
            f"`format` of {owner} must be one of {quoted(SUFFIXES)}. Got {format!r}. "
            "Leave it out to go by the file's name."
        )
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(
            f"`delimiter` of {owner} must be one character. Got {delimiter!r}. "
            "Pass one such as ';', or leave it out for a comma."
        )
    with open_binary(path) as stream:
        if kind == "parquet":
            yield parquet_batches(stream, name, wanted)
        elif kind == "arrow":
            yield arrow_batches(stream, name, wanted)
        elif kind == "jsonl":
            yield json_batches(stream, name, wanted.columns, encoding)
        else:
            between = delimiter or ("," if kind == "csv" else "\t")
            yield delimited_batches(stream, name, wanted.columns, encoding, between)


def format_of(name: str, owner: str) -> str:
    """Return the format that a file's name tells."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    for kind, known in SUFFIXES.items():
        if suffixes and suffixes[-1] in known:
            return kind
    raise read_error(
        name,
        f"the name does not tell {owner} which format the file has",
        f"pass `format`, one of {quoted(SUFFIXES)}",
    )


@dataclass(frozen=True)
class LabelSource:
    """Where the labels of documents are that another file counts.

    Parameters
    ----------
    labels
        The path of a table with one row a document; or labels in any form that `as_labels` reads.
    kinds
        Kind of labels by column of the table.
    owner
        Whose arguments these are, for messages.
    tag_separator, encoding
        As of `read_table`.
    """

    labels: object
    kinds: dict[str, Kind]
    owner: str
    tag_separator: str | None = None
    encoding: str = "utf-8"

    def read(self, n_documents: int, counted: str) -> Labels:
        """Read the labels of the documents of the file `counted`."""
        if not isinstance(self.labels, (str, os.PathLike)):
            return as_labels(self.labels, n_documents, self.owner)
        columns = self.columns(self.labels)
        if columns.n_rows != n_documents:
            raise read_error(
                columns.name,
                f"it has {count_of(columns.n_rows, 'row')}, but {counted} has "
                f"{count_of(n_documents, 'document')}",
                "give every document a row, in the same order",
            )
        return columns.labels()

    def columns(self, path: FileOrPath, ids: str | None = None) -> Columns:
        """Read the table's label columns, and its ids where they are named."""
        if not self.kinds:
            raise ValueError(
                f"`tags`, `categories` or `numeric` of {self.owner} must name the columns to read "
                f"of {name_of(path)}. Got none. Name them, or leave the table out."
            )
        columns = Columns(
            name_of(path), Wanted(self.kinds, ids=ids, tag_separator=self.tag_separator)
        )
        with open_table(path, columns.wanted, self.owner, encoding=self.encoding) as batches:
            columns.take(batches)
        return columns
