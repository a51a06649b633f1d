"""Training and test documents as every model of a comparison sees them."""

import hashlib

import numpy as np

from hdsp.corpus import Corpus, LabelSchema
from hdsp.peers import carried
from hdsp.persistence import fingerprint


def split_corpus(corpus: Corpus, test_size: float, seed: int) -> tuple[Corpus, Corpus]:
    """Training and test documents, with the words of training documents alone.

    A word that training did not see has no probability in some models and a prior's in others, so
    that no comparison could be made on it. Test labels stay as they are: what becomes of unknown
    ones is a model's own affair.
    """
    train, test = corpus.split(test_size, seed)
    seen = np.unique(train.counts.indices)
    words = [corpus.words[i] for i in seen]
    return (
        Corpus(train.counts[:, seen], words, carried(train.labels)),
        Corpus(test.counts[:, seen], words, test.labels),
    )


def corpus_fingerprint(corpus: Corpus) -> str:
    """The SHA-256 of counts, words and labels."""
    schema = LabelSchema.of(corpus.labels)
    digest = hashlib.sha256(fingerprint(corpus.counts, schema.encode(corpus.labels)).encode())
    for names in (corpus.words, corpus.labels.names):
        digest.update(repr(names).encode())
    return digest.hexdigest()
