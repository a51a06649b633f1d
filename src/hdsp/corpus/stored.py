"""A corpus on disk: a manifest, and Parquet files of which only what is asked for is read."""

import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from hdsp.checks import row_positions
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.labels import Kind, LabelBlock, Labels, ReadingSettings
from hdsp.corpus.readers.opening import read_error
from hdsp.corpus.schema import LabelMoments, LabelSchema, Moments, column_moments, sum_moments
from hdsp.corpus.text import TextSettings
from hdsp.exceptions import ReadError
from hdsp.numerics import BoolArray, IntArray, frozen_csr
from hdsp.storage.codec import Decoder, InvalidContents, Limits, encode, require
from hdsp.storage.container import PARSE_ERRORS, replacing

MANIFEST = "manifest.json"
_FORMAT = "hdsp corpus"
# Major, minor, as those of model files.
VERSION = "2.0"
_LARGEST_FILE = 1 << 32
# Positions of documents are 32-bit integers.
_MOST_DOCUMENTS = (1 << 31) - 1
_Finite: TypeAlias = Annotated[float, Limits(least=-sys.float_info.max, most=sys.float_info.max)]


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest knows of a shard: its sizes, and the BLAKE2b of its file, in 16 bytes."""

    n_documents: int
    n_tokens: _Finite
    n_bytes: int
    checksum: str


@dataclass(frozen=True)
class BlockRecord:
    """A block of labels, with the sums of each column of numbers; none for other kinds."""

    name: str
    kind: Kind
    columns: tuple[str, ...]
    centred: bool
    moments: tuple[tuple[int, _Finite, _Finite, _Finite, _Finite], ...]

    @classmethod
    def of(cls, block: LabelBlock, moments: tuple[Moments, ...]) -> "BlockRecord":
        """Describe a block."""
        sums = tuple(one[:5] for one in moments)
        return cls(block.name, block.kind, block.columns, block.centred, sums)

    def check_stored(self) -> None:
        """Raise unless the sums are those of numbers."""
        n_numbers = len(self.columns) if self.kind == "number" else 0
        fits = len(self.moments) == n_numbers and all(
            n >= 0 and spread >= 0 and least <= most for n, _, spread, least, most in self.moments
        )
        require(fits, f"its labels {self.name!r} have invalid sums")


@dataclass(frozen=True)
class Manifest:
    """Everything that a stored corpus knows without reading a shard."""

    words: tuple[str, ...]
    text_settings: TextSettings | None
    reading: ReadingSettings | None
    has_ids: bool
    has_groups: bool
    blocks: tuple[BlockRecord, ...]
    shards: tuple[ShardRecord, ...]

    def check_stored(self) -> None:
        """Raise unless the parts of a manifest, which may come from anyone, fit together."""
        require(len(set(self.words)) == len(self.words), "its words are not unique")
        settings = self.text_settings
        require(settings is None or settings.storable, "its text settings may not be in a file")
        require(self.shards, "it has no shards")
        fits = all(min(one.n_documents, one.n_tokens, one.n_bytes) >= 0 for one in self.shards)
        require(fits and self.n_documents <= _MOST_DOCUMENTS, "a shard has an invalid size")

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return sum(shard.n_documents for shard in self.shards)

    @cached_property
    def moments(self) -> LabelMoments:
        """For each block, the sums of each column of numbers."""
        return tuple(
            tuple(Moments(*sums, block.centred) for sums in block.moments) for block in self.blocks
        )

    @cached_property
    def whole(self) -> Corpus:
        """No documents, with all words and label columns, and with ids and groups if there are."""
        blocks = [
            LabelBlock(
                one.name, one.kind, one.columns, csr_array((0, len(one.columns))), one.centred
            )
            for one in self.blocks
        ]
        ids, groups = (() if has else None for has in (self.has_ids, self.has_groups))
        counts, labels = csr_array((0, len(self.words))), Labels(tuple(blocks), 0)
        corpus = Corpus.trusted(counts, self.words, labels, self.text_settings, ids, groups)
        return corpus.replaced(reading=self.reading)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole corpus: of the manifest, and through checksums of the shards."""
        text = json.dumps(encode(self, {}), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, which is a stored corpus from then on."""
        head = {"format": _FORMAT, "version": VERSION, "fingerprint": self.fingerprint}
        with replacing(folder / MANIFEST) as file:
            file.write(json.dumps(head | encode(self, {})).encode())


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
    with _reading(path, "the manifest", "copy or prepare the corpus again"):
        require(path.stat().st_size <= _LARGEST_FILE, "it is too large for a manifest")
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
        # Blocks of labels that do not fit together raise.
        manifest.whole  # noqa: B018
    return manifest


@contextmanager
def _reading(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Turn whatever a damaged file of a corpus raises to a `ReadError`."""
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        detail = error.strerror or str(error)
        raise read_error(str(path), f"it cannot be read ({detail})", "check it") from error
    except (*PARSE_ERRORS, MemoryError) as error:
        reason = (
            str(error) if isinstance(error, InvalidContents) else "its parts do not fit together"
        )
        raise read_error(str(path), f"{what} is damaged: {reason}", remedy) from error


def shard_path(folder: Path, number: int) -> Path:
    """Return where a shard of a stored corpus is."""
    return folder / f"shard-{number:06d}.parquet"


def checksum(contents: bytes) -> str:
    """Return the BLAKE2b of a file, in 16 bytes."""
    return hashlib.blake2b(contents, digest_size=16).hexdigest()


def _read_file(folder: Path, number: int, manifest: Manifest) -> Corpus:
    """Read the documents of a file, and check that they are those that were written."""
    from hdsp.corpus import shards

    path, record = shard_path(folder, number), manifest.shards[number]
    remedy = "copy this file again, or prepare the corpus again"
    if not path.exists():
        raise read_error(str(path), "this shard of the corpus is missing", remedy)
    with _reading(path, "this shard of the corpus", remedy):
        size = path.stat().st_size
        require(size == record.n_bytes, f"it has {size} bytes in place of {record.n_bytes}")
        contents = path.read_bytes()
        require(checksum(contents) == record.checksum, "its checksum is wrong")
        part = shards.read_shard(contents, manifest.whole)
        require(len(part) == record.n_documents, "it has another number of documents")
    return part


def _read_rows(folder: Path, manifest: Manifest, rows: IntArray) -> Corpus:
    """Read documents by their positions in the whole corpus, each file once."""
    ends = np.cumsum([record.n_documents for record in manifest.shards])
    home = np.searchsorted(ends, rows, side="right")
    order = np.argsort(home, kind="stable")
    numbers, starts = np.unique(home[order], return_index=True)
    parts = []
    for number, chosen in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
        part = _read_file(folder, number, manifest)
        parts.append(part[rows[chosen] - (ends[number] - len(part))])
    if not parts:
        return manifest.whole
    result = concatenate(parts)
    return result if (np.diff(order) > 0).all() else result[np.argsort(order)]


def concatenate(parts: list[Corpus]) -> Corpus:
    """Return the documents of all parts, which have the same words and label columns."""
    first = parts[0]
    if len(parts) == 1:
        return first
    blocks = []
    for number, block in enumerate(first.labels.blocks):
        values = vstack([part.labels.blocks[number].values for part in parts], format="csr")
        blocks.append(replace(block, values=values))
    ids, groups = (
        None if names[0] is None else tuple(name for part in names for name in part or ())
        for names in ([part.ids for part in parts], [part.groups for part in parts])
    )
    counts = frozen_csr(vstack([part.counts for part in parts], format="csr"))
    labels = Labels(tuple(blocks), sum(map(len, parts)))
    return first.replaced(counts=counts, labels=labels, ids=ids, groups=groups)


@dataclass(frozen=True)
class Shard:
    """Documents of a stored corpus that are read together: a small value that can be pickled.

    Attributes
    ----------
    folder : Path
        The folder of the corpus.
    fingerprint : str
        The fingerprint of the whole corpus, which must not change.
    number : int
        Position among the shards, from 0.
    n_documents : int
        Number of its documents.
    rows : bytes or None, default=None
        Positions of the documents in the whole corpus, as 32-bit integers; None for the documents
        of file `number`.
    """

    folder: Path
    fingerprint: str
    number: int
    n_documents: int
    rows: bytes | None = None

    @property
    def path(self) -> Path:
        """The file, if the shard is a whole file."""
        return shard_path(self.folder, self.number)

    def read(self) -> Corpus:
        """Read the documents, with all words and labels of the whole corpus.

        Raises
        ------
        ReadError
            If a file is missing, damaged, or of another corpus.
        """
        with _same_corpus(self.folder, self.fingerprint) as manifest:
            if self.rows is None:
                return _read_file(self.folder, self.number, manifest)
            return _read_rows(self.folder, manifest, np.frombuffer(self.rows, np.int32))


@contextmanager
def _same_corpus(folder: Path, fingerprint: str) -> Iterator[Manifest]:
    """The manifest of a folder, read once per process; raise if it is of another corpus."""
    try:
        yield known_manifest(folder, fingerprint)
    except ReadError:
        # A corpus that took the place of this one is the simpler explanation.
        _opened.cache_clear()
        known_manifest(folder, fingerprint)
        raise


def known_manifest(folder: Path, fingerprint: str) -> Manifest:
    """Return the manifest of a folder, read once per process; raise if it is of another corpus."""
    manifest = _opened(folder, fingerprint)
    if manifest.fingerprint != fingerprint:
        _opened.cache_clear()
        raise read_error(
            str(folder),
            "another corpus was written here since it was opened",
            "open it again with hdsp.open_corpus",
        )
    return manifest


@lru_cache(maxsize=4)
def _opened(folder: Path, fingerprint: str) -> Manifest:
    return read_manifest(folder)


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
    # Positions of the documents of a selection, sorted; None for all documents.
    _rows: NDArray[np.int32] | None

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = Path(os.path.abspath(folder))
        self._set(path, read_manifest(path), None)

    def _set(self, folder: Path, manifest: Manifest, rows: NDArray[np.int32] | None) -> None:
        object.__setattr__(self, "_folder", folder)
        object.__setattr__(self, "_manifest", manifest)
        object.__setattr__(self, "_rows", rows)

    def __reduce__(self) -> Any:
        return _reopened, (str(self.folder), self._manifest.fingerprint, self._rows)

    @property
    def folder(self) -> Path:
        """The folder of the corpus."""
        return self._folder

    @property
    def fingerprint(self) -> str:
        """A hash of the documents, the same wherever the same corpus is written."""
        if self._rows is None:
            return self._manifest.fingerprint
        digest = hashlib.blake2b(self._manifest.fingerprint.encode(), digest_size=16)
        digest.update(self._rows.tobytes())
        return digest.hexdigest()

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """The parts of the corpus, in the order of the documents; each can be pickled and read."""
        corpus = self.folder, self._manifest.fingerprint
        if self._rows is None:
            sizes = [record.n_documents for record in self._manifest.shards]
            return tuple(Shard(*corpus, number, size) for number, size in enumerate(sizes))
        pieces = np.split(self._rows, range(PART_SIZE, len(self._rows), PART_SIZE))
        return tuple(
            Shard(*corpus, number, len(rows), rows.tobytes()) for number, rows in enumerate(pieces)
        )

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
    def reading(self) -> ReadingSettings | None:
        """How the documents were read from tables."""
        return self._manifest.reading

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
        return self._manifest.n_documents if self._rows is None else len(self._rows)

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
        return self._manifest.whole.labels

    @cached_property
    def _sums(self) -> tuple[float, LabelMoments]:
        """The sum of all counts, and those of the labels' numbers."""
        if self._rows is None:
            tokens = math.fsum(record.n_tokens for record in self._manifest.shards)
            return tokens, self._manifest.moments
        sums = [
            (part.n_tokens, tuple(map(column_moments, part.labels.blocks))) for part in self.parts()
        ]
        return math.fsum(tokens for tokens, _ in sums), sum_moments(moments for _, moments in sums)

    def __getitem__(self, key: object) -> Corpus:
        rows = row_positions(key, self.n_documents, "Corpus")
        with _same_corpus(self.folder, self._manifest.fingerprint) as manifest:
            return _read_rows(
                self.folder, manifest, rows if self._rows is None else self._rows[rows]
            )

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
        rows = np.flatnonzero(mask).astype(np.int32)
        selection = object.__new__(StoredCorpus)
        selection._set(
            self.folder, self._manifest, rows if self._rows is None else self._rows[rows]
        )
        return selection


def _reopened(folder: str, fingerprint: str, rows: NDArray[np.int32] | None) -> StoredCorpus:
    """Open the corpus of a pickle again, in this or another process."""
    path = Path(folder)
    corpus = object.__new__(StoredCorpus)
    corpus._set(path, known_manifest(path, fingerprint), rows)
    return corpus
