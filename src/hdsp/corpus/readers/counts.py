"""Counts of numbered words (LDA-C, UCI, SVMlight, Matrix Market) and MALLET's texts."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import Signature, signature
from itertools import chain
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from hdsp.checks import LARGEST_COUNT, count_of, quoted
from hdsp.corpus.columns import as_labels, level_name, make_block
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import KINDS, Kind, Labels, Names, label_kinds
from hdsp.corpus.readers.opening import (
    FileOrPath,
    FilePath,
    Lines,
    as_read_error,
    check_file,
    name_of,
    no_documents,
    open_lines,
    read_error,
    shortened,
    spooled,
)
from hdsp.corpus.readers.tables import corpus_of_texts, label_columns, suffix_of
from hdsp.corpus.text import counting_rules, words_like
from hdsp.exceptions import ReadError
from hdsp.numerics import BoolArray, FloatArray, IntArray, csr_from_entries

# How the names of files end; those of UCI begin with "docword", too.
COUNT_FORMATS = {
    "ldac": (".ldac", ".lda-c"),
    "uci": (".uci",),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "mtx": (".mtx",),
    "mallet": (".mallet",),
}
_LABEL_OPTIONS = {"labels", "tags", "categories", "numeric", "tag_separator"}
_OPTIONS = {
    **{name: {"words", *_LABEL_OPTIONS} for name in ("ldac", "uci", "mtx")},
    "svmlight": {"words", "kind", "zero_based"},
    "mallet": {"tag_separator", "text_settings"},
}
# Whole numbers up to here are exact as floats.
_LARGEST = 2**53


def read_counts(
    path: FileOrPath,
    words: FilePath | Sequence[str] | None = None,
    labels: object = None,
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    format: str | None = None,
    kind: Kind = "tags",
    zero_based: bool | Literal["auto"] = "auto",
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
        and LIBSVM have lines "label,label word:count ...". Matrix Market has a sparse matrix of
        documents by words. MALLET has lines "id label text".
    words : path or sequence of str, default=None
        The words, or a file with one per line. Without them, the words are those that occur,
        called "w" and their number.
    labels : path, Labels, table, matrix, list or None, default=None
        A table with one row per document, in a file that `read_table` could read; or labels in
        any form that `HDSP.fit` takes. Not for SVMlight and MALLET, whose files have labels.
    tags, categories, numeric : str or sequence of str, default=()
        Columns of that table, as for `read_table`.
    format : {"ldac", "uci", "svmlight", "mtx", "mallet"}, default=None
        The format; by the file's name if it is None.
    kind : {"tags", "category", "number"}, default="tags"
        What the labels of SVMlight are.
    zero_based : bool or "auto", default="auto"
        Whether the words of SVMlight are numbered from 0; with "auto" they are if a 0 occurs.
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
    if isinstance(path, (str, os.PathLike)):
        check_file(path)
    format = format or _format_of(name)
    if format not in COUNT_FORMATS:
        raise ValueError(
            f"`format` of {owner} must be one of {quoted(COUNT_FORMATS)}. Got {format!r}."
        )
    given = {"words": words, "labels": labels, "tags": tags, "categories": categories}
    given |= {"numeric": numeric, "tag_separator": tag_separator, "text_settings": text_settings}
    given |= {"kind": kind != "tags" or None, "zero_based": zero_based != "auto" or None}
    for option, value in given.items():
        if value not in (None, (), []) and option not in _OPTIONS[format]:
            raise ValueError(f"`{option}` of {owner} does not apply to the format {format}.")
    if kind not in KINDS:
        raise ValueError(f"`kind` of {owner} must be one of {quoted(KINDS)}. Got {kind!r}.")
    kinds = label_kinds(tags, categories, numeric, owner)
    with spooled(path) as source, open_lines(source, encoding, name) as lines:
        if format == "mallet":
            return _read_mallet(lines, tag_separator, text_settings, like, owner)
        target = words_like(like, owner)
        known = target if words is None else read_words(words, encoding)
        counted = _COUNTED[format](lines, None if known is None else len(known), zero_based)
    if format == "svmlight":
        found = _svmlight_labels(counted.labels, kind, name)
    elif isinstance(labels, (str, os.PathLike)):
        table = label_columns(labels, kinds, owner, tag_separator, encoding)
        if table.n_rows != counted.n_documents:
            raise read_error(
                table.name,
                f"it has {count_of(table.n_rows, 'row')}, but {name} has "
                f"{count_of(counted.n_documents, 'document')}",
                "give every document a row, in the same order",
            )
        found = table.labels()
    else:
        found = as_labels(labels, counted.n_documents, owner)
    return _corpus(name, counted, known, target, found)


def reader_of(format: str) -> Callable[..., Corpus]:
    """`read_counts` for a format, with a signature of the parameters that apply to it."""
    read: Any = partial(read_counts, format=format)
    parameters = signature(read_counts).parameters
    names = [name for name in parameters if name in {"path", "like", "encoding"} | _OPTIONS[format]]
    read.__signature__ = Signature([parameters[name] for name in names])
    return cast("Callable[..., Corpus]", read)


def _format_of(name: str) -> str:
    """The format that a file's name shows."""
    if PurePath(name).name.lower().startswith("docword"):
        return "uci"
    for format_name, suffixes in COUNT_FORMATS.items():
        if suffix_of(name) in suffixes:
            return format_name
    raise read_error(
        name,
        "the name does not show read_counts which format the file has",
        f"pass `format`, one of {quoted(COUNT_FORMATS)}",
    )


class _Counted(NamedTuple):
    """Counts (document, word, count) as a file has them, documents from 0, words from `first`."""

    documents: IntArray
    words: FloatArray
    counts: FloatArray
    n_documents: int
    first: int
    labels: Sequence[str] = ()


def read_words(words: FilePath | Sequence[str] | None, encoding: str) -> tuple[str, ...] | None:
    """A vocabulary: the words of a file with one word per line, or the given words."""
    if words is None:
        return None
    if not isinstance(words, (str, os.PathLike)):
        return tuple(words)
    line_of: dict[str, int] = {}
    with open_lines(words, encoding) as lines:
        for line in lines.each_with("a word"):
            word = line.strip()
            if word in line_of:
                raise lines.error(
                    f"the word {word!r} is also on line {line_of[word]}",
                    "remove or rename one, both there and in the counts",
                )
            line_of[word] = lines.number
    return tuple(line_of)


def _pairs(tokens: Sequence[str], lines: Lines) -> FloatArray:
    """The numbers of tokens such as "17:3"."""
    try:
        numbers = np.array([token.split(":") for token in tokens], dtype=np.float64)
        return numbers.reshape(len(tokens), 2)
    except ValueError as error:
        problem = f"this line should have pairs 'word:count', but has {' '.join(tokens)}"
        raise lines.error(shortened(problem), "write numbers only") from error


def _of_lines(rows: Sequence[FloatArray], first: int, labels: Sequence[str] = ()) -> _Counted:
    """The counts of documents that have a line each."""
    documents = np.repeat(np.arange(len(rows)), [len(pairs) for pairs in rows])
    numbers = np.concatenate([np.zeros((0, 2)), *rows])
    return _Counted(documents, numbers[:, 0], numbers[:, 1], len(rows), first, labels)


def _read_ldac(lines: Lines, n_words: int | None, zero_based: object) -> _Counted:
    rows = []
    for line in lines.each_with("a document"):
        size, *tokens = line.split()
        if _whole(size, "the number of distinct words", lines) != len(tokens):
            raise lines.error(
                f"the line begins with {size}, but has {len(tokens)} pairs of word and count",
                "check that it was written in full",
            )
        rows.append(_pairs(tokens, lines))
    return _of_lines(rows, 0)


def _read_svmlight(lines: Lines, n_words: int | None, zero_based: object) -> _Counted:
    rows, labels = [], []
    for line in lines.text:
        tokens = line.partition("#")[0].split()
        if tokens:
            labels.append("" if ":" in tokens[0] else tokens.pop(0))
            if tokens and tokens[0].startswith("qid:"):
                del tokens[0]
            rows.append(_pairs(tokens, lines))
    counted = _of_lines(rows, int(not zero_based), labels)
    if zero_based == "auto":
        from_one = n_words is not None and counted.words.min(initial=1) > 0
        counted = counted._replace(first=int(from_one))
    return counted


def _read_triples(
    lines: Lines, n_words: int | None, zero_based: object, width: int = 3
) -> _Counted:
    """Read a header of three sizes, and lines "document word count"."""
    header: list[str] = []
    while len(header) < 3 and (line := next(lines.text, None)) is not None:
        header += [] if line.startswith("%") else line.split()
    if len(header) != 3:
        raise lines.error(
            "the header should have three sizes: documents, words and counts",
            "check that the file was written in full",
        )
    n_documents, n_known, n_counts = (_whole(size, "a size", lines) for size in header)
    numbers = _read_numbers(lines, width)
    problem = None
    if n_words not in (None, n_known):
        problem = f"{count_of(n_known, 'word')}, but `words` has {n_words}"
    elif len(numbers) != n_counts:
        problem = f"{n_counts} counts, but there are {len(numbers)}"
    elif n_documents > 1000 + 10 * len(numbers):
        # Some documents have no words, but not nine out of ten; and a wrong header must not make
        # us allocate memory.
        problem = f"{n_documents} documents, but there are {len(numbers)} counts"
    if problem is not None:
        remedy = "check that the file was written in full, and that its words belong to it"
        raise read_error(lines.name, f"the header says {problem}", remedy)
    counts = numbers[:, 2] if width == 3 else np.ones(len(numbers))
    documents = _positions(lines.name, "document", numbers[:, 0], 1, n_documents)
    return _Counted(documents, numbers[:, 1], counts, n_documents, 1)


def _read_numbers(lines: Lines, width: int) -> FloatArray:
    """The lines that follow, each with the same number of numbers."""
    rows = (line for line in lines.text if line.strip())
    first = next(rows, None)
    if first is None:
        return np.zeros((0, width))
    try:
        numbers = np.loadtxt(chain([first], rows), ndmin=2, comments=None)
    except ReadError:
        raise
    except ValueError as error:
        detail = shortened(str(error).partition("; use")[0])
        problem = f"this is not a line of {width} numbers ({detail})"
        raise lines.error(problem, "correct it") from error
    if numbers.shape[1] != width:
        problem = f"its lines have {count_of(numbers.shape[1], 'number')}"
        raise read_error(lines.name, problem, f"write {width} per line")
    return numbers


def _read_matrix(lines: Lines, n_words: int | None, zero_based: object) -> _Counted:
    line = next(lines.text, "")
    fields = re.fullmatch(
        r"%%matrixmarket matrix coordinate (real|double|(unsigned-)?integer|pattern) general",
        " ".join(line.lower().split()),
    )
    if fields is None:
        raise lines.error(
            "the file should begin with '%%MatrixMarket matrix coordinate real general', but "
            f"begins with {shortened(repr(line))}",
            "write it with scipy.io.mmwrite from a sparse matrix of counts",
        )
    return _read_triples(lines, n_words, zero_based, 2 if fields[1] == "pattern" else 3)


def _whole(text: str, what: str, lines: Lines) -> int:
    """A whole number from 0, such as one of a header."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise lines.error(
            f"{what} should be a whole number from 0, but is {shortened(repr(text))}",
            "check that the file has this format",
        )
    return int(text)


def _positions(name: str, what: str, numbers: FloatArray, first: int, size: int | None) -> IntArray:
    """Numbers of words or documents, counted from `first`, as positions; raise if one is not."""
    end = _LARGEST if size is None else min(size + first, _LARGEST)
    valid = (numbers >= first) & (numbers < end) & (numbers == np.floor(numbers))
    limit = "" if size is None else f" to {end - 1}"
    rule = f"the number of a {what} should be a whole number from {first}{limit}"
    _check(name, valid, numbers, rule, "check that the header and the words belong to this file")
    return (numbers - first).astype(np.int64)


def _check(name: str, valid: BoolArray, numbers: FloatArray, rule: str, remedy: str) -> None:
    """Raise at the first number that is not valid."""
    for place in np.flatnonzero(~valid)[:1]:
        problem = f"{rule}, but is {numbers[place]:.16g} in count {place + 1}"
        raise read_error(name, problem, remedy)


def _corpus(
    name: str,
    counted: _Counted,
    known: tuple[str, ...] | None,
    target: tuple[str, ...] | None,
    labels: Labels,
) -> Corpus:
    """The corpus of counts whose numbers are those of the `known` words, with `target` words."""
    documents, numbers, counts, n_documents, first, _ = counted
    size = None if known is None else len(known)
    columns = _positions(name, "word", numbers, first, size)
    rule = f"a count should be a number from 0 to {LARGEST_COUNT:g}"
    _check(name, (counts >= 0) & (counts <= LARGEST_COUNT), counts, rule, "correct it, or write 0")
    if not n_documents:
        raise no_documents(name)
    if known is None:
        present, columns = np.unique(columns, return_inverse=True)
        known = tuple(f"w{number}" for number in (present + first).tolist())
    if target is not None and target != known:
        position_of = {word: j for j, word in enumerate(target)}
        columns = np.array([position_of.get(word, -1) for word in known])[columns]
        kept = columns >= 0
        documents, columns, counts = documents[kept], columns[kept], counts[kept]
        known = target
    with as_read_error(name):
        shape = (n_documents, len(known))
        return Corpus(csr_from_entries(documents, columns, counts, shape), known, labels)


def _svmlight_labels(targets: Sequence[str], kind: Kind, name: str) -> Labels:
    rows = [[_label(label) for label in target.split(",") if label] for target in targets]
    if kind != "tags":
        for row, labels in enumerate(rows):
            if len(labels) > 1:
                problem = f"a document should have one {kind}, but has {targets[row]}"
                raise read_error(name, shortened(problem), "pass kind='tags'", row=row)
    values = rows if kind == "tags" else [labels[0] if labels else None for labels in rows]
    with as_read_error(name):
        return Labels((make_block("labels", kind, values, name),), len(rows))


def _label(text: str) -> str:
    """A label in one spelling if it is a number: "+1", "1" and "1.0" are the same."""
    try:
        return str(level_name(float(text)))
    except ValueError:
        return text.strip()


def _read_mallet(
    lines: Lines, tag_separator: str | None, text_settings: object, like: object, owner: str
) -> Corpus:
    ids: list[str] = []
    labels: list[str] = []

    def texts() -> Iterator[str]:
        for line in lines.each_with("a document"):
            fields = line.split(maxsplit=2)
            if len(fields) < 2:
                raise lines.error(
                    f"a line should have an id, a label and a text, but is {shortened(repr(line))}",
                    "write 'id label text'",
                )
            ids.append(fields[0])
            labels.append(fields[1])
            yield fields[2] if len(fields) == 3 else ""

    def describe() -> tuple[Labels, tuple[str, ...]]:
        kind: Kind = "category" if tag_separator is None else "tags"
        with as_read_error(lines.name):
            block = make_block("label", kind, labels, lines.name, 0, tag_separator)
        return Labels((block,), len(ids)), tuple(ids)

    rules = counting_rules(text_settings, like, owner)
    return corpus_of_texts(lines.name, texts(), rules, describe, "the texts")


_COUNTED = {
    "ldac": _read_ldac,
    "uci": _read_triples,
    "svmlight": _read_svmlight,
    "mtx": _read_matrix,
}
