"""Corpus: counts of words in documents, with the documents' labels."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus.counting import counting_rules
from hdsp.corpus.labels import Labels
from hdsp.corpus.parsing import as_labels
from hdsp.corpus.text import NoWordsError, TextSettings
from hdsp.numerics.sparse import frozen_csr
from hdsp.validation import check_counts, check_texts, check_words, count_of, row_positions


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Corpus:
    """Counts of words in documents, with words and labels; immutable.

    A corpus is indexed by document, as arrays are, and so can be split and shuffled by
    scikit-learn. One integer selects one document and gives a `Corpus` again.

    Parameters
    ----------
    counts : sparse or dense array of shape [M, V]
        Counts of the words; non-negative, fractions are allowed.
    words : iterable of str, default=None
        The V words; None for "w0", "w1" and so on.
    labels : Labels, table, matrix, list or None, default=None
        The documents' labels, in any form that `HDSP.fit` takes.
    text_settings : TextSettings, default=None
        How the counts were made from texts, so that further texts can be counted in the same way.
    ids : iterable of str, default=None
        Names of the M documents, such as those of their files.

    Attributes
    ----------
    counts : sparse array of shape [M, V]
        Counts as float64, with sorted indices and without stored zeros; its arrays are read-only.
    words : tuple of str
        The V words.
    labels : Labels
        The labels of the M documents.
    text_settings : TextSettings or None
        How the counts were made from texts; None where counts were given.
    ids : tuple of str or None
        Names of the M documents.

    Examples
    --------
    >>> corpus = Corpus([[1, 0], [2, 3]], words=["cat", "dog"], labels=["a", "b"])
    >>> corpus
    Corpus(2 documents, 2 words, 6 tokens; labels: category 'label' 2)
    >>> corpus[1:].n_tokens
    5.0
    """

    counts: csr_array
    words: tuple[str, ...]
    labels: Labels
    text_settings: TextSettings | None
    ids: tuple[str, ...] | None

    def __init__(
        self,
        counts: Any,
        words: Iterable[str] | None = None,
        labels: object = None,
        *,
        text_settings: TextSettings | None = None,
        ids: Iterable[str] | None = None,
    ) -> None:
        matrix = check_counts(counts, "Corpus")
        object.__setattr__(self, "counts", matrix)
        object.__setattr__(self, "words", check_words(words, matrix.shape[1], "Corpus"))
        object.__setattr__(self, "labels", as_labels(labels, matrix.shape[0], "Corpus"))
        object.__setattr__(self, "text_settings", text_settings)
        object.__setattr__(self, "ids", None if ids is None else tuple(map(str, ids)))
        if self.ids is not None and len(self.ids) != len(self):
            raise ValueError(
                f"`ids` of Corpus must name each of the {count_of(len(self), 'document')}. "
                f"Got {count_of(len(self.ids), 'id')}. Pass one id per document."
            )

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str | Sequence[str]],
        labels: object = None,
        vectorizer: Any = None,
        *,
        text_settings: object = None,
        like: object = None,
        ids: Iterable[str] | None = None,
    ) -> Self:
        """Count the words of texts.

        Parameters
        ----------
        texts : iterable of str or of lists of str
            The M documents: texts, or lists of their words, which are not split again.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, in any form that `HDSP.fit` takes.
        vectorizer : CountVectorizer or TextSettings, default=None
            Deprecated: use `text_settings`. A vectoriser that is not yet fitted is fitted in
            place.
        text_settings : TextSettings, CountVectorizer or callable, default=None
            How texts are split into words, and which words are counted. A callable returns the
            words of a text. None is ``TextSettings()``, or the settings of `like`.
        like : Corpus or HDSP, default=None
            A corpus or a fitted model whose words are counted, in its order; other words are
            dropped.
        ids : iterable of str, default=None
            The documents' names.

        Returns
        -------
        Corpus
            The counts, with the settings that made them.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["the cat sat", "a dog and a cat"])
        >>> corpus.words
        ('cat', 'dog', 'sat')
        >>> Corpus.from_texts(["one more cat"], like=corpus).counts.toarray()
        array([[1., 0., 0.]])
        """
        owner = "Corpus.from_texts"
        documents = list(check_texts(texts, owner))
        known_labels = as_labels(labels, len(documents), owner)
        if vectorizer is not None:
            warnings.warn(
                "`vectorizer` of Corpus.from_texts is deprecated: pass `text_settings`, and count "
                "further texts with `like`.",
                FutureWarning,
                stacklevel=2,
            )
            if not isinstance(vectorizer, TextSettings):
                counts, words, settings = _count_with(vectorizer, documents)
                return cls(counts, words, known_labels, text_settings=settings, ids=ids)
            text_settings = vectorizer
        settings, words = counting_rules(text_settings, like, owner)
        try:
            counts, words = settings.count(documents, words)
        except NoWordsError as error:
            raise NoWordsError(
                f"`texts` of {owner} must share words that the settings keep. "
                f"Got {count_of(len(documents), 'text')} of which no word is left. "
                "Pass more texts, or `text_settings` that keep more words."
            ) from error
        return cls(counts, words, known_labels, text_settings=settings, ids=ids)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and words, (M, V)."""
        return self.n_documents, self.n_words

    @property
    def n_documents(self) -> int:
        """Number of documents M."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words V of the vocabulary."""
        return int(self.counts.shape[1])

    @property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return float(self.counts.data.sum())

    def __len__(self) -> int:
        return self.n_documents

    def __getitem__(self, key: object) -> "Corpus":
        rows = row_positions(key, self.n_documents, "Corpus")
        # Not through the constructor, which would check the whole vocabulary at every selection.
        selected = object.__new__(Corpus)
        object.__setattr__(selected, "counts", frozen_csr(self.counts[rows]))
        object.__setattr__(selected, "words", self.words)
        object.__setattr__(selected, "labels", self.labels[rows])
        object.__setattr__(selected, "text_settings", self.text_settings)
        ids = None if self.ids is None else tuple(self.ids[row] for row in rows)
        object.__setattr__(selected, "ids", ids)
        return selected

    def split(
        self, test_size: float = 0.2, random_state: int | np.random.Generator | None = None
    ) -> tuple["Corpus", "Corpus"]:
        """Split into training and test documents, both in their present order.

        Document m is a test document if the m-th of M uniform draws of
        ``numpy.random.default_rng(random_state)`` is below `test_size`.

        Parameters
        ----------
        test_size : float, default=0.2
            Expected share of test documents, between 0 and 1.
        random_state : int, numpy.random.Generator or None, default=None
            Seed or generator of the draws.

        Returns
        -------
        train : Corpus
            The training documents.
        test : Corpus
            The test documents.
        """
        if not 0 < test_size < 1:
            raise ValueError(
                f"`test_size` of Corpus.split must lie between 0 and 1. Got {test_size}. "
                "Pass the share of test documents, such as 0.2."
            )
        is_test = np.random.default_rng(random_state).random(self.n_documents) < test_size
        n_test = int(is_test.sum())
        if n_test in (0, self.n_documents):
            raise ValueError(
                "Corpus.split must leave documents on both sides. "
                f"Got {count_of(n_test, 'test document')} out of {self.n_documents}. "
                "Change `test_size` or `random_state`."
            )
        return self[~is_test], self[is_test]

    def __repr__(self) -> str:
        return (
            f"Corpus({count_of(self.n_documents, 'document')}, {count_of(self.n_words, 'word')}, "
            f"{self.n_tokens:.12g} tokens; labels: {self.labels.summary()})"
        )


def _count_with(vectorizer: Any, documents: list[str]) -> tuple[Any, Any, TextSettings | None]:
    """Return what the deprecated `vectorizer` makes of texts: counts, words and settings."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(vectorizer)
        counts = vectorizer.transform(documents)
    except NotFittedError:
        counts = vectorizer.fit_transform(documents)
    names = getattr(vectorizer, "get_feature_names_out", None)
    try:
        settings = TextSettings.from_vectorizer(vectorizer)
    except TypeError:
        # A vectoriser that weighs or hashes words, which settings cannot express.
        settings = None
    return counts, None if names is None else names(), settings
