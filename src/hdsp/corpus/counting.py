r"""Texts to word counts, some documents at a time: in compiled code, or by Python.

Compiled code knows patterns that match runs of characters of one class, such as
``[^\W\d_]{3,}``, ``(?u)\b\w\w+\b`` and ``[a-z]+``. Python's own `re` says which characters a class
has, and Python normalises texts and puts them in lower case, so that the words are those of the
regular expression.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from hdsp import kernels
from hdsp.corpus.splitting import has_unspaced, splits_pairs, splitter, stems, stop_words_of
from hdsp.numerics import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from hdsp.corpus.text import TextSettings

T = TypeVar("T")

_CLASS = r"\[\^?(?:\\.|[^\]\[\\^])+\]|\\[wWdDsS]"
_RUNS = re.compile(
    rf"(?:\(\?u\))?(?P<start>\\b)?(?P<atoms>(?P<atom>{_CLASS})(?:(?P=atom))*)"
    r"(?P<repeat>\+|\{[1-9]\d{0,2},\})(?P<end>\\b)?"
)
_N_CHARACTERS = 0x110000
# Enough documents to be worth a call and the merging of their words, and few enough to share out.
_DOCUMENTS = 2048
_CHARACTERS = 1 << 22
_TAKEN = 32
# With fewer documents, the default rules on document frequencies keep every word.
_SMALL = 20


class RunPattern(NamedTuple):
    """A pattern of words that are runs of at least `shortest` characters of one class.

    `kinds` has 1 for characters of the class, and 2 for those beside which no word may end. Words
    must start, or end, at a word boundary if `at_start`, or `at_end`.
    """

    kinds: NDArray[np.uint8]
    shortest: int
    at_start: bool
    at_end: bool


class Tokens(NamedTuple):
    """The words of M documents in order: `ids` of distinct `words`, up to `stops` [M]."""

    words: list[str]
    ids: IntArray
    stops: IntArray


class Counted(NamedTuple):
    """Counts [M, V] of the distinct words of some documents, in any order."""

    words: list[str]
    counts: csr_array


@lru_cache(maxsize=16)
def run_pattern(token_pattern: str) -> RunPattern | None:
    """Return a pattern as one of runs, or None if it is no such pattern."""
    parts = _RUNS.fullmatch(token_pattern)
    if parts is None:
        return None
    kinds = _members(parts["atom"]).astype(np.uint8)
    n_atoms = len(parts["atoms"]) // len(parts["atom"])
    shortest = n_atoms if parts["repeat"] == "+" else n_atoms - 1 + int(parts["repeat"][1:-2])
    if parts["start"] or parts["end"]:
        in_word = _members(r"\w")
        if (kinds > in_word).any():
            # Beside other characters, a boundary depends on what is on the other side.
            return None
        kinds += 2 * in_word.astype(np.uint8)
    if kinds.all():
        # No character is left to end a word.
        return None
    kinds.flags.writeable = False
    return RunPattern(kinds, shortest, bool(parts["start"]), bool(parts["end"]))


def _members(character_class: str) -> BoolArray:
    """Return which of all characters are of a class of a regular expression."""
    members = np.zeros(_N_CHARACTERS, dtype=np.bool_)
    characters = np.arange(_N_CHARACTERS, dtype="<u4").tobytes()
    for run in re.finditer(
        f"(?:{character_class})+", characters.decode("utf-32-le", "surrogatepass")
    ):
        members[run.start() : run.end()] = True
    return members


def split_texts(
    texts: Sequence[str], pattern: RunPattern, stop_words: Iterable[str] = ()
) -> Tokens:
    """Split normal texts in compiled code, and leave out words."""
    # A character that ends words stands between those to leave out.
    stopped = chr(int(np.argmin(pattern.kinds))).join(stop_words)
    joined = "".join([stopped, *texts])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    ends = np.cumsum([len(stopped), *map(len, texts)], dtype=np.int64)
    ids, stops, starts, lasts = kernels.find_words(codes, ends, *pattern)
    places = zip(starts.tolist(), lasts.tolist(), strict=True)
    return Tokens([joined[start:last] for start, last in places], ids, stops[1:])


def _normal(text: str, lowercase: bool) -> str:
    # Some systems write "é" as an "e" and a mark, which is not a letter and would end the word.
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    return text.lower() if lowercase else text


def _split_by(
    words_of: Callable[[Any], Iterable[str]], texts: Iterable[Any], stopped: Container[str]
) -> Tokens:
    """Split texts by a function of Python."""
    numbers: dict[str, int] = {}
    ids: list[int] = []
    stops: list[int] = []
    for text in texts:
        words = [word for word in words_of(text) if word not in stopped]
        ids += [numbers.setdefault(word, len(numbers)) for word in words]
        stops.append(len(ids))
    return Tokens(list(numbers), np.array(ids, np.int32), np.array(stops, np.int64))


class TextCounter:
    """Counts texts, or lists of words if `in_words`, by settings that do not choose among words."""

    def __init__(self, settings: "TextSettings", in_words: bool = False) -> None:
        self._settings = settings
        self._words_of = _normal_words(settings) if in_words else _words_of(settings)
        self._stopped = stop_list(settings)
        self._pattern = None
        if settings.tokenizer is None and not in_words:
            self._pattern = run_pattern(settings.token_pattern)

    def count(self, texts: Sequence[Any]) -> Counted:
        """Count the words of some documents, other than stop words, and phrases of them."""
        tokens = self._split_compiled(texts) or _split_by(self._words_of, texts, self._stopped)
        if self._settings.stem is not None:
            tokens = _stemmed(tokens, self._settings.stem)
        return count_phrases(tokens, self._settings.ngrams)

    def _split_compiled(self, texts: Sequence[Any]) -> Tokens | None:
        """Split texts in compiled code, which does not know scripts without spaces."""
        if self._pattern is None:
            return None
        normal = [_normal(text, self._settings.lowercase) for text in texts]
        if splits_pairs(self._settings) and any(map(has_unspaced, normal)):
            return None
        return split_texts(normal, self._pattern, self._stopped)

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """Yield the function of each item in order: in threads, if compiled code finds words."""
        return map(function, items) if self._pattern is None else in_threads(function, items)


def count_texts(texts: Iterable[Any], settings: "TextSettings") -> Iterator[Counted]:
    """Count texts, or lists of words, while they are read; yield counts in their order."""
    documents = iter(texts)
    first = list(islice(documents, _TAKEN))
    counter = TextCounter(settings, bool(first) and not isinstance(first[0], str))
    some = chain([first], iter(lambda: list(islice(documents, _TAKEN)), []))
    groups = grouped(some, list, _DOCUMENTS, _CHARACTERS)
    return counter.map(lambda group: counter.count(list(chain.from_iterable(group))), groups)


def grouped(
    batches: Iterable[T], texts_of: Callable[[T], Sequence[Any]], n_texts: int, n_characters: int
) -> Iterator[list[T]]:
    """Yield batches of texts in lists that have neither many texts nor large ones."""
    group: list[T] = []
    n_waiting = size = 0
    for batch in batches:
        texts = texts_of(batch)
        group.append(batch)
        n_waiting += len(texts)
        size += sum(map(len, texts))
        if n_waiting >= n_texts or size > n_characters:
            yield group
            group, n_waiting, size = [], 0, 0
    if group:
        yield group


def in_threads(
    function: Callable[[Any], T], items: Iterable[Any], n_threads: int | None = None
) -> Iterator[T]:
    """Yield the function of each item in order; some items ahead are worked on in threads.

    By default in as many threads as there are cores, and on one core in none.
    """
    import joblib

    n_cores = joblib.effective_n_jobs(-1)
    if n_threads is None and n_cores == 1:
        yield from map(function, items)
        return
    n_threads = n_threads or n_cores
    with ThreadPoolExecutor(n_threads) as pool:
        running = deque[Any]()
        for item in items:
            running.append(pool.submit(function, item))
            if len(running) > n_threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def stop_list(settings: "TextSettings") -> set[str]:
    """Return the stop words as tokens."""
    chosen = {*settings.stop_words, *stop_words_of(settings.language)}
    words_of = _words_of(settings)
    return {token for word in chosen for token in words_of(word)}


def _words_of(settings: "TextSettings") -> Callable[[Any], Iterable[str]]:
    """Return the function from a text to its words."""
    split, lowercase = splitter(settings), settings.lowercase
    return lambda text: split(_normal(text, lowercase))


def _normal_words(settings: "TextSettings") -> Callable[[Any], Iterable[str]]:
    return lambda words: [_normal(word, settings.lowercase) for word in words]


def _stemmed(tokens: Tokens, language: str) -> Tokens:
    """Return the stems of words."""
    numbers: dict[str, int] = {}
    place = [numbers.setdefault(stem, len(numbers)) for stem in stems(tokens.words, language)]
    return Tokens(list(numbers), np.array(place, np.int32)[tokens.ids], tokens.stops)


def count_phrases(tokens: Tokens, longest: int) -> Counted:
    """Count words, and phrases of words up to a length."""
    words, ids, stops = tokens
    if longest == 1:
        columns, counts, ends = kernels.count_ids(ids, stops, len(words))
        return Counted(words, csr_array((counts, columns, ends), shape=(len(stops), len(words))))
    rows = np.repeat(np.arange(len(stops)), np.diff(stops, prepend=0))
    # A word with a space in it may be a phrase of two others.
    numbers = {word: number for number, word in enumerate(words)}
    all_rows, all_ids = [rows], [ids]
    # The phrases of one word less, and which of them begins at each word.
    shorter, begun = words, ids.astype(np.int64)
    for length in range(2, longest + 1):
        begins = np.flatnonzero(rows[length - 1 :] == rows[: 1 - length])
        pairs, found = np.unique(
            begun[begins] * len(words) + ids[begins + length - 1], return_inverse=True
        )
        shorter = [
            f"{shorter[pair // len(words)]} {words[pair % len(words)]}" for pair in pairs.tolist()
        ]
        place = np.array([numbers.setdefault(name, len(numbers)) for name in shorter], np.int32)
        all_rows.append(rows[begins])
        all_ids.append(place[found])
        begun[begins] = found
    entries = (np.concatenate(all_rows), np.concatenate(all_ids))
    ones = np.ones(len(entries[0]), dtype=np.int32)
    return Counted(list(numbers), csr_array((ones, entries), shape=(len(stops), len(numbers))))


def merge_counts(parts: Iterable[Counted], words: Sequence[str] | None) -> Counted:
    """Join counts of consecutive documents: of `words`, or of all words as they are met."""
    numbers = {word: number for number, word in enumerate(words or ())}
    merged = [csr_array((0, len(numbers)), dtype=np.int32)]
    for part in parts:
        if words is None:
            place = [numbers.setdefault(word, len(numbers)) for word in part.words]
        else:
            place = [numbers.get(word, -1) for word in part.words]
        merged.append(remap_columns(part.counts, np.array(place, np.int32), len(numbers)))
    for counts in merged:
        counts.resize(counts.shape[0], len(numbers))
    return Counted(list(numbers), csr_array(vstack(merged, format="csr")))


def remap_columns(matrix: csr_array, place: NDArray[Any], n_columns: int) -> csr_array:
    """Return a matrix with each column in its new place, without those whose place is -1."""
    indices = place[matrix.indices]
    kept = indices >= 0
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return csr_array((matrix.data[kept], indices[kept], starts), shape=(matrix.shape[0], n_columns))


def word_sums(counts: csr_array) -> FloatArray:
    """Return the number of documents that have each word, and of its tokens, [2, V]."""
    n_words = counts.shape[1]
    frequency = np.bincount(counts.indices, minlength=n_words)
    return np.array([frequency, np.bincount(counts.indices, counts.data, n_words)])


def choose_words(
    settings: "TextSettings", words: Sequence[str], sums: FloatArray, n_documents: int
) -> IntArray:
    """Return the positions of the words that the settings keep, in alphabetical order.

    `sums` [2, V] are those of `word_sums`. Of equally frequent words the first are kept.
    """

    def bound(value: float | None, default: float) -> float:
        share = isinstance(value, float)
        return default if value is None else value * (n_documents if share else 1)

    frequency, totals = sums
    least = bound(settings.min_df, min(5, 0.02 * n_documents))
    largest = bound(settings.max_df, n_documents * (1.0 if n_documents < _SMALL else 0.5))
    common = np.flatnonzero((frequency >= least) & (frequency <= largest)).tolist()
    order = np.array(sorted(common, key=words.__getitem__), dtype=np.int64)
    if settings.max_features is not None and len(order) > settings.max_features:
        most = np.argsort(-totals[order], kind="stable")[: settings.max_features]
        order = order[np.sort(most)]
    return order
