"""The manifest of a stored corpus: everything but the documents, as JSON."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hdsp.corpus.labels import KINDS, Kind, LabelBlock
from hdsp.corpus.moments import Moments
from hdsp.corpus.readers.common import read_error
from hdsp.corpus.schema import BlockSchema, LabelSchema, column_moments
from hdsp.corpus.text import TextSettings
from hdsp.exceptions import ReadError
from hdsp.storage import UNREADABLE, WrongContents, replacing
from hdsp.validation import count_of

NAME = "manifest.json"
_FORMAT = "hdsp corpus"
# Major, minor, as those of model files.
VERSION = "1.0"
_LARGEST_FILE = 1 << 32
_LARGEST_NUMBER = 1 << 62


@dataclass(frozen=True)
class BlockHead:
    """A block of labels without its values.

    Attributes
    ----------
    name : str
        The block's name.
    kind : {"tags", "category", "number"}
        The kind of its labels.
    columns : tuple of str
        Names of the label columns.
    centred : bool
        Whether numbers are standardised about their mean; see `LabelBlock`.
    moments : tuple of Moments
        Sums of each column of numbers; empty for other kinds.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    centred: bool
    moments: tuple[Moments, ...] = ()

    @classmethod
    def of(cls, block: LabelBlock) -> "BlockHead":
        """Return the head of a block, with the sums of its values."""
        moments = column_moments(block) if block.kind == "number" else ()
        return cls(block.name, block.kind, block.columns, block.centred, moments)

    @property
    def schema(self) -> BlockSchema:
        """What a model that is trained on the corpus sees of the block."""
        if self.kind != "number":
            return BlockSchema(self.name, self.kind, self.columns)
        return BlockSchema.of_moments(self.name, self.columns, self.centred, self.moments)

    @property
    def summary(self) -> str:
        """The block in a few words, as that of a corpus in memory."""
        size = "" if self.kind == "number" and len(self.columns) == 1 else f" {len(self.columns)}"
        return f"{self.kind} {self.name!r}{size}"

    def __add__(self, other: "BlockHead") -> "BlockHead":
        moments = tuple(a + b for a, b in zip(self.moments, other.moments, strict=True))
        return BlockHead(self.name, self.kind, self.columns, self.centred, moments)


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
    blocks : tuple of BlockHead
        The blocks of labels.
    shards : tuple of ShardRecord
        The shards, in the order of the documents.
    """

    words: tuple[str, ...]
    text_settings: TextSettings | None
    has_ids: bool
    blocks: tuple[BlockHead, ...]
    shards: tuple[ShardRecord, ...]

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
            "blocks": [
                {
                    "name": block.name,
                    "kind": block.kind,
                    "columns": list(block.columns),
                    "centred": block.centred,
                    "moments": [list(astuple(one))[:-1] for one in block.moments],
                }
                for block in self.blocks
            ],
            "shards": [list(astuple(shard)) for shard in self.shards],
        }


def schema_of(blocks: Iterable[BlockHead]) -> LabelSchema:
    """Return the label space of a model that is trained on the corpus."""
    return LabelSchema(tuple(block.schema for block in blocks))


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
    try:
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
    except ReadError:
        raise
    except OSError as error:
        raise read_error(str(path), f"it cannot be read ({error.strerror})", "check it") from error
    except (*UNREADABLE, MemoryError) as error:
        reason = str(error) if isinstance(error, WrongContents) else "its parts do not fit together"
        raise read_error(
            str(path), f"the manifest is damaged: {reason}", "copy or prepare the corpus again"
        ) from error
    return manifest


def _manifest(data: Mapping[str, Any]) -> Manifest:
    words = _names(data["words"], "words")
    if not isinstance(data["blocks"], list) or not isinstance(data["shards"], list):
        raise WrongContents("it has no list of labels, or of shards")
    blocks = tuple(_block(block) for block in data["blocks"])
    if len({block.name for block in blocks}) < len(blocks):
        raise WrongContents("two blocks of labels have one name")
    if not isinstance(data["ids"], bool):
        raise WrongContents("it does not say whether documents have ids")
    shards = tuple(_record(*shard) for shard in data["shards"])
    if not shards:
        raise WrongContents("it has no shards")
    settings = data["text_settings"]
    try:
        text_settings = None if settings is None else TextSettings.from_dict(settings)
    except UNREADABLE as error:
        raise WrongContents("its text settings are none that a file may hold") from error
    return Manifest(words, text_settings, data["ids"], blocks, shards)


def _names(names: Sequence[Any], what: str) -> tuple[str, ...]:
    found = tuple(names)
    if not isinstance(names, list) or not all(type(name) is str for name in found):
        raise WrongContents(f"its {what} are not texts")
    if len(set(found)) < len(found):
        raise WrongContents(f"its {what} are not unique")
    return found


def _block(data: Mapping[str, Any]) -> BlockHead:
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
    return BlockHead(data["name"], data["kind"], columns, data["centred"], moments)


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


def heads_of(blocks: Iterable[LabelBlock]) -> tuple[BlockHead, ...]:
    """Return the heads of blocks, with the sums of their values."""
    return tuple(BlockHead.of(block) for block in blocks)


def describe(n_documents: int, n_words: int, n_tokens: float, blocks: Iterable[BlockHead]) -> str:
    """Return a stored corpus in one line."""
    labels = ", ".join(block.summary for block in blocks) or "none"
    sizes = f"{count_of(n_documents, 'document')}, {count_of(n_words, 'word')}"
    return f"{sizes}, {n_tokens:.12g} tokens; labels: {labels}"
