"""Counts of words that go by number: checked, and put into a corpus."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.counting import words_like
from hdsp.corpus.readers.common import FilePath, read_error, read_words
from hdsp.corpus.readers.label_table import LabelSource
from hdsp.corpus.readers.numbers import line_fields, number_batches
from hdsp.numerics.sparse import csr_from_entries
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.validation import count_of

# Whole numbers up to here are exact as floats.
_LARGEST = 2**53


@dataclass(frozen=True)
class Vocabulary:
    """The words that numbers in a file stand for.

    Parameters
    ----------
    words
        The V words, or None where the file's numbers are all there is.
    like
        The words of the corpus to be, where they are given.
    source
        Where `words` are from, for messages.
    """

    words: tuple[str, ...] | None
    like: tuple[str, ...] | None
    source: str

    @classmethod
    def read(
        cls, words: FilePath | Sequence[str] | None, like: object, owner: str, encoding: str
    ) -> "Vocabulary":
        """Read a vocabulary; where there is none, the numbers are those of `like`."""
        wanted = words_like(like, owner)
        if words is None:
            return cls(wanted, wanted, "the header" if wanted is None else "`like`")
        source = str(words) if not isinstance(words, Sequence) or isinstance(words, str) else ""
        return cls(read_words(words, encoding), wanted, source or "`words`")


class Counts:
    """Counts (document, word, count) as they are read, batch by batch.

    Parameters
    ----------
    name
        The file's name.
    vocabulary
        The words, of which each number of the file stands for one.
    first
        The number of the first word, and of the first document where these are numbered: 0 or 1.
    """

    def __init__(self, name: str, vocabulary: Vocabulary, first: int) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.first = first
        self.n_words = None if vocabulary.words is None else len(vocabulary.words)
        self.n_entries = 0
        self._documents: list[IntArray] = []
        self._words: list[IntArray] = []
        self._values: list[FloatArray] = []

    def add(self, documents: IntArray, words: FloatArray, values: FloatArray, at: IntArray) -> None:
        """Add entries that stand at the given lines; documents count from 0."""
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if wrong.size:
            raise read_error(
                self.name,
                f"a count should be a number from 0, but is {values[wrong[0]]:.12g}",
                "correct it, or write 0",
                line=int(at[wrong[0]]),
            )
        remedy = f"check that {self.vocabulary.source} belongs to this file"
        self._documents.append(documents)
        self._words.append(self._positions(words, self.n_words, "word", remedy, at))
        self._values.append(values)
        self.n_entries += len(values)

    def add_lines(self, lines: Iterable[tuple[int, Sequence[str]]], spare: int = 0) -> int:
        """Add a document a line, given as its words and counts in turn, and return how many.

        `spare` is how far the last word's number may lie beyond the vocabulary.
        """
        n_documents = 0

        def counted() -> Iterator[tuple[int, Sequence[str]]]:
            nonlocal n_documents
            for line in lines:
                n_documents += 1
                yield line

        if self.n_words is not None:
            self.n_words += spare
        for batch in number_batches(counted(), 2, self.name):
            self.add(batch.orders, batch.numbers[:, 0], batch.numbers[:, 1], batch.lines)
        return n_documents

    def count_from_one(self) -> None:
        """Take the words to be numbered from 1, where none is number 0."""
        if self.vocabulary.words is None or not self.n_entries:
            return
        if min(words.min(initial=1) for words in self._words) > 0:
            self._words = [words - 1 for words in self._words]
        elif max(words.max(initial=0) for words in self._words) >= len(self.vocabulary.words):
            raise read_error(
                self.name,
                f"there are words of number 0 and {len(self.vocabulary.words)}, but "
                f"{self.vocabulary.source} has {len(self.vocabulary.words)}",
                "pass the words that belong to the file",
            )

    def add_triples(
        self, lines: Iterable[tuple[int, str]], header: tuple[int, int, int], width: int = 3
    ) -> None:
        """Add lines of document, word and count, or without the count, which is 1 then.

        Parameters
        ----------
        lines
            The numbered lines; blank ones are passed over.
        header
            Numbers of documents, words and lines that the file says it has.
        width
            3, or 2 without the count.
        """
        n_documents, n_words, n_lines = header
        if self.n_words not in (None, n_words):
            raise read_error(
                self.name,
                f"the header says {count_of(n_words, 'word')}, but {self.vocabulary.source} has "
                f"{self.n_words}",
                "pass the words that belong to the file",
            )
        self.n_words = n_words
        remedy = "correct it, or the header"
        for batch in number_batches(line_fields(lines, width, self.name), width, self.name):
            numbers, at = batch.numbers, batch.lines
            documents = self._positions(numbers[:, 0], n_documents, "document", remedy, at)
            self.add(documents, numbers[:, 1], np.prod(numbers[:, 2:], axis=1), at)
        if self.n_entries != n_lines:
            raise read_error(
                self.name,
                f"the header says {n_lines} counts, but there are {self.n_entries}",
                "check that the file was written in full",
            )
        # Documents without words exist, but not nine of ten; and memory must not be taken on the
        # word of a header.
        if n_documents > 1000 + 10 * self.n_entries:
            raise read_error(
                self.name,
                f"the header says {n_documents} documents, but there are {self.n_entries} counts",
                "correct the header, or write the file again",
            )

    def _positions(
        self, numbers: FloatArray, size: int | None, what: str, remedy: str, at: IntArray
    ) -> IntArray:
        """Return numbers of words or documents as positions from 0, or raise."""
        end = _LARGEST if size is None else min(size + self.first, _LARGEST)
        fits = (numbers >= self.first) & (numbers < end) & (numbers == np.floor(numbers))
        wrong = np.flatnonzero(~fits)
        if wrong.size:
            limit = "" if size is None else f" to {end - 1}"
            raise read_error(
                self.name,
                f"the number of a {what} should be a whole number from {self.first}{limit}, but "
                f"is {numbers[wrong[0]]:.16g}",
                remedy,
                line=int(at[wrong[0]]),
            )
        # Half the memory, wherever it is enough.
        index_type = np.int32 if end <= np.iinfo(np.int32).max else np.int64
        positions: IntArray = (numbers - self.first).astype(index_type)
        return positions

    def _take(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Join the batches, and let go of them."""
        none = np.zeros(0, dtype=np.int32)
        documents = np.concatenate([none, *self._documents])
        columns = np.concatenate([none, *self._words])
        values = np.concatenate([np.zeros(0), *self._values])
        self._documents, self._words, self._values = [], [], []
        return documents, columns, values

    def corpus(
        self, n_documents: int, labels: LabelSource, ids: tuple[str, ...] | None = None
    ) -> Corpus:
        """Return the corpus; without a vocabulary, of the words that occur: "w" and number."""
        if not n_documents:
            raise read_error(self.name, "it has no documents", "check that it was written in full")
        documents, columns, values = self._take()
        words = self.vocabulary.words
        if words is None:
            numbers, columns = np.unique(columns, return_inverse=True)
            words = tuple(f"w{number}" for number in (numbers + self.first).tolist())
        if self.vocabulary.like is not None and self.vocabulary.like != words:
            position_of = {word: j for j, word in enumerate(self.vocabulary.like)}
            target = np.array([position_of.get(word, -1) for word in words], dtype=np.int64)
            known = target[columns] >= 0
            documents, values = documents[known], values[known]
            columns = target[columns[known]]
            words = self.vocabulary.like
        counts = csr_from_entries(documents, columns, values, (n_documents, len(words)))
        return Corpus(counts, words, labels.read(n_documents, self.name), ids=ids)
