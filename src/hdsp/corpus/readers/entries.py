"""A corpus from counts of numbered words."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from hdsp.checks import count_of
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.readers.common import (
    FileOrPath,
    FilePath,
    Lines,
    no_documents,
    open_lines,
    read_error,
)
from hdsp.corpus.readers.label_table import LabelSource
from hdsp.corpus.readers.numbers import line_fields, number_batches
from hdsp.corpus.text import words_like
from hdsp.numerics import BoolArray, FloatArray, IntArray, csr_from_entries

# Whole numbers up to here are exact as floats.
_LARGEST = 2**53


def read_words(words: FilePath | Sequence[str] | None, encoding: str) -> tuple[str, ...] | None:
    """Return a vocabulary: the words of a file with one word per line, or the words given."""
    if words is None:
        return None
    if not isinstance(words, (str, os.PathLike)):
        return tuple(words)
    found: dict[str, int] = {}
    with open_lines(words, encoding) as lines:
        for line in lines.each_with("a word"):
            word = line.strip()
            if word in found:
                raise lines.error(
                    f"the word {word!r} is that of line {found[word]} again",
                    "remove or rename one, here and in the counts",
                )
            found[word] = lines.number
    return tuple(found)


@contextmanager
def open_counts(
    path: FileOrPath,
    words: FilePath | Sequence[str] | None,
    like: object,
    owner: str,
    encoding: str,
    first: int,
) -> "Iterator[Counts]":
    """Open a file of counts, with its vocabulary; see `Counts` for the last argument."""
    like = words_like(like, owner)
    source = "the header" if like is None else "`like`"
    if words is not None:
        named = isinstance(words, Sequence) and not isinstance(words, str)
        source = "`words`" if named else str(words)
    known = like if words is None else read_words(words, encoding)
    with open_lines(path, encoding) as lines:
        yield Counts(lines, known, like, source, first, None if known is None else len(known))


@dataclass(eq=False)
class Counts:
    """Counts (document, word, count), collected batch by batch.

    Attributes
    ----------
    lines : Lines
        The file.
    words : tuple of str or None
        The V words that the numbers in the file stand for; None if only their numbers are known.
    like : tuple of str or None
        The words that the corpus shall have, where they are given.
    source : str
        Where `words` are from, for messages.
    first : {0, 1}
        The number of the first word, and of the first document if documents are numbered.
    n_words : int or None
        How many words there may be, where that is known.
    n_entries : int
        How many entries were added.
    """

    lines: Lines
    words: tuple[str, ...] | None
    like: tuple[str, ...] | None
    source: str
    first: int
    n_words: int | None
    n_entries: int = 0

    def __post_init__(self) -> None:
        self._documents: list[IntArray] = [np.zeros(0, dtype=np.int32)]
        self._words: list[IntArray] = [np.zeros(0, dtype=np.int32)]
        self._values: list[FloatArray] = [np.zeros(0)]

    def add(self, documents: IntArray, words: FloatArray, values: FloatArray, at: IntArray) -> None:
        """Add entries, `at` being their lines; documents count from 0."""
        fits = np.isfinite(values) & (values >= 0)
        rule = "a count should be a number from 0"
        self._check(fits, values, at, rule, "correct it, or write 0")
        remedy = f"check that {self.source} belongs to this file"
        self._documents.append(documents)
        self._words.append(self._positions(words, self.n_words, "word", remedy, at))
        self._values.append(values)
        self.n_entries += len(values)

    def add_lines(self, rows: Iterable[Sequence[str]], spare: int = 0) -> int:
        """Add one document per line, given as words and counts alternately.

        Parameters
        ----------
        rows : iterable of sequence of str
            The fields of each line.
        spare : int, default=0
            How far the last word's number may lie beyond the vocabulary.

        Returns
        -------
        int
            Number of documents.
        """
        if self.n_words is not None:
            self.n_words += spare
        n_documents = 0
        for numbers, at, orders, n_rows in number_batches(rows, 2, self.lines):
            self.add(orders, numbers[:, 0], numbers[:, 1], at)
            n_documents = n_rows
        return n_documents

    def number_from_one(self) -> None:
        """Take words to be numbered from 1, unless one has number 0."""
        if self.words is None or not self.n_entries:
            return
        if min(words.min(initial=1) for words in self._words) > 0:
            self._words = [words - 1 for words in self._words]
        elif max(words.max(initial=0) for words in self._words) >= len(self.words):
            raise read_error(
                self.lines.name,
                f"there are words of number 0 and {len(self.words)}, but "
                f"{self.source} has {len(self.words)}",
                "pass the words that belong to the file",
            )

    def add_triples(self, header: Sequence[int], width: int = 3) -> None:
        """Add lines of document, word and count; blank ones are skipped.

        Parameters
        ----------
        header : sequence of int
            Numbers of documents, words and lines according to the file's header.
        width : {3, 2}, default=3
            Numbers per line: 2 if there is no count, which is then 1.
        """
        n_documents, n_words, n_lines = header
        if self.n_words not in (None, n_words):
            raise read_error(
                self.lines.name,
                f"the header says {count_of(n_words, 'word')}, but {self.source} has "
                f"{self.n_words}",
                "pass the words that belong to the file",
            )
        self.n_words = n_words
        remedy = "correct it, or the header"
        fields = line_fields(self.lines, width)
        for numbers, at, _, _ in number_batches(fields, width, self.lines):
            documents = self._positions(numbers[:, 0], n_documents, "document", remedy, at)
            self.add(documents, numbers[:, 1], np.prod(numbers[:, 2:], axis=1), at)
        if self.n_entries != n_lines:
            raise read_error(
                self.lines.name,
                f"the header says {n_lines} counts, but there are {self.n_entries}",
                "check that the file was written in full",
            )
        # Some documents have no words, but not nine out of ten; and a wrong header must not make
        # us allocate memory.
        if n_documents > 1000 + 10 * self.n_entries:
            raise read_error(
                self.lines.name,
                f"the header says {n_documents} documents, but there are {self.n_entries} counts",
                "correct the header, or write the file again",
            )

    def _positions(
        self, numbers: FloatArray, size: int | None, what: str, remedy: str, at: IntArray
    ) -> IntArray:
        """Return numbers of words or documents as positions from 0, or raise."""
        end = _LARGEST if size is None else min(size + self.first, _LARGEST)
        fits = (numbers >= self.first) & (numbers < end) & (numbers == np.floor(numbers))
        limit = "" if size is None else f" to {end - 1}"
        rule = f"the number of a {what} should be a whole number from {self.first}{limit}"
        self._check(fits, numbers, at, rule, remedy)
        # Half the memory, where that is enough.
        index_type = np.int32 if end <= np.iinfo(np.int32).max else np.int64
        positions: IntArray = (numbers - self.first).astype(index_type)
        return positions

    def _check(
        self, fits: BoolArray, numbers: FloatArray, at: IntArray, rule: str, remedy: str
    ) -> None:
        """Raise at the first number that does not fit."""
        for wrong in np.flatnonzero(~fits)[:1]:
            raise self.lines.error(f"{rule}, but is {numbers[wrong]:.16g}", remedy, int(at[wrong]))

    def corpus(self, n_documents: int, labels: LabelSource) -> Corpus:
        """Return the corpus; without a vocabulary, its words are "w" and the numbers that occur."""
        if not n_documents:
            raise no_documents(self.lines.name)
        documents = np.concatenate(self._documents)
        columns, values = np.concatenate(self._words), np.concatenate(self._values)
        # Released, because sorting the entries takes as much memory again.
        self._documents, self._words, self._values = [], [], []
        words = self.words
        if words is None:
            numbers, columns = np.unique(columns, return_inverse=True)
            words = tuple(f"w{number}" for number in (numbers + self.first).tolist())
        if self.like is not None and self.like != words:
            position_of = {word: j for j, word in enumerate(self.like)}
            target = np.array([position_of.get(word, -1) for word in words], dtype=np.int64)
            known = target[columns] >= 0
            documents, values = documents[known], values[known]
            columns = target[columns[known]]
            words = self.like
        counts = csr_from_entries(documents, columns, values, (n_documents, len(words)))
        return Corpus(counts, words, labels.read(n_documents, self.lines.name))
