"""Words of texts: runs of characters, numbered as they first occur."""

from typing import Any

import numpy as np
from numba.extending import register_jitable

from hdsp.kernels.special import INLINED, kernel

# FNV-1a, a hash of bytes in one multiplication each, and a last step that mixes its high bits in.
_OFFSET = np.uint64(14695981039346656037)
_PRIME = np.uint64(1099511628211)
_FOLD = np.uint64(29)
# What a character is: one that words are made of, one beside which a word may not end.
_IN_RUN, _IN_WORD = np.uint8(1), np.uint8(2)


@register_jitable(**INLINED)
def _character(text: Any, position: Any) -> Any:
    """Code point and number of bytes of the character at a position of a text in UTF-8."""
    byte = np.int64(text[position])
    if byte < 0x80:
        return byte, 1
    if byte < 0xE0:
        return (byte & 0x1F) << 6 | (text[position + 1] & 0x3F), 2
    middle = np.int64(text[position + 1] & 0x3F) << 6 | (text[position + 2] & 0x3F)
    if byte < 0xF0:
        return (byte & 0x0F) << 12 | middle, 3
    return (byte & 0x07) << 18 | middle << 6 | (text[position + 3] & 0x3F), 4


@kernel
def find_words(
    text: Any,
    ends: Any,
    kinds: Any,
    shortest: Any,
    at_start: Any,
    at_end: Any,
    ids: Any,
    stops: Any,
    starts: Any,
    lasts: Any,
    table: Any,
) -> Any:
    """Number the words of M documents, which are runs of characters of a kind, as they occur.

    `text` holds the documents in UTF-8, `ends` [M] where each of them ends. `kinds` has 1 for
    characters that words consist of, and 2 for those of which there is none before a word if
    `at_start`, and none behind it if `at_end`; 3 for both. A word has `shortest` characters or
    more. The numbers of the words are put into `ids`, and how many there were up to each
    document's end into `stops` [M]; where each distinct word first starts and ends in the text
    into `starts` and `lasts`. `table`, of zeros, has a power of two of places, twice as many as
    there can be words. Returns the number of distinct words. Plain twin:
    ``tests/reference/words.py``.
    """
    n_words, n_tokens = 0, 0
    mask = np.uint64(table.shape[0] - 1)
    hashes = np.empty(starts.shape[0], np.uint64)
    position = 0
    for m in range(ends.shape[0]):
        end = ends[m]
        word_before = False
        while position < end:
            point, width = _character(text, position)
            kind = kinds[point]
            if not kind & _IN_RUN:
                word_before = (kind & _IN_WORD) != 0
                position += width
                continue
            start, length, code = position, 0, _OFFSET
            while kind & _IN_RUN:
                for i in range(position, position + width):
                    code = (code ^ np.uint64(text[i])) * _PRIME
                length += 1
                position += width
                kind = np.uint8(0)
                if position < end:
                    point, width = _character(text, position)
                    kind = kinds[point]
            cut = (at_start and word_before) or (at_end and (kind & _IN_WORD) != 0)
            word_before = True
            if cut or length < shortest:
                continue
            code ^= code >> _FOLD
            size = position - start
            slot = code & mask
            found = np.int64(-1)
            while table[slot]:
                other = np.int64(table[slot]) - 1
                if hashes[other] == code and lasts[other] - starts[other] == size:
                    first, i = starts[other], 0
                    while i < size and text[first + i] == text[start + i]:
                        i += 1
                    if i == size:
                        found = other
                        break
                slot = (slot + np.uint64(1)) & mask
            if found < 0:
                found = np.int64(n_words)
                n_words += 1
                table[slot] = n_words
                starts[found], lasts[found], hashes[found] = start, position, code
            ids[n_tokens] = found
            n_tokens += 1
        stops[m] = n_tokens
    return n_words
