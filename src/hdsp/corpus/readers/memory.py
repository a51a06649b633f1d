"""Corpora of other libraries, which are in memory already."""

from collections.abc import Iterable
from typing import Any

from scipy.sparse import csr_array

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.text import TextSettings, vectorizer_words


def from_vectorizer(counts: Any, vectorizer: Any, labels: object = None) -> Corpus:
    """Take the counts that a scikit-learn `CountVectorizer` made, with its words and settings.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        What its `fit_transform` or `transform` returned.
    vectorizer : CountVectorizer
        The vectoriser, fitted.
    labels : Labels, table, matrix, list or None, default=None
        The documents' labels, in any form that `HDSP.fit` takes.

    Returns
    -------
    Corpus
        The counts, with words and text settings.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> from_vectorizer(vectorizer.fit_transform(["a cat", "the dog"]), vectorizer)
    Corpus(2 documents, 3 words, 3 tokens; labels: none)
    """
    settings = TextSettings.from_vectorizer(vectorizer)
    words = vectorizer_words(vectorizer)
    if words is None:
        raise ValueError(
            "`vectorizer` of from_vectorizer must be fitted. Got one without a vocabulary. "
            "Pass the one that made the counts."
        )
    return Corpus(counts, words, labels, text_settings=settings)


def from_gensim(
    corpus: Iterable[Iterable[tuple[int, float]]], dictionary: Any, labels: object = None
) -> Corpus:
    """Take a corpus of gensim: one list of (word, count) per document, and a dictionary.

    Parameters
    ----------
    corpus : iterable of iterable of (int, float)
        The documents, which are iterated over once.
    dictionary : gensim Dictionary or mapping of int to str
        The words by number.
    labels : Labels, table, matrix, list or None, default=None
        The documents' labels, in any form that `HDSP.fit` takes.

    Returns
    -------
    Corpus
        The counts, with the words of the dictionary.

    Examples
    --------
    >>> from_gensim([[(0, 1), (1, 2)], [(1, 1)]], {0: "cat", 1: "dog"})
    Corpus(2 documents, 2 words, 4 tokens; labels: none)
    """
    if hasattr(dictionary, "token2id"):
        by_number = {number: word for word, number in dictionary.token2id.items()}
    else:
        by_number = dict(dictionary.items())
    numbers = sorted(by_number)
    position_of = {number: j for j, number in enumerate(numbers)}
    ends, columns = [0], list[int]()
    values: list[float] = []
    for position, document in enumerate(corpus):
        try:
            for number, count in document:
                columns.append(position_of[number])
                values.append(float(count))
        except KeyError as error:
            raise ValueError(
                "`corpus` of from_gensim must use the words of its dictionary. "
                f"Got number {error.args[0]!r} in document {position}. "
                "Pass the dictionary that made the corpus."
            ) from error
        except (TypeError, ValueError) as error:
            raise TypeError(
                "`corpus` of from_gensim must have a list of pairs (word, count) per document. "
                f"Got another thing in document {position}. "
                "Make them with the dictionary's doc2bow."
            ) from error
        ends.append(len(values))
    counts = csr_array((values, columns, ends), shape=(len(ends) - 1, len(numbers)))
    return Corpus(counts, [by_number[number] for number in numbers], labels)
