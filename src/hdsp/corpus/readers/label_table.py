"""Labels from a table beside the file of the documents."""

import os
from dataclasses import dataclass

from hdsp.checks import count_of
from hdsp.corpus.columns import as_labels
from hdsp.corpus.labels import Kind, Labels
from hdsp.corpus.readers.columns import Columns, Wanted
from hdsp.corpus.readers.common import FileOrPath, name_of, read_error
from hdsp.corpus.readers.table_formats import open_table


@dataclass(frozen=True)
class LabelSource:
    """Where the labels of the documents in a file of counts come from.

    Attributes
    ----------
    labels : path, Labels, table, matrix, list or None
        The path of a table with one row per document, or labels in any form that `HDSP.fit`
        takes.
    kinds : dict of str to str
        Kind of the labels, by column of the table.
    owner : str
        The function whose arguments these are, for messages.
    tag_separator : str or None
        What separates tags that are written as one text.
    encoding : str
        The encoding of a table that is a text file.
    """

    labels: object
    kinds: dict[str, Kind]
    owner: str
    tag_separator: str | None = None
    encoding: str = "utf-8"

    def read(self, n_documents: int, documents: str) -> Labels:
        """Read the labels of the documents in the file `documents`."""
        if not isinstance(self.labels, (str, os.PathLike)):
            return as_labels(self.labels, n_documents, self.owner)
        columns = self.columns(self.labels)
        if columns.n_rows != n_documents:
            raise read_error(
                columns.name,
                f"it has {count_of(columns.n_rows, 'row')}, but {documents} has "
                f"{count_of(n_documents, 'document')}",
                "give every document a row, in the same order",
            )
        return columns.labels()

    def columns(self, path: FileOrPath, ids: str | None = None) -> Columns:
        """Read the table's label columns, and its ids where their column is named."""
        if not self.kinds:
            raise ValueError(
                f"`tags`, `categories` or `numeric` of {self.owner} must name the columns to read "
                f"of {name_of(path)}. Got none. Name them, or leave the table out."
            )
        columns = Columns(
            name_of(path), Wanted(self.kinds, ids=ids, tag_separator=self.tag_separator)
        )
        with open_table(path, self.owner, encoding=self.encoding) as (table_format, file):
            columns.take(table_format.batches(file, columns.wanted))
        return columns
