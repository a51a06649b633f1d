"""Words of texts: runs of characters, numbered as they first occur, and counted by document."""

import numpy as np
from numba.extending import register_jitable

from hdsp.kernels.special import INLINED, kernel

# FNV-1a, a hash of bytes in one multiplication each, and a last step that mixes its high bits in.
_OFFSET = np.uint64(14695981039346656037)
_PRIME = np.uint64(1099511628211)
_FOLD = np.uint64(29)
_HIGH = np.uint64(40)
# What a character is: one that words are made of, one beside which a word may not end.
_IN_RUN, _IN_WORD = np.uint8(1), np.uint8(2)


@register_jitable(**INLINED)
def _character(text, position):
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


@register_jitable(**INLINED)
def _place(table, hashes, starts, lasts, known, code, text, start, last):
    """Where a word is in an open table, or the free place where it belongs.

    `table` has numbers of words from 1, and 0 where it is free; they start and end in the text
    `known` at `starts` and `lasts`. The word starts and ends in `text` at `start` and `last`.
    """
    mask = np.uint64(table.shape[0] - 1)
    slot = code & mask
    while table[slot]:
        other = np.int64(table[slot]) - 1
        if hashes[other] == code and lasts[other] - starts[other] == last - start:
            first, i = starts[other], 0
            while i < last - start and known[first + i] == text[start + i]:
                i += 1
            if i == last - start:
                break
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def find_words(text, ends, kinds, shortest, at_start, at_end, ids, stops, starts, lasts, table):
    """Number the words of M documents, which are runs of characters of a kind, as they occur.

    `text` holds the documents in UTF-8, `ends` [M] where each of them ends. `kinds` has 1 for
    characters that words consist of, and 2 for those of which there is none before a word if
    `at_start`, and none behind it if `at_end`; 3 for both. A word has `shortest` characters or
    more. The words of the first document are left out in the others. The numbers of the words are
    put into `ids`, and how many there were up to each document's end into `stops` [M]; where each
    distinct word first starts and ends in the text into `starts` and `lasts`. `table`, of zeros,
    has a power of two of places, twice as many as there can be words. Returns the numbers of
    distinct words of the first document, and of all. Plain twin: ``tests/reference/words.py``.
    """
    n_words, n_tokens, n_left_out = 0, 0, 0
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
                code = (code ^ np.uint64(text[position])) * _PRIME
                for i in range(1, width):
                    code = (code ^ np.uint64(text[position + i])) * _PRIME
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
            slot = _place(table, hashes, starts, lasts, text, code, text, start, position)
            found = np.int64(table[slot]) - 1
            if found < 0:
                found = np.int64(n_words)
                n_words += 1
                table[slot] = n_words
                starts[found], lasts[found], hashes[found] = start, position, code
            if found >= n_left_out:
                ids[n_tokens] = found - n_left_out
                n_tokens += 1
        if m == 0:
            n_left_out, n_tokens = n_words, 0
        stops[m] = n_tokens
    return n_left_out, n_words


@kernel
def count_ids(ids, stops, seen, place, columns, counts):
    """Count how often each number occurs in each of M documents.

    The numbers of the documents follow one another in `ids`, and end at `stops` [M]. Each distinct
    one of a document is put into `columns`, with how often it occurs in `counts`, and `stops` is
    changed to where those of each document end. `seen`, of -1, and `place` have an element for
    each number. Plain twin: ``numpy.unique`` of each document.
    """
    n_entries, first = 0, 0
    for m in range(stops.shape[0]):
        for i in range(first, stops[m]):
            number = ids[i]
            if seen[number] != m:
                seen[number], place[number] = m, n_entries
                columns[n_entries], counts[n_entries] = number, 0
                n_entries += 1
            counts[place[number]] += 1
        first, stops[m] = stops[m], n_entries


@kernel
def merge_words(
    text,
    starts,
    lasts,
    known,
    n_known,
    known_starts,
    known_lasts,
    hashes,
    table,
    is_open,
    share,
    n_shares,
    numbers,
):
    """Number words as those of a table, in which new ones are entered if it `is_open`.

    Words start and end in `text` at `starts` and `lasts`; the `n_known` words of the table in
    `known`, at `known_starts` and `known_lasts`. All arrays of an open table have room for all
    words, and `table` is at most half full then. The number of each word is put into `numbers`: -1
    if it is unknown, or not in the `share` of `n_shares` to which its hash belongs. Returns the
    number of words in the table. Plain twin: ``dict.setdefault`` and ``dict.get``.
    """
    end = known_lasts[n_known - 1] if n_known else 0
    for word in range(starts.shape[0]):
        start, last = starts[word], lasts[word]
        code = _OFFSET
        for i in range(start, last):
            code = (code ^ np.uint64(text[i])) * _PRIME
        code ^= code >> _FOLD
        numbers[word] = -1
        # The high bits, because the low ones are the place in the table.
        if np.int64(code >> _HIGH) % n_shares != share:
            continue
        slot = _place(table, hashes, known_starts, known_lasts, known, code, text, start, last)
        found = np.int64(table[slot]) - 1
        if found < 0 and is_open:
            found = np.int64(n_known)
            n_known += 1
            table[slot] = n_known
            known_starts[found], hashes[found] = end, code
            for i in range(start, last):
                known[end] = text[i]
                end += 1
            known_lasts[found] = end
        numbers[word] = found
    return n_known
