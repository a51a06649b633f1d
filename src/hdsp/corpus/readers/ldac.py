"""LDA-C: one document per line, "N word:count word:count ...", words numbered from 0."""

from collections.abc import Iterator, Sequence

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Names, label_kinds
from hdsp.corpus.readers.common import FileOrPath, FilePath, Lines
from hdsp.corpus.readers.entries import open_counts
from hdsp.corpus.readers.label_table import LabelSource
from hdsp.corpus.readers.numbers import pair_fields, whole_number


def read_ldac(
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
    """Read counts in the format of Blei's LDA-C, which gensim and others write too.

    Parameters
    ----------
    path : path or binary file object
        A file with one document per line: the number of distinct words in it, and then
        "word:count" for each, with words numbered from 0. It may be compressed.
    words : path or sequence of str, default=None
        A file with one word per line, or the words. Without them, the words are those that occur,
        called "w" and their number.
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
        One document per line, with words and labels.
    """
    owner = "read_ldac"
    kinds = label_kinds(tags, categories, numeric, owner)
    with open_counts(path, words, like, owner, encoding, first=0) as counts:
        n_documents = counts.add_lines(_documents(counts.lines))
        source = LabelSource(labels, kinds, owner, tag_separator, encoding)
        return counts.corpus(n_documents, source)


def _documents(lines: Lines) -> Iterator[list[str]]:
    for line in lines.each_with("a document"):
        size, *pairs = line.split()
        if whole_number(size, "the number of distinct words", lines) != len(pairs):
            raise lines.error(
                f"the line begins with {size}, but has {len(pairs)} pairs of word and count",
                "check that it was written in full",
            )
        yield pair_fields(pairs, lines)
