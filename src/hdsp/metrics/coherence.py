"""Coherence: do a topic's leading words occur in the same documents?"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hdsp.checks import check_tolerance, check_top_words
from hdsp.numerics import FloatArray, IntArray

# Pairs of words and documents at a time.
_CELLS = 2**24


def topic_top_words(components: FloatArray, n: int = 10) -> IntArray:
    """Return the indices of each topic's heaviest words, heaviest first.

    Parameters
    ----------
    components : float array of shape [T, V]
        A non-negative weight for every topic and word. Rows need not be normalised.
    n : int, default=10
        Words per topic. A vocabulary smaller than `n` gives all its words.

    Returns
    -------
    int array of shape [T, min(n, V)]
        Word indices. Equal weights keep the order of the vocabulary, so the answer is reproducible.

    Examples
    --------
    >>> import numpy as np
    >>> topic_top_words(np.array([[0.1, 0.7, 0.2], [0.5, 0.0, 0.5]]), n=2)
    array([[1, 2],
           [0, 2]])
    """
    weights = np.asarray(components, dtype=np.float64)
    if weights.ndim != 2:
        raise ValueError(
            f"`components` of topic_top_words must be a matrix [T, V]. Got {weights.ndim} "
            "dimension(s). Pass `model.components_`, or one topic as `components[None, :]`."
        )
    if n < 1:
        raise ValueError(
            f"`n` of topic_top_words must be at least 1. Got {n}. Ask for one word or more."
        )
    n_words = weights.shape[1]
    if n < n_words // 4:
        # Everything at least as heavy as the n-th is sorted; the rest need not be. From the side of
        # few: among the many that topics lack and that weigh the same, it takes far longer.
        least = -np.partition(-weights, n - 1, axis=1)[:, n - 1]
        rows: list[IntArray] = []
        for row, threshold in zip(weights, least, strict=True):
            heavy = np.flatnonzero(row >= threshold)
            rows.append(heavy[np.argsort(-row[heavy], kind="stable")][:n])
        return np.array(rows)
    return np.asarray(np.argsort(-weights, axis=1, kind="stable")[:, :n])


def npmi(top_words: IntArray, counts: Any, eps: float = 0.0) -> FloatArray:
    """Return the mean normalised pointwise mutual information of each topic's word pairs.

    With P(i) the share of documents that hold word i and P(i, j) the share that hold both,

        NPMI(i, j) = ln( P(i, j) / (P(i) P(j)) ) / -ln P(i, j),

    from -1 (never together) through 0 (independent) to 1 (only together). How often a word
    occurs within a document does not matter. Two conventions close the formula:

    - a pair that never co-occurs counts -1, the limit, also if one of its words never occurs;
    - a pair that co-occurs in every document counts 0: words found everywhere say nothing. A word
      that occurs in every document has NPMI 0 with any other that occurs.

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic, distinct within a row, n >= 2: see `topic_top_words`.
    counts : sparse or dense array of shape [M, V]
        Word counts of the reference documents. Only the columns of top words are touched.
    eps : float, default=0.0
        Added to every P(i, j). The default keeps the conventions exact; 1e-12, common elsewhere,
        puts pairs that never co-occur somewhere above -1.

    Returns
    -------
    float array of shape [T]
        One mean per topic, over n (n - 1) / 2 pairs. A plain twin is `tests/reference/measures.py`.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[1, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 4]])
    >>> npmi(np.array([[0, 1], [0, 2]]), counts)
    array([ 1., -1.])
    """
    together, n_documents = _co_documents(top_words, counts, owner="npmi")
    check_tolerance(eps, "eps", "npmi")
    alone = np.diagonal(together, axis1=1, axis2=2)
    first, second = np.triu_indices(together.shape[1], k=1)
    pairs = pair_npmi(
        together[:, first, second],
        alone[:, first],
        alone[:, second],
        n_documents=n_documents,
        eps=eps,
    )
    return np.asarray(pairs.mean(axis=1))


def umass(top_words: IntArray, counts: Any, smoothing: float = 1.0) -> FloatArray:
    """Return the UMass coherence of each topic, in its original form.

    With D(i) the number of documents that hold word i and D(i, j) the number that hold both,

        UMass = Σ_{m = 2 ... n} Σ_{l < m} ln( (D(w_m, w_l) + 1) / D(w_l) ),

    for w_1 ... w_n from the heaviest word down: how surely a document with the heavier word of a
    pair holds the lighter one too [1]_. Nearer zero is better; smoothing may lift it a little above
    zero. It is a sum over n (n - 1) / 2 pairs, so compare topics at equal n only, and it
    depends on the number of documents through the smoothing. Words found in most documents score
    well beside any others: a topic of stop words has a good UMass.

    Libraries differ. topica's `u_mass` is this sum. gensim's is the mean over pairs, with 1e-12
    added to D(w_m, w_l) / M in place of one document:
    ``umass(top_words, counts, smoothing=1e-12 * M) / (n * (n - 1) / 2)``. tomotopy's is a mean,
    too, with 1e-12 added to D(w_m, w_l) / D(w_l). So small a constant lets a single pair that never
    co-occurs outweigh all others.

    Where D(w_l) is 0 the formula has no value. Such a pair counts ln(1 / M), the least there is,
    as `npmi` counts -1, so that words which never occur cannot raise the score (gensim and topica
    count 0).

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic, distinct within a row, n >= 2, heaviest first: see
        `topic_top_words`. Their order matters.
    counts : sparse or dense array of shape [M, V]
        Word counts of the reference documents. Only the columns of top words are touched.
    smoothing : float, default=1.0
        Documents added to every D(w_m, w_l), more than 0.

    Returns
    -------
    float array of shape [T]
        One sum per topic. A plain twin is `tests/reference/measures.py`.

    References
    ----------
    .. [1] Mimno, Wallach, Talley, Leenders and McCallum, Optimizing semantic coherence in topic
       models, EMNLP 2011.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[1, 2, 0], [3, 1, 0], [0, 1, 1], [0, 0, 4]])
    >>> umass(np.array([[0, 1], [1, 2]]), counts).round(3)
    array([ 0.405, -0.405])
    """
    together, n_documents = _co_documents(top_words, counts, owner="umass")
    if not (np.isfinite(smoothing) and smoothing > 0):
        raise ValueError(
            f"`smoothing` of umass must be finite and more than 0. Got {smoothing}. Leave it at 1."
        )
    heavier, lighter = np.triu_indices(together.shape[1], k=1)
    documents = together[:, heavier, heavier]
    # A word in no document counts as one that is in all of them, and never with the other.
    documents[documents == 0] = n_documents
    logarithms = np.log((together[:, heavier, lighter] + smoothing) / documents)
    return np.asarray(logarithms.sum(axis=1))


def _co_documents(top_words: IntArray, counts: Any, owner: str) -> tuple[FloatArray, int]:
    """How many documents hold both words of each pair of a topic, [T, n, n], and of how many."""
    top_words = np.asarray(top_words)
    presence = sp.csr_array(counts)
    check_top_words(top_words, owner, n_words=presence.shape[1])
    n_documents = presence.shape[0]
    if n_documents == 0:
        raise ValueError(
            f"`counts` of {owner} must hold at least one document. Got 0 rows. "
            "Pass the counts of the corpus that the topics are judged on."
        )
    used, position = np.unique(top_words, return_inverse=True)
    presence = presence[:, used]
    together = np.zeros((*top_words.shape, top_words.shape[1]))
    size = min(max(_CELLS // len(used) // 64, 1), -(-n_documents // 64)) * 64
    for first in range(0, n_documents, size):
        part = presence[first : first + size].tocoo()
        # One bit for each document: documents with both words are counted 64 at a time.
        held = np.zeros((len(used), size), dtype=bool)
        held[part.col, part.row] = part.data > 0
        bits = np.packbits(held, axis=1).view(np.uint64)
        for topic, words in enumerate(position.reshape(top_words.shape)):
            own = bits[words]
            both = np.bitwise_count(own[:, None] & own)
            together[topic] += both.sum(axis=2, dtype=np.int64)
    return together, n_documents


def pair_npmi(
    both: FloatArray, left: FloatArray, right: FloatArray, *, n_documents: int, eps: float
) -> FloatArray:
    """Return NPMI from frequencies among documents: of both words of a pair, and of either."""
    joint = both / n_documents + eps
    independent = (left / n_documents) * (right / n_documents)
    value = np.zeros_like(joint)
    value[(joint == 0) | (independent == 0)] = -1.0
    regular = (joint > 0) & (joint < 1) & (independent > 0)
    value[regular] = np.log(joint[regular] / independent[regular]) / -np.log(joint[regular])
    return value
