"""Counts of the words of texts, some documents at a time: in compiled code, or by Python."""

import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hdsp.corpus.splitting import has_unspaced, splits_pairs, splitter, stems
from hdsp.corpus.stop_words import stop_words_of
from hdsp.corpus.tokens import Tokens, count_tokens, run_pattern, split_texts
from hdsp.corpus.word_table import PackedWords, WordTable

if TYPE_CHECKING:
    from hdsp.corpus.text import TextSettings

T = TypeVar("T")

# Enough documents to be worth a call and the merging of their words, and few enough to share out.
_DOCUMENTS = 1024
_CHARACTERS = 1 << 21
_TAKEN = 32


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of the words of some documents.

    Attributes
    ----------
    words : PackedWords
        The distinct words, in any order.
    counts : sparse array of shape [M, V]
        Their counts, in any order; no entry is stored twice, and none that is zero.
    """

    words: PackedWords
    counts: csr_array


class Counter:
    """How texts are counted, by settings that do not choose among words.

    Parameters
    ----------
    settings : TextSettings
        The settings.
    in_words : bool
        Whether documents are lists of their words.

    Attributes
    ----------
    is_compiled : bool
        Whether words are found in compiled code, which several threads run at once.
    count : callable
        Counts the words of some documents, other than stop words, and phrases of them.
    """

    def __init__(self, settings: "TextSettings", in_words: bool) -> None:
        pattern = None
        if settings.tokenizer is None and not in_words:
            pattern = run_pattern(settings.token_pattern)
        self.is_compiled = pattern is not None
        split, pairs = _splitter(settings, in_words), splits_pairs(settings)
        stop_text = b"" if pattern is None else pattern.stop_text(stop_list(settings))

        def count(texts: Sequence[Any]) -> Counted:
            # Compiled code does not know scripts without spaces.
            if pattern is None or (pairs and has_unspaced(texts)):
                tokens = split(texts)
            else:
                tokens = split_texts(texts, pattern, settings.lowercase, stop_text)
            if settings.stem is not None:
                tokens = _stemmed(tokens, settings.stem)
            if settings.ngrams == 1:
                return Counted(tokens.words, count_tokens(tokens))
            return _count_phrases(tokens, settings.ngrams)

        self.count = count


def count_texts(texts: Iterable[Any], settings: "TextSettings") -> Iterator[Counted]:
    """Count texts, or lists of words, while they are read; yield counts in their order.

    On as many threads as there are cores, if the words are found in compiled code.
    """
    documents = iter(texts)
    first = list(islice(documents, 1))
    counter = Counter(settings, bool(first) and not isinstance(first[0], str))
    groups = _groups(chain(first, documents))
    return in_threads(counter.count, groups) if counter.is_compiled else map(counter.count, groups)


def in_threads(
    function: Callable[[Any], T], items: Iterable[Any], n_threads: int | None = None
) -> Iterator[T]:
    """Yield the function of each item in order; some items ahead are worked on in threads.

    By default in as many threads as there are cores, and on one core in none.
    """
    import joblib

    n_cores = joblib.effective_n_jobs(-1)
    n_threads = n_threads or (n_cores if n_cores > 1 else 0)
    waiting = iter(items)
    some = list(islice(waiting, 2))
    if not n_threads or len(some) < 2:
        yield from map(function, chain(some, waiting))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running = deque[Any]()
        for item in chain(some, waiting):
            running.append(pool.submit(function, item))
            if len(running) > n_threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def _groups(documents: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield documents in lists that are neither long nor large."""
    group: list[Any] = []
    size = 0
    while some := list(islice(documents, _TAKEN)):
        group += some
        size += sum(map(len, some))
        if len(group) >= _DOCUMENTS or size > _CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _stemmed(tokens: Tokens, language: str) -> Tokens:
    """Return the stems of words."""
    numbers: dict[str, int] = {}
    found = stems(tokens.words.to_list(), language)
    place = np.array([numbers.setdefault(stem, len(numbers)) for stem in found], dtype=np.int32)
    return Tokens(PackedWords.of(list(numbers)), place[tokens.ids], tokens.stops)


def _count_phrases(tokens: Tokens, longest: int) -> Counted:
    """Count words, and phrases of words up to a length."""
    n_tokens, words = len(tokens.ids), tokens.words.to_list()
    rows = np.repeat(np.arange(len(tokens.stops)), np.diff(tokens.stops, prepend=0))
    all_rows, all_ids, names = [rows], [tokens.ids.astype(np.int64)], words
    # The phrases of one word less that begin at each word.
    shorter, codes = words, all_ids[0]
    for length in range(2, min(longest, n_tokens) + 1):
        begins = np.flatnonzero(rows[length - 1 :] == rows[: n_tokens - length + 1])
        pairs, found = np.unique(
            codes[begins] * len(words) + tokens.ids[begins + length - 1], return_inverse=True
        )
        first, second = divmod(pairs, len(words))
        shorter = [
            f"{shorter[a]} {words[b]}" for a, b in zip(first.tolist(), second.tolist(), strict=True)
        ]
        all_rows.append(rows[begins])
        all_ids.append(found + len(names))
        codes = np.zeros(n_tokens, dtype=np.int64)
        codes[begins] = found
        names = names + shorter
    ids = np.concatenate(all_ids)
    # A word with a space in it may be a phrase of two others.
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if len(place) < len(names):
        ids, names = np.array([place[name] for name in names])[ids], list(place)
    counts = csr_array(
        (np.ones(len(ids), dtype=np.int32), (np.concatenate(all_rows), ids)),
        shape=(len(tokens.stops), len(names)),
    )
    return Counted(PackedWords.of(names), counts)


def _splitter(settings: "TextSettings", in_words: bool) -> Callable[[Sequence[Any]], Tokens]:
    """Return a function that splits texts, or takes lists of words, without stop words.

    For tokenizers, and for patterns that compiled code does not know.
    """
    words_of = _words(settings)
    if in_words:
        words_of = _normal_words(settings.lowercase)
    stopped = stop_list(settings)

    def split(texts: Sequence[Any]) -> Tokens:
        numbers: dict[str, int] = {}
        ids: list[int] = []
        stops: list[int] = []
        for text in texts:
            ids += [
                numbers.setdefault(word, len(numbers))
                for word in words_of(text)
                if word not in stopped
            ]
            stops.append(len(ids))
        return Tokens(
            PackedWords.of(list(numbers)),
            np.array(ids, dtype=np.int32),
            np.array(stops, dtype=np.int64),
        )

    return split


def stop_list(settings: "TextSettings") -> set[str]:
    """Return the stop words as tokens."""
    chosen = {*settings.stop_words, *stop_words_of(settings.language)}
    words_of = _words(settings)
    return {token for word in chosen for token in words_of(word)}


def _words(settings: "TextSettings") -> Callable[[Any], Iterable[str]]:
    """Return the function from a text to its words."""
    split, lowercase = splitter(settings), settings.lowercase
    return lambda text: split(_normal(text).lower() if lowercase else _normal(text))


def _normal(text: str) -> str:
    # Some systems write "é" as an "e" and a mark, which is not a letter and would end the word.
    return unicodedata.normalize("NFC", text)


def _normal_words(lowercase: bool) -> Callable[[Any], Iterable[str]]:
    return lambda words: [_normal(word.lower() if lowercase else word) for word in words]


def merged(parts: Iterable[Counted], words: Sequence[str] | None) -> tuple[csr_array, PackedWords]:
    """Join counts of consecutive documents.

    Parameters
    ----------
    parts : iterable of Counted
        The counts, in the order of the documents.
    words : sequence of str or None
        The V words to count; None for all words, in the order in which they are met.

    Returns
    -------
    counts : sparse array of shape [M, V]
        The counts; the indices of a row are in any order.
    words : PackedWords
        The words.
    """
    table = WordTable()
    table.numbers(PackedWords.of(words or ()))
    indices, data = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    ends = [np.zeros(1, dtype=np.int64)]
    for part in parts:
        numbers = table.numbers(part.words).astype(np.int32)
        indices.append(numbers[part.counts.indices])
        data.append(part.counts.data)
        ends.append(ends[-1][-1] + part.counts.indptr[1:])
    counts = csr_array(
        (np.concatenate(data), np.concatenate(indices), np.concatenate(ends)),
        shape=(sum(map(len, ends)) - 1, len(table)),
    )
    return counts, table.words


def with_columns(counts: csr_array, columns: NDArray[Any]) -> csr_array:
    """Return the columns of counts, in the given order, as a float64 matrix that is sorted."""
    place = np.full(counts.shape[1], -1, dtype=np.int32)
    place[columns] = np.arange(len(columns))
    chosen = placed(counts, place, len(columns))
    chosen.data = chosen.data.astype(np.float64)
    chosen.sort_indices()
    return chosen


def placed(matrix: csr_array, place: NDArray[Any], n_columns: int) -> csr_array:
    """Return a matrix with each column in its new place, without those whose place is -1."""
    found = place[matrix.indices]
    kept = found >= 0
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return csr_array((matrix.data[kept], found[kept], starts), shape=(matrix.shape[0], n_columns))
