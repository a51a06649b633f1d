"""Corpora on disk: a manifest and shards, each a file of arrays; read as far as they are needed."""

from hdsp.corpus.stored.collections import prepare_dask
from hdsp.corpus.stored.corpus import StoredCorpus, open_corpus
from hdsp.corpus.stored.preparing import prepare_corpus
from hdsp.corpus.stored.shards import SelectedShard, Shard
from hdsp.corpus.stored.writing import write_corpus

__all__ = [
    "SelectedShard",
    "Shard",
    "StoredCorpus",
    "open_corpus",
    "prepare_corpus",
    "prepare_dask",
    "write_corpus",
]
