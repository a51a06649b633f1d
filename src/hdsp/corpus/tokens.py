r"""Texts to words in compiled code, for patterns that match runs of characters of one class.

Such are ``[^\W\d_]{3,}``, ``(?u)\b\w\w+\b`` and ``[a-z]+``. Which characters a class has is
asked of Python's own `re`, and texts are normalised and put in lower case by Python, so that the
words are those of the regular expression.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.corpus.word_table import PackedWords

_CLASS = r"\[\^?(?:\\.|[^\]\[\\^])+\]|\\[wWdDsS]"
_RUNS = re.compile(
    rf"(?:\(\?u\))?(?P<start>\\b)?(?P<atoms>(?P<atom>{_CLASS})(?:(?P=atom))*)"
    r"(?P<repeat>\+|\{[1-9]\d{0,2},\})(?P<end>\\b)?"
)
_N_CHARACTERS = 0x110000
_JOINED = 16


@dataclass(frozen=True, eq=False)
class RunPattern:
    """A pattern of words that are runs of characters of one class.

    Attributes
    ----------
    kinds : int array of shape [1114112]
        For each character: 1 if words consist of it, and 2 if no word may end beside it.
    shortest : int
        The fewest characters of a word.
    at_start, at_end : bool
        Whether a word must start, or end, at a word boundary.
    """

    kinds: NDArray[np.uint8]
    shortest: int
    at_start: bool
    at_end: bool

    def stop_text(self, stop_words: Iterable[str]) -> bytes:
        """Return words as a text, of which they are the words."""
        between = chr(int(np.argmin(self.kinds)))
        return between.join(stop_words).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class Tokens:
    """The words of M documents, in their order.

    Attributes
    ----------
    words : PackedWords
        The distinct words.
    ids : int array of shape [N]
        The position in `words` of each word of the documents.
    stops : int array of shape [M]
        Where the words of each document end in `ids`.
    """

    words: PackedWords
    ids: NDArray[np.int32]
    stops: NDArray[np.int64]


@lru_cache(maxsize=16)
def run_pattern(token_pattern: str) -> RunPattern | None:
    """Return a pattern as one of runs, or None where it is no such pattern."""
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


def _members(character_class: str) -> NDArray[np.bool_]:
    """Return which of all characters are of a class of a regular expression."""
    members = np.zeros(_N_CHARACTERS, dtype=np.bool_)
    for run in re.finditer(f"(?:{character_class})+", _all_characters()):
        members[run.start() : run.end()] = True
    return members


@lru_cache(maxsize=1)
def _all_characters() -> str:
    points = np.arange(_N_CHARACTERS, dtype="<u4")
    return points.tobytes().decode("utf-32-le", "surrogatepass")


def split_texts(
    texts: Sequence[str], pattern: RunPattern, lowercase: bool, stop_text: bytes = b""
) -> Tokens:
    """Return the words of texts, other than those of `stop_text`.

    The interpreter is free for other threads for most of the time.
    """
    encoded, lengths = _encoded(texts, lowercase)
    ends = np.array([len(stop_text), *lengths], dtype=np.int64).cumsum()
    text = np.frombuffer(b"".join([stop_text, *encoded]), dtype=np.uint8)
    # Between two words of a document there is at least one character.
    most = (len(text) + len(ends)) // (pattern.shortest + 1) + 1
    ids, stops = np.empty(most, dtype=np.int32), np.empty(len(ends), dtype=np.int64)
    starts, lasts = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    n_stop, n_words = kernels.find_words(
        text,
        ends,
        pattern.kinds,
        pattern.shortest,
        pattern.at_start,
        pattern.at_end,
        ids,
        stops,
        starts,
        lasts,
        np.zeros(1 << (2 * most).bit_length(), dtype=np.int32),
    )
    words = PackedWords(text, starts[n_stop:n_words], lasts[n_stop:n_words])
    return Tokens(words, ids[: stops[-1]], stops[1:])


def _encoded(texts: Sequence[str], lowercase: bool) -> tuple[list[bytes], list[int]]:
    """Return texts in normal form, in lower case if they are to be, in UTF-8, with their lengths.

    Some are joined, because texts in ASCII need no more than that.
    """
    encoded: list[bytes] = []
    lengths: list[int] = []
    for first in range(0, len(texts), _JOINED):
        some = texts[first : first + _JOINED]
        together = "".join(some)
        if together.isascii():
            encoded.append((together.lower() if lowercase else together).encode())
            lengths.extend(map(len, some))
            continue
        for text in some:
            # Some systems write "é" as an "e" and a mark, which is no letter and would end a word.
            plain = unicodedata.normalize("NFC", text)
            plain = plain.lower() if lowercase else plain
            encoded.append(plain.encode("utf-8", "surrogatepass"))
            lengths.append(len(encoded[-1]))
    return encoded, lengths


def count_tokens(tokens: Tokens) -> csr_array:
    """Return the counts [M, V] of the words of documents; their columns are not sorted."""
    n_words, n_tokens = len(tokens.words), len(tokens.ids)
    stops = np.concatenate([[0], tokens.stops])
    columns, counts = np.empty(n_tokens, dtype=np.int32), np.empty(n_tokens, dtype=np.int32)
    seen, place = np.full(n_words, -1, dtype=np.int64), np.empty(n_words, dtype=np.int64)
    kernels.count_ids(tokens.ids, stops[1:], seen, place, columns, counts)
    return csr_array(
        (counts[: stops[-1]], columns[: stops[-1]], stops), shape=(len(stops) - 1, n_words)
    )
