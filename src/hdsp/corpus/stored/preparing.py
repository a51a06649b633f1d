"""From many tables to a corpus on disk, in memory that does not grow with the documents.

Texts are read once. Each few thousand documents are counted on their own, with whatever words and
labels they have, and written to a draft; when all have been read, the words are chosen, and the
drafts become shards.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from hdsp import progress
from hdsp.checks import check_words
from hdsp.corpus.corpus import PART_SIZE, Corpus
from hdsp.corpus.counting import TextCounter, choose_words, in_threads, word_sums
from hdsp.corpus.labels import Kind, LabelBlock, Labels, Names, label_kinds
from hdsp.corpus.readers.columns import Batch, Columns, Wanted
from hdsp.corpus.readers.common import FileOrPath, FilePath, check_file, name_of, read_error
from hdsp.corpus.readers.entries import read_words
from hdsp.corpus.readers.table_formats import open_table
from hdsp.corpus.readers.texts import no_words
from hdsp.corpus.splitting import warn_of_pairs
from hdsp.corpus.stored.corpus import StoredCorpus
from hdsp.corpus.stored.drafts import Draft
from hdsp.corpus.stored.writing import replacing_folder, storable_settings, write_shards
from hdsp.corpus.text import TextSettings, counting_rules
from hdsp.numerics import FloatArray

# The most characters of a draft's texts.
_CHARACTERS = 1 << 24
# The most words of drafts, repeats included, among which words are chosen at a time.
_CANDIDATES = 1 << 22


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
    with replacing_folder(Path(folder)) as aside:
        drafts = _write_drafts(_rows(files, wanted, open_file), settings, aside)
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
        parts = _finished(drafts, chosen, kinds, storable)
        write_shards(aside, parts, n_documents, storable, PART_SIZE)
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
            with (
                progress.task(f"Reading {name_of(file)}", unit=None),
                open_file(file) as (table_format, table),
            ):
                yield from _grouped(table_format.batches(table, wanted), table.name, wanted)
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


def _write_drafts(
    rows: Iterable[tuple[Columns, list[Batch]]], settings: TextSettings, folder: Path
) -> list[Draft]:
    """Count the documents of all tables, and write them to drafts in their order."""
    counter = TextCounter(settings)

    def write(item: tuple[int, tuple[Columns, list[Batch]]]) -> Draft:
        number, (columns, batches) = item
        counted = counter.count(list(columns.texts(batches)))
        return Draft.write(folder / f"draft-{number:06d}", counted, columns.labels(), columns.ids())

    items = enumerate(rows)
    return list(counter.map(write, items))


def _choose(
    drafts: Sequence[Draft], settings: TextSettings, n_documents: int, task: progress.Task
) -> tuple[str, ...]:
    """Return the words that the settings keep, sorted.

    If drafts have many words, those of one share of all hashes are counted after those of another,
    and only what is frequent enough is kept of each: memory is bounded, and every count is exact.
    """
    n_shares = max(1, math.ceil(sum(draft.n_words for draft in drafts) / _CANDIDATES))
    names: list[str] = []
    sums: list[FloatArray] = []
    for share in range(n_shares):
        numbers: dict[str, int] = {}
        found = np.zeros((2, 0))
        for step, draft in enumerate(drafts, share * len(drafts) + 1):
            words, counts = draft.read()[0]
            mine = [j for j, word in enumerate(words) if hash(word) % n_shares == share]
            place = [numbers.setdefault(words[j], len(numbers)) for j in mine]
            found = np.pad(found, ((0, 0), (0, len(numbers) - found.shape[1])))
            found[:, place] += word_sums(counts)[:, mine]
            task.update(step / n_shares)
        kept = choose_words(settings, list(numbers), found, n_documents)
        words = list(numbers)
        names += [words[number] for number in kept.tolist()]
        sums.append(found[:, kept])
    chosen = choose_words(settings, names, np.hstack(sums), n_documents)
    return tuple(names[number] for number in chosen.tolist())


def _finished(
    drafts: Sequence[Draft],
    words: tuple[str, ...],
    kinds: Mapping[str, Kind],
    settings: TextSettings | None,
) -> Iterator[Corpus]:
    """Yield the documents of all drafts with the words and labels of the whole."""
    numbers = {word: number for number, word in enumerate(words)}
    blocks = []
    for number, (name, kind) in enumerate(kinds.items()):
        columns = set[str]().union(*(draft.columns[number] for draft in drafts))
        blocks.append(LabelBlock(name, kind, tuple(sorted(columns)), csr_array((0, len(columns)))))
    labels = Labels(tuple(blocks), 0)
    whole = Corpus.trusted(csr_array((0, len(words))), words, labels, settings, None)

    def finish(draft: Draft) -> Corpus:
        finished = draft.finished(whole, numbers)
        draft.path.unlink()
        return finished

    return in_threads(finish, drafts)
