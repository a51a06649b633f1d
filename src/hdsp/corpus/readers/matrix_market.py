"""Matrix Market: a sparse matrix of documents by words, "document word count"."""

from collections.abc import Iterator, Sequence

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Names, label_kinds
from hdsp.corpus.readers.columns import short_repr
from hdsp.corpus.readers.common import FileOrPath, FilePath, name_of, open_lines, read_error
from hdsp.corpus.readers.entries import Counts, Vocabulary
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
    counts = Counts(name_of(path), Vocabulary.read(words, like, owner, encoding), first=1)
    with open_lines(path, encoding) as lines:
        width = _width(*next(lines, (1, "")), counts.name)
        header = _size(lines, counts.name)
        counts.add_triples(lines, header, width)
    return counts.corpus(header[0], LabelSource(labels, kinds, owner, tag_separator, encoding))


def _width(number: int, line: str, name: str) -> int:
    """Return the number of numbers per line, which the first line of the file tells."""
    fields = line.lower().split()
    if fields[:2] != ["%%matrixmarket", "matrix"] or len(fields) != 5:
        raise read_error(
            name,
            "the file should begin with '%%MatrixMarket matrix', but begins with "
            f"{short_repr(line)}",
            "write it with scipy.io.mmwrite",
            line=number,
        )
    if fields[2] != "coordinate" or fields[3] not in _FIELDS or fields[4] != "general":
        raise read_error(
            name,
            f"the matrix is {' '.join(fields[2:])[:80]}, and not 'coordinate real general'",
            "write it with scipy.io.mmwrite from a sparse matrix of counts",
            line=number,
        )
    return _FIELDS[fields[3]]


def _size(lines: Iterator[tuple[int, str]], name: str) -> tuple[int, int, int]:
    for number, line in lines:
        if not line.strip() or line.startswith("%"):
            continue
        sizes = [whole_number(field, "a size", name, number) for field in line.split()]
        if len(sizes) == 3:
            return sizes[0], sizes[1], sizes[2]
        raise read_error(
            name,
            "this line should give three sizes, rows, columns and entries, but is "
            f"{short_repr(line)}",
            "write the file with scipy.io.mmwrite",
            line=number,
        )
    raise read_error(name, "it ends before its sizes", "check that it was written in full")
