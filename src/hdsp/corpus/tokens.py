r"""Texts to words in compiled code, for patterns that match runs of characters of one class.

Such are ``[^\W\d_]{3,}``, ``(?u)\b\w\w+\b`` and ``[a-z]+``. Which characters a class has is
asked of Python's own `re`, and texts are normalised and put in lower case by Python, so that the
words are those of the regular expression.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hdsp import kernels

_CLASS = r"\[\^?(?:\\.|[^\]\[\\^])+\]|\\[wWdDsS]"
_RUNS = re.compile(
    rf"(?:\(\?u\))?(?P<start>\\b)?(?P<atoms>(?P<atom>{_CLASS})(?:(?P=atom))*)"
    r"(?P<repeat>\+|\{[1-9]\d{0,2},\})(?P<end>\\b)?"
)
_N_CHARACTERS = 0x110000


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


@dataclass(frozen=True, eq=False)
class Tokens:
    """The words of M documents, in their order.

    Attributes
    ----------
    words : list of str
        The distinct words.
    ids : int array of shape [N]
        The position in `words` of each word of the documents.
    stops : int array of shape [M]
        Where the words of each document end in `ids`.
    """

    words: list[str]
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


def split_texts(texts: Sequence[str], pattern: RunPattern, lowercase: bool) -> Tokens:
    """Return the words of texts, for which the global interpreter lock is hardly held."""
    encoded = []
    for text in texts:
        plain = text if text.isascii() else unicodedata.normalize("NFC", text)
        encoded.append((plain.lower() if lowercase else plain).encode("utf-8", "surrogatepass"))
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    joined = b"".join(encoded)
    # Between two words of a document there is at least one character.
    most = (len(joined) + len(encoded)) // (pattern.shortest + 1) + 1
    ids, stops = np.empty(most, dtype=np.int32), np.empty(len(encoded), dtype=np.int64)
    starts, lasts = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    n_words = kernels.find_words(
        np.frombuffer(joined, dtype=np.uint8),
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
    words = [
        joined[start:last].decode("utf-8", "surrogatepass")
        for start, last in zip(starts[:n_words].tolist(), lasts[:n_words].tolist(), strict=True)
    ]
    return Tokens(words, ids[: stops[-1] if len(stops) else 0], stops)
