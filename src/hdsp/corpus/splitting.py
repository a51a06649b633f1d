"""Words that a pattern cannot find: scripts without spaces, tokenizers, stems, and stop words."""

import os
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp.exceptions import FitWarning, warn_caller

if TYPE_CHECKING:
    from hdsp.corpus.text import TextSettings

Splitter = Callable[[str], Iterable[str]]

# Three letters or more, of any alphabet: no digits, no underscores.
LETTERS = r"[^\W\d_]{3,}"
# Tokenizers by name, with the package and the extra that have them. Those that are well kept: the
# Rust version of jieba finds the words of the original, which has had no release since 2020.
TOKENIZERS = {
    "jieba": ("rjieba", "chinese"),
    "sudachi": ("sudachipy", "japanese"),
    "pythainlp": ("pythainlp", "thai"),
}
# Thai and Lao, Burmese, Khmer, Japanese, Chinese: they put no spaces between words.
_SCRIPTS = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"([{_SCRIPTS}]+)")
_LETTER = re.compile(r"[^\W\d_]")
# Of the words that are counted, beyond which the texts are in such a script.
_MANY = 0.1
# Sudachi takes 49,149 bytes at a time.
_CHARACTERS = 10_000
_STEMMING = threading.Lock()
# What is left of contractions ("didn't"), which scikit-learn's list of stop words does not have.
_CONTRACTED = (
    *("ain", "aren", "couldn", "didn", "doesn", "don", "hadn", "hasn"),
    *("isn", "mustn", "needn", "shouldn", "wasn", "weren", "wouldn"),
)
# Languages by their codes of ISO 639-1; the lists of other languages were not good enough.
LANGUAGE_OF_CODE = {
    **{"bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish", "nl": "dutch"},
    **{"en": "english", "fi": "finnish", "fr": "french", "de": "german", "hu": "hungarian"},
    **{"it": "italian", "no": "norwegian", "nb": "norwegian", "pl": "polish"},
    **{"pt": "portuguese", "ro": "romanian", "ru": "russian", "sk": "slovak", "es": "spanish"},
    **{"sv": "swedish", "uk": "ukrainian"},
}
LANGUAGES = tuple(dict.fromkeys(LANGUAGE_OF_CODE.values()))


def stop_words_of(language: str | None) -> set[str]:
    """Return the stop words of a language; none for None."""
    if language is None:
        return set()
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return {*ENGLISH_STOP_WORDS, *_CONTRACTED}
    from stop_words import get_stop_words

    return set(get_stop_words(language))


def read_stop_words(value: Any) -> tuple[str, ...]:
    """Return the stop words of a list, or of a file with one word per line."""
    try:
        if isinstance(value, (str, os.PathLike)):
            return tuple(Path(value).read_text(encoding="utf-8-sig").split())
        words = tuple(value)
        # Raises unless all are texts.
        " ".join(words)
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(
            "`stop_words` of TextSettings must be a list of strings, or a file in UTF-8 with one "
            f"word per line. Got {value!r}. For English stop words pass language='english'."
        ) from error
    return words


def splits_pairs(settings: "TextSettings") -> bool:
    """Return whether texts in scripts without spaces are split into pairs of characters."""
    return settings.tokenizer is None and settings.token_pattern == LETTERS


def splitter(settings: "TextSettings") -> Splitter:
    """Return the function from a text, in normal form and lower case, to its words."""
    if isinstance(settings.tokenizer, str):
        return _named(settings.tokenizer)
    if settings.tokenizer is not None:
        return settings.tokenizer
    words = re.compile(settings.token_pattern).findall
    if not splits_pairs(settings):
        return words
    return lambda text: [
        word
        for number, part in enumerate(_UNSPACED.split(text))
        for word in (_pairs(part) if number % 2 else words(part))
    ]


def _pairs(run: str) -> list[str]:
    """Return the characters of a script without spaces in pairs, with the marks that they have.

    Examples
    --------
    >>> _pairs("東京都"), _pairs("我")
    (['東京', '京都'], ['我'])
    """
    found: list[str] = []
    characters: list[str] = []
    for character in (*run, " "):
        kind = unicodedata.category(character)[0]
        if kind == "M" and characters:
            characters[-1] += character
        elif kind == "L":
            characters.append(character)
        elif characters:
            found += ["".join(pair) for pair in pairwise(characters)] or characters
            characters = []
    return found


def has_unspaced(text: str) -> bool:
    """Return whether a text has characters of a script without spaces."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def is_unspaced(word: str) -> bool:
    """Return whether a word begins with a character of a script without spaces."""
    return _UNSPACED.match(word) is not None


def warn_of_pairs(settings: "TextSettings", words: Sequence[str]) -> None:
    """Warn if many of the words of texts are pairs of characters."""
    if not splits_pairs(settings):
        return
    pairs = [word for word in words if is_unspaced(word)]
    if len(pairs) > _MANY * len(words):
        warn_caller(
            f"Texts in a script without spaces between words (such as {pairs[0]!r}) are split into "
            "pairs of characters. For words, pass a `tokenizer`: 'jieba' for Chinese, 'sudachi' "
            "for Japanese or 'pythainlp' for Thai, or a function.",
            FitWarning,
        )


def _named(name: str) -> Splitter:
    """Return a tokenizer of another package; what it finds without a letter is no word."""
    package, extra = TOKENIZERS[name]
    try:
        module = import_module(package)
        if name == "jieba":
            split: Splitter = module.cut
        elif name == "sudachi":
            tokenize = module.Dictionary().create().tokenize
            split = partial(_sudachi_words, tokenize)
        else:
            tokenize = import_module("pythainlp.tokenize").word_tokenize
            split = partial(tokenize, keep_whitespace=False)
    except ImportError as error:
        raise ImportError(
            f"The tokenizer {name!r} needs {package}: pip install 'hdsp[{extra}]'."
        ) from error
    return lambda text: [word for word in split(text) if _LETTER.search(word)]


def _sudachi_words(tokenize: Callable[[str], Iterable[Any]], text: str) -> Iterable[str]:
    for first in range(0, len(text), _CHARACTERS):
        for found in tokenize(text[first : first + _CHARACTERS]):
            yield found.dictionary_form()


def stem_languages() -> list[str]:
    """Return the languages that words can be stemmed in."""
    import snowballstemmer

    return list(snowballstemmer.algorithms())


def stems(words: Iterable[str], language: str) -> list[str]:
    """Return the stems of words, by Snowball's algorithm for a language."""
    # Stemmers have a state, and texts are counted in several threads.
    with _STEMMING:
        return list(map(_stemmer(language), words))


@lru_cache(maxsize=4)
def _stemmer(language: str) -> Callable[[str], str]:
    import snowballstemmer

    return lru_cache(maxsize=1 << 18)(snowballstemmer.stemmer(language).stemWord)
