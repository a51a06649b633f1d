"""Documents as Arrow tables, in Parquet files that other tools can read, and back.

A row is a document: the numbers of its words and how often each occurs, as two lists, `id` and
`group` if there are any, and a column for each block of labels: a category as a text, tags as a
list of texts, a number as a number, and the numbers of a wide matrix as a list of names and values.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet
from scipy.sparse import csr_array

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.counting import Counted, remap_columns
from hdsp.corpus.labels import LabelBlock, Labels
from hdsp.numerics import IntArray, frozen_csr
from hdsp.storage.codec import AnyArray, require

_RESERVED = ("words", "counts", "id", "group")


def to_table(part: Corpus, words: pa.Array | None = None) -> pa.Table:
    """Return documents as a table: of the numbers of words, or with a dictionary of `words`."""
    counts = part.counts
    numbers = pa.array(counts.indices, pa.int32())
    if words is not None:
        numbers = pa.DictionaryArray.from_arrays(numbers, words)
    columns = {
        "words": _to_lists(counts, numbers),
        "counts": _to_lists(counts, pa.array(_compact(counts.data))),
    }
    for name, texts in (("id", part.ids), ("group", part.groups)):
        if texts is not None:
            columns[name] = to_texts(texts)
    for name, block in zip(_column_names(part.labels), part.labels.blocks, strict=True):
        columns[name] = _to_column(block)
    return pa.table(columns)


def from_table(table: pa.Table, whole: Corpus) -> Corpus:
    """Return checked documents of a table, with the words and label columns of a whole corpus.

    `whole` has no documents; its ids and groups say whether documents must have any. A table with
    a dictionary of words has words of its own, of which only those of the whole corpus are kept.
    """
    table.validate(full=True)
    n_documents = len(table)
    starts, numbers = _from_lists(table, "words")
    count_starts, data = _from_lists(table, "counts")
    require(np.array_equal(starts, count_starts), "words and counts are not of the same number")
    counts = _plain(data, "uif")
    require(
        not len(counts) or (counts.min() > 0 and np.isfinite(counts.max())),
        "its counts are not all positive",
    )
    if pa.types.is_dictionary(numbers.type):
        place, indices = _places(numbers, whole.words)
        matrix = csr_array((counts, indices, starts), shape=(n_documents, len(place)))
        matrix = remap_columns(matrix, place, whole.n_words)
    else:
        indices = _plain(numbers, "i")
        inside = not len(indices) or (indices.min() >= 0 and indices.max() < whole.n_words)
        require(inside, "it has numbers of words that do not exist")
        matrix = csr_array((counts, indices, starts), shape=(n_documents, whole.n_words))
        require(matrix.has_canonical_format, "its words are out of order")
    blocks = [
        replace(block, values=_from_column(_column(table, name), block))
        for name, block in zip(_column_names(whole.labels), whole.labels.blocks, strict=True)
    ]
    names = [
        None if known is None else _from_texts(_column(table, name))
        for name, known in (("id", whole.ids), ("group", whole.groups))
    ]
    labels = Labels(tuple(blocks), n_documents)
    return whole.replaced(counts=frozen_csr(matrix), labels=labels, ids=names[0], groups=names[1])


def write_shard(path: Path, part: Corpus) -> None:
    """Write documents to a new Parquet file."""
    with path.open("xb") as file:
        parquet.write_table(to_table(part), file, row_group_size=max(len(part), 1))


def read_shard(contents: bytes, whole: Corpus) -> Corpus:
    """Return the documents of a Parquet file."""
    with parquet.ParquetFile(pa.BufferReader(contents)) as file:
        return from_table(file.read(use_threads=False), whole)


def write_draft(path: Path, part: Corpus, words: Sequence[str]) -> None:
    """Write documents, with words of their own, to a new Arrow file."""
    table = to_table(part, to_texts(words))
    with path.open("xb") as file, ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _read_ipc(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as file:
        return ipc.open_file(file).read_all()


def read_draft(path: Path, whole: Corpus) -> Corpus:
    """Return the documents of a draft, with the words and label columns of a whole corpus."""
    return from_table(_read_ipc(path), whole)


def read_draft_counts(path: Path) -> Counted:
    """Return the counts of a draft, with its words."""
    table = _read_ipc(path)
    starts, words = _from_lists(table, "words")
    counts = _from_lists(table, "counts")[1].to_numpy()
    names = words.dictionary.to_pylist()
    indices, shape = words.indices.to_numpy(), (len(table), len(names))
    return Counted(names, csr_array((counts, indices, starts), shape=shape))


def to_texts(texts: Sequence[str]) -> pa.Array:
    """Return texts as an Arrow array, with escapes for halves of surrogate pairs."""
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array([_readable(text) for text in texts], pa.string())


def _readable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _column_names(labels: Labels) -> list[str]:
    """Return a name for the column of each block, which no other column has."""
    names: list[str] = []
    for block in labels.blocks:
        name = _readable(block.name)
        while name in (*_RESERVED, *names):
            name += "_"
        names.append(name)
    return names


def _to_lists(matrix: csr_array, values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(matrix.indptr, pa.int32()), values)


def _from_lists(table: pa.Table, name: str) -> tuple[IntArray, pa.Array]:
    """Return where the lists of a column start, and the values of all lists."""
    return _list_parts(_column(table, name))


def _list_parts(lists: pa.Array) -> tuple[IntArray, pa.Array]:
    require(pa.types.is_list(lists.type) and not lists.null_count, "a column is not of lists")
    starts = lists.offsets.to_numpy()
    return starts - starts[0], lists.flatten()


def _column(table: pa.Table, name: str) -> pa.Array:
    require(table.column_names.count(name) == 1, f"it has no column {name!r}")
    return table.column(name).combine_chunks()


def _plain(values: pa.Array, kinds: str) -> AnyArray:
    """Return numbers as a NumPy array."""
    require(not values.null_count, "a number is missing")
    array: AnyArray = values.to_numpy(zero_copy_only=False)
    require(array.dtype.kind in kinds, f"numbers are of type {values.type}")
    return array


def _places(values: pa.Array, names: tuple[str, ...]) -> tuple[IntArray, IntArray]:
    """Return the place of each distinct text among names, -1 if unknown, and codes of values."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    known = _positions(names)
    place = [known.get(text, -1) for text in values.dictionary.to_pylist()]
    return np.array(place, np.int32), _plain(values.indices, "iu").astype(np.int32)


@lru_cache(maxsize=16)
def _positions(names: tuple[str, ...]) -> dict[str, int]:
    return {_readable(name): number for number, name in enumerate(names)}


def _from_texts(values: pa.Array) -> tuple[str, ...]:
    require(pa.types.is_string(values.type) and not values.null_count, "a name is not a text")
    return tuple(values.to_pylist())


def _to_column(block: LabelBlock) -> pa.Array:
    """Return a block of labels as a column."""
    values = block.values
    if block.kind == "number" and len(block.columns) == 1:
        return _with_gaps(values, pa.array(values.data))
    used, codes = np.unique(values.indices, return_inverse=True)
    names = to_texts([block.columns[number] for number in used.tolist()])
    texts = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names)
    if block.kind == "category":
        return _with_gaps(values, texts)
    if block.kind == "number":
        texts = pa.StructArray.from_arrays([texts, pa.array(values.data)], ["name", "value"])
    return _to_lists(values, texts)


def _with_gaps(matrix: csr_array, values: pa.Array) -> pa.Array:
    """Return the only entry of each row, null for a row without one."""
    stored = np.diff(matrix.indptr) > 0
    return values.take(pa.array(np.cumsum(stored) - 1, mask=~stored))


def _from_column(values: pa.Array, block: LabelBlock) -> csr_array:
    """Return the values of a block of labels, of which a column has the documents' labels."""
    shape = len(values), len(block.columns)
    if block.kind == "category" or (block.kind == "number" and shape[1] == 1):
        starts = np.concatenate([[0], np.cumsum(values.is_valid().to_numpy(zero_copy_only=False))])
        values = values.drop_null()
    else:
        starts, values = _list_parts(values)
    data = np.ones(len(values))
    if block.kind == "number":
        if shape[1] == 1:
            return csr_array((_plain(values, "f"), np.zeros(len(values), np.int32), starts), shape)
        data, values = _plain(values.field("value"), "f"), values.field("name")
    place, codes = _places(values, block.columns)
    columns = place[codes]
    require((columns >= 0).all(), f"it has unknown labels of {block.name!r}")
    return csr_array((data, columns, starts), shape=shape)


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
