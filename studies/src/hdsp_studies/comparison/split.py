"""Training and test documents, the same for every model that is measured."""

import hashlib

import numpy as np

from hdsp import Corpus, TextSettings
from hdsp.corpus import counting
from hdsp_studies.peers import labels_in_use
from hdsp_studies.types import IntArray


def split_corpus(
    corpus: Corpus,
    test_size: float,
    seed: int,
    text_settings: TextSettings | None = None,
    least_documents: int = 1,
) -> tuple[Corpus, Corpus]:
    """Split documents as `Corpus.split` does, with words and labels chosen by training documents.

    A word that training did not see has no probability in some models and a prior's in others, so
    models could not be compared on it. Test labels stay as they are: every model ignores unknown
    ones in its own way.

    Parameters
    ----------
    corpus : Corpus
        All documents; counted with all their words (`TextSettings.all_words`) if `text_settings`
        is to choose among them.
    test_size : float
        Share of test documents.
    seed : int
        Seed of the split.
    text_settings : TextSettings or None, default=None
        Chooses words by their frequency in the training documents; None keeps all that occur
        there.
    least_documents : int, default=1
        Least number of training documents that must carry a label.

    Returns
    -------
    train : Corpus
        The training documents.
    test : Corpus
        The test documents, over the same words.
    """
    train, test = corpus.split(test_size, seed)
    chosen = choose_words(train, text_settings)
    if not len(chosen):
        raise ValueError(
            f"No word is left of the {len(train)} training documents: choose words less strictly."
        )
    words = [corpus.words[i] for i in chosen]
    labels = labels_in_use(train.labels, least_documents)
    return (
        Corpus(train.counts[:, chosen], words, labels),
        Corpus(test.counts[:, chosen], words, test.labels),
    )


def choose_words(corpus: Corpus, text_settings: TextSettings | None) -> IntArray:
    """Positions of the words that occur in a corpus and that settings keep, if there are any."""
    sums = counting.word_sums(corpus.counts)
    occurring = np.flatnonzero(sums[0])
    if text_settings is None:
        return occurring
    kept = counting.choose_words(text_settings, corpus.words, sums, corpus.n_documents)
    return np.intersect1d(occurring, kept)


def hash_corpus(corpus: Corpus) -> str:
    """The SHA-256 of counts, words and labels."""
    blocks = corpus.labels.blocks
    described = [(block.name, block.kind, block.columns) for block in blocks]
    digest = hashlib.sha256(repr((corpus.counts.shape, corpus.words, described)).encode())
    for matrix in (corpus.counts, *(block.values for block in blocks)):
        for array, dtype in ((matrix.indptr, "<i8"), (matrix.indices, "<i8"), (matrix.data, "<f8")):
            digest.update(np.ascontiguousarray(array, dtype=dtype).data)
    return digest.hexdigest()
