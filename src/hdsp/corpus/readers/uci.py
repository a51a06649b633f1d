"""The bag-of-words format of the UCI repository: "document word count", numbered from 1."""

from collections.abc import Sequence

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Names, label_kinds
from hdsp.corpus.readers.common import FileOrPath, FilePath, read_error
from hdsp.corpus.readers.entries import open_counts
from hdsp.corpus.readers.label_table import LabelSource
from hdsp.corpus.readers.numbers import whole_number

_HEADER = ("documents", "words", "counts")


def read_uci(
    path: FileOrPath,
    words: FilePath | Sequence[str] | None = None,
    labels: object = None,
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    tag_separator: str | None = None,
    like: object = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read counts in the bag-of-words format of the UCI machine learning repository.

    Parameters
    ----------
    path : path or binary file object
        The "docword" file: the numbers of documents, words and counts on three lines, and then a
        line "document word count" for every count. Documents and words are numbered from 1. It
        may be compressed.
    words : path or sequence of str, default=None
        The "vocab" file with one word per line, or the words. Without them, the words are those
        that occur, called "w" and their number.
    labels : path, Labels, table, matrix, list or None, default=None
        A table with one row per document, in a file that `read_table` could read; or labels in
        any form that `HDSP.fit` takes.
    tags, categories, numeric : str or sequence of str, default=()
        Columns of that table, as for `read_table`.
    tag_separator : str, default=None
        What separates tags that are written as one text, such as ``";"`` in "a;b".
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are kept, in its order; other words are dropped.
    encoding : str, default="utf-8"
        The encoding of the files.

    Returns
    -------
    Corpus
        The counts, with words and labels.
    """
    owner = "read_uci"
    kinds = label_kinds(tags, categories, numeric, owner)
    with open_counts(path, words, like, owner, encoding, first=1) as counts:
        header = [
            whole_number(line.strip(), f"the number of {what}", counts.lines)
            for what, line in zip(_HEADER, counts.lines, strict=False)
        ]
        if len(header) < len(_HEADER):
            raise read_error(
                counts.lines.name,
                f"it ends before the number of {_HEADER[len(header)]}",
                "check that it was written in full",
            )
        counts.add_triples(header)
        source = LabelSource(labels, kinds, owner, tag_separator, encoding)
        return counts.corpus(header[0], source)
