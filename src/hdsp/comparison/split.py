"""Training and test documents as every model of a comparison sees them."""

import hashlib

import numpy as np

from hdsp.corpus import Corpus, LabelSchema, TextSettings
from hdsp.peers import carried
from hdsp.persistence import fingerprint


def split_corpus(
    corpus: Corpus, test_size: float, seed: int, choosing: TextSettings | None = None
) -> tuple[Corpus, Corpus]:
    """Training and test documents, with the words of training documents alone.

    A word that training did not see has no probability in some models and a prior's in others, so
    that no comparison could be made on it. Test labels stay as they are: what becomes of unknown
    ones is a model's own affair.

    Parameters
    ----------
    choosing : chooses words by the training documents' frequencies, of a corpus that was counted
        with all its words (`TextSettings.all_words`); None where they were chosen before
    """
    train, test = corpus.split(test_size, seed)
    kept = np.bincount(train.counts.indices, minlength=corpus.n_words) > 0
    if choosing is not None:
        kept &= choosing.kept(train.counts)
    if not kept.any():
        raise ValueError(
            f"No word is left of the {len(train)} training documents: choose words less strictly."
        )
    chosen = np.flatnonzero(kept)
    words = [corpus.words[i] for i in chosen]
    return (
        Corpus(train.counts[:, chosen], words, carried(train.labels)),
        Corpus(test.counts[:, chosen], words, test.labels),
    )


def corpus_fingerprint(corpus: Corpus) -> str:
    """The SHA-256 of counts, words and labels."""
    schema = LabelSchema.of(corpus.labels)
    digest = hashlib.sha256(fingerprint(corpus.counts, schema.encode(corpus.labels)).encode())
    for names in (corpus.words, corpus.labels.names):
        digest.update(repr(names).encode())
    return digest.hexdigest()
