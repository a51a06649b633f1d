"""Corpus: counts of words in documents, with the documents' labels."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hdsp.checks import (
    check_counts,
    check_length,
    check_share,
    check_texts,
    check_words,
    count_of,
    row_positions,
)
from hdsp.corpus.columns import as_groups, as_labels, is_missing
from hdsp.corpus.frames import is_frame
from hdsp.corpus.labels import Labels, ReadingSettings
from hdsp.corpus.schema import LabelSchema
from hdsp.corpus.text import TextSettings, counting_rules
from hdsp.numerics import BLOCK_DOCUMENTS, IntArray, frozen_csr

# The most documents of a part: those of a block of a fit.
PART_SIZE = BLOCK_DOCUMENTS
_CHUNK = 1 << 20


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
    groups : iterable of values, default=None
        The group of each document, such as its author, outlet or respondent, where documents of a
        group are not independent; None or NaN is a document of its own.

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
    groups : tuple of str or None
        The groups of the M documents, "" for a document of its own.
    reading : ReadingSettings or None
        How `read_table` read the documents; None if it did not.

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
    text_settings: TextSettings | None = None
    ids: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    reading: ReadingSettings | None = None

    def __init__(
        self,
        counts: Any,
        words: Iterable[str] | None = None,
        labels: object = None,
        *,
        text_settings: TextSettings | None = None,
        ids: Iterable[str] | None = None,
        groups: Any = None,
    ) -> None:
        matrix = check_counts(counts, "Corpus")
        n_documents, n_words = matrix.shape
        known = None if ids is None else tuple(map(str, ids))
        if known is not None:
            check_length(len(known), n_documents, "`ids` of Corpus")
        self.__dict__.update(
            counts=matrix,
            words=check_words(words, n_words, "Corpus"),
            labels=as_labels(labels, n_documents, "Corpus"),
            text_settings=text_settings,
            ids=known,
            groups=as_groups(groups, n_documents, "Corpus"),
        )

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str | Sequence[str]],
        labels: object = None,
        *,
        text_settings: object = None,
        like: object = None,
        ids: Iterable[str] | None = None,
        groups: Any = None,
    ) -> Self:
        """Count the words of texts.

        Parameters
        ----------
        texts : iterable of str or of lists of str
            The M documents: texts, or lists of their words, which are not split again. None is an
            empty document.
        labels : Labels, table, matrix, list or None, default=None
            The documents' labels, in any form that `HDSP.fit` takes.
        text_settings : TextSettings, CountVectorizer or callable, default=None
            How texts are split into words, and which words are counted. A callable returns the
            words of a text. None is ``TextSettings()``, or the settings of `like`.
        like : Corpus or HDSP, default=None
            A corpus or a fitted model whose words are counted, in its order; other words are
            dropped.
        ids : iterable of str, default=None
            The documents' names.
        groups : iterable of values, default=None
            The group of each document, where documents of a group are not independent.

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
        if is_frame(texts):
            raise TypeError(
                f"`texts` of {owner} must be texts, and not a table. Got a "
                f"{type(texts).__name__}. Pass its column of texts, and its columns of labels as "
                "`labels`."
            )
        if not isinstance(texts, str):
            given = list(texts)
            # A document without text is empty, as in `read_table`.
            empty = () if any(isinstance(text, (list, tuple)) for text in given) else ""
            texts = [empty if is_missing(text) else text for text in given]
        documents = list(check_texts(texts, owner))
        known_labels = as_labels(labels, len(documents), owner)
        settings, words = counting_rules(text_settings, like, owner)
        counts, words = settings.count(documents, words)
        return cls(counts, words, known_labels, text_settings=settings, ids=ids, groups=groups)

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
        return len(self.words)

    @property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return float(self.counts.data.sum())

    @property
    def has_groups(self) -> bool:
        """Whether documents have groups."""
        return self.groups is not None

    @property
    def schema(self) -> LabelSchema:
        """The label space of a model that is trained on the corpus."""
        return LabelSchema.of(self.labels)

    def __len__(self) -> int:
        return self.n_documents

    def __getitem__(self, key: object) -> "Corpus":
        rows = row_positions(key, self.n_documents, "Corpus")
        ids, groups = (
            None if names is None else tuple(names[row] for row in rows)
            for names in (self.ids, self.groups)
        )
        counts = frozen_csr(self.counts[rows])
        return self.replaced(counts=counts, labels=self.labels[rows], ids=ids, groups=groups)

    @staticmethod
    def trusted(**fields: Any) -> "Corpus":
        """Return a corpus of checked values, because checking all words takes its time.

        Parameters
        ----------
        **fields : object
            The attributes; `counts` come from `frozen_csr`, without stored zeros.

        Returns
        -------
        Corpus
            The corpus.
        """
        corpus = object.__new__(Corpus)
        corpus.__dict__.update(fields)
        return corpus

    def replaced(self, **fields: Any) -> "Corpus":
        """Return the documents, in memory, with other values of some attributes.

        Parameters
        ----------
        **fields : object
            The values, as the attributes have them: they are not checked.

        Returns
        -------
        Corpus
            The documents.
        """
        return Corpus.trusted(**vars(self) | fields)

    def with_groups(self, groups: Any) -> "Corpus":
        """Return the same documents, in memory, with groups.

        Parameters
        ----------
        groups : iterable of values or None
            The group of each document, such as its author; None or NaN is a document of its own.

        Returns
        -------
        Corpus
            The documents, with these groups in place of any that they had.
        """
        return self.replaced(groups=as_groups(groups, len(self), "Corpus.with_groups"))

    def parts(self) -> Iterator["Corpus"]:
        """Yield the documents in order, some at a time: one shard after another if on disk.

        Yields
        ------
        Corpus
            At most 8,192 documents, in memory, with all words and label columns; one part
            without documents if there are none.
        """
        for first in range(0, max(self.n_documents, 1), PART_SIZE):
            yield self if self.n_documents <= PART_SIZE else self[first : first + PART_SIZE]

    def write(self, folder: str | os.PathLike[str], shard_size: int = PART_SIZE) -> None:
        """Write the corpus to a folder, from which `hdsp.open_corpus` reads what is needed.

        It is written aside and renamed, so that whatever ends the writing leaves what was there.

        Parameters
        ----------
        folder : str or path
            The folder: a new one, an empty one, or that of a stored corpus, which is replaced.
        shard_size : int, default=8192
            Documents per file. By default those of a block of a fit, which then reads each once.
        """
        from hdsp.corpus.preparing import write_corpus

        write_corpus(self, Path(folder), shard_size)

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
        check_share(test_size, "test_size", "Corpus.split")
        is_test = np.random.default_rng(random_state).random(self.n_documents) < test_size
        n_test = int(is_test.sum())
        if n_test in (0, self.n_documents):
            raise ValueError(
                "Corpus.split must leave documents on both sides. "
                f"Got {count_of(n_test, 'test document')} out of {self.n_documents}. "
                "Change `test_size` or `random_state`."
            )
        return self._selected(~is_test), self._selected(is_test)

    def _selected(self, mask: NDArray[np.bool_]) -> "Corpus":
        """Return the documents of a mask; a corpus on disk does so without reading them."""
        return self[mask]

    @property
    def _label_space(self) -> Labels:
        """Labels with all blocks and columns, of any documents."""
        return self.labels

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({count_of(self.n_documents, 'document')}, "
            f"{count_of(self.n_words, 'word')}, {self.n_tokens:.12g} tokens; "
            f"labels: {self._label_space.summary()})"
        )


def fingerprint(counts: csr_array, design: csr_array, groups: IntArray | None = None) -> str:
    """The SHA-256 of counts [M, V] and label values [M, J], of any dtypes, and groups [M]."""
    digest = hashlib.sha256()
    for matrix in (counts, design):
        digest.update(repr(tuple(map(int, matrix.shape))).encode())
        for array, dtype in ((matrix.indptr, "<i8"), (matrix.indices, "<i8"), (matrix.data, "<f8")):
            for first in range(0, len(array), _CHUNK):
                digest.update(np.ascontiguousarray(array[first : first + _CHUNK], dtype=dtype).data)
    if groups is not None:
        digest.update(np.ascontiguousarray(groups, dtype="<i8").data)
    return digest.hexdigest()
