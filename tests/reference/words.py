"""Words of texts as runs of characters, written for reading."""

from itertools import groupby


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
