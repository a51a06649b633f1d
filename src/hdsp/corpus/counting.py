"""How a caller wants texts counted: by settings, or like another corpus or a model."""

from dataclasses import replace
from typing import Any

from hdsp.corpus.text import TextSettings


def counting_rules(
    text_settings: object, like: object, owner: str, stem: str | None = None
) -> tuple[TextSettings, tuple[str, ...] | None]:
    """Return settings, and the words to count where they are known beforehand.

    Every function that counts texts comes through here, so that the same arguments give the same
    counts everywhere.

    Parameters
    ----------
    text_settings : TextSettings, CountVectorizer, callable or None
        How texts are split into words, and which words are counted. A callable returns the words
        of a text. None is ``TextSettings()``, or the settings of `like`.
    like : Corpus, HDSP or None
        A corpus or a fitted model whose words are counted, in its order.
    owner : str
        The function whose arguments these are, for messages.
    stem : str or None, default=None
        The language of stems, where words are counted by their stems.

    Returns
    -------
    settings : TextSettings
        The settings.
    words : tuple of str or None
        The words of `like` or of a fitted vectoriser; None where the texts decide.
    """
    settings, words = as_text_settings(text_settings, owner)
    if stem is not None:
        text_settings = settings = replace(settings, stem=stem)
    if like is None:
        return settings, words
    known = getattr(like, "text_settings", getattr(like, "text_settings_", None))
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


def as_text_settings(value: object, owner: str) -> tuple[TextSettings, tuple[str, ...] | None]:
    """Return text settings in any accepted form as `TextSettings`; see `counting_rules`.

    Parameters
    ----------
    value : TextSettings, CountVectorizer, callable or None
        The settings; None for the defaults.
    owner : str
        The function whose argument it is, for messages.

    Returns
    -------
    settings : TextSettings
        The settings.
    words : tuple of str or None
        The words of a vectoriser that has a vocabulary already.
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
