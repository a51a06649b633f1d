"""The manifest of a stored corpus: everything but the documents, as JSON."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from hdsp.corpus.labels import KINDS, LabelBlock, Labels
from hdsp.corpus.readers.common import read_error
from hdsp.corpus.schema import LabelMoments, Moments
from hdsp.corpus.text import TextSettings
from hdsp.exceptions import ReadError
from hdsp.storage.codec import Decoder, InvalidContents, encode, require
from hdsp.storage.container import PARSE_ERRORS, replacing

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
            "text_settings": encode(settings, {}),
            "ids": self.has_ids,
            "groups": self.has_groups,
            "blocks": [
                {
                    "name": block.name,
                    "kind": block.kind,
                    "columns": list(block.columns),
                    "centred": block.centred,
                    "moments": [list(one[:-1]) for one in moments],
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
        require(path.stat().st_size <= _LARGEST_FILE, "it is too large for a manifest")
        data = json.loads(path.read_bytes())
        is_ours = isinstance(data, dict) and data.get("format") == _FORMAT
        require(is_ours, "it is not that of a stored corpus")
        if data["version"] != VERSION:
            raise read_error(
                str(path),
                f"the corpus is of format version {data['version']!r:.20}, and this hdsp reads "
                f"{VERSION}",
                "use the hdsp that wrote it, or prepare the corpus again",
            )
        manifest = _manifest(data)
        require(data["fingerprint"] == manifest.fingerprint, "its fingerprint is wrong")
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
    except (*PARSE_ERRORS, MemoryError) as error:
        reason = (
            str(error) if isinstance(error, InvalidContents) else "its parts do not fit together"
        )
        raise read_error(str(path), f"{what} is damaged: {reason}", remedy) from error


def _manifest(data: Mapping[str, Any]) -> Manifest:
    words = _names(data["words"], "words")
    lists = isinstance(data["blocks"], list) and isinstance(data["shards"], list)
    require(lists, "it has no list of labels, or of shards")
    described = [_block(block) for block in data["blocks"]]
    blocks = {block.name: block for block, _ in described}
    require(len(blocks) == len(described), "two blocks of labels have one name")
    labels = Labels(tuple(blocks.values()), 0)
    has_ids, has_groups = data["ids"], data["groups"]
    for flag, what in ((has_ids, "ids"), (has_groups, "groups")):
        require(isinstance(flag, bool), f"it does not say whether documents have {what}")
    shards = tuple(_record(*shard) for shard in data["shards"])
    require(shards, "it has no shards")
    text_settings = Decoder({}).decode(TextSettings | None, data["text_settings"], "text settings")
    moments = tuple(moments for _, moments in described)
    return Manifest(words, text_settings, has_ids, labels, moments, shards, has_groups)


def _names(names: Any, what: str) -> tuple[str, ...]:
    texts = isinstance(names, list) and all(type(name) is str for name in names)
    require(texts, f"its {what} are not texts")
    require(len(set(names)) == len(names), f"its {what} are not unique")
    return tuple(names)


def _block(data: Mapping[str, Any]) -> tuple[LabelBlock, tuple[Moments, ...]]:
    columns, kind, centred = _names(data["columns"], "label columns"), data["kind"], data["centred"]
    moments = tuple(
        Moments(_whole(n), _finite(mean), _finite(spread), _finite(least), _finite(most), centred)
        for n, mean, spread, least, most in data["moments"]
    )
    require(
        type(data["name"]) is str
        and kind in KINDS
        and isinstance(centred, bool)
        and len(moments) == (len(columns) if kind == "number" else 0)
        and all(one.spread >= 0 and one.least <= one.most for one in moments),
        "its labels are not described as they should be",
    )
    return LabelBlock(data["name"], kind, columns, csr_array((0, len(columns))), centred), moments


def _record(n_documents: Any, n_tokens: Any, n_bytes: Any, checksum: Any) -> ShardRecord:
    # A file has at least an offset of four bytes for each document.
    fits = 4 * _whole(n_documents) < _whole(n_bytes) and _finite(n_tokens) >= 0
    require(fits and isinstance(checksum, str), "its table of shards has a row that is none")
    return ShardRecord(n_documents, float(n_tokens), n_bytes, checksum)


def _whole(value: Any) -> int:
    fits = type(value) is int and 0 <= value < _LARGEST_NUMBER
    require(fits, "it has a size that is none")
    return int(value)


def _finite(value: Any) -> float:
    fits = type(value) in (int, float) and math.isfinite(value)
    require(fits, "it has a number that is none")
    return float(value)
