"""A corpus on disk: a manifest, and Parquet files of which only what is asked for is read."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from hdsp.checks import row_positions
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.labels import LabelBlock, Labels, ReadingSettings
from hdsp.corpus.readers.opening import read_error
from hdsp.corpus.schema import LabelMoments, LabelSchema, column_moments, sum_moments
from hdsp.corpus.text import TextSettings
from hdsp.exceptions import ReadError
from hdsp.numerics import BoolArray, IntArray, frozen_csr
from hdsp.storage.codec import Decoder, Limits, encode, require
from hdsp.storage.container import PARSE_ERRORS, reason_of

MANIFEST = "manifest.json"
_FORMAT = "hdsp corpus"
# Major, minor, as those of model files.
VERSION = "3.0"
# Positions of documents, which are 32-bit integers; a range where they follow one another.
Rows: TypeAlias = range | NDArray[np.int32]


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest knows of a shard: its size, and the BLAKE2b of its file, in 16 bytes."""

    n_documents: Annotated[int, Limits(least=0)]
    checksum: str


@dataclass(frozen=True)
class Manifest:
    """Everything that a stored corpus knows without reading a shard."""

    words: tuple[str, ...]
    text_settings: TextSettings | None
    reading: ReadingSettings | None
    has_ids: bool
    has_groups: bool
    schema: LabelSchema
    n_tokens: Annotated[float, Limits(least=0.0)]
    shards: tuple[ShardRecord, ...]

    def check_stored(self) -> None:
        """Raise unless the parts of a manifest, which may come from anyone, fit together."""
        require(len(set(self.words)) == len(self.words), "its words are not unique")
        fits = self.shards and self.n_documents <= np.iinfo(np.int32).max
        require(fits, "its shards are of an invalid number or size")

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return sum(shard.n_documents for shard in self.shards)

    @cached_property
    def ends(self) -> IntArray:
        """Where the documents of each shard end."""
        return np.cumsum([shard.n_documents for shard in self.shards])

    @cached_property
    def whole(self) -> Corpus:
        """No documents, with all words and label columns, and with ids and groups if there are."""
        blocks = [
            LabelBlock(
                one.name, one.kind, one.columns, csr_array((0, len(one.columns))), one.centred
            )
            for one in self.schema.blocks
        ]
        return Corpus.trusted(
            counts=csr_array((0, len(self.words))),
            words=self.words,
            labels=Labels(tuple(blocks), 0),
            text_settings=self.text_settings,
            ids=() if self.has_ids else None,
            groups=() if self.has_groups else None,
            reading=self.reading,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole corpus: of the manifest, and through checksums of the shards."""
        return checksum(json.dumps(encode(self, {}), sort_keys=True).encode())

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, which is a stored corpus from then on."""
        head = {"format": _FORMAT, "version": VERSION, "fingerprint": self.fingerprint}
        (folder / MANIFEST).write_text(json.dumps(head | encode(self, {})))


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder; it may come from anyone.

    Shards are named by their numbers, so that no manifest can point outside its folder.
    """
    path = folder / MANIFEST
    if not folder.exists():
        raise FileNotFoundError(f"{folder}: there is no such folder; check the path.")
    if not path.is_file():
        raise read_error(
            str(folder),
            f"this is no stored corpus: it has no file {MANIFEST!r}",
            "write one with Corpus.write or hdsp prepare",
        )
    try:
        data = json.loads(path.read_bytes())
        is_ours = isinstance(data, dict) and data.pop("format", None) == _FORMAT
        require(is_ours, "it is not that of a stored corpus")
        version, fingerprint = data.pop("version"), data.pop("fingerprint")
        if version != VERSION:
            raise read_error(
                str(path),
                f"the corpus is of format version {version!r:.20}, and this hdsp reads {VERSION}",
                "use the hdsp that wrote it, or prepare the corpus again",
            )
        manifest: Manifest = Decoder({}).decode(Manifest, data)
        require(fingerprint == manifest.fingerprint, "its fingerprint is wrong")
        return manifest
    except (OSError, *PARSE_ERRORS) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> ReadError:
    """The error of a file of a corpus, whatever is wrong with it."""
    if isinstance(error, ReadError):
        return error
    return read_error(
        str(path),
        f"this file of the corpus is damaged: {reason_of(error)}",
        "copy it again, or prepare the corpus again",
    )


def shard_path(folder: Path, number: int) -> Path:
    """Return where a shard of a stored corpus is."""
    return folder / f"shard-{number:06d}.parquet"


def checksum(contents: Any) -> str:
    """Return the BLAKE2b of bytes, in 16 bytes."""
    return hashlib.blake2b(contents, digest_size=16).hexdigest()


def concatenate(parts: list[Corpus]) -> Corpus:
    """Return the documents of all parts, which have the same words and label columns."""
    first = parts[0]
    if len(parts) == 1:
        return first
    blocks = [
        replace(one[0], values=vstack([block.values for block in one], format="csr"))
        for one in zip(*(part.labels.blocks for part in parts), strict=True)
    ]
    ids, groups = (
        None if names[0] is None else tuple(name for part in names for name in part or ())
        for names in ([part.ids for part in parts], [part.groups for part in parts])
    )
    counts = frozen_csr(vstack([part.counts for part in parts], format="csr"))
    labels = Labels(tuple(blocks), sum(map(len, parts)))
    return first.replaced(counts=counts, labels=labels, ids=ids, groups=groups)


def totals_of(part: Corpus) -> tuple[float, LabelMoments]:
    """Return the sum of all counts, and those of the labels' numbers."""
    return part.n_tokens, tuple(map(column_moments, part.labels.blocks))


def sum_totals(
    labels: Labels, totals: Iterable[tuple[float, LabelMoments]]
) -> tuple[float, LabelSchema]:
    """Return the sum of all counts over parts, and the label space of their documents."""
    tokens, moments = zip(*totals, strict=True)
    return math.fsum(tokens), LabelSchema.of(labels, sum_moments(moments))


@dataclass(frozen=True)
class Shard:
    """Documents of a stored corpus that are read together: a small value that can be pickled.

    Attributes
    ----------
    folder : Path
        The folder of the corpus.
    fingerprint : str
        The fingerprint of the whole corpus, which must not change.
    rows : range or bytes
        Positions of the documents in the whole corpus, in bytes as 32-bit integers.
    """

    folder: Path
    fingerprint: str
    rows: range | bytes

    @property
    def n_documents(self) -> int:
        """Number of its documents."""
        return len(self._positions)

    @property
    def path(self) -> Path:
        """The file of its first document."""
        ends = _opened(self.folder, self.fingerprint).ends
        number = np.searchsorted(ends, self._positions[:1], side="right")
        return shard_path(self.folder, int(number.sum()))

    @property
    def _positions(self) -> Rows:
        return self.rows if isinstance(self.rows, range) else np.frombuffer(self.rows, np.int32)

    def open(self) -> "StoredCorpus":
        """Open the documents as a corpus; the manifest is read once per process."""
        corpus = object.__new__(StoredCorpus)
        manifest = _opened(self.folder, self.fingerprint)
        corpus._set(self.folder, manifest, self._positions)
        return corpus

    def read(self) -> Corpus:
        """Read the documents, with all words and labels of the whole corpus.

        Raises
        ------
        ReadError
            If a file is missing, damaged, or of another corpus.
        """
        return self.open()[:]


def check_same(folder: Path, fingerprint: str) -> Manifest:
    """Return the manifest of a folder; raise if it is of another corpus."""
    manifest = read_manifest(folder)
    if manifest.fingerprint != fingerprint:
        raise read_error(
            str(folder),
            "another corpus was written here since it was opened",
            "open it again with hdsp.open_corpus",
        )
    return manifest


_opened = lru_cache(maxsize=4)(check_same)


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
    # Positions of the documents, sorted.
    _rows: Rows

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = Path(os.path.abspath(folder))
        manifest = read_manifest(path)
        self._set(path, manifest, range(manifest.n_documents))

    def _set(self, folder: Path, manifest: Manifest, rows: Rows) -> None:
        self.__dict__.update(_folder=folder, _manifest=manifest, _rows=rows)
        self.__dict__.update(text_settings=manifest.text_settings, reading=manifest.reading)

    def __reduce__(self) -> Any:
        return Shard.open, (self._shard(self._rows),)

    def _shard(self, rows: Rows) -> Shard:
        packed = rows if isinstance(rows, range) else rows.tobytes()
        return Shard(self.folder, self._manifest.fingerprint, packed)

    @property
    def folder(self) -> Path:
        """The folder of the corpus."""
        return self._folder

    @property
    def fingerprint(self) -> str:
        """A hash of the documents, the same wherever the same corpus is written."""
        whole, rows = self._manifest.fingerprint, np.asarray(self._rows, np.int32)
        return whole if self._is_whole else checksum(whole.encode() + rows.tobytes())

    @property
    def _is_whole(self) -> bool:
        return len(self._rows) == self._manifest.n_documents

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """The parts of the corpus, in the order of the documents; each can be pickled and read."""
        ends = [*range(PART_SIZE, len(self._rows), PART_SIZE), len(self._rows)]
        if self._is_whole:
            ends = self._manifest.ends.tolist()
        return tuple(self._shard(self._rows[first:end]) for first, end in pairwise([0, *ends]))

    def parts(self) -> Iterator[Corpus]:
        """Yield the documents of one shard after another.

        Yields
        ------
        Corpus
            Documents in memory, with all words and label columns.
        """
        for shard in self.shards:
            yield shard.read()

    @property
    def words(self) -> tuple[str, ...]:
        """The V words."""
        return self._manifest.words

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
        return len(self._rows)

    @property
    def n_tokens(self) -> float:
        """Sum of all counts; of a selection it is counted at the first access."""
        return self._totals[0]

    @property
    def schema(self) -> LabelSchema:
        """The label space of a model that is trained on the corpus.

        The numbers of a selection are summed at the first access, which reads it once.
        """
        return self._totals[1]

    @cached_property
    def _totals(self) -> tuple[float, LabelSchema]:
        if self._is_whole:
            return self._manifest.n_tokens, self._manifest.schema
        return sum_totals(self._label_space, map(totals_of, self.parts()))

    @property
    def _label_space(self) -> Labels:
        return self._manifest.whole.labels

    def __getitem__(self, key: object) -> Corpus:
        rows = row_positions(key, self.n_documents, "Corpus")
        return self._read(
            rows + self._rows.start if isinstance(self._rows, range) else self._rows[rows]
        )

    def _read(self, rows: IntArray) -> Corpus:
        """Read documents by their positions in the whole corpus, each file once."""
        ends = self._manifest.ends
        home = np.searchsorted(ends, rows, side="right")
        order = np.argsort(home, kind="stable")
        numbers, starts = np.unique(home[order], return_index=True)
        parts = []
        for number, chosen in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
            part = self._read_file(number)
            own = rows[chosen] - (ends[number] - len(part))
            parts.append(part if np.array_equal(own, np.arange(len(part))) else part[own])
        result = concatenate(parts or [self._manifest.whole])
        return result if (np.diff(order) > 0).all() else result[np.argsort(order)]

    def _read_file(self, number: int) -> Corpus:
        """Read the documents of a file, and check that they are those that were written."""
        from hdsp.corpus.shards import from_parquet

        path, record = shard_path(self.folder, number), self._manifest.shards[number]
        try:
            contents = path.read_bytes()
            require(checksum(contents) == record.checksum, "its checksum is wrong")
            part = from_parquet(contents, self._manifest.whole)
            require(len(part) == record.n_documents, "it has another number of documents")
            return part
        except (OSError, MemoryError, *PARSE_ERRORS) as error:
            # A corpus that took the place of this one is the simpler explanation.
            check_same(self.folder, self._manifest.fingerprint)
            raise _damaged(path, error) from error

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

    def _selected(self, mask: BoolArray) -> Corpus:
        """Return the documents of a mask, without reading them."""
        rows = np.asarray(self._rows, np.int32)[mask]
        selection = object.__new__(StoredCorpus)
        selection._set(self.folder, self._manifest, rows)
        return selection
