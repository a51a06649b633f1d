"""Matrix Market: a sparse matrix of documents by words, "document word count"."""

from collections.abc import Sequence

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Names, label_kinds
from hdsp.corpus.readers.columns import short_repr
from hdsp.corpus.readers.common import FileOrPath, FilePath, Lines, read_error
from hdsp.corpus.readers.entries import open_counts
from hdsp.corpus.readers.label_table import LabelSource
from hdsp.corpus.readers.numbers import whole_number

_FIELDS = {"real": 3, "double": 3, "integer": 3, "unsigned-integer": 3, "pattern": 2}


def read_matrix_market(
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
    """Read a sparse matrix of counts, documents by words, in the Matrix Market format.

    `scipy.io.mmread` is not used: it allocates memory by the header without a check, ignores
    what is left over in a line, and crashes the interpreter at a damaged byte.

    Parameters
    ----------
    path : path or binary file object
        An ".mtx" file of a general matrix in coordinates. It may be compressed.
    words : path or sequence of str, default=None
        A file with one word per line, or the words. Without them, the words are those that occur,
        called "w" and their column, from 1.
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
    owner = "read_matrix_market"
    kinds = label_kinds(tags, categories, numeric, owner)
    with open_counts(path, words, like, owner, encoding, first=1) as counts:
        width = _width(counts.lines)
        sizes = _sizes(counts.lines)
        counts.add_triples(sizes, width)
        source = LabelSource(labels, kinds, owner, tag_separator, encoding)
        return counts.corpus(sizes[0], source)


def _width(lines: Lines) -> int:
    """Return the number of numbers per line, which the first line of the file tells."""
    line = next(iter(lines), "")
    fields = line.lower().split()
    if fields[:2] != ["%%matrixmarket", "matrix"] or len(fields) != 5:
        raise lines.error(
            "the file should begin with '%%MatrixMarket matrix', but begins with "
            f"{short_repr(line)}",
            "write it with scipy.io.mmwrite",
        )
    if fields[2] != "coordinate" or fields[3] not in _FIELDS or fields[4] != "general":
        raise lines.error(
            f"the matrix is {' '.join(fields[2:])[:80]}, and not 'coordinate real general'",
            "write it with scipy.io.mmwrite from a sparse matrix of counts",
        )
    return _FIELDS[fields[3]]


def _sizes(lines: Lines) -> list[int]:
    for line in lines:
        if not line.strip() or line.startswith("%"):
            continue
        sizes = [whole_number(field, "a size", lines) for field in line.split()]
        if len(sizes) == 3:
            return sizes
        raise lines.error(
            "this line should give three sizes, rows, columns and entries, but is "
            f"{short_repr(line)}",
            "write the file with scipy.io.mmwrite",
        )
    raise read_error(lines.name, "it ends before its sizes", "check that it was written in full")
