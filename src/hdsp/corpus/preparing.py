"""Writing corpora to disk: of documents in memory, or of tables of any size.

Tables are read once. Each few thousand documents are counted on their own, with whatever words and
labels they have, and written to a draft, an Arrow file; when all have been read, the words are
chosen, and the drafts become shards. A folder is written aside and renamed when it is complete.
"""

import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array

from hdsp import progress
from hdsp.checks import check_whole, check_words
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.counting import TextCounter, choose_words, grouped, in_threads
from hdsp.corpus.labels import Kind, LabelBlock, Labels, Names, ReadingSettings, label_kinds
from hdsp.corpus.readers.counts import read_words
from hdsp.corpus.readers.opening import (
    FileOrPath,
    FilePath,
    check_file,
    name_of,
    no_documents,
    read_error,
)
from hdsp.corpus.readers.tables import Batch, Columns, Wanted, open_table
from hdsp.corpus.schema import LabelMoments
from hdsp.corpus.splitting import warn_of_pairs
from hdsp.corpus.stored import (
    MANIFEST,
    Manifest,
    ShardRecord,
    StoredCorpus,
    checksum,
    concatenate,
    shard_path,
    sum_totals,
    totals_of,
)
from hdsp.corpus.text import TextSettings, counting_rules, storable_settings
from hdsp.storage.container import sync_file, sync_folder

# The most characters of a draft's texts.
_CHARACTERS = 1 << 24
# The most words among which words are chosen.
_MOST_WORDS = 1 << 22
_OWN_NAME = re.compile(rf"{MANIFEST}|shard-\d+\.parquet")


def write_corpus(corpus: Corpus, folder: Path, shard_size: int = PART_SIZE) -> None:
    """Write a corpus to a folder; see `Corpus.write`."""
    check_whole(shard_size, "shard_size", 1, "Corpus.write")
    settings = storable_settings(corpus.text_settings, "corpus")
    with replacing_folder(folder) as staging:
        write_shards(staging, corpus.parts(), corpus.n_documents, settings, shard_size)


def write_shards(
    folder: Path,
    parts: Iterable[Corpus],
    n_documents: int,
    settings: TextSettings | None,
    shard_size: int,
) -> None:
    """Write documents, of which there is one part or more, to shards, and then their manifest."""
    from hdsp.corpus.shards import to_parquet

    def write(item: tuple[int, Corpus]) -> tuple[ShardRecord, tuple[float, LabelMoments]]:
        number, part = item
        contents = to_parquet(part)
        shard_path(folder, number).write_bytes(contents)
        return ShardRecord(len(part), checksum(contents)), totals_of(part)

    shards = regrouped(parts, shard_size)
    first = next(shards)
    records, totals = [], []
    n_written = 0
    with progress.task("Writing", n_documents, "documents") as task:
        for record, total in in_threads(write, enumerate(chain([first], shards))):
            records.append(record)
            totals.append(total)
            n_written += record.n_documents
            task.update(n_written)
    # Raises if numbers are too large to be standardised, before anyone waits for a fit.
    n_tokens, schema = sum_totals(first.labels, totals)
    has_ids, has_groups = first.ids is not None, first.groups is not None
    Manifest(
        first.words, settings, first.reading, has_ids, has_groups, schema, n_tokens, tuple(records)
    ).write(folder)


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
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    others = [name for name in names if not _OWN_NAME.fullmatch(name)]
    is_corpus = MANIFEST in names and not others
    if is_corpus or not (names or folder.is_file()):
        return
    foreign = f"a folder with {(others or names)[0]!r} in it" if names else "a file"
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

    The corpus is what `read_table` would make of one table with all the rows, but that of more than
    four million words the rarest are forgotten. Memory is bounded by a few thousand documents for
    each core, these words, and the names of the labels.
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
        found = read_words(words, encoding)
        chosen = check_words(found, len(found), owner)
    wanted = Wanted(kinds, text, ids, tag_separator)
    written = (owner, format, encoding, delimiter, decimal)
    name = name_of(files[0]) + ("" if len(files) == 1 else f" and {len(files) - 1} more")
    with replacing_folder(Path(folder)) as staging:
        drafts = _write_drafts(_groups(files, wanted, written), settings, staging)
        n_documents = sum(draft.n_documents for draft in drafts)
        if not n_documents:
            raise no_documents(name)
        if chosen is None:
            chosen = _choose(drafts, settings, n_documents)
            warn_of_pairs(settings, chosen)
        if not chosen:
            remedy = "pass more texts, or `text_settings` that keep more words"
            raise read_error(name, f"no word of column {text!r} is left to count", remedy)
        reading = ReadingSettings(text, ids, None, tag_separator, delimiter, decimal, encoding)
        whole = _whole(drafts, chosen, kinds, ids is not None).replaced(reading=reading)
        parts = in_threads(partial(_finish, whole=whole), drafts)
        write_shards(staging, parts, n_documents, storable_settings(settings, "corpus"), PART_SIZE)
    return StoredCorpus(folder)


def _groups(
    files: Sequence[FileOrPath], wanted: Wanted, written: tuple[Any, ...]
) -> Iterator[tuple[Columns, list[Batch]]]:
    """Yield batches of all tables, which `open_table` opens, some thousand rows at a time."""

    def texts_of(batch: Batch) -> list[str]:
        return [text if isinstance(text, str) else "" for text in batch[wanted.text or ""]]

    for number, file in enumerate(files, 1):
        title = f"Reading {name_of(file)}" + f" ({number} of {len(files)})" * (len(files) > 1)
        with progress.task(title, unit=None), open_table(file, *written) as table:
            first = 0
            for group in grouped(table.batches(wanted), texts_of, PART_SIZE, _CHARACTERS):
                yield Columns(table.name, wanted, first), group
                first += sum(len(texts_of(batch)) for batch in group)


class _Draft(NamedTuple):
    """A file of documents, with the words and the label columns of each block they have."""

    path: Path
    n_documents: int
    columns: tuple[tuple[str, ...], ...]


def _write_drafts(
    groups: Iterable[tuple[Columns, list[Batch]]], settings: TextSettings, folder: Path
) -> list[_Draft]:
    """Count the documents of all tables, and write them to drafts in their order."""
    from hdsp.corpus.shards import write_draft

    counter = TextCounter(settings)

    def write(item: tuple[int, tuple[Columns, list[Batch]]]) -> _Draft:
        number, (columns, batches) = item
        words, counts = counter.count(list(columns.texts(batches)))
        labels, path = columns.labels(), folder / f"draft-{number:06d}"
        part = Corpus.trusted(counts=counts, words=words, labels=labels, ids=columns.ids())
        write_draft(path, part)
        names = tuple(block.columns for block in labels.blocks)
        return _Draft(path, len(labels), names)

    return list(counter.map(write, enumerate(groups)))


def _choose(drafts: Sequence[_Draft], settings: TextSettings, n_documents: int) -> tuple[str, ...]:
    """Return the words that the settings keep, sorted.

    Counts are exact as long as there are no more than `_MOST_WORDS` words; of more, those in the
    fewest documents are forgotten.
    """
    from hdsp.corpus.shards import draft_sums

    frequency, tokens = Counter[str](), Counter[str]()
    least = 1
    with progress.task("Choosing words", len(drafts), None) as task:
        for draft in drafts:
            words, sums = draft_sums(draft.path)
            frequency.update(dict(zip(words, sums[0].tolist(), strict=True)))
            tokens.update(dict(zip(words, sums[1].tolist(), strict=True)))
            while len(frequency) > _MOST_WORDS:
                least += 1
                for word in [word for word, number in frequency.items() if number < least]:
                    del frequency[word], tokens[word]
            task.update(task.done + 1)
    words = list(frequency)
    sums = np.array([list(frequency.values()), list(tokens.values())])
    return tuple(words[j] for j in choose_words(settings, words, sums, n_documents).tolist())


def _whole(
    drafts: Sequence[_Draft], words: tuple[str, ...], kinds: Mapping[str, Kind], has_ids: bool
) -> Corpus:
    """Return no documents, with the words and labels of all drafts."""
    blocks = []
    for number, (name, kind) in enumerate(kinds.items()):
        columns = set[str]().union(*(draft.columns[number] for draft in drafts))
        blocks.append(LabelBlock(name, kind, tuple(sorted(columns)), csr_array((0, len(columns)))))
    counts, labels = csr_array((0, len(words))), Labels(tuple(blocks), 0)
    return Corpus.trusted(counts=counts, words=words, labels=labels, ids=() if has_ids else None)


def _finish(draft: _Draft, whole: Corpus) -> Corpus:
    """Return the documents of a draft, which is removed, with words and labels of the whole."""
    from hdsp.corpus.shards import read_draft

    part = read_draft(draft.path, whole)
    draft.path.unlink()
    return part
