"""How texts become counts of words."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp import progress
from hdsp.checks import check_texts, check_words, count_of
from hdsp.corpus.counting import choose_words, count_texts, merge_counts, stop_list, word_sums
from hdsp.corpus.splitting import (
    LANGUAGE_OF_CODE,
    LANGUAGES,
    LETTERS,
    TOKENIZERS,
    read_stop_words,
    stem_languages,
    warn_of_pairs,
)
from hdsp.exceptions import NotSavedWarning, warn_caller
from hdsp.storage.codec import require

_FREQUENCY_RULE = "a number of documents from 1, or a share from 0.0 to 1.0"
_LANGUAGE_RULE = f"one of {', '.join(LANGUAGES)}, or None with `stop_words`"
# Nobody writes longer ones; a class of millions of characters takes gigabytes.
_LONGEST_PATTERN = 1_000
_PATTERN_RULE = (
    f"a regular expression of up to {_LONGEST_PATTERN:,} characters, with one group at most, that "
    "an empty text does not match"
)
# Nobody counts longer phrases, and each length takes as much memory as the words themselves.
_LONGEST_PHRASE = 10
# Patterns whose matching takes time in proportion to the text, whatever the text is: characters
# or classes, of which only the last is repeated without limit, and after which nothing can fail:
# the end, further parts such as "(?:-[a-z]+)*", or, where words begin at a boundary, a boundary.
_ATOM = r"(?:\[\^?(?:\\.|[^\]\[\\^])+\]|\\[^\dbBAZ]|[^\\\[\](){}.*+?|^$])"
_REPEATED = rf"{_ATOM}(?:\+|\{{[1-9](?:,\d{{0,2}})?\}})?"
_PARTS = rf"(?:{_ATOM}(?:\{{[1-9]\}})?){{0,8}}{_REPEATED}"
_QUICK = re.compile(
    rf"(?:\(\?u\))?(?:\\b{_PARTS}\\b|(?:\\b)?{_PARTS}(?:\(\?:{_ATOM}{_REPEATED}\)[*?])?)"
)


class NoWordsError(ValueError):
    """Raised if the settings keep no word of the texts."""


@dataclass(frozen=True)
class TextSettings:
    r"""How texts are split into words, and which words are counted.

    Attributes
    ----------
    language : str or None, default="english"
        The language whose stop words are left out, or None. ``"english"`` is scikit-learn's list,
        and what is left of contractions ("didn"). The package stop-words has the lists of
        Bulgarian, Catalan, Czech, Danish, Dutch, Finnish, French, German, Hungarian, Italian,
        Norwegian, Polish, Portuguese, Romanian, Russian, Slovak, Spanish, Swedish and Ukrainian.
        For any other language pass None and `stop_words`.
    stop_words : sequence of str or path, default=()
        Further words to leave out: a list, or the path of a file with one word per line. They
        are split as texts are, so "don't" leaves out "don".
    min_df : int, float or None, default=None
        The smallest number of documents in which a word must occur, or share of the documents
        if it is a float. None is 5 documents, or 2 % of them if that is less: a rarer word
        occurs with too few others to tell a topic. With fewer than 20 documents, None keeps
        every word.
    max_df : int, float or None, default=None
        The largest number or share of documents in which a word may occur. None is half of them:
        a more frequent word is in all topics. With fewer than 20 documents, None keeps every
        word.
    token_pattern : str, default=r"[^\W\d_]{3,}"
        Regular expression of a word. By default three letters or more, of any alphabet, and pairs
        of characters in scripts that put no spaces between words (Chinese, Japanese, Thai, Lao,
        Khmer, Burmese). Languages that write vowels as marks on consonants (Hindi) need a
        `tokenizer`. Only simple patterns can be stored with a model; see `storable`.
    lowercase : bool, default=True
        Whether "Cat" is "cat".
    ngrams : int, default=1
        Longest phrase to count, in words, up to 10: 2 counts "new york" in addition to "new" and
        "york".
    max_features : int or None, default=None
        The largest number of words, of which the most frequent are kept; None for all.
    tokenizer : callable, {"jieba", "sudachi", "pythainlp"} or None, default=None
        A function from a text to its words, in place of `token_pattern`, which cannot be stored
        with a model; see `storable`. Or the name of one, for Chinese, Japanese (in dictionary
        form) or Thai, with the extra ``hdsp[chinese]``, ``hdsp[japanese]`` or ``hdsp[thai]``.
    stem : str or None, default=None
        The language, or its code, in which words are counted by their stems, of Snowball's: with
        ``"english"``, "runs" and "running" are "run". Stop words are left out before.

    Examples
    --------
    >>> counts, words = TextSettings().count(["The cats sat.", "A dog didn't sit"])
    >>> words
    ('cats', 'dog', 'sat', 'sit')
    >>> TextSettings().count(["One more cat, one more dog"], words=("dog", "cat"))[0].toarray()
    array([[1., 1.]])
    """

    language: str | None = "english"
    stop_words: tuple[str, ...] = ()
    min_df: int | float | None = None
    max_df: int | float | None = None
    token_pattern: str = LETTERS
    lowercase: bool = True
    ngrams: int = 1
    max_features: int | None = None
    tokenizer: Callable[[str], Iterable[str]] | str | None = None
    stem: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop_words", read_stop_words(self.stop_words))
        for name, value in vars(self).items():
            if name in ("language", "stem") and isinstance(value, str):
                object.__setattr__(self, name, LANGUAGE_OF_CODE.get(value, value))
            elif isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
        stem_names = [] if self.stem is None else stem_languages()
        by_function = self.tokenizer in (None, *TOKENIZERS) or callable(self.tokenizer)
        most = self.max_features
        self._check("language", self.language in (None, *LANGUAGES), _LANGUAGE_RULE)
        self._check("min_df", _is_frequency(self.min_df), _FREQUENCY_RULE)
        self._check("max_df", _is_frequency(self.max_df), _FREQUENCY_RULE)
        self._check("token_pattern", _is_pattern(self.token_pattern), _PATTERN_RULE)
        self._check("lowercase", isinstance(self.lowercase, bool), "True or False")
        self._check("ngrams", _is_whole(self.ngrams, _LONGEST_PHRASE), f"1 to {_LONGEST_PHRASE}")
        self._check("max_features", most is None or _is_whole(most), "an integer >= 1")
        self._check("tokenizer", by_function, f"a function or one of {', '.join(TOKENIZERS)}")
        self._check("stem", self.stem in (None, *stem_names), f"one of {', '.join(stem_names)}")

    def _check(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            value = getattr(self, name)
            raise ValueError(f"`{name}` of TextSettings must be {rule}. Got {value!r}.")

    @property
    def storable(self) -> bool:
        """Whether a model file may hold the settings: a simple pattern, and no function.

        Whoever loads a file of someone else splits texts by its pattern. It may therefore hold
        only patterns that are quick on every text: characters or classes such as ``[a-z]``, the
        last of which may repeat, as in ``[A-Z][a-z]+``; word boundaries around them, as in
        scikit-learn's own; or further parts after them, as in ``[a-z]+(?:-[a-z]+)*``.
        """
        return not callable(self.tokenizer) and _QUICK.fullmatch(self.token_pattern) is not None

    def check_stored(self) -> None:
        """Raise if a file holds settings that it may not."""
        require(self.storable, "its pattern of words could take very long")

    @property
    def all_words(self) -> Self:
        """The same settings, except that no word is left out for its frequency."""
        return replace(self, min_df=1, max_df=1.0, max_features=None)

    def count(
        self, texts: Iterable[str | Sequence[str]], words: Sequence[str] | None = None
    ) -> tuple[csr_array, tuple[str, ...]]:
        """Count the words of texts.

        Parameters
        ----------
        texts : iterable of str or of lists of str
            The M documents. They are iterated over once, and need not be in memory together. A
            list holds the words of a document, which are not split again; the other settings
            apply to them.
        words : sequence of str, default=None
            The V words to count, such as those of a fitted model; all others are dropped, and
            `min_df`, `max_df` and `max_features` have no effect. By default the words of the
            texts, sorted.

        Returns
        -------
        counts : sparse array of shape [M, V]
            Counts of the words.
        words : tuple of str
            The V words.
        """
        owner = "TextSettings.count"
        known = None if words is None else check_words(words, len(words), owner)
        documents = progress.count(check_texts(texts, owner), "documents")
        names, counts = merge_counts(count_texts(documents, self), known)
        if known is None:
            chosen = choose_words(self, names, word_sums(counts), counts.shape[0])
            known, counts = tuple(names[number] for number in chosen.tolist()), counts[:, chosen]
            warn_of_pairs(self, known)
        if not known:
            raise NoWordsError(
                f"No word of {count_of(counts.shape[0], 'text')} is left to count. Pass more "
                "texts, or `text_settings` that keep more words."
            )
        counts = csr_array(counts, dtype=np.float64)
        counts.sort_indices()
        return counts, known

    @classmethod
    def from_vectorizer(cls, vectorizer: Any) -> Self:
        """Return the settings of a scikit-learn vectoriser.

        If it does what settings cannot express (characters in place of words, a function of its
        own, accents stripped), its analyser becomes the `tokenizer`.

        Parameters
        ----------
        vectorizer : CountVectorizer
            The vectoriser, fitted or not.

        Returns
        -------
        TextSettings
            Settings that count as the vectoriser does.
        """
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        if not isinstance(vectorizer, CountVectorizer) or isinstance(vectorizer, TfidfVectorizer):
            raise TypeError(
                "The vectoriser of a corpus must count words. "
                f"Got {type(vectorizer).__name__}. Use a CountVectorizer."
            )
        names = ("min_df", "max_df", "max_features")
        choosing = {name: getattr(vectorizer, name) for name in names}
        stop_words = tuple(sorted(vectorizer.get_stop_words() or ()))
        shortest, longest = vectorizer.ngram_range
        reads_words = (vectorizer.analyzer, vectorizer.input) == ("word", "content")
        custom = (vectorizer.strip_accents, vectorizer.preprocessor, vectorizer.tokenizer)
        plain = type(vectorizer) is CountVectorizer and reads_words and not vectorizer.binary
        plain &= shortest == 1 and longest <= _LONGEST_PHRASE and custom == (None, None, None)
        if plain:
            settings = cls(
                language=None,
                stop_words=stop_words,
                token_pattern=vectorizer.token_pattern,
                lowercase=vectorizer.lowercase,
                ngrams=longest,
                **choosing,
            )
            if stop_list(settings) <= set(stop_words):
                return settings
        analyze = vectorizer.build_analyzer()
        tokenizer = partial(_distinct, analyze) if vectorizer.binary else analyze
        return cls(language=None, lowercase=False, tokenizer=tokenizer, **choosing)


def storable_settings(settings: TextSettings | None, place: str) -> TextSettings | None:
    """Return settings that a file may hold, or None, with a warning, where it may not."""
    if settings is None or settings.storable:
        return settings
    what = "pattern" if settings.tokenizer is None else "function"
    warn_caller(
        f"The {what} that cuts texts into words cannot be stored with the {place}: pass it as "
        "`text_settings` when new texts are read.",
        NotSavedWarning,
    )
    return None


def counting_rules(
    text_settings: object, like: object, owner: str
) -> tuple[TextSettings, tuple[str, ...] | None]:
    """Return settings, and the words to count if `like` or a fitted vectoriser has them.

    Every function that counts texts calls this one, so that the same arguments give the same
    counts everywhere.
    """
    settings, words = as_text_settings(text_settings, owner)
    if like is None:
        return settings, words
    known = getattr(like, "text_settings", getattr(like, "text_settings_", None))
    if known is None and text_settings is None:
        raise ValueError(
            f"`like` of {owner} must know how its texts were counted. Got a "
            f"{type(like).__name__} without text settings. Pass `text_settings` besides."
        )
    if None not in (known, text_settings) and settings != known:
        raise ValueError(f"`text_settings` of {owner} must be those of `like`. Got others.")
    return known or settings, words_like(like, owner)


def as_text_settings(value: Any, owner: str) -> tuple[TextSettings, tuple[str, ...] | None]:
    """Return `TextSettings` of any accepted form, and the words of a fitted vectoriser."""
    if value is None or isinstance(value, TextSettings):
        return value or TextSettings(), None
    if hasattr(value, "build_analyzer") and not isinstance(value, type):
        settings = TextSettings.from_vectorizer(value)
        is_fitted = hasattr(value, "vocabulary_") or value.vocabulary is not None
        return settings, tuple(value.get_feature_names_out()) if is_fitted else None
    if callable(value) and not isinstance(value, type):
        return TextSettings(language=None, lowercase=False, tokenizer=value), None
    raise TypeError(
        f"`text_settings` of {owner} must be TextSettings, a CountVectorizer or a function from a "
        f"text to its words. Got {value!r}."
    )


def words_like(like: object, owner: str) -> tuple[str, ...] | None:
    """Return the words of a corpus or a fitted model; None for None."""
    if like is None:
        return None
    words = getattr(like, "words", getattr(like, "words_", None))
    if words is None:
        raise TypeError(
            f"`like` of {owner} must have words: a Corpus, or a fitted HDSP. "
            f"Got {type(like).__name__}. Fit the model first, or leave `like` out."
        )
    return tuple(words)


def _distinct(analyze: Callable[[str], Iterable[str]], text: str) -> set[str]:
    return set(analyze(text))


def _is_whole(value: Any, most: float = np.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_frequency(value: Any) -> bool:
    if isinstance(value, float):
        return 0.0 <= value <= 1.0
    return value is None or _is_whole(value)


def _is_pattern(value: Any) -> bool:
    try:
        short = len(value) <= _LONGEST_PATTERN
        return short and re.compile(value).groups < 2 and not re.match(value, "")
    except (TypeError, re.error):
        return False
