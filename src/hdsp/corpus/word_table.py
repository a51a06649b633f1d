"""Many words in one array, and a table that numbers them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hdsp import kernels


@dataclass(frozen=True, eq=False)
class PackedWords:
    """Words as stretches of one text in UTF-8, because a million strings take their time.

    Attributes
    ----------
    text : int array of shape [N]
        The text's bytes.
    starts : int array of shape [V]
        Where the words start.
    lasts : int array of shape [V]
        Where they end.
    """

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lasts: NDArray[np.int64]

    @classmethod
    def of(cls, words: Sequence[str]) -> "PackedWords":
        """Pack words."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.concatenate([[0], np.cumsum([len(word) for word in encoded], dtype=np.int64)])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends[:-1], ends[1:])

    def __len__(self) -> int:
        return len(self.starts)

    def compact(self) -> "PackedWords":
        """Return the words in a text that holds nothing else."""
        lengths = self.lasts - self.starts
        ends = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(self.lasts - ends, lengths)
        return PackedWords(self.text[places], ends - lengths, ends)

    def take(self, positions: Iterable[int]) -> list[str]:
        """Return some of the words as strings."""
        text, starts, lasts = self.text.tobytes(), self.starts, self.lasts
        chosen = np.fromiter(positions, dtype=np.int64)
        return [
            text[start:last].decode("utf-8", "surrogatepass")
            for start, last in zip(starts[chosen].tolist(), lasts[chosen].tolist(), strict=True)
        ]

    def to_list(self) -> list[str]:
        """Return the words as strings."""
        return self.take(range(len(self)))


class WordTable:
    """Distinct words, numbered in the order in which they were added."""

    def __init__(self) -> None:
        self._n_words = 0
        self._text: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._starts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._lasts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._hashes: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._table: NDArray[np.int32] = np.zeros(1, dtype=np.int32)

    def __len__(self) -> int:
        return self._n_words

    @property
    def words(self) -> PackedWords:
        """The words, in the order of their numbers."""
        return PackedWords(self._text, self._starts[: self._n_words], self._lasts[: self._n_words])

    def numbers(self, words: PackedWords, share: int = 0, n_shares: int = 1) -> NDArray[np.int64]:
        """Return the number of each word; words that are new get the next numbers.

        Parameters
        ----------
        words : PackedWords
            The words.
        share : int, default=0
            The share of all words, by their hashes, that is numbered.
        n_shares : int, default=1
            The number of shares.

        Returns
        -------
        int array of shape [V]
            The numbers; -1 for words that are not of this share.
        """
        n_bytes = int((words.lasts - words.starts).sum())
        self._make_room(len(words), n_bytes)
        return self._merge(words, share, n_shares)

    def find(self, words: PackedWords) -> NDArray[np.int64]:
        """Return the number of each word, -1 for those unknown; several threads may do so."""
        return self._merge(words, is_open=False)

    def _merge(
        self, words: PackedWords, share: int = 0, n_shares: int = 1, is_open: bool = True
    ) -> NDArray[np.int64]:
        numbers = np.empty(len(words), dtype=np.int64)
        # Compiled for one type alone, that of texts which cannot be written to.
        text = words.text.view()
        text.flags.writeable = False
        n_words = kernels.merge_words(
            text,
            words.starts,
            words.lasts,
            self._text,
            self._n_words,
            self._starts,
            self._lasts,
            self._hashes,
            self._table,
            is_open,
            share,
            n_shares,
            numbers,
        )
        if is_open:
            self._n_words = n_words
        return numbers

    def _make_room(self, n_words: int, n_bytes: int) -> None:
        n_known = self._n_words
        end = int(self._lasts[n_known - 1]) if n_known else 0
        if end + n_bytes > len(self._text):
            text = np.empty(2 * (end + n_bytes), dtype=np.uint8)
            text[:end] = self._text[:end]
            self._text = text
        if n_known + n_words > len(self._starts):
            former = PackedWords(self._text, self._starts[:n_known], self._lasts[:n_known])
            size = 2 * (n_known + n_words)
            self._starts, self._lasts = np.empty(size, np.int64), np.empty(size, np.int64)
            self._hashes = np.empty(size, np.uint64)
            self._table = np.zeros(1 << (2 * size).bit_length(), dtype=np.int32)
            self._text, self._n_words = np.empty(len(self._text), dtype=np.uint8), 0
            self._merge(former)
