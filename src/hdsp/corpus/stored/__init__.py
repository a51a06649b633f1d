"""Corpora on disk: a manifest and shards, each a file of arrays; read as far as they are needed."""

from hdsp.corpus.stored.corpus import StoredCorpus

__all__ = ["StoredCorpus"]
