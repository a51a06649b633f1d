"""Coherence: do a topic's leading words occur in the same documents?"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hdsp.numerics.types import FloatArray, IntArray


def topic_top_words(components: FloatArray, n: int = 10) -> IntArray:
    """Return the indices of each topic's heaviest words, heaviest first.

    Parameters
    ----------
    components : FloatArray [T, V]
        A non-negative weight for every topic and word. Rows need not be normalised.
    n : int
        Words a topic. A vocabulary smaller than `n` gives all its words.

    Returns
    -------
    IntArray [T, min(n, V)]
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
        # Everything at least as heavy as the n-th is sorted; the rest need not be.
        least = np.partition(weights, n_words - n, axis=1)[:, n_words - n]
        rows: list[IntArray] = []
        for row, bound in zip(weights, least, strict=True):
            heavy = np.flatnonzero(row >= bound)
            rows.append(heavy[np.argsort(-row[heavy], kind="stable")][:n])
        return np.array(rows)
    order: IntArray = np.argsort(-weights, axis=1, kind="stable")[:, :n]
    return order


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
    top_words : IntArray [T, n]
        Word indices of each topic, distinct within a row, n >= 2: see `topic_top_words`.
    counts : sparse or dense matrix [M, V]
        Word counts of the reference documents. Only the columns of top words are touched.
    eps : float
        Added to every P(i, j). The default keeps the conventions exact; 1e-12, common elsewhere,
        puts pairs that never co-occur somewhere above -1.

    Returns
    -------
    FloatArray [T]
        One mean over n (n - 1) / 2 pairs a topic. A plain twin is `tests/reference/coherence.py`.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[1, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 4]])
    >>> npmi(np.array([[0, 1], [0, 2]]), counts)
    array([ 1., -1.])
    """
    presence = sp.csc_array(counts)
    top_words = np.asarray(top_words)
    _check_top_words(top_words, n_words=presence.shape[1])
    n_documents = presence.shape[0]
    if n_documents == 0:
        raise ValueError(
            "`counts` of npmi must hold at least one document. Got 0 rows. "
            "Pass the counts of the corpus that the topics are judged on."
        )
    if not (np.isfinite(eps) and eps >= 0):
        raise ValueError(
            f"`eps` of npmi must be finite and not negative. Got {eps}. Leave it at 0."
        )

    used, position = np.unique(top_words, return_inverse=True)
    presence = presence[:, used]
    presence.data = (presence.data > 0).astype(np.float64)
    position = position.reshape(top_words.shape)
    first, second = np.triu_indices(top_words.shape[1], k=1)

    # Topic by topic: all pairs of all topics' words at once would be (T n)² numbers, most unused.
    coherence = np.empty(len(top_words))
    for topic, columns in enumerate(position):
        words = presence[:, columns]
        together = (words.T @ words).toarray()
        coherence[topic] = _pair_npmi(
            together[first, second],
            together[first, first],
            together[second, second],
            n_documents=n_documents,
            eps=eps,
        ).mean()
    return coherence


def _pair_npmi(
    both: FloatArray, left: FloatArray, right: FloatArray, *, n_documents: int, eps: float
) -> FloatArray:
    """Return NPMI from document frequencies: of both words of a pair, and of either."""
    joint = both / n_documents + eps
    independent = (left / n_documents) * (right / n_documents)
    value = np.zeros_like(joint)
    value[(joint == 0) | (independent == 0)] = -1.0
    regular = (joint > 0) & (joint < 1) & (independent > 0)
    value[regular] = np.log(joint[regular] / independent[regular]) / -np.log(joint[regular])
    return value


def _check_top_words(top_words: IntArray, n_words: int) -> None:
    """Raise unless `top_words` is [T, n >= 2], in range and without repeats."""
    if top_words.ndim != 2 or top_words.shape[1] < 2:
        raise ValueError(
            "`top_words` of npmi must have at least two words a topic, [T, n]. "
            f"Got shape {top_words.shape}. Make it with topic_top_words(components, n=10)."
        )
    if not np.issubdtype(top_words.dtype, np.integer):
        raise TypeError(
            f"`top_words` of npmi must hold word indices. Got {top_words.dtype} values. "
            "Make it with topic_top_words(components, n=10)."
        )
    outside = (top_words < 0) | (top_words >= n_words)
    if outside.any():
        topic = int(np.argwhere(outside)[0, 0])
        raise ValueError(
            f"`top_words` of npmi must lie in 0 ... {n_words - 1}, the columns of `counts`. "
            f"Got {top_words[outside][0]} in topic {topic}. "
            "Use counts over the topics' own vocabulary."
        )
    repeated = (np.diff(np.sort(top_words, axis=1), axis=1) == 0).any(axis=1)
    if repeated.any():
        raise ValueError(
            "`top_words` of npmi must be distinct within a topic. "
            f"Got a repeated word in topic {int(np.argmax(repeated))}. Name each word once."
        )
