"""Measures that others report: C_v, UMass and inverted rank-biased overlap."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hdsp.checks import check_share, check_tolerance, check_top_words
from hdsp.metrics import co_documents, pair_npmi
from hdsp_studies.types import FloatArray, IntArray

# Documents are counted in blocks of about this many tokens, to limit the memory in use.
TOKENS_PER_BLOCK = 1_000_000


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
    together, n_documents = co_documents(top_words, counts, owner="umass")
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


def inverted_rbo(top_words: IntArray, p: float = 0.9) -> float:
    """Return one minus the mean rank-biased overlap of all pairs of topics.

    Where `topic_diversity` asks only whether words are shared, this asks how high up: two topics
    with the same first words are more alike than two with the same last words. With X_d the number
    of words common to the first d of both lists, the overlap of two lists of n words is

        RBO = (1 - p) Σ_{d = 1 ... n} p^{d-1} X_d / d  +  p^n X_n / n,

    the extrapolated form of Webber et al. [1]_ for lists of equal length: the agreement seen at
    depth n is taken to continue, so that equal lists have an RBO of exactly 1. The measure is 1
    where no two topics share a word, and 0 where all lists are equal [2]_.

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic, T >= 2, distinct within a row, heaviest first: see
        `topic_top_words`. Their order matters.
    p : float, default=0.9
        Weight on depth, between 0 and 1: each next rank counts p times as much. The smaller, the
        more the first words decide. At 0.9 the first 10 ranks carry 86 % of the weight.

    Returns
    -------
    float
        A plain twin is `tests/reference/measures.py`.

    References
    ----------
    .. [1] Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM Transactions
       on Information Systems 28(4), 2010.
    .. [2] Bianchi, Terragni and Hovy, Pre-training is a hot topic, ACL 2021.

    Examples
    --------
    >>> import numpy as np
    >>> round(inverted_rbo(np.array([[0, 1, 2], [0, 3, 4]])), 3)
    0.585
    >>> round(inverted_rbo(np.array([[1, 2, 0], [3, 4, 0]])), 3)
    0.73
    """
    top_words = np.asarray(top_words)
    check_top_words(top_words, owner="inverted_rbo", at_least=1)
    check_share(p, "p", "inverted_rbo")
    n_topics, n = top_words.shape
    if n_topics < 2:
        raise ValueError(
            f"`top_words` of inverted_rbo must have at least two topics to compare. Got {n_topics}."
            " Leave this measure out for a model with a single topic."
        )
    _, words = np.unique(top_words, return_inverse=True)
    words = words.reshape(top_words.shape)
    # All pairs at once: a word among the first d of f topics is common to f (f - 1) / 2 pairs.
    topics_with = np.zeros(words.max() + 1)
    overlap = 0.0
    for depth in range(1, n + 1):
        topics_with += np.bincount(words[:, depth - 1], minlength=topics_with.size)
        agreement = (topics_with * (topics_with - 1) / 2).sum() / depth
        overlap += (1 - p) * p ** (depth - 1) * agreement
    overlap += p**n * agreement
    return float(1 - overlap / (n_topics * (n_topics - 1) / 2))


def c_v(
    top_words: IntArray,
    documents: Iterable[Sequence[int] | IntArray],
    window: int = 110,
    eps: float = 1e-12,
) -> FloatArray:
    """Return the C_v coherence of each topic, for comparison with published numbers.

    Every run of `window` successive tokens is a window, and P(i), P(i, j) are the shares of
    windows that hold a word or both words. Each of a topic's words has the vector of its NPMI with
    all n of them,

        v_i = ( NPMI(i, 1), ..., NPMI(i, n) ),   NPMI(i, j) = ln( (P(i, j) + ε) / (P(i) P(j)) )
                                                               / -ln( P(i, j) + ε ),

    and C_v is the mean over i of the cosine of v_i and v_1 + ... + v_n [1]_: do the words relate
    to the others in the same way? Higher is meant to be better; most values lie in 0 ... 1.

    Use `npmi` to judge topics, and C_v only beside results that others report. Known problems:

    - The cosine rewards words that *avoid* each other alike. Words that never share a window have
      equal and negative NPMI, so their vectors point the same way: ten such words, each in 0.1 %
      to 10 % of the windows, score 0.61 to 0.76, where ten independent words score 0.32. So junk
      can beat a proper topic. Users of the authors' program saw a negative correlation with other
      measures [2]_.
    - Its first author could not reproduce the paper's C_v values and recommends it neither in his
      program nor in gensim [3]_. That program was found to raise NPMI to the power γ = 2, where the
      paper, gensim and this function have γ = 1 [4]_: its numbers are no yardstick for these.
    - Values depend on `window`, on ε, on the length of documents and on what was removed from the
      text. Compare only what was computed on the same tokens with the same settings.

    Three conventions close the formula: a word that never occurs has NPMI 0 with every word, and
    its cosine counts 0; a word that occurs has NPMI 1 with itself; two words found in every window
    have NPMI 0, as in `npmi`.

    gensim's `c_v` agrees where documents are no longer than the window, or no word recurs within
    one. Elsewhere gensim loses a word when one of its tokens leaves the window though another is
    still in it (4.4.0). topica agrees. tomotopy counts other windows, and relates a
    word to the words of all its `targets` (0.14.0).

    Parameters
    ----------
    top_words : int array of shape [T, n]
        Word indices of each topic, distinct within a row, n >= 2: see `topic_top_words`.
    documents : iterable of sequences of int
        The tokens of each document as word indices, in the order of the text. Any index that is no
        top word only holds a place, so words outside the vocabulary can be -1: leave them in, for
        what is left out makes windows reach further. The iterable is read once.
    window : int, default=110
        Tokens in a window, at least 2. A document that is not longer, or empty, is one window.
    eps : float, default=1e-12
        The constant ε that is added to every P(i, j).

    Returns
    -------
    float array of shape [T]
        One mean per topic, over n words. A plain twin is `tests/reference/measures.py`.

    References
    ----------
    .. [1] Röder, Both and Hinneburg, Exploring the space of topic coherence measures, WSDM 2015.
    .. [2] https://github.com/dice-group/Palmetto/issues/12
    .. [3] https://github.com/dice-group/Palmetto/issues/13 and .../76
    .. [4] https://github.com/dice-group/Palmetto/issues/81

    Examples
    --------
    >>> import numpy as np
    >>> documents = [[0, 1, -1, 2, 3], [1, 0, -1, -1, 2], [3, -1, -1, -1, 2]]
    >>> c_v(np.array([[0, 1], [0, 2]]), documents, window=2).round(3)
    array([0.96 , 0.047])
    """
    top_words = np.asarray(top_words)
    check_top_words(top_words, owner="c_v")
    if window < 2:
        raise ValueError(
            f"`window` of c_v must be at least 2, or no two words meet. Got {window}. "
            "Leave it at 110."
        )
    check_tolerance(eps, "eps", "c_v")
    if len(getattr(documents, "shape", ())) == 2:
        raise TypeError(
            "`documents` of c_v must be sequences of word indices in the order of the text. Got a "
            "matrix, which looks like counts. Pass a list with one sequence per document."
        )

    used, position = np.unique(top_words, return_inverse=True)
    position = position.reshape(top_words.shape)
    n_topics, n = top_words.shape
    together = np.zeros((n_topics, n, n))
    n_windows = 0
    for block in _blocks(documents):
        spans = _spans(block, used, window)
        n_windows += spans.n_windows
        for topic, columns in enumerate(position):
            together[topic] += _co_windows(spans, columns)
    if n_windows == 0:
        raise ValueError(
            "`documents` of c_v must hold at least one document. Got none. "
            "If it is a generator, make a new one for each call."
        )
    return np.array([_one_set_cosine(counts, n_windows, eps) for counts in together])


class _Spans(NamedTuple):
    """The disjoint spans of windows that hold each used word.

    Attributes
    ----------
    n_windows : int
        Windows of all documents, which are numbered consecutively.
    word : int array of shape [S]
        The word of each span, as a position among the used words, ascending.
    start : int array of shape [S]
        The first window of each span, ascending within a word.
    stop : int array of shape [S]
        The window after the last one of each span.
    """

    n_windows: int
    word: IntArray
    start: IntArray
    stop: IntArray


def _blocks(documents: Iterable[Sequence[int] | IntArray]) -> Iterator[list[IntArray]]:
    """Yield checked documents in lists of about `TOKENS_PER_BLOCK` tokens."""
    block: list[IntArray] = []
    size = 0
    for number, document in enumerate(documents):
        tokens = np.asarray(document)
        if tokens.size == 0:
            tokens = np.empty(0, dtype=np.int64)
        if tokens.ndim != 1 or not np.issubdtype(tokens.dtype, np.integer):
            raise TypeError(
                "`documents` of c_v must be sequences of word indices. "
                f"Got {tokens.dtype} values of shape {tokens.shape} in document {number}. "
                "Map each word to its column of the vocabulary, and other words to -1."
            )
        block.append(tokens)
        size += tokens.size + 1
        if size >= TOKENS_PER_BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _spans(block: list[IntArray], used: IntArray, window: int) -> _Spans:
    """Return the spans of windows in which each used word is present."""
    lengths = np.array([tokens.size for tokens in block])
    windows = np.maximum(lengths - window + 1, 1)
    first_window = np.cumsum(windows) - windows
    first_token = np.cumsum(lengths) - lengths

    tokens = np.concatenate(block)
    word = np.searchsorted(used, tokens)
    place = np.flatnonzero(word < used.size)
    place = place[used[word[place]] == tokens[place]]
    # Sorted by word; the sort is stable, so a word's tokens stay in the order of the text.
    place = place[np.argsort(word[place], kind="stable")]
    word = word[place]
    document = np.repeat(np.arange(len(block)), lengths)[place]
    place -= first_token[document]
    start = first_window[document] + np.maximum(place - window + 1, 0)
    stop = first_window[document] + np.minimum(place, windows[document] - 1) + 1

    # A token's span that overlaps or touches the one before belongs to the same span: both ends
    # only grow within a word. Spans may touch across two documents, because only totals count.
    opens = np.ones(word.size, dtype=bool)
    opens[1:] = (word[1:] != word[:-1]) | (start[1:] > stop[:-1])
    return _Spans(int(windows.sum()), word[opens], start[opens], stop[np.roll(opens, -1)])


def _co_windows(spans: _Spans, columns: IntArray) -> FloatArray:
    """Return how many windows hold both words of each pair of one topic, [n, n]."""
    n = columns.size
    first = np.searchsorted(spans.word, columns)
    last = np.searchsorted(spans.word, columns, side="right")
    index = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    column = np.repeat(np.arange(n), last - first)

    # From one edge of a span to the next, the words present are the same.
    edges = np.concatenate([spans.start[index], spans.stop[index]])
    order = np.argsort(edges)
    change = np.zeros((edges.size, n), dtype=np.int8)
    change[np.arange(edges.size), np.tile(column, 2)[order]] = np.where(order < index.size, 1, -1)
    present = np.cumsum(change, axis=0, dtype=np.int8)[:-1].astype(np.float64)
    return np.asarray((present.T * np.diff(edges[order])) @ present)


def _one_set_cosine(together: FloatArray, n_windows: int, eps: float) -> float:
    """Return the mean cosine of each word's NPMI vector with the sum of all, from counts [n, n]."""
    alone = np.diagonal(together)
    vectors = pair_npmi(
        together, alone[:, np.newaxis], alone[np.newaxis, :], n_documents=n_windows, eps=eps
    )
    occurs = alone > 0
    vectors[~(occurs[:, np.newaxis] & occurs)] = 0.0
    np.fill_diagonal(vectors, occurs)
    total = vectors.sum(axis=0)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    cosines = np.divide(vectors @ total, norms, out=np.zeros(len(vectors)), where=norms > 0)
    return float(cosines.mean())
