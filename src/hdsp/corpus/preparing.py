"""Writing corpora to disk: of documents in memory, or of tables of any size.

Tables are read once. Each few thousand documents are counted on their own, with whatever words and
labels they have, and written to a draft, an Arrow file; when all have been read, the words are
chosen, and the drafts become shards. A folder is written aside and renamed when it is complete.
"""

import math
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from hdsp import progress
from hdsp.checks import check_words
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.counting import TextCounter, choose_words, in_threads, word_sums
from hdsp.corpus.labels import Kind, LabelBlock, Labels, Names, ReadingSettings, label_kinds
from hdsp.corpus.readers.counts import read_words
from hdsp.corpus.readers.opening import FileOrPath, FilePath, check_file, name_of, read_error
from hdsp.corpus.readers.tables import Batch, Columns, Wanted, no_words, open_table
from hdsp.corpus.schema import LabelMoments, LabelSchema, column_moments, sum_moments
from hdsp.corpus.splitting import warn_of_pairs
from hdsp.corpus.stored import (
    MANIFEST,
    BlockRecord,
    Manifest,
    ShardRecord,
    StoredCorpus,
    checksum,
    concatenate,
    shard_path,
)
from hdsp.corpus.text import TextSettings, counting_rules
from hdsp.exceptions import NotSavedWarning
from hdsp.numerics import FloatArray
from hdsp.storage.container import sync_file, sync_folder

# The most characters of a draft's texts.
_CHARACTERS = 1 << 24
# The most words of drafts, repeats included, among which words are chosen at a time.
_CANDIDATES = 1 << 22
_OWN_NAME = re.compile(rf"{MANIFEST}|shard-\d+\.parquet")


def write_corpus(corpus: Corpus, folder: Path, shard_size: int = PART_SIZE) -> None:
    """Write a corpus to a folder; see `Corpus.write`."""
    if isinstance(shard_size, bool) or not isinstance(shard_size, int) or shard_size < 1:
        raise ValueError(
            f"`shard_size` of Corpus.write must be a whole number from 1. Got {shard_size!r}. "
            "Leave it out for the size of a block of a fit."
        )
    settings = storable_settings(corpus.text_settings, 4)
    with replacing_folder(folder) as staging:
        write_shards(staging, corpus.parts(), corpus.n_documents, settings, shard_size)


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
        return *_write_shard(shard_path(folder, number), part), part[:0]

    written: list[tuple[ShardRecord, LabelMoments, Corpus]] = []
    n_written = 0
    with progress.task("Writing", n_documents, "documents") as task:
        for one in in_threads(write, enumerate(regrouped(parts, shard_size))):
            written.append(one)
            n_written += one[0].n_documents
            task.update(n_written)
    records, moments, (head, *_) = zip(*written, strict=True)
    total = sum_moments(moments)
    # Raises if numbers are too large to be standardised, before anyone waits for a fit.
    LabelSchema.of(head.labels, total)
    Manifest(
        head.words,
        settings,
        head.reading,
        head.ids is not None,
        head.groups is not None,
        tuple(map(BlockRecord.of, head.labels.blocks, total)),
        records,
    ).write(folder)


def _write_shard(path: Path, part: Corpus) -> tuple[ShardRecord, LabelMoments]:
    """Write documents to a file, and return what the manifest has to know of them."""
    from hdsp.corpus import shards

    shards.write_shard(path, part)
    contents = path.read_bytes()
    record = ShardRecord(len(part), part.n_tokens, len(contents), checksum(contents))
    return record, tuple(map(column_moments, part.labels.blocks))


def regrouped(parts: Iterable[Corpus], size: int) -> Iterator[Corpus]:
    """Yield the documents of parts in parts of a size, of which the last may be smaller."""
    waiting: list[Corpus] = []
    n_waiting = 0
    for part in parts:
        waiting.append(part)
        n_waiting += len(part)
        if n_waiting >= size:
            whole = concatenate(waiting)
            end = n_waiting - n_waiting % size
            for first in range(0, end, size):
                yield whole[first : first + size] if n_waiting > size else whole
            waiting, n_waiting = ([whole[end:]], n_waiting - end) if end < n_waiting else ([], 0)
    if waiting:
        yield concatenate(waiting)


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
    staging = folder.with_name(f".{folder.name}.{token}.tmp")
    backup = folder.with_name(f".{folder.name}.{token}.old")
    try:
        staging.mkdir()
        yield staging
        for path in staging.iterdir():
            sync_file(path)
        sync_folder(staging)
        if folder.exists():
            folder.rename(backup)
        staging.rename(folder)
        sync_folder(folder.parent)
    except OSError as error:
        if backup.exists() and not folder.exists():
            backup.rename(folder)
        raise OSError(
            f"The corpus cannot be written to {str(folder)!r} ({error.strerror or error}): choose "
            "a place that exists, can be written to and has room."
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        shutil.rmtree(backup, ignore_errors=True)


def check_replaceable(folder: Path) -> None:
    """Raise unless a folder does not exist, is empty, or holds a stored corpus and nothing else."""
    if not folder.exists():
        return
    foreign = "a file"
    if folder.is_dir():
        names = sorted(os.listdir(folder))
        others = [name for name in names if not _OWN_NAME.fullmatch(name)]
        if not names or (not others and MANIFEST in names):
            return
        foreign = f"a folder with {(others or names)[0]!r} in it"
    raise FileExistsError(
        f"A corpus can only take the place of another, and {str(folder)!r} is {foreign}: choose "
        "another folder, or remove this one."
    )


def prepare_corpus(
    paths: FileOrPath | Sequence[FileOrPath],
    folder: FilePath,
    text: str = "text",
    tags: Names = (),
    categories: Names = (),
    numeric: Names = (),
    *,
    words: FilePath | Sequence[str] | None = None,
    format: str | None = None,
    tag_separator: str | None = None,
    text_settings: object = None,
    like: object = None,
    ids: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
) -> StoredCorpus:
    """Write the documents of one or more tables to a corpus on disk, without holding them.

    The corpus is what `read_table` would make of one table with all the rows. Memory is bounded by
    a few thousand documents for each core, the words that are kept, and the names of the labels.
    While it works, the folder's parent holds counts of all words, which take about as much room as
    the corpus itself.

    Parameters
    ----------
    paths : path, binary file object, or list of them
        The tables, in the order of their documents: CSV, TSV, JSON Lines, Parquet, Arrow or
        Feather files.
    folder : path
        The folder of the corpus: a new one, an empty one, or that of a stored corpus, which is
        replaced.
    text : str, default="text"
        Column of the texts.
    tags, categories, numeric : str or sequence of str, default=()
        Columns of labels; see `read_table`.
    words : path or sequence of str, default=None
        The words to count, or a file with one per line; None for those that the settings choose.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow"}, default=None
        The format of the tables; by their names where it is None.
    tag_separator : str, default=None
        What separates tags that are written as one text, such as ``";"`` in "a;b".
    text_settings : TextSettings, CountVectorizer or callable, default=None
        How texts are split into words, and which words are counted. None is ``TextSettings()``,
        or the settings of `like`.
    like : Corpus or HDSP, default=None
        A corpus or a fitted model whose words are counted, in its order; other words are dropped.
    ids : str, default=None
        Column of the documents' names.
    encoding : str, default="utf-8"
        The encoding of text files.
    delimiter : str, default=None
        The character between the values of CSV files; None is a comma.
    decimal : {".", ","}, default="."
        The character before the decimals of numbers in a CSV file.

    Returns
    -------
    StoredCorpus
        The corpus, opened.

    Raises
    ------
    ReadError
        If a table is damaged, or not in the format that it should have.
    FileNotFoundError
        If there is no such file.
    """
    owner = "prepare_corpus"
    several = isinstance(paths, Sequence) and not isinstance(paths, str)
    files = list(cast("Sequence[FileOrPath]", paths if several else [paths]))
    if not files:
        raise ValueError(f"`paths` of {owner} must name a table. Got none. Pass one or more.")
    for file in files:
        if isinstance(file, (str, os.PathLike)):
            check_file(file)
    kinds = label_kinds(tags, categories, numeric, owner)
    settings, chosen = counting_rules(text_settings, like, owner)
    if words is not None:
        found = read_words(words, encoding) or ()
        chosen = check_words(found, len(found), owner)
    wanted = Wanted(kinds, text, ids, tag_separator)
    written = {"format": format, "encoding": encoding, "delimiter": delimiter, "decimal": decimal}
    open_file = partial(open_table, owner=owner, **cast("Any", written))
    name = name_of(files[0]) + ("" if len(files) == 1 else f" and {len(files) - 1} more")
    with replacing_folder(Path(folder)) as staging:
        drafts = _write_drafts(_rows(files, wanted, open_file), settings, staging)
        n_documents = sum(draft.n_documents for draft in drafts)
        if not n_documents:
            raise read_error(name, "there are no documents", "check that all was written")
        if chosen is None:
            with progress.task("Choosing words", len(drafts), None) as task:
                chosen = _choose(drafts, settings, n_documents, task)
            warn_of_pairs(settings, chosen)
        if not chosen:
            raise no_words(name, f"column {text!r}")
        storable = storable_settings(settings, 3)
        reading = ReadingSettings(text, ids, None, tag_separator, delimiter, decimal, encoding)
        whole = _whole(drafts, chosen, kinds, ids is not None).replaced(reading=reading)
        parts = _finish(drafts, whole)
        write_shards(staging, parts, n_documents, storable, PART_SIZE)
    return StoredCorpus(folder)


def _rows(
    files: Sequence[FileOrPath],
    wanted: Wanted,
    open_file: Callable[[FileOrPath], AbstractContextManager[Any]],
) -> Iterator[tuple[Columns, list[Batch]]]:
    """Yield batches of all tables, some thousand rows of one table at a time."""
    several = len(files) > 1
    with progress.task("Reading", len(files), "files") if several else progress.Task() as task:
        for number, file in enumerate(files):
            with progress.task(f"Reading {name_of(file)}", unit=None), open_file(file) as table:
                yield from _grouped(table.batches(wanted), table.name, wanted)
            task.update(number + 1)


def _grouped(
    batches: Iterable[Batch], name: str, wanted: Wanted
) -> Iterator[tuple[Columns, list[Batch]]]:
    """Yield batches of a table in lists that are neither long nor large."""
    group: list[Batch] = []
    first, n_rows, size = 0, 0, 0
    for batch in batches:
        texts = batch[wanted.text or ""]
        group.append(batch)
        n_rows += len(texts)
        size += sum(len(text) for text in texts if isinstance(text, str))
        if n_rows >= PART_SIZE or size > _CHARACTERS:
            yield Columns(name, wanted, first), group
            first += n_rows
            group, n_rows, size = [], 0, 0
    if n_rows:
        yield Columns(name, wanted, first), group


@dataclass(frozen=True)
class _Draft:
    """Documents in an Arrow file, with the words and the label columns of each block they have."""

    path: Path
    n_documents: int
    n_words: int
    columns: tuple[tuple[str, ...], ...]


def _write_drafts(
    rows: Iterable[tuple[Columns, list[Batch]]], settings: TextSettings, folder: Path
) -> list[_Draft]:
    """Count the documents of all tables, and write them to drafts in their order."""
    from hdsp.corpus import shards

    counter = TextCounter(settings)

    def write(item: tuple[int, tuple[Columns, list[Batch]]]) -> _Draft:
        number, (columns, batches) = item
        words, counts = counter.count(list(columns.texts(batches)))
        labels, path = columns.labels(), folder / f"draft-{number:06d}"
        part = Corpus.trusted(counts, (), labels, None, columns.ids())
        shards.write_draft(path, part, words)
        names = tuple(block.columns for block in labels.blocks)
        return _Draft(path, len(labels), len(words), names)

    return list(counter.map(write, enumerate(rows)))


def _choose(
    drafts: Sequence[_Draft], settings: TextSettings, n_documents: int, task: progress.Task
) -> tuple[str, ...]:
    """Return the words that the settings keep, sorted.

    If drafts have many words, those of one share of all hashes are counted after those of another,
    and only what is frequent enough is kept of each: memory is bounded, and every count is exact.
    """
    from hdsp.corpus import shards

    n_shares = max(1, math.ceil(sum(draft.n_words for draft in drafts) / _CANDIDATES))
    names: list[str] = []
    sums: list[FloatArray] = []
    for share in range(n_shares):
        numbers: dict[str, int] = {}
        total = np.zeros((2, 0))
        for step, draft in enumerate(drafts, share * len(drafts) + 1):
            words, counts = shards.read_draft_counts(draft.path)
            mine = [j for j, word in enumerate(words) if hash(word) % n_shares == share]
            place = [numbers.setdefault(words[j], len(numbers)) for j in mine]
            total = np.pad(total, ((0, 0), (0, len(numbers) - total.shape[1])))
            total[:, place] += word_sums(counts)[:, mine]
            task.update(step / n_shares)
        candidates = list(numbers)
        kept = choose_words(settings, candidates, total, n_documents)
        names += [candidates[number] for number in kept.tolist()]
        sums.append(total[:, kept])
    chosen = choose_words(settings, names, np.hstack(sums), n_documents)
    return tuple(names[number] for number in chosen.tolist())


def _whole(
    drafts: Sequence[_Draft], words: tuple[str, ...], kinds: Mapping[str, Kind], has_ids: bool
) -> Corpus:
    """Return no documents, with the words and labels of all drafts."""
    blocks = []
    for number, (name, kind) in enumerate(kinds.items()):
        columns = set[str]().union(*(draft.columns[number] for draft in drafts))
        blocks.append(LabelBlock(name, kind, tuple(sorted(columns)), csr_array((0, len(columns)))))
    counts, labels = csr_array((0, len(words))), Labels(tuple(blocks), 0)
    return Corpus.trusted(counts, words, labels, None, () if has_ids else None)


def _finish(drafts: Sequence[_Draft], whole: Corpus) -> Iterator[Corpus]:
    """Yield the documents of all drafts with the words and labels of the whole."""
    from hdsp.corpus import shards

    def finish(draft: _Draft) -> Corpus:
        part = shards.read_draft(draft.path, whole)
        draft.path.unlink()
        return part

    return in_threads(finish, drafts)
