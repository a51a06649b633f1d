"""Corpora from files; every `read_*` function returns a `Corpus`."""

from collections.abc import Callable

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.readers.counts import COUNT_FORMATS, read_counts, reader_of
from hdsp.corpus.readers.folder import read_folder
from hdsp.corpus.readers.tables import TABLE_FORMATS, read_table

# The reader of every format, by the format's name on the command line.
FORMATS: dict[str, Callable[..., Corpus]] = {
    **dict.fromkeys(TABLE_FORMATS, read_table),
    "folder": read_folder,
    **{name: reader_of(name) for name in COUNT_FORMATS},
}

__all__ = ["FORMATS", "read_counts", "read_folder", "read_table"]
