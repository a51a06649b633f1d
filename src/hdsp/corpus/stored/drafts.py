"""Drafts of shards: documents counted before the words and labels of the whole are known."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.word_counts import Counted, placed
from hdsp.corpus.word_table import PackedWords, WordTable
from hdsp.numerics.sparse import frozen_csr
from hdsp.storage import AnyArray, StoredArrays, map_arrays, put_sparse, put_texts, write_arrays


@dataclass(frozen=True)
class Draft:
    """Documents in a file of their own, with the words and labels that they have.

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
        words = counted.words
        lengths = words.lasts - words.starts
        ends = np.cumsum(lengths)
        # Where each byte of the words is in their text, which holds all else that was read.
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            words.starts - (ends - lengths), lengths
        )
        arrays: dict[str, AnyArray] = {"words.text": words.text[places], "words.ends": ends}
        put_sparse(arrays, "counts", counted.counts)
        for number, block in enumerate(labels.blocks):
            put_sparse(arrays, f"labels.{number}", block.values)
        if ids is not None:
            put_texts(arrays, "ids", ids)
        with path.open("xb") as file:
            write_arrays(file, arrays, "draft")
        columns = tuple(block.columns for block in labels.blocks)
        return cls(path, len(labels), len(words), columns)

    def read_counts(self) -> Counted:
        """Return the documents' words, and their counts."""
        return self._counted(map_arrays(self.path)[1])

    def finished(self, whole: Corpus, table: WordTable) -> Corpus:
        """Return the documents with the words and label columns of the whole.

        Parameters
        ----------
        whole : Corpus
            A corpus of no documents with all words and label columns, which are sorted.
        table : WordTable
            A table of the words.

        Returns
        -------
        Corpus
            The documents.
        """
        arrays = map_arrays(self.path)[1]
        counted = self._counted(arrays)
        place = table.find(counted.words).astype(np.int32)
        labels = []
        for number, block in enumerate(whole.labels.blocks):
            names = self.columns[number]
            local = _sparse(arrays, f"labels.{number}", len(names))
            target = np.array([bisect_left(block.columns, name) for name in names], dtype=np.int32)
            labels.append(replace(block, values=placed(local, target, len(block.columns))))
        return Corpus.trusted(
            frozen_csr(placed(counted.counts, place, whole.n_words)),
            whole.words,
            Labels(tuple(labels), self.n_documents),
            whole.text_settings,
            StoredArrays(arrays).texts("ids") if "ids.ends" in arrays else None,
        )

    def _counted(self, arrays: dict[str, AnyArray]) -> Counted:
        ends = arrays["words.ends"]
        starts = np.concatenate([[0], ends[:-1]])[: len(ends)].astype(np.int64)
        words = PackedWords(arrays["words.text"], starts, np.array(ends))
        return Counted(words, _sparse(arrays, "counts", self.n_words))


def _sparse(arrays: dict[str, AnyArray], name: str, n_columns: int) -> csr_array:
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
