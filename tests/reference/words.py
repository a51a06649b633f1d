"""Words of texts as runs of characters, written for reading."""

import re
import unicodedata
from itertools import groupby, pairwise


def find_words(documents, kinds, shortest, at_start, at_end):
    """The words of each document: runs of characters of kind 1 or 3.

    A word has `shortest` characters or more, no character of kind 2 or 3 before it if `at_start`,
    and none behind it if `at_end`.
    """
    return [list(_words(text, kinds, shortest, at_start, at_end)) for text in documents]


def _words(text, kinds, shortest, at_start, at_end):
    first = 0
    for is_run, characters in groupby(text, lambda character: bool(kinds[ord(character)] & 1)):
        word = "".join(characters)
        last = first + len(word)
        before = first > 0 and kinds[ord(text[first - 1])] & 2
        behind = last < len(text) and kinds[ord(text[last])] & 2
        is_cut = (at_start and before) or (at_end and behind)
        if is_run and len(word) >= shortest and not is_cut:
            yield word
        first = last


def numbered(documents):
    """Numbers of the words of all documents, in order of their first occurrence, and the words."""
    words = list(dict.fromkeys(word for document in documents for word in document))
    return [[words.index(word) for word in document] for document in documents], words


BLOCKS = [(0x0E01, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17D3), (0x3005, 0x3005), (0x3041, 0x30FF)]
BLOCKS += [(0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)]
BLOCKS += [(0x20000, 0x3FFFF)]


def words_or_pairs(text):
    """Words of three letters or more; in scripts without spaces, pairs of characters."""
    words = []
    for unspaced, run in groupby(text, lambda c: any(a <= ord(c) <= b for a, b in BLOCKS)):
        run = "".join(run)
        words += _pairs(run) if unspaced else re.findall(r"[^\W\d_]{3,}", run)
    return words


def _pairs(run):
    """Pairs of neighbouring letters with their marks, and letters without neighbours."""
    # Letters become "L", marks "M", and all else "Z".
    kinds = "".join(unicodedata.category(c)[0] for c in run)
    kinds = re.sub("[^LM]", "Z", kinds)
    letters = [match.span() for match in re.finditer("LM*", kinds)]
    pairs = []
    for (start, end), (then, stop) in zip([(-1, -1), *letters], [*letters, (-1, -1)], strict=True):
        if end == then != -1:
            pairs.append(run[start:stop])
    joined = {place for a, b in pairwise(letters) if a[1] == b[0]
              for place in (a, b)}  # fmt: skip
    alone = [run[a:b] for a, b in letters if (a, b) not in joined]
    return pairs + alone
