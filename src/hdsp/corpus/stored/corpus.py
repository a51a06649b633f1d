"""A corpus on disk, of which only what is asked for is read."""

import hashlib
import math
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hdsp.checks import row_positions
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.schema import LabelMoments, LabelSchema, column_moments, sum_moments
from hdsp.corpus.stored.manifest import Manifest, read_manifest
from hdsp.corpus.stored.shards import SelectedShard, Shard, joined, known_manifest
from hdsp.corpus.text import TextSettings


def open_corpus(folder: str | os.PathLike[str]) -> "StoredCorpus":
    """Open a corpus on disk, which `Corpus.write` or `hdsp prepare` wrote.

    Parameters
    ----------
    folder : str or path
        The folder of the corpus.

    Returns
    -------
    StoredCorpus
        A `Corpus` like any other, whose documents are read when they are needed.

    Raises
    ------
    ReadError
        If the folder holds no corpus, or one that is damaged.
    FileNotFoundError
        If there is no such folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Corpus([[1, 0], [2, 3]], words=["cat", "dog"]).write(folder)
    >>> open_corpus(folder)
    StoredCorpus(2 documents, 2 words, 6 tokens; labels: none)
    """
    return StoredCorpus(folder)


class StoredCorpus(Corpus):
    """A corpus on disk, or some of its documents: a `Corpus` that is read as it is needed.

    Words, settings, sizes and the `schema` of the labels are known without reading documents.
    `parts` and `shards` read one part at a time; an index reads the shards that it needs, and
    gives a `Corpus` in memory; `counts`, `labels` and `ids` read all of it, at every access. A
    pickle holds the path of the folder, which must be the same corpus when it is opened again.

    Parameters
    ----------
    folder : str or path
        The folder of the corpus.

    Attributes
    ----------
    counts : sparse array of shape [M, V]
        Counts of the words; reads the whole corpus.
    words : tuple of str
        The V words.
    labels : Labels
        The labels of the M documents; reads the whole corpus.
    text_settings : TextSettings or None
        How the counts were made from texts.
    ids : tuple of str or None
        Names of the M documents; reads the whole corpus, if there are any.
    groups : tuple of str or None
        Groups of the M documents; reads the whole corpus, if there are any.
    reading : ReadingSettings or None
        How the texts, labels and ids were read.
    """

    _folder: Path
    _manifest: Manifest
    # Whether each document on disk belongs to the corpus, as bits; None if all do.
    _mask: NDArray[np.uint8] | None

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = Path(os.path.abspath(folder))
        self._set(path, read_manifest(path), None)

    def _set(self, folder: Path, manifest: Manifest, mask: NDArray[np.uint8] | None) -> None:
        object.__setattr__(self, "_folder", folder)
        object.__setattr__(self, "_manifest", manifest)
        object.__setattr__(self, "_mask", mask)

    def __reduce__(self) -> Any:
        return _reopened, (str(self.folder), self._manifest.fingerprint, self._mask)

    @property
    def folder(self) -> Path:
        """The folder of the corpus."""
        return self._folder

    @property
    def fingerprint(self) -> str:
        """A hash of the documents, the same wherever the same corpus is written."""
        if self._mask is None:
            return self._manifest.fingerprint
        digest = hashlib.blake2b(self._manifest.fingerprint.encode(), digest_size=16)
        digest.update(self._mask.tobytes())
        return digest.hexdigest()

    @cached_property
    def shards(self) -> tuple[Shard, ...] | tuple[SelectedShard, ...]:
        """The parts of the corpus, in the order of the documents; each can be pickled and read."""
        whole = tuple(
            Shard(self.folder, self._manifest.fingerprint, number, record.n_documents)
            for number, record in enumerate(self._manifest.shards)
        )
        if self._mask is None:
            return whole
        pieces: list[list[tuple[Shard, bytes]]] = [[]]
        room, first = PART_SIZE, 0
        for shard in whole:
            bits = np.unpackbits(self._mask[first // 8 : (first + shard.n_documents + 7) // 8])
            rows = np.flatnonzero(bits[first % 8 : first % 8 + shard.n_documents])
            first += shard.n_documents
            while len(rows):
                if not room:
                    pieces.append([])
                    room = PART_SIZE
                own = np.isin(np.arange(shard.n_documents), rows[:room])
                pieces[-1].append((shard, np.packbits(own).tobytes()))
                rows, room = rows[room:], room - int(own.sum())
        return tuple(SelectedShard(number, tuple(own)) for number, own in enumerate(pieces))

    def parts(self) -> Iterator[Corpus]:
        """Yield the documents of one shard after another.

        Yields
        ------
        Corpus
            Documents in memory, with all words and label columns.
        """
        for shard in self.shards:
            yield shard.read()

    # Fields of a corpus in memory.

    @property
    def words(self) -> tuple[str, ...]:
        """The V words."""
        return self._manifest.words

    @property
    def text_settings(self) -> TextSettings | None:
        """How the counts were made from texts."""
        return self._manifest.text_settings

    @property
    def counts(self) -> csr_array:
        """Counts of the words [M, V]; reads the whole corpus."""
        return self[:].counts

    @property
    def labels(self) -> Labels:
        """The labels of the M documents; reads the whole corpus."""
        return self[:].labels

    @property
    def ids(self) -> tuple[str, ...] | None:
        """Names of the M documents; reads the whole corpus, if there are any."""
        return self[:].ids if self._manifest.has_ids else None

    @property
    def groups(self) -> tuple[str, ...] | None:
        """Groups of the M documents; reads the whole corpus, if there are any."""
        return self[:].groups if self.has_groups else None

    @property
    def has_groups(self) -> bool:
        """Whether documents have groups."""
        return self._manifest.has_groups

    @property
    def n_documents(self) -> int:
        """Number of documents M."""
        if self._mask is None:
            return self._manifest.n_documents
        return int(np.bitwise_count(self._mask).sum())

    @property
    def n_tokens(self) -> float:
        """Sum of all counts; of a selection it is counted at the first access."""
        return self._sums[0]

    @property
    def schema(self) -> LabelSchema:
        """The label space of a model that is trained on the corpus.

        The numbers of a selection are summed at the first access, which reads it once.
        """
        return LabelSchema.of(self._label_space, self._sums[1])

    @property
    def _label_space(self) -> Labels:
        return self._manifest.labels

    @cached_property
    def _sums(self) -> tuple[float, LabelMoments]:
        """The sum of all counts, and those of the labels' numbers."""
        if self._mask is None:
            return self._manifest.n_tokens, self._manifest.moments
        sums = [
            (part.n_tokens, tuple(map(column_moments, part.labels.blocks))) for part in self.parts()
        ]
        return math.fsum(tokens for tokens, _ in sums), sum_moments(moments for _, moments in sums)

    def __getitem__(self, key: object) -> Corpus:
        rows = row_positions(key, self.n_documents, "Corpus")
        ends = np.cumsum([shard.n_documents for shard in self.shards])
        home = np.searchsorted(ends, rows, side="right")
        found, order = [], []
        for number in np.unique(home):
            chosen = np.flatnonzero(home == number)
            shard = self.shards[number]
            found.append(shard.read()[rows[chosen] - (ends[number] - shard.n_documents)])
            order.append(chosen)
        if not found:
            return self.shards[0].read()[:0]
        result = joined(found)
        position = np.concatenate(order)
        if (position[1:] > position[:-1]).all():
            return result
        return result[np.argsort(position)]

    def replaced(self, **fields: Any) -> Corpus:
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
        return self[:].replaced(**fields)

    def _selected(self, mask: NDArray[np.bool_]) -> Corpus:
        """Return the documents of a mask, without reading them: bits alone are kept."""
        if self._mask is not None:
            inner = np.unpackbits(self._mask, count=self._manifest.n_documents).view(np.bool_)
            inner[inner] = mask
            mask = inner
        selection = object.__new__(StoredCorpus)
        selection._set(self.folder, self._manifest, np.packbits(mask))
        return selection

    @classmethod
    def from_texts(cls, *arguments: Any, **named: Any) -> NoReturn:
        """Not of a stored corpus: count texts with `Corpus.from_texts`, and write that."""
        raise TypeError(
            "StoredCorpus.from_texts does not exist: use Corpus.from_texts, and write its result."
        )


def _reopened(folder: str, fingerprint: str, mask: NDArray[np.uint8] | None) -> StoredCorpus:
    """Open the corpus of a pickle again, in this or another process."""
    path = Path(folder)
    corpus = object.__new__(StoredCorpus)
    corpus._set(path, known_manifest(path, fingerprint), mask)
    return corpus
