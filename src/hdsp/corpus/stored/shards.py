"""Shards: consecutive documents of a stored corpus, each a small value that reads itself."""

import hashlib
import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, vstack

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.readers.common import read_error
from hdsp.corpus.schema import LabelMoments, column_moments
from hdsp.corpus.stored.manifest import NAME, Manifest, ShardRecord, read_manifest, reading
from hdsp.exceptions import ReadError
from hdsp.numerics import frozen_csr
from hdsp.storage.arrays import StoredArrays, put_texts
from hdsp.storage.codec import AnyArray, require
from hdsp.storage.container import map_arrays, write_arrays

_REMEDY = "copy this file again, or prepare the corpus again"


def shard_path(folder: Path, number: int) -> Path:
    """Return where a shard of a stored corpus is."""
    return folder / f"shard-{number:06d}.safetensors"


@dataclass(frozen=True)
class Shard:
    """Consecutive documents of a stored corpus, in one file.

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
    """

    folder: Path
    fingerprint: str
    number: int
    n_documents: int

    @property
    def path(self) -> Path:
        """The file."""
        return shard_path(self.folder, self.number)

    def read(self) -> Corpus:
        """Read the documents, with all words and labels of the whole corpus.

        Returns
        -------
        Corpus
            The documents, in memory.

        Raises
        ------
        ReadError
            If the file is missing, damaged, or of another corpus.
        """
        manifest = known_manifest(self.folder, self.fingerprint)
        try:
            return read_shard(self.path, manifest.shards[self.number], manifest)
        except ReadError:
            # A corpus that took the place of this one is the simpler explanation.
            _opened.cache_clear()
            known_manifest(self.folder, self.fingerprint)
            raise


@dataclass(frozen=True)
class SelectedShard:
    """Consecutive documents of a selection from a stored corpus, such as one side of a split.

    Attributes
    ----------
    number : int
        Position among the selection's shards, from 0.
    pieces : tuple of (Shard, bytes)
        The shards that they are in, and a bit for each document of a shard: whether it is selected.
    """

    number: int
    pieces: tuple[tuple[Shard, bytes], ...]

    @property
    def n_documents(self) -> int:
        """Number of its documents."""
        return sum(int.from_bytes(bits).bit_count() for _, bits in self.pieces)

    def read(self) -> Corpus:
        """Read the documents, with all words and labels of the whole corpus.

        Returns
        -------
        Corpus
            The documents, in memory.
        """
        parts = []
        for shard, bits in self.pieces:
            mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=shard.n_documents)
            parts.append(shard.read()[mask.view(np.bool_)])
        return joined(parts)


def joined(parts: list[Corpus]) -> Corpus:
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


def write_shard(path: Path, part: Corpus) -> tuple[ShardRecord, LabelMoments]:
    """Write documents to a file, and return what the manifest has to know of them."""
    arrays: dict[str, AnyArray] = {}
    _put_matrix(arrays, "counts", part.counts, _compact(part.counts.data))
    for number, block in enumerate(part.labels.blocks):
        values = block.values.data if block.kind == "number" else None
        _put_matrix(arrays, f"labels.{number}", block.values, values)
    if part.ids is not None:
        put_texts(arrays, "ids", part.ids)
    if part.groups is not None:
        put_texts(arrays, "groups", part.groups)
    with path.open("xb") as file:
        write_arrays(file, arrays, "corpus shard")
    record = ShardRecord(
        len(part), float(part.counts.data.sum()), path.stat().st_size, file_checksum(path)
    )
    return record, tuple(map(column_moments, part.labels.blocks))


def read_shard(path: Path, record: ShardRecord, manifest: Manifest) -> Corpus:
    """Read the documents of a file, and check that they are those that were written."""
    if not path.exists():
        raise read_error(str(path), "this shard of the corpus is missing", _REMEDY)
    with reading(path, "this shard of the corpus", _REMEDY):
        size = path.stat().st_size
        require(size == record.n_bytes, f"it has {size} bytes in place of {record.n_bytes}")
        require(file_checksum(path) == record.checksum, "its checksum is wrong")
        return _documents(StoredArrays(map_arrays(path)[1]), record.n_documents, manifest)


def _documents(stored: StoredArrays, n_documents: int, manifest: Manifest) -> Corpus:
    counts = _matrix(stored, "counts", (n_documents, len(manifest.words)))
    positive = not counts.nnz or (counts.data.min() > 0 and np.isfinite(counts.data.max()))
    require(positive, "its counts are not all positive")
    blocks = []
    for number, block in enumerate(manifest.labels.blocks):
        name, shape = f"labels.{number}", (n_documents, len(block.columns))
        values = _matrix(stored, name, shape, ones=block.kind != "number")
        blocks.append(replace(block, values=values))
    ids = _names(stored, "ids", n_documents) if manifest.has_ids else None
    groups = _names(stored, "groups", n_documents) if manifest.has_groups else None
    labels = Labels(tuple(blocks), n_documents)
    return Corpus.trusted(counts, manifest.words, labels, manifest.text_settings, ids, groups)


def _names(stored: StoredArrays, what: str, n_documents: int) -> tuple[str, ...]:
    names = stored.texts(what)
    fits = len(names) == n_documents
    require(fits, f"it has {len(names)} {what} for {n_documents} documents")
    return names


def _matrix(
    stored: StoredArrays, name: str, shape: tuple[int, int], ones: bool = False
) -> csr_array:
    """Return a checked copy, in memory, of a matrix of a file."""
    if ones:
        data: AnyArray = np.ones(stored.get(f"{name}.indices", (None,), "i").size)
    else:
        data = stored.get(f"{name}.data", (None,), "uf")
    return frozen_csr(stored.matrix(name, shape, data))


def _put_matrix(
    arrays: dict[str, AnyArray], name: str, matrix: csr_array, data: AnyArray | None
) -> None:
    """Add a matrix to arrays, without its data where they are all one."""
    arrays[f"{name}.indptr"] = matrix.indptr
    arrays[f"{name}.indices"] = matrix.indices.astype(np.int32, copy=False)
    if data is not None:
        arrays[f"{name}.data"] = data


def _compact(counts: AnyArray) -> AnyArray:
    """Return positive counts in the smallest type that holds them exactly."""
    largest = counts.max(initial=0.0)
    for dtype in (np.uint16, np.uint32):
        if largest <= np.iinfo(dtype).max and (counts == np.floor(counts)).all():
            return counts.astype(dtype)
    # A number beyond the range of the type becomes infinite there, and so is not equal.
    with np.errstate(over="ignore"):
        narrow = counts.astype(np.float32)
    return narrow if (narrow == counts).all() else counts


def file_checksum(path: Path) -> str:
    """Return the BLAKE2b of a file, in 16 bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=16)).hexdigest()


def is_shard_name(name: str) -> bool:
    """Return whether a file's name is that of a shard or the manifest."""
    return name == NAME or re.fullmatch(r"shard-\d+\.safetensors", name) is not None
