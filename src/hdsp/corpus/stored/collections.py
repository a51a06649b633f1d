"""Dask dataframes and arrays as corpora on disk."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus.columns import as_labels
from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.readers.common import FilePath
from hdsp.corpus.stored.corpus import StoredCorpus, open_corpus
from hdsp.corpus.stored.preparing import prepare_corpus
from hdsp.corpus.stored.writing import replacing_folder, write_shards


def prepare_dask(
    collection: Any, folder: FilePath, *, labels: object = None, words: Any = None, **options: Any
) -> StoredCorpus:
    """Write a Dask dataframe of texts, or a Dask array of counts, to a corpus on disk.

    The partitions of a dataframe are written by the workers of the cluster, beside `folder`, which
    must be on a file system that they share; the words are then counted here. The blocks of an
    array are brought here one after another.

    Parameters
    ----------
    collection : dask.dataframe.DataFrame, or dask.array.Array of shape [M, V]
        The documents: a table with texts and labels, or counts.
    folder : path
        The folder of the corpus, as for `prepare_corpus`.
    labels : Labels, table, matrix, list or None, default=None
        The labels of an array's documents, in memory; a dataframe has its own.
    words : sequence of str, or path, default=None
        The words of an array's columns; for a dataframe as for `prepare_corpus`.
    **options : object
        For a dataframe those of `prepare_corpus`: `text`, `tags`, `categories` and so on.

    Returns
    -------
    StoredCorpus
        The corpus, opened.
    """
    if hasattr(collection, "to_parquet") and hasattr(collection, "npartitions"):
        if labels is not None:
            raise ValueError(
                "`labels` of prepare_dask must be None for a dataframe: name its columns of labels "
                "as `tags`, `categories` and `numeric`."
            )
        beside = Path(folder).absolute().parent
        with tempfile.TemporaryDirectory(dir=beside, prefix=".parts-") as parts:
            collection.to_parquet(parts, write_index=False, schema=None)
            files: list[Any] = sorted(Path(parts).glob("*.parquet"), key=_part_number)
            return prepare_corpus(files, folder, words=words, **options)
    if not hasattr(collection, "to_delayed") or getattr(collection, "ndim", 0) != 2:
        raise TypeError(
            "prepare_dask takes a Dask dataframe, or a Dask array of counts with two dimensions. "
            f"Got {type(collection).__name__}."
        )
    if options:
        raise TypeError(
            f"prepare_dask takes {sorted(options)[0]!r} for dataframes only. Got an array."
        )
    n_documents, n_words = collection.shape
    if n_documents != n_documents or n_words != n_words:
        raise ValueError(
            "`collection` of prepare_dask must know its shape. Call compute_chunk_sizes() on it "
            "first."
        )
    names = tuple(words) if words is not None else tuple(f"w{i}" for i in range(n_words))
    read = as_labels(labels, n_documents, "prepare_dask")
    with replacing_folder(Path(folder)) as aside:
        write_shards(aside, _parts(collection, names, read), n_documents)
    return open_corpus(folder)


def _part_number(path: Path) -> tuple[int, str]:
    """The order of the files that Dask writes: part.2 comes before part.10."""
    digits = [piece for piece in path.name.split(".") if piece.isdigit()]
    return (int(digits[0]) if digits else 0, path.name)


def _parts(array: Any, words: tuple[str, ...], labels: Labels) -> Iterator[Corpus]:
    """Yield the documents of a Dask array of counts, one block at a time."""
    # Whole rows: a document may be cut by the array's chunks.
    rows = array.rechunk({1: -1})
    first = 0
    for number in range(rows.numblocks[0]):
        counts = csr_array(np.asarray(rows.blocks[number].compute()))
        last = first + counts.shape[0]
        yield Corpus(counts, words=words, labels=labels[first:last])
        first = last
