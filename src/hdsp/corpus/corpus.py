"""Corpus: counts of words in documents, with the documents' labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus.labels import Labels
from hdsp.corpus.parsing import as_labels
from hdsp.corpus.text import TextSettings
from hdsp.numerics.sparse import frozen_csr
from hdsp.validation import check_counts, check_words, count_of, row_positions


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Corpus:
    """Counts of words in documents, with words and labels; immutable.

    A corpus is indexed by document, as arrays are, and so can be split and shuffled by
    scikit-learn. One integer selects one document and gives a `Corpus` again.

    Parameters
    ----------
    counts
        [M, V], sparse or dense, non-negative; fractions are allowed.
    words
        The V words; "w0", "w1" and so on by default.
    labels
        In any form that `as_labels` reads.
    text_settings
        How the counts were made from texts, so that further texts can be counted alike.
    ids
        What the M documents are called, such as the names of their files.

    Attributes
    ----------
    counts
        [M, V], float64 with sorted indices and without stored zeros; its arrays are read-only.
    words
        The V words.
    labels
        The labels of the M documents.
    text_settings
        How the counts were made from texts; None where they were given.
    ids
        The M documents' names, or None.

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
                f"Got {count_of(len(self.ids), 'id')}. Pass one id a document."
            )

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], labels: object = None, vectorizer: Any = None
    ) -> Self:
        """Count the words of texts.

        Parameters
        ----------
        texts
            The M documents.
        labels
            In any form that `as_labels` reads.
        vectorizer
            A scikit-learn vectoriser. A fitted one only transforms; another is fitted in place,
            so that it can read further texts. Or `TextSettings`. See `default_vectorizer` for
            the default.

        Examples
        --------
        >>> Corpus.from_texts(["the cat sat", "a dog and a cat"]).words
        ('cat', 'dog', 'sat')
        """
        documents = _check_texts(texts)
        known_labels = as_labels(labels, len(documents), "Corpus.from_texts")
        if vectorizer is None:
            vectorizer = default_vectorizer(len(documents))
        if isinstance(vectorizer, TextSettings):
            counts, words = vectorizer.count(documents)
            return cls(counts, words, known_labels, text_settings=vectorizer)
        if _is_fitted(vectorizer):
            counts = vectorizer.transform(documents)
        else:
            try:
                counts = vectorizer.fit_transform(documents)
            except ValueError as error:
                if "vocabulary" not in str(error) and "no terms remain" not in str(error):
                    raise
                raise ValueError(
                    "`texts` of Corpus.from_texts must share words that the vectoriser keeps. "
                    f"Got {count_of(len(documents), 'text')} of which no word is left. "
                    "Pass more texts, or a `vectorizer` that keeps more words."
                ) from error
        names = getattr(vectorizer, "get_feature_names_out", None)
        return cls(
            counts,
            None if names is None else names(),
            known_labels,
            text_settings=_settings_of(vectorizer),
        )

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
        """Split into training and test documents, each in their present order.

        Document m is a test document where the m-th of M uniform draws of
        ``numpy.random.default_rng(random_state)`` is below `test_size`.
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


def default_vectorizer(n_documents: int) -> Any:
    """Return an unfitted vectoriser for a corpus of some size.

    Words are of three letters or more and no English stop words. Of 1,000 documents or more, a
    word must occur in 10; of fewer, in 2; and none may occur in more than 30 % of them. Under
    20 documents every word stays.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if n_documents < 20:
        min_df, max_df = 1, 1.0
    else:
        min_df, max_df = (2 if n_documents < 1000 else 10), 0.3
    return CountVectorizer(
        stop_words="english", min_df=min_df, max_df=max_df, token_pattern="[a-zA-Z][a-zA-Z]{2,}"
    )


def _check_texts(texts: Iterable[str]) -> Sequence[str]:
    subject = "`texts` of Corpus.from_texts"
    if isinstance(texts, str):
        raise TypeError(f"{subject} must be a sequence of strings. Got one string. Pass a list.")
    documents = list(texts)
    for position, text in enumerate(documents):
        if not isinstance(text, str):
            raise TypeError(
                f"{subject} must be strings. Got {text!r} at position {position}. "
                "Replace it by an empty string, or drop the document."
            )
    return documents


def _settings_of(vectorizer: Any) -> TextSettings | None:
    try:
        return TextSettings.from_vectorizer(vectorizer)
    except TypeError:
        # One that weighs or hashes words, of which settings cannot say how.
        return None


def _is_fitted(vectorizer: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(vectorizer)
    except NotFittedError:
        return False
    return True
