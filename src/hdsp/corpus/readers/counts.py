"""Counts of numbered words (LDA-C, UCI, SVMlight, Matrix Market) and MALLET's texts."""

import io
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial, update_wrapper
from inspect import Signature, signature
from itertools import chain
from pathlib import PurePath
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from hdsp.checks import check_length, count_of
from hdsp.corpus.columns import make_block
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.counting import remap_columns
from hdsp.corpus.frames import as_series
from hdsp.corpus.labels import Kind, Labels, Names, label_kinds
from hdsp.corpus.readers.opening import (
    FileOrPath,
    FilePath,
    as_path,
    as_read_error,
    damaged,
    name_of,
    no_documents,
    open_binary,
    read_error,
    read_lines,
    shortened,
)
from hdsp.corpus.readers.tables import format_of, label_columns
from hdsp.corpus.text import counting_rules, words_like
from hdsp.exceptions import ReadError
from hdsp.numerics import FloatArray

# How the names of files end; those of UCI begin with "docword", too.
COUNT_FORMATS: dict[str, tuple[str, ...]] = {
    "ldac": (".ldac", ".lda-c"),
    "uci": (".uci",),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "mtx": (".mtx",),
    "mallet": (".mallet",),
}
# What applies to some formats only.
_LABEL_OPTIONS = {"metadata", "tags", "categories", "numeric", "tag_separator"}
_OPTIONS = {
    **{name: {"words", *_LABEL_OPTIONS} for name in ("ldac", "uci", "mtx")},
    "svmlight": {"words"},
    "mallet": {"tag_separator", "text_settings"},
}
# Whole numbers up to here are exact as floats.
_LARGEST = 2**53


def read_counts(
    path: FileOrPath,
    words: FilePath | Sequence[str] | None = None,
    metadata: FilePath | None = None,
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    format: str | None = None,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read documents in a format of other topic models.

    Parameters
    ----------
    path : path or binary file object
        The file, which may be compressed. LDA-C has a line "N word:count word:count ..." per
        document, with words numbered from 0. UCI ("docword") has the numbers of documents, words
        and counts on three lines, and then lines "document word count", numbered from 1. SVMlight
        and LIBSVM have lines "1,3 word:count ...", with numbers as labels, and words numbered from
        0 if a 0 occurs; labels are tags if a document has several, otherwise numbers if one has
        decimals, and otherwise categories. Matrix Market has a sparse matrix of documents by words.
        MALLET has lines "id label text".
    words : path or sequence of str, default=None
        The words, or a file with one per line. Without them, the words are those that occur,
        called "w" and their number.
    metadata : path, default=None
        A table with one row per document, in a file that `read_table` could read. Not for
        SVMlight and MALLET, whose files have labels.
    tags, categories, numeric : str or sequence of str, default=()
        Columns of that table, as for `read_table`.
    format : {"ldac", "uci", "svmlight", "mtx", "mallet"}, default=None
        The format; by the file's name if it is None.
    tag_separator : str, default=None
        What separates tags that are written as one text, such as ``";"`` in "a;b". MALLET's label
        is a category without it.
    text_settings : TextSettings, CountVectorizer or callable, default=None
        How MALLET's texts are split into words, as for `read_table`.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are kept, in its order; other words are dropped.
    encoding : str, default="utf-8"
        The encoding of the files.

    Returns
    -------
    Corpus
        The documents, with words and labels.

    Raises
    ------
    ReadError
        If the file is damaged, or not in the format that it should have.
    FileNotFoundError
        If there is no such file.
    """
    owner, name = "read_counts", name_of(path)
    if format is None and PurePath(name).name.lower().startswith("docword"):
        format = "uci"
    kinds = label_kinds(tags, categories, numeric, owner)
    target = words_like(like, owner)
    known = target if words is None else read_words(words, encoding)
    with as_path(path) as source:
        format = format_of(name, format, COUNT_FORMATS, owner)
        if metadata is not None and "metadata" not in _OPTIONS[format]:
            raise ValueError(f"`metadata` of {owner} does not apply to the format {format}.")
        if format == "mallet":
            return _read_mallet(source, encoding, name, tag_separator, text_settings, like)
        labels: Labels | None = None
        if format == "svmlight":
            counts, first, labels = _read_svmlight(source, name)
        elif format == "ldac":
            n_words = _LARGEST if known is None else len(known)
            counts, first = _read_ldac(source, encoding, name, n_words), 0
        else:
            counts, first = _read_matrix(source, encoding, name, format), 1
    n_documents, n_words = counts.shape
    if n_documents == 0:
        raise no_documents(name)
    if known is None:
        present, columns = np.unique(counts.indices, return_inverse=True)
        known = tuple(f"w{number}" for number in (present + first).tolist())
        counts = csr_array((counts.data, columns, counts.indptr), (n_documents, len(present)))
    elif n_words > len(known) or (format != "svmlight" and n_words < len(known)):
        problem = f"it has {count_of(n_words, 'word')}, but `words` has {len(known)}"
        raise read_error(name, problem, "check that the words belong to it")
    else:
        counts = csr_array((counts.data, counts.indices, counts.indptr), (n_documents, len(known)))
    if target is not None and target != known:
        place = {word: number for number, word in enumerate(target)}
        places = np.array([place.get(word, -1) for word in known])
        counts, known = remap_columns(counts, places, len(target)), target
    with as_read_error(name):
        if metadata is not None:
            labels = label_columns(metadata, kinds, owner, tag_separator, encoding).labels()
            check_length(len(labels), n_documents, f"`metadata` of {owner}")
        return Corpus(counts, known, labels)


def reader_of(format: str) -> Callable[..., Corpus]:
    """`read_counts` for a format, with a signature of the parameters that apply to it."""
    read: Any = update_wrapper(partial(read_counts, format=format), read_counts)
    parameters = signature(read_counts).parameters
    names = [name for name in parameters if name in {"path", "like", "encoding"} | _OPTIONS[format]]
    read.__signature__ = Signature([parameters[name] for name in names])
    return cast("Callable[..., Corpus]", read)


def read_words(words: FilePath | Sequence[str], encoding: str) -> tuple[str, ...]:
    """A vocabulary: the words of a file with one word per line, or the given words."""
    if not isinstance(words, (str, os.PathLike)):
        return tuple(words)
    lines = [line.strip() for _, line in read_lines(words, encoding)]
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def _counts(name: str, entries: FloatArray, first: int, shape: tuple[int, int]) -> csr_array:
    """The counts of entries (document, word, count); documents and words count from `first`."""
    positions = entries[:, :2] - first
    for column, what in enumerate(("document", "word")):
        numbers, size = positions[:, column], shape[column]
        valid = (numbers >= 0) & (numbers < size) & (numbers == np.floor(numbers))
        for place in np.flatnonzero(~valid)[:1]:
            problem = (
                f"the number of a {what} should be a whole number from {first} to "
                f"{size + first - 1}, but is {entries[place, column]:.16g} in count {place + 1}"
            )
            remedy = "check that the header and the words belong to this file"
            raise read_error(name, problem, remedy)
    return csr_array((entries[:, 2], positions.astype(np.int64).T), shape=shape)


def _read_ldac(path: FilePath, encoding: str, name: str, n_words: int) -> csr_array:
    """Lines with the number of distinct words, and the number and count of each."""
    rows: list[FloatArray] = []
    for line_number, line in read_lines(path, encoding, name):
        try:
            numbers = np.array(line.replace(":", " ").split(), dtype=np.float64)
        except ValueError as error:
            problem = f"this is not a line of numbers ({shortened(str(error))})"
            raise read_error(name, problem, "write 'N word:count ...'", line_number) from error
        if len(numbers) and len(numbers) != 1 + 2 * numbers[0]:
            problem = f"the line begins with {numbers[0]:.16g}, but has {len(numbers) - 1} numbers"
            raise read_error(name, f"{problem} after it", "write two for each word", line_number)
        if len(numbers):
            rows.append(numbers[1:].reshape(-1, 2))
    documents = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    entries = np.column_stack([documents, np.concatenate([np.zeros((0, 2)), *rows])])
    return _counts(name, entries, 0, (len(rows), n_words))


def _read_matrix(path: FilePath, encoding: str, name: str, format: str) -> csr_array:
    """Sizes (documents, words, counts), and lines "document word count" of UCI or Matrix Market."""
    lines = (line for _, line in read_lines(path, encoding, name))
    width = 3
    if format == "mtx":
        banner = next(lines, "")
        fields = banner.lower().split()
        if fields[:3] != ["%%matrixmarket", "matrix", "coordinate"] or fields[-1] != "general":
            problem = f"the file begins with {shortened(repr(banner))}"
            remedy = "write a sparse matrix of counts with scipy.io.mmwrite"
            raise read_error(name, problem, remedy, line=1)
        width = 2 if "pattern" in fields else 3
    body = (line for line in lines if line.strip() and not line.startswith("%"))
    sizes: list[str] = []
    while len(sizes) < 3:
        sizes += next(body, "missing missing missing").split()
    try:
        n_documents, n_words, n_counts = map(int, sizes)
        first = next(body, None)
        numbers = np.zeros((0, width))
        if first is not None:
            numbers = np.loadtxt(chain([first], body), ndmin=2, comments=None)
    except ReadError:
        raise
    except ValueError as error:
        raise damaged(name, error) from error
    # Some documents have no words, but not nine out of ten; and a wrong header must not make us
    # allocate memory.
    if numbers.shape != (n_counts, width) or n_documents > 1000 + 10 * n_counts:
        problem = (
            f"the header says {n_documents} documents and {n_counts} counts, but there are "
            f"{len(numbers)} lines of {count_of(numbers.shape[1], 'number')}"
        )
        raise read_error(name, problem, f"write {width} numbers per line, and all lines")
    entries = np.column_stack([numbers, np.ones(n_counts)])[:, :3]
    return _counts(name, entries, 1, (n_documents, n_words))


def _read_svmlight(path: FilePath, name: str) -> tuple[csr_array, int, Labels]:
    """Counts and labels by scikit-learn, and the number of the first word."""
    from sklearn.datasets import load_svmlight_file

    with open_binary(path, name) as source:
        data = io.BytesIO(source.stream.read())
    try:
        counts, targets = load_svmlight_file(data, zero_based=True, multilabel=True)
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        raise damaged(name, error) from error
    counts, first = csr_array(counts), 0
    if counts.indices.min(initial=1) > 0:
        counts, first = counts[:, 1:], 1
    kind: Kind = "tags"
    rows: list[Any] = [list(target) for target in targets]
    if max(map(len, rows), default=0) <= 1:
        rows = [row[0] if row else None for row in rows]
        whole = all(row is None or float(row).is_integer() for row in rows)
        kind = "category" if whole else "number"
    with as_read_error(name):
        block = make_block("labels", kind, as_series(rows), name)
    return counts, first, Labels((block,), len(rows))


def _read_mallet(
    path: FilePath,
    encoding: str,
    name: str,
    tag_separator: str | None,
    text_settings: object,
    like: object,
) -> Corpus:
    ids: list[str] = []
    labels: list[str] = []

    def texts() -> Iterator[str]:
        for number, line in read_lines(path, encoding, name):
            fields = line.split(maxsplit=2)
            if len(fields) == 1:
                problem = f"a line should have an id, a label and a text, but is {fields[0]!r}"
                raise read_error(name, shortened(problem), "write 'id label text'", line=number)
            if fields:
                ids.append(fields[0])
                labels.append(fields[1])
                yield "".join(fields[2:])
        if not ids:
            raise no_documents(name)

    settings, words = counting_rules(text_settings, like, "read_counts")
    with as_read_error(name):
        counts, words = settings.count(texts(), words)
    kind: Kind = "category" if tag_separator is None else "tags"
    block = make_block("label", kind, as_series(labels), name, tag_separator)
    return Corpus(counts, words, Labels((block,), len(ids)), text_settings=settings, ids=ids)
