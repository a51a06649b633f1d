"""Writing a corpus to a folder: aside, and renamed when it is complete."""

import os
import secrets
import shutil
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hdsp import progress
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.counting import in_threads
from hdsp.corpus.schema import LabelMoments, LabelSchema, sum_moments
from hdsp.corpus.stored.manifest import NAME, Manifest, ShardRecord
from hdsp.corpus.stored.shards import is_shard_name, joined, shard_path, write_shard
from hdsp.corpus.text import TextSettings
from hdsp.exceptions import NotSavedWarning
from hdsp.storage.container import sync_file, sync_folder


def write_corpus(corpus: Corpus, folder: Path, shard_size: int = PART_SIZE) -> None:
    """Write a corpus to a folder; see `Corpus.write`."""
    if isinstance(shard_size, bool) or not isinstance(shard_size, int) or shard_size < 1:
        raise ValueError(
            f"`shard_size` of Corpus.write must be a whole number from 1. Got {shard_size!r}. "
            "Leave it out for the size of a block of a fit."
        )
    settings = storable_settings(corpus.text_settings, 4)
    with replacing_folder(folder) as aside:
        write_shards(aside, corpus.parts(), corpus.n_documents, settings, shard_size)


def write_shards(
    folder: Path,
    parts: Iterable[Corpus],
    n_documents: int,
    settings: TextSettings | None = None,
    shard_size: int = PART_SIZE,
) -> None:
    """Write documents, of which there are one part or more, to shards, and then their manifest."""

    def write(item: tuple[int, Corpus]) -> tuple[ShardRecord, LabelMoments, Corpus]:
        number, part = item
        return *write_shard(shard_path(folder, number), part), part[:0]

    written: list[tuple[ShardRecord, LabelMoments, Corpus]] = []
    n_written = 0
    with progress.task("Writing", n_documents, "documents") as task:
        for one in in_threads(write, enumerate(regrouped(parts, shard_size))):
            written.append(one)
            n_written += one[0].n_documents
            task.update(n_written)
    records, moments, (head, *_) = zip(*written, strict=True)
    total = sum_moments(moments)
    # Raises where numbers are too large to be standardised, before anyone waits for a fit.
    LabelSchema.of(head.labels, total)
    has_ids, has_groups = head.ids is not None, head.groups is not None
    Manifest(head.words, settings, has_ids, head.labels, total, records, has_groups).write(folder)


def regrouped(parts: Iterable[Corpus], size: int) -> Iterator[Corpus]:
    """Yield the documents of parts in parts of a size, of which the last may be smaller."""
    waiting: list[Corpus] = []
    n_waiting = 0
    for part in parts:
        waiting.append(part)
        n_waiting += len(part)
        if n_waiting >= size:
            whole = joined(waiting)
            end = n_waiting - n_waiting % size
            for first in range(0, end, size):
                yield whole[first : first + size] if n_waiting > size else whole
            waiting, n_waiting = ([whole[end:]], n_waiting - end) if end < n_waiting else ([], 0)
    if waiting:
        yield joined(waiting)


def storable_settings(settings: TextSettings | None, stack_level: int) -> TextSettings | None:
    """Return settings that a file may hold, or None, with a warning, where it may not."""
    if settings is None or settings.storable:
        return settings
    what = "pattern" if settings.tokenizer is None else "function"
    warnings.warn(
        f"The {what} that cuts texts into words cannot be stored with the corpus: pass it as "
        "`text_settings` when new texts are read.",
        NotSavedWarning,
        stacklevel=stack_level,
    )
    return None


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A folder to write to that takes the place of `folder` once it is complete.

    Whatever ends the writing before leaves what was there. Only a stored corpus or an empty
    folder is replaced.
    """
    folder = Path(os.path.realpath(folder))
    check_replaceable(folder)
    token = secrets.token_hex(4)
    aside = folder.with_name(f".{folder.name}.{token}.tmp")
    former = folder.with_name(f".{folder.name}.{token}.old")
    try:
        aside.mkdir()
        yield aside
        for path in aside.iterdir():
            sync_file(path)
        sync_folder(aside)
        if folder.exists():
            folder.rename(former)
        aside.rename(folder)
        sync_folder(folder.parent)
    except OSError as error:
        if former.exists() and not folder.exists():
            former.rename(folder)
        raise OSError(
            f"The corpus cannot be written to {str(folder)!r} ({error.strerror or error}): choose "
            "a place that exists, can be written to and has room."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)


def check_replaceable(folder: Path) -> None:
    """Raise unless a folder does not exist, is empty, or holds a stored corpus and nothing else."""
    if not folder.exists():
        return
    foreign = "a file"
    if folder.is_dir():
        names = sorted(os.listdir(folder))
        others = [name for name in names if not is_shard_name(name)]
        if not names or (not others and NAME in names):
            return
        foreign = f"a folder with {(others or names)[0]!r} in it"
    raise FileExistsError(
        f"A corpus can only take the place of another, and {str(folder)!r} is {foreign}: choose "
        "another folder, or remove this one."
    )
