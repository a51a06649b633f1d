"""Controls for findings on a real corpus: labels that mean nothing, and two halves."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Corpus, LabelBlock, Labels


def add_placebo_tags(
    corpus: Corpus, sizes: Sequence[int], random_state: int | np.random.Generator | None = None
) -> Corpus:
    """Add tags that mean nothing: each on documents drawn at random.

    Whatever a model says of them is false, whatever the corpus is like.

    Parameters
    ----------
    corpus : Corpus
        Any corpus.
    sizes : sequence of int
        Number of documents that carry each of the tags "placebo_0" and so on.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the draws.

    Returns
    -------
    Corpus
        With one more block of tags, "placebo".

    Examples
    --------
    >>> corpus = Corpus(np.ones((50, 2)))
    >>> add_placebo_tags(corpus, [5, 20], random_state=0).labels
    Labels(50 documents: tags 'placebo' 2)
    """
    if not all(0 < size <= len(corpus) for size in sizes):
        raise ValueError(
            f"`sizes` of add_placebo_tags must lie between 1 and the {len(corpus)} documents. "
            f"Got {list(sizes)}."
        )
    rng = np.random.default_rng(random_state)
    names = tuple(f"placebo_{i}" for i in range(len(sizes)))
    carried = np.zeros((len(corpus), len(sizes)))
    for j, size in enumerate(sizes):
        carried[rng.choice(len(corpus), size, replace=False), j] = 1.0
    blocks = (*corpus.labels.blocks, LabelBlock("placebo", "tags", names, csr_array(carried)))
    return corpus.replaced(labels=Labels(blocks, len(corpus)))


def split_halves(
    corpus: Corpus, random_state: int | np.random.Generator | None = None
) -> tuple[Corpus, Corpus]:
    """Split documents into two random halves, each in their present order.

    What is true of a corpus should be found in both.

    Parameters
    ----------
    corpus : Corpus
        Any corpus.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the draws.

    Returns
    -------
    first : Corpus
        One half, with one document more if their number is odd.
    second : Corpus
        The other half.

    Examples
    --------
    >>> corpus = Corpus(np.ones((51, 2)))
    >>> [len(half) for half in split_halves(corpus, random_state=0)]
    [26, 25]
    """
    order = np.random.default_rng(random_state).permutation(len(corpus))
    middle = -(-len(corpus) // 2)
    return corpus[np.sort(order[:middle])], corpus[np.sort(order[middle:])]
