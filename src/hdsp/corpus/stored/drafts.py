"""Drafts of shards: documents counted before the words and labels of the whole are known."""

import pickle
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.counting import Counted, remap_columns
from hdsp.corpus.labels import Labels
from hdsp.numerics import frozen_csr


@dataclass(frozen=True)
class Draft:
    """Documents in a file of their own, with the words and labels that they have.

    The file is pickled, since the process that wrote it reads and removes it.

    Attributes
    ----------
    path : Path
        The file.
    n_documents : int
        Number of its documents.
    n_words : int
        Number of their distinct words.
    columns : tuple of tuple of str
        The label columns of each block.
    """

    path: Path
    n_documents: int
    n_words: int
    columns: tuple[tuple[str, ...], ...]

    @classmethod
    def write(
        cls, path: Path, counted: Counted, labels: Labels, ids: tuple[str, ...] | None
    ) -> "Draft":
        """Write documents to a file."""
        with path.open("xb") as file:
            pickle.dump((counted, labels, ids), file, 5)
        columns = tuple(block.columns for block in labels.blocks)
        return cls(path, len(labels), len(counted.words), columns)

    def read(self) -> tuple[Counted, Labels, tuple[str, ...] | None]:
        """Return the documents' counts with their words, their labels and their ids."""
        with self.path.open("rb") as file:
            found: tuple[Counted, Labels, tuple[str, ...] | None] = pickle.load(file)
        return found

    def finished(self, whole: Corpus, numbers: Mapping[str, int]) -> Corpus:
        """Return the documents with the words and label columns of the whole.

        Parameters
        ----------
        whole : Corpus
            A corpus of no documents with all words and label columns, which are sorted.
        numbers : mapping of str to int
            The number of each word.

        Returns
        -------
        Corpus
            The documents.
        """
        counted, found, ids = self.read()
        place = np.array([numbers.get(word, -1) for word in counted.words], np.int32)
        blocks = []
        for own, block in zip(found.blocks, whole.labels.blocks, strict=True):
            target = np.array([bisect_left(block.columns, name) for name in own.columns], np.int32)
            blocks.append(
                replace(block, values=remap_columns(own.values, target, len(block.columns)))
            )
        counts = frozen_csr(remap_columns(counted.counts, place, whole.n_words))
        labels = Labels(tuple(blocks), self.n_documents)
        return whole.replaced(counts=counts, labels=labels, ids=ids)
