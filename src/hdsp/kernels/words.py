"""Words of texts: runs of characters, numbered as they first occur."""

import numpy as np
from numba.extending import register_jitable

from hdsp.kernels.special import INLINED, kernel

# FNV-1a, a hash in one multiplication per character, and a last step that mixes its high bits in.
_OFFSET = np.uint64(14695981039346656037)
_PRIME = np.uint64(1099511628211)
_FOLD = np.uint64(29)
# What a character is: one that words are made of, one beside which a word may not end.
_IN_RUN, _IN_WORD = np.uint8(1), np.uint8(2)


@register_jitable(**INLINED)
def _slot(table, hashes, starts, lasts, text, code, start, last):
    """The slot of a word in an open table of word numbers from 1, or the free slot (0) for it."""
    mask = np.uint64(table.shape[0] - 1)
    slot = code & mask
    while table[slot]:
        other = np.int64(table[slot]) - 1
        if hashes[other] == code and lasts[other] - starts[other] == last - start:
            first, i = starts[other], 0
            while i < last - start and text[first + i] == text[start + i]:
                i += 1
            if i == last - start:
                break
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def find_words(text, ends, kinds, shortest, at_start, at_end):
    """Number the words of M documents, which are runs of characters of a kind, as they occur.

    `text` holds the code points of the documents, `ends` [M] where each of them ends. `kinds` has 1
    for characters that words consist of, and 2 for those of which there is none before a word if
    `at_start`, and none behind it if `at_end`; 3 for both. A word has `shortest` characters or
    more. The words of the first document are left out in the others. Returns the word numbers, how
    many there are up to the end of each document [M], and where each distinct word first starts and
    ends in the text. Plain twin: ``tests/reference/words.py``.
    """
    # Two words of a document are at least one character apart.
    most = (text.shape[0] + ends.shape[0]) // (shortest + 1) + 1
    ids, stops = np.empty(most, np.int32), np.empty(ends.shape[0], np.int64)
    starts, lasts = np.empty(most, np.int64), np.empty(most, np.int64)
    hashes = np.empty(most, np.uint64)
    n_slots = 1
    while n_slots < 2 * most:
        n_slots *= 2
    table = np.zeros(n_slots, np.int32)
    n_words, n_tokens, n_left_out, position = 0, 0, 0, 0
    for m in range(ends.shape[0]):
        word_before = False
        while position < ends[m]:
            kind = kinds[text[position]]
            if not kind & _IN_RUN:
                word_before = (kind & _IN_WORD) != 0
                position += 1
                continue
            start, code = position, _OFFSET
            while kind & _IN_RUN:
                code = (code ^ np.uint64(text[position])) * _PRIME
                position += 1
                kind = kinds[text[position]] if position < ends[m] else np.uint8(0)
            cut = (at_start and word_before) or (at_end and (kind & _IN_WORD) != 0)
            word_before = True
            if cut or position - start < shortest:
                continue
            code ^= code >> _FOLD
            slot = _slot(table, hashes, starts, lasts, text, code, start, position)
            if not table[slot]:
                starts[n_words], lasts[n_words], hashes[n_words] = start, position, code
                n_words += 1
                table[slot] = n_words
            if table[slot] > n_left_out:
                ids[n_tokens] = table[slot] - 1 - n_left_out
                n_tokens += 1
        if m == 0:
            n_left_out, n_tokens = n_words, 0
        stops[m] = n_tokens
    chosen = slice(n_left_out, n_words)
    return ids[:n_tokens].copy(), stops, starts[chosen].copy(), lasts[chosen].copy()


@kernel
def count_ids(ids, stops, n_words):
    """Count how often each number below `n_words` occurs in each of M documents.

    The numbers of the documents follow one another in `ids`, and end at `stops` [M]. Returns the
    distinct numbers of each document, how often each occurs, and where those of each document end.
    Plain twin: ``numpy.unique`` of each document.
    """
    columns, counts = np.empty(ids.shape[0], np.int32), np.empty(ids.shape[0], np.int32)
    ends, place = np.zeros(stops.shape[0] + 1, np.int64), np.full(n_words, -1, np.int64)
    n_entries, i = 0, 0
    for m in range(stops.shape[0]):
        while i < stops[m]:
            number = ids[i]
            if place[number] < ends[m]:
                place[number] = n_entries
                columns[n_entries], counts[n_entries] = number, 0
                n_entries += 1
            counts[place[number]] += 1
            i += 1
        ends[m + 1] = n_entries
    return columns[:n_entries].copy(), counts[:n_entries].copy(), ends
