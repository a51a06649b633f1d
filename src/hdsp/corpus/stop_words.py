"""Words that say nothing of a text's subject, by language."""

import os
from collections.abc import Iterable
from pathlib import Path

# What is left of contractions ("didn't"), which scikit-learn's list of stop words does not have.
_CONTRACTED = (
    *("ain", "aren", "couldn", "didn", "doesn", "don", "hadn", "hasn"),
    *("isn", "mustn", "needn", "shouldn", "wasn", "weren", "wouldn"),
)
# Those whose stop words are known; the lists of other languages were not good enough.
LANGUAGES = (
    *("bulgarian", "catalan", "czech", "danish", "dutch", "english", "finnish", "french"),
    *("german", "hungarian", "italian", "norwegian", "polish", "portuguese", "romanian"),
    *("russian", "slovak", "spanish", "swedish", "ukrainian"),
)
# Codes of ISO 639-1, in the same order.
_CODES = (
    *("bg", "ca", "cs", "da", "nl", "en", "fi", "fr", "de", "hu", "it", "no", "pl", "pt", "ro"),
    *("ru", "sk", "es", "sv", "uk"),
)
LANGUAGE_OF_CODE = dict(zip(_CODES, LANGUAGES, strict=True)) | {"nb": "norwegian"}


def stop_words_of(language: str | None) -> set[str]:
    """Return the stop words of a language; none where it is None."""
    if language is None:
        return set()
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return {*ENGLISH_STOP_WORDS, *_CONTRACTED}
    from stop_words import get_stop_words

    return set(get_stop_words(language))


def read_stop_words(value: object) -> tuple[str, ...]:
    """Return the stop words of a list, or of a file with one word per line."""
    if isinstance(value, (str, os.PathLike)):
        path = Path(value)
        try:
            return tuple(path.read_text(encoding="utf-8-sig").split())
        except (OSError, ValueError) as error:
            raise ValueError(
                "`stop_words` of TextSettings must be a list, or a file in UTF-8 with one word per "
                f"line. Got {str(path)!r}, which cannot be read. Check the path; for English stop "
                "words pass language='english'."
            ) from error
    words = tuple(value) if isinstance(value, Iterable) else (value,)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(
                f"`stop_words` of TextSettings must be strings. Got {word!r}. Convert it with str."
            )
    return words
