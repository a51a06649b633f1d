"""The manifest of a stored corpus: everything but the documents, as JSON."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from hdsp.corpus.labels import KINDS, LabelBlock, Labels
from hdsp.corpus.moments import LabelMoments, Moments
from hdsp.corpus.readers.common import read_error
from hdsp.corpus.text import TextSettings
from hdsp.exceptions import ReadError
from hdsp.storage import UNREADABLE, WrongContents, replacing

NAME = "manifest.json"
_FORMAT = "hdsp corpus"
# Major, minor, as those of model files.
VERSION = "1.0"
_LARGEST_FILE = 1 << 32
_LARGEST_NUMBER = 1 << 62


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest knows of one shard.

    Attributes
    ----------
    n_documents : int
        Number of its documents.
    n_tokens : float
        Sum of its counts.
    n_bytes : int
        Size of its file.
    checksum : str
        BLAKE2b of its file, in 16 bytes.
    """

    n_documents: int
    n_tokens: float
    n_bytes: int
    checksum: str


@dataclass(frozen=True)
class Manifest:
    """Everything that a stored corpus knows without reading a shard.

    Attributes
    ----------
    words : tuple of str
        The V words.
    text_settings : TextSettings or None
        How the counts were made from texts.
    has_ids : bool
        Whether documents have ids.
    labels : Labels
        The blocks of labels, of no documents.
    moments : tuple of tuple of Moments
        For each block, the sums of each column of numbers; empty for other kinds.
    shards : tuple of ShardRecord
        The shards, in the order of the documents.
    has_groups : bool, default=False
        Whether documents have groups.
    """

    words: tuple[str, ...]
    text_settings: TextSettings | None
    has_ids: bool
    labels: Labels
    moments: LabelMoments
    shards: tuple[ShardRecord, ...]
    has_groups: bool = False

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return sum(shard.n_documents for shard in self.shards)

    @property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return math.fsum(shard.n_tokens for shard in self.shards)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole corpus: of what stands here, and through checksums of the shards."""
        text = json.dumps(self._plain(), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, which is a stored corpus from then on."""
        data = {
            "format": _FORMAT,
            "version": VERSION,
            "fingerprint": self.fingerprint,
            **self._plain(),
        }
        with replacing(folder / NAME) as file:
            file.write(json.dumps(data).encode())

    def _plain(self) -> dict[str, Any]:
        settings = self.text_settings
        return {
            "words": list(self.words),
            "text_settings": None if settings is None else settings.to_dict(),
            "ids": self.has_ids,
            # Manifests of corpora without groups are as they were before there were any.
            **({"groups": True} if self.has_groups else {}),
            "blocks": [
                {
                    "name": block.name,
                    "kind": block.kind,
                    "columns": list(block.columns),
                    "centred": block.centred,
                    "moments": [list(astuple(one))[:-1] for one in moments],
                }
                for block, moments in zip(self.labels.blocks, self.moments, strict=True)
            ],
            "shards": [list(astuple(shard)) for shard in self.shards],
        }


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder; it may come from anyone.

    Shards are named by their numbers, so that no manifest can point outside its folder, and hold
    as much as their files do, whatever sizes it claims.
    """
    path = folder / NAME
    if not folder.exists():
        raise FileNotFoundError(f"{folder}: there is no such folder; check the path.")
    if not path.is_file():
        raise read_error(
            str(folder),
            f"this is no stored corpus: it has no file {NAME!r}",
            "write one with Corpus.write or hdsp prepare",
        )
    with reading(path, "the manifest", "copy or prepare the corpus again"):
        if path.stat().st_size > _LARGEST_FILE:
            raise WrongContents("it is too large for a manifest")
        data = json.loads(path.read_bytes())
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise WrongContents("it is not that of a stored corpus")
        if data["version"] != VERSION:
            raise read_error(
                str(path),
                f"the corpus is of format version {data['version']!r:.20}, and this hdsp reads "
                f"{VERSION}",
                "use the hdsp that wrote it, or prepare the corpus again",
            )
        manifest = _manifest(data)
        if data["fingerprint"] != manifest.fingerprint:
            raise WrongContents("its fingerprint is wrong")
    return manifest


@contextmanager
def reading(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Turn whatever a damaged file of a corpus raises to a `ReadError`."""
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        detail = error.strerror or str(error)
        raise read_error(str(path), f"it cannot be read ({detail})", "check it") from error
    except (*UNREADABLE, MemoryError) as error:
        reason = str(error) if isinstance(error, WrongContents) else "its parts do not fit together"
        raise read_error(str(path), f"{what} is damaged: {reason}", remedy) from error


def _manifest(data: Mapping[str, Any]) -> Manifest:
    words = _names(data["words"], "words")
    if not isinstance(data["blocks"], list) or not isinstance(data["shards"], list):
        raise WrongContents("it has no list of labels, or of shards")
    blocks, moments = zip(*map(_block, data["blocks"]), strict=True) if data["blocks"] else ((), ())
    if len({block.name for block in blocks}) < len(blocks):
        raise WrongContents("two blocks of labels have one name")
    if not isinstance(data["ids"], bool):
        raise WrongContents("it does not say whether documents have ids")
    has_groups = data.get("groups", False)
    if not isinstance(has_groups, bool):
        raise WrongContents("it does not say whether documents have groups")
    shards = tuple(_record(*shard) for shard in data["shards"])
    if not shards:
        raise WrongContents("it has no shards")
    settings = data["text_settings"]
    try:
        text_settings = None if settings is None else TextSettings.from_dict(settings)
    except UNREADABLE as error:
        raise WrongContents("its text settings are none that a file may hold") from error
    return Manifest(
        words, text_settings, data["ids"], Labels(blocks, 0), moments, shards, has_groups
    )


def _names(names: Sequence[Any], what: str) -> tuple[str, ...]:
    found = tuple(names)
    if not isinstance(names, list) or not all(type(name) is str for name in found):
        raise WrongContents(f"its {what} are not texts")
    if len(set(found)) < len(found):
        raise WrongContents(f"its {what} are not unique")
    return found


def _block(data: Mapping[str, Any]) -> tuple[LabelBlock, tuple[Moments, ...]]:
    columns = _names(data["columns"], "label columns")
    moments = tuple(_moments(data["centred"], *sums) for sums in data["moments"])
    if (
        type(data["name"]) is not str
        or data["kind"] not in KINDS
        or not isinstance(data["centred"], bool)
        or len(moments) != (len(columns) if data["kind"] == "number" else 0)
        or any(one.spread < 0 or one.least > one.most for one in moments)
    ):
        raise WrongContents("its labels are not described as they should be")
    values = csr_array((0, len(columns)))
    return LabelBlock(data["name"], data["kind"], columns, values, data["centred"]), moments


def _moments(centred: Any, n: Any, mean: Any, spread: Any, least: Any, most: Any) -> Moments:
    return Moments(
        _whole(n), _finite(mean), _finite(spread), _finite(least), _finite(most), centred
    )


def _record(n_documents: Any, n_tokens: Any, n_bytes: Any, checksum: Any) -> ShardRecord:
    # A file has at least an offset of four bytes for each document.
    fits = 4 * _whole(n_documents) < _whole(n_bytes)
    if not fits or not isinstance(checksum, str) or _finite(n_tokens) < 0:
        raise WrongContents("its table of shards has a row that is none")
    return ShardRecord(n_documents, float(n_tokens), n_bytes, checksum)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _LARGEST_NUMBER:
        raise WrongContents("it has a size that is none")
    return value


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise WrongContents("it has a number that is none")
    return float(value)
