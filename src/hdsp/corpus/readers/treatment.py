"""Which words are counted, and how: by settings, or as another corpus or a model has it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.readers.common import read_error
from hdsp.corpus.text import NoWordsError, TextSettings

Treatment: TypeAlias = tuple[TextSettings, tuple[str, ...] | None]


def as_text_settings(value: object, owner: str) -> Treatment:
    """Read text settings in any accepted form.

    Parameters
    ----------
    value
        None for the defaults; `TextSettings`; a scikit-learn `CountVectorizer`; or a function
        from a text to its words.
    owner
        Whose argument it is, for messages.

    Returns
    -------
    settings : the settings
    words : the words of a vectoriser that has its vocabulary already, else None
    """
    if value is None:
        return TextSettings(), None
    if isinstance(value, TextSettings):
        return value, None
    if hasattr(value, "build_analyzer") and not isinstance(value, type):
        return TextSettings.from_vectorizer(value), vectorizer_words(value)
    if callable(value) and not isinstance(value, type):
        return TextSettings(language=None, lowercase=False, tokenizer=value), None
    raise TypeError(
        f"`text_settings` of {owner} must be TextSettings, a CountVectorizer or a function from a "
        f"text to its words. Got {value!r}. Leave it out for the defaults."
    )


def vectorizer_words(vectorizer: Any) -> tuple[str, ...] | None:
    """Return the words of a vectoriser, or None where it has not been fitted."""
    from sklearn.exceptions import NotFittedError

    try:
        return tuple(str(word) for word in vectorizer.get_feature_names_out())
    except NotFittedError:
        return None


def words_like(like: object, owner: str) -> tuple[str, ...] | None:
    """Return the words of a corpus or a fitted model, or None where there is none."""
    if like is None:
        return None
    words = getattr(like, "words", getattr(like, "words_", None))
    if words is None:
        raise TypeError(
            f"`like` of {owner} must have words: a Corpus, or a fitted HDSP. "
            f"Got {type(like).__name__}. Fit the model first, or leave `like` out."
        )
    return tuple(words)


def text_treatment(text_settings: object, like: object, owner: str) -> Treatment:
    """Return the settings and, where they are given, the words to count."""
    settings, words = as_text_settings(text_settings, owner)
    if like is None:
        return settings, words
    known = getattr(like, "text_settings", getattr(like, "text_settings_", None))
    if isinstance(known, Mapping):
        # A model that was read from a file may hold the settings as they were stored.
        known = TextSettings.from_dict(known)
    if text_settings is None and known is None:
        raise ValueError(
            f"`like` of {owner} must know how its texts were counted. Got a "
            f"{type(like).__name__} without text settings. Pass `text_settings` besides."
        )
    if text_settings is not None and known is not None and settings != known:
        raise ValueError(
            f"`text_settings` of {owner} must be those of `like`. Got others. "
            "Leave out one of the two."
        )
    return (settings if known is None else known), words_like(like, owner)


def corpus_of_texts(
    name: str,
    texts: Iterator[str],
    treatment: Treatment,
    described: Callable[[], tuple[Labels, tuple[str, ...] | None]],
    what: str,
) -> Corpus:
    """Count texts that are read as they are counted, and add what was read beside them.

    Parameters
    ----------
    name
        The file's name, for messages.
    texts
        The texts, which can be gone through once.
    treatment
        Settings and words; see `text_treatment`.
    described
        Called after the last text for the documents' labels and ids.
    what
        Where the texts are from, for messages.
    """
    settings, words = treatment
    try:
        counts, words = settings.count(texts, words)
    except NoWordsError as error:
        labels, _ = described()
        if not len(labels):
            raise _no_documents(name) from error
        raise read_error(
            name,
            f"no word of {what} is left to count",
            "check that this is text, or pass `text_settings` that keep more words",
        ) from error
    labels, ids = described()
    if not len(labels):
        raise _no_documents(name)
    return Corpus(counts, words, labels, text_settings=settings, ids=ids)


def _no_documents(name: str) -> ValueError:
    return read_error(name, "it has no documents", "check that it was written in full")
