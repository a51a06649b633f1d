"""Documents as Arrow tables, in Parquet files that other tools can read, and back.

A row is a document: the numbers of its words and how often each occurs, as two lists, `id` and
`group` if there are any, and a column for each block of labels: a category as a text, tags as a
list of texts, a number as a number, and the numbers of a wide matrix as a map from names to values.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, ipc, parquet
from scipy.sparse import csr_array

from hdsp.checks import LARGEST_COUNT
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.counting import remap_columns, word_sums
from hdsp.corpus.labels import LabelBlock, Labels
from hdsp.numerics import FloatArray, frozen_csr
from hdsp.storage.codec import AnyArray, checked_matrix, require

_TEXT, _NUMBER = pa.string(), pa.float64()
_TEXTS = pa.list_(pa.field("element", _TEXT, nullable=False))
_NUMBERS = pa.list_(pa.field("element", _NUMBER, nullable=False))
_POSITIONS = pa.list_(pa.field("element", pa.int32(), nullable=False))
_NAMED_NUMBERS = pa.map_(_TEXT, pa.field("value", _NUMBER, nullable=False))


def _is_single(block: LabelBlock) -> bool:
    """Whether a document has one value of a block at most; only such values can be missing."""
    return block.kind == "category" or (block.kind == "number" and len(block.columns) == 1)


def _schema(corpus: Corpus) -> pa.Schema:
    """The columns of the documents of a corpus, with names that differ."""
    kinds = {"words": _POSITIONS, "counts": _NUMBERS}
    kinds |= {"id": _TEXT} if corpus.ids is not None else {}
    kinds |= {"group": _TEXT} if corpus.groups is not None else {}
    fields = [pa.field(name, kind, nullable=False) for name, kind in kinds.items()]
    taken = {"words", "counts", "id", "group"}
    for block in corpus.labels.blocks:
        name = _utf8(block.name)
        while name in taken:
            name += "_"
        taken.add(name)
        single, several = (_NUMBER, _NAMED_NUMBERS) if block.kind == "number" else (_TEXT, _TEXTS)
        is_single = _is_single(block)
        fields.append(pa.field(name, single if is_single else several, nullable=is_single))
    return pa.schema(fields)


def to_parquet(part: Corpus) -> pa.Buffer:
    """Return the contents of a Parquet file of documents."""
    file, schema = pa.BufferOutputStream(), _schema(part)
    columns = _columns(part, pa.array(part.counts.indices, pa.int32()))
    table = pa.table(columns, schema=schema)
    parquet.write_table(table, file, row_group_size=max(len(part), 1))
    return file.getvalue()


def _columns(part: Corpus, words: pa.Array) -> list[pa.Array]:
    """Return the columns of documents, of which all words are given, one after another."""
    starts = pa.array(part.counts.indptr, pa.int32())
    counts = pa.ListArray.from_arrays(starts, pa.array(part.counts.data, _NUMBER))
    names = [to_texts(texts) for texts in (part.ids, part.groups) if texts is not None]
    labels = map(_column, part.labels.blocks)
    return [pa.ListArray.from_arrays(starts, words), counts, *names, *labels]


def _column(block: LabelBlock) -> pa.Array:
    """Return a block of labels as a column."""
    starts, data = pa.array(block.values.indptr, pa.int32()), pa.array(block.values.data)
    texts = _known_texts(block.columns).take(pa.array(block.values.indices))
    if _is_single(block):
        stored = np.diff(block.values.indptr) > 0
        values = data if block.kind == "number" else texts
        return values.take(pa.array(np.cumsum(stored) - 1, mask=~stored))
    if block.kind == "number":
        return pa.MapArray.from_arrays(starts, texts, data)
    return pa.ListArray.from_arrays(starts, texts)


def from_parquet(contents: pa.Buffer, whole: Corpus) -> Corpus:
    """Return the documents of a Parquet file, with the words and labels of a whole corpus.

    The file may come from anyone. `whole` has no documents; its ids and groups say whether
    documents must have any.
    """
    with parquet.ParquetFile(pa.BufferReader(contents)) as file:
        table = file.read(use_threads=False)
    require(table.schema.equals(_schema(whole)), "its columns are not those of the corpus")
    table.validate(full=True)
    words, counts, *others = (column.combine_chunks() for column in table.columns)
    require(words.offsets.equals(counts.offsets), "words and counts are not of the same number")
    parts = _arrays(counts.values, words.values, words.offsets)
    require(parts[0].min(initial=1.0) > 0, "its counts are not all positive")
    require(parts[0].max(initial=1.0) <= LARGEST_COUNT, "its counts are too large")
    matrix = checked_matrix(parts, (len(table), whole.n_words))
    return _described(matrix, others, whole)


def _described(counts: csr_array, columns: list[pa.Array], whole: Corpus) -> Corpus:
    """Return documents of which the columns have ids, groups and labels."""
    names = [
        None if known is None else tuple(columns.pop(0).to_pylist())
        for known in (whole.ids, whole.groups)
    ]
    blocks = [
        replace(block, values=_values(column, block))
        for column, block in zip(columns, whole.labels.blocks, strict=True)
    ]
    labels = Labels(tuple(blocks), counts.shape[0])
    return whole.replaced(counts=frozen_csr(counts), labels=labels, ids=names[0], groups=names[1])


def _values(column: pa.Array, block: LabelBlock) -> csr_array:
    """Return the values of a block of labels that a column has."""
    if _is_single(block):
        starts = np.append(0, np.cumsum(column.is_valid()))
        texts = data = column.drop_null()
    elif block.kind == "number":
        starts, texts, data = column.offsets, column.keys, column.items
    else:
        starts, texts = column.offsets, column.values
    if block.kind != "number":
        data = np.ones(len(texts))
    if texts.type == _TEXT:
        places = compute.index_in(texts, _known_texts(block.columns))
    else:
        places = np.zeros(len(texts), np.int32)
    return checked_matrix(_arrays(data, places, starts), (len(starts) - 1, len(block.columns)))


def _arrays(*parts: Any) -> list[AnyArray]:
    """Return Arrow arrays, in which no entry is missing, as they are in memory."""
    return [part if isinstance(part, np.ndarray) else part.to_numpy() for part in parts]


def write_draft(path: Path, part: Corpus) -> None:
    """Write documents, with words of their own, to a new Arrow file."""
    numbers = pa.array(part.counts.indices, pa.int32())
    words = pa.DictionaryArray.from_arrays(numbers, to_texts(part.words))
    columns = _columns(part, words)
    table = pa.table(columns, list(map(str, range(len(columns)))))
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def read_draft(path: Path, whole: Corpus) -> Corpus:
    """Return the documents of a draft, with the words and labels of a whole corpus."""
    words, counts, labels = _opened_draft(path)
    place = compute.index_in(words, _known_texts(whole.words)).fill_null(-1)
    return _described(remap_columns(counts, place.to_numpy(), whole.n_words), labels, whole)


def draft_sums(path: Path) -> tuple[list[str], FloatArray]:
    """Return the words of a draft, and their sums; see `word_sums`."""
    words, counts, _ = _opened_draft(path)
    return words.to_pylist(), word_sums(counts)


def _opened_draft(path: Path) -> tuple[pa.Array, csr_array, list[pa.Array]]:
    """Return the words of a draft, how often they occur, and the columns of ids and labels."""
    with pa.OSFile(str(path)) as file:
        table = ipc.open_file(file).read_all()
    words, counts, *labels = (column.combine_chunks() for column in table.columns)
    own, shape = words.values.dictionary, (len(table), len(words.values.dictionary))
    parts = _arrays(counts.values, words.values.indices, words.offsets)
    return own, csr_array(tuple(parts), shape=shape), labels


@lru_cache(maxsize=16)
def _known_texts(texts: tuple[str, ...]) -> pa.Array:
    return to_texts(texts)


def to_texts(texts: Iterable[str]) -> pa.Array:
    """Return texts as an Arrow array, with escapes for halves of surrogate pairs."""
    return pa.array(map(_utf8, texts), _TEXT)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
