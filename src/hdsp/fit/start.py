"""The initial state of a fit.

By default topics begin as non-negative factors of the tf-idf matrix: spherical k-means from
k-means++ seeds gives the first factors, and hierarchical alternating least squares improves them,
on the sparse matrix, in float32.
"""

from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.fit.pairs import STEPS, pair_topics
from hdsp.fit.seeding import place_seeds
from hdsp.fit.words import RESTARTS, WordSpace, word_space
from hdsp.kernels import run_ranges
from hdsp.model import GlobalState, Problem
from hdsp.model.seeds import NOT_SEEDED, add_seeds
from hdsp.model.state import padded
from hdsp.model.versions import Versions, word_spread
from hdsp.numerics import FloatArray, IntArray, sticks_from_weights

STARTS = ("auto", "nmf", "words", "pairs", "lda", "random")
# The paper starts from three passes of LDA.
_LDA_PASSES = 3
# Larger corpora are factorised from a sample of this many documents.
_MOST_DOCUMENTS = 20_000
# Sweeps of alternating least squares; where there are more than so many documents, most of them
# are over a part of these, and the last ones over all.
_SWEEPS, _LAST_SWEEPS, _FEW_DOCUMENTS = 12, 4, 5_000
# Each sweep goes on from words that are carried further by this part of what the last one changed
# (Ang and Gillis, 2019): 12 sweeps come as near as 20 without it. More than 1 may not settle.
_EXTRAPOLATION = 0.8
# A rougher start: sweeps of a factorisation of few documents, and steps for pairs of words.
_QUICK_SWEEPS, _QUICK_STEPS = 5, 17
# The share of an initial topic that is spread over all words, so that none is ruled out.
_SMOOTHING = 0.5
# Tokens that each group is taken to have of a word beside those that it has, as all groups do.
_COMMON_TOKENS = 5.0


class WordSpaces:
    """The words' vectors of the problem that was asked for last, which trials share.

    Parameters
    ----------
    seed : int
        The same for the same problem, whichever trial asks first.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._last: tuple[Problem, WordSpace] | None = None
        self._lock = Lock()

    def of(self, problem: Problem) -> WordSpace:
        """The vectors of a problem's words."""
        with self._lock:
            if self._last is None or self._last[0] is not problem:
                # Large enough that two would tell.
                self._last = None
                rng = np.random.default_rng(self._seed)
                sample = _weighted(_sample(problem.counts, rng), common_words(problem))
                self._last = problem, word_space(sample, rng)
            return self._last[1]


def _sample(counts: csr_array, rng: np.random.Generator, most: int = _MOST_DOCUMENTS) -> csr_array:
    """The documents that a start is made from: a random `most` of them."""
    if counts.shape[0] <= most:
        return counts
    return counts[np.sort(rng.permutation(counts.shape[0])[:most])]


def initial_state(
    problem: Problem,
    n_topics: int,
    init: Any,
    corpus_concentration: float,
    document_concentration: float,
    rng: np.random.Generator,
    n_tokens: float | None = None,
    spaces: "WordSpaces | None" = None,
) -> GlobalState:
    """The state before the first pass: topics by `init`, ordered by size, labels without effect.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    n_topics : int
        The number of topics T.
    init : str or float array of shape [T, V]
        One of `STARTS` but ``"auto"``, or non-negative word weights or counts.
    corpus_concentration, document_concentration : float
        The initial values of alpha and beta.
    rng : numpy.random.Generator
        The source of random numbers.
    n_tokens : float or None, default=None
        The tokens that the topics hold together; None is those of the problem.
    spaces : WordSpaces or None, default=None
        The words' vectors that the trials of a search share; a rougher start will do for them.
    """
    word_share, size = _start(problem, n_topics, init, rng, spaces)
    seeds, seeded = problem.priors.seeds, NOT_SEEDED
    if seeds is not None:
        word_share, seeded = place_seeds(problem.counts, seeds, word_share)
    order = np.argsort(-size, kind="stable")
    word_share, size = word_share[:, order], size[order]
    seeded = np.argsort(order)[seeded]
    held = problem.n_tokens if n_tokens is None else n_tokens
    topics = held * size * word_share + problem.priors.topic_prior
    return GlobalState(
        topics=add_seeds(topics, seeds, seeded).astype(problem.dtype),
        sticks=sticks_from_weights(size),
        corpus_concentration=corpus_concentration,
        document_concentration=document_concentration,
        scaling=problem.scaling.initial(n_topics, problem.design.shape[1]),
        seeded=seeded,
        versions=_versions(problem, n_topics),
    )


def _versions(problem: Problem, n_topics: int) -> Versions | None:
    """Versions that are the shared words, where groups have versions."""
    if not len(problem.content):
        return None
    return Versions.none(word_spread(problem.counts), n_topics, problem.content, problem.dtype)


def _start(
    problem: Problem, n_topics: int, init: Any, rng: np.random.Generator, spaces: WordSpaces | None
) -> tuple[FloatArray, FloatArray]:
    """Word shares [V, T] (columns sum to 1) and topic sizes [T] (sum to 1)."""
    counts, quick = problem.counts, spaces is not None
    if isinstance(init, str):
        prior, weight = problem.priors.topic_prior, common_words(problem)
        if init in ("words", "pairs"):
            space = (spaces or WordSpaces(int(rng.integers(2**62)))).of(problem)
            if init == "words":
                found = space.clusters(n_topics, rng, 1 if quick else RESTARTS)
            else:
                n_steps = _QUICK_STEPS if quick else STEPS
                found = pair_topics(space, n_topics, prior, rng, n_steps)
            return _shares((found if weight is None else found / weight[:, None]) + prior)
        if init == "nmf":
            sample = _sample(counts, rng, _FEW_DOCUMENTS if quick else _MOST_DOCUMENTS)
            n_sweeps = _QUICK_SWEEPS if quick else _SWEEPS
            words, loadings = nmf_topics(sample, n_topics, rng, n_sweeps, weight)
            return _from_factors(sample, words, loadings)
        if init == "lda":
            return _shares(lda_topics(counts, n_topics, prior, rng))
        if init == "random":
            return _shares(rng.gamma(100.0, 0.01, size=(problem.n_words, n_topics)))
    elif np.shape(init) == (n_topics, problem.n_words):
        weights = np.asarray(init, dtype=np.float64)
        if np.isfinite(weights).all() and (weights >= 0).all() and (weights.sum(axis=1) > 0).all():
            # Shares alone matter, and sums of very large weights would be infinite.
            return _shares(weights.T / weights.max())
        raise ValueError(
            "`init` of HDSP, as an array, must be finite and non-negative with a positive entry in "
            "every row."
        )
    shape = "" if isinstance(init, str) else f" of shape {np.shape(init)}"
    raise ValueError(
        f"`init` of HDSP must be one of {', '.join(map(repr, STARTS))} or an array of shape "
        f"({n_topics}, {problem.n_words}), topics by words. Got "
        f"{repr(init) if isinstance(init, str) else type(init).__name__}{shape}."
    )


def common_words(problem: Problem) -> FloatArray | None:
    """How alike groups use each word, [V]: 1 where all do, near 0 for words of one group.

    A start from words that only some groups use would have topics of single groups, which versions
    of the same topics explain better. None where groups have no versions.
    """
    if not len(problem.content):
        return None
    # Documents that have a word: its tokens are no independent evidence.
    held = np.bincount(problem.entries.indices, minlength=problem.entries.shape[1])
    found = held.reshape(problem.n_words, -1)[:, 1:].T.astype(np.float64)
    share = found.sum(axis=1, keepdims=True) / max(found.sum(), 1e-300)
    expected = np.maximum(share * found.sum(axis=0), 1e-300)
    evidence = (found * np.log(np.maximum(found, 1e-300) / expected)).sum(axis=0)
    evidence -= 0.5 * (len(found) - 1) * np.log1p(found.sum(axis=0))
    apart = np.abs(np.log((found + _COMMON_TOKENS) / (expected + _COMMON_TOKENS)))
    # One word by chance among all would already change the start.
    differs = evidence > np.log(problem.n_words)
    return np.where(differs, np.exp(-(share * apart).sum(axis=0)), 1.0)


def _weighted(counts: csr_array, weight: FloatArray | None) -> csr_array:
    return counts if weight is None else csr_array(counts.multiply(weight[None, :]))


def _shares(words: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = words.sum(axis=0)
    return words / total, total / total.sum()


def _from_factors(
    counts: csr_array, words: FloatArray, loadings: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Word shares [V, T] and topic sizes [T] from non-negative factors."""
    words = words.astype(np.float64)
    total = words.sum(axis=0)
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    frequency /= frequency.sum()
    share = np.where(total > 0, words / np.maximum(total, 1e-300), frequency[:, None])
    share = (1.0 - _SMOOTHING) * share + _SMOOTHING * frequency[:, None]
    held = loadings * total
    held_total = held.sum(axis=1, keepdims=True)
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    size = np.where(held_total > 0, held / np.maximum(held_total, 1e-300), 1.0 / len(total))
    size = lengths @ size
    # A topic without documents still needs a positive weight to grow from.
    size = np.maximum(size / size.sum(), 0.01 / len(size))
    return share, size / size.sum()


def lda_topics(
    counts: csr_array, n_topics: int, topic_prior: float, rng: np.random.Generator
) -> FloatArray:
    """Word counts [V, T] after the paper's three passes of (online) LDA."""
    from sklearn.decomposition import LatentDirichletAllocation

    lda = LatentDirichletAllocation(
        n_topics,
        topic_word_prior=topic_prior,
        learning_method="online",
        max_iter=_LDA_PASSES,
        random_state=int(rng.integers(2**31)),
    )
    return np.asarray(lda.fit(counts).components_.T)


# The first centres of k-means are chosen among at most this many documents.
_SEEDING_DOCUMENTS = 2_000
# Passes of k-means, which is only where the factorisation starts.
_KMEANS_PASSES = 3
_ROW_RANGE, _GRAM_RANGE = 256, 1_024
# Columns below this share of the largest column's sum of squares count as empty.
_EMPTY = 1e-12


def nmf_topics(
    counts: csr_array,
    n_topics: int,
    rng: np.random.Generator,
    n_sweeps: int = _SWEEPS,
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Topics and documents' loadings from non-negative matrix factorisation.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        Word counts of the documents.
    n_topics : int
        The number of topics T.
    rng : numpy.random.Generator
        Chooses the seeds of k-means.
    n_sweeps : int, default=12
        Sweeps of alternating least squares.
    weight : float array of shape [V] or None, default=None
        Weights of the words; None weighs all alike.

    Returns
    -------
    topics : float array of shape [V, T]
        Word weights of the topics, non-negative.
    loadings : float array of shape [M, T]
        Topic weights of the documents, non-negative.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    rows = csr_array(counts, dtype=np.float32, copy=True)
    # 1 + ln c for counts above 1; smaller counts as they are, so that no weight is negative.
    rows.data = np.minimum(rows.data, 1.0) + np.log(np.maximum(rows.data, 1.0))
    rows = csr_array(TfidfTransformer(norm=None).fit_transform(rows), dtype=np.float32)
    rows = csr_array(_weighted(rows, weight), dtype=np.float32)
    norms = np.maximum(np.sqrt(np.asarray(rows.power(2).sum(axis=1))), 1e-30)[:, None]
    unit = csr_array(rows.multiply(1.0 / norms))
    # Long documents have more weight than short ones, but not in proportion to their length.
    rows = csr_array(rows.multiply(1.0 / np.sqrt(norms)))
    # Columns of zeros up to whole vector registers; they stay zero.
    words = np.zeros((rows.shape[1], padded(n_topics)), dtype=np.float32)
    words[:, :n_topics] = _kmeans(unit, n_topics, rng).T
    if rows.shape[0] > _FEW_DOCUMENTS:
        _factorise(_sample(rows, rng, _FEW_DOCUMENTS), words, n_sweeps - _LAST_SWEEPS)
        n_sweeps = _LAST_SWEEPS
    loadings = _factorise(rows, words, n_sweeps)
    return words[:, :n_topics], loadings[:, :n_topics]


def _factorise(rows: csr_array, words: FloatArray, n_sweeps: int) -> FloatArray:
    """The loadings of documents [M, K], after sweeps that change `words` [V, K], too."""
    columns = csr_array(rows.T)
    target = kernels.sparse_product(rows, words)
    loadings, ahead, moved = target.copy(), words.copy(), np.empty_like(words)
    for sweep in range(n_sweeps):
        if sweep:
            target = kernels.sparse_product(rows, ahead)
        _descend(ahead, target, loadings, 1 if sweep else 3)
        moved[:] = ahead
        _descend(loadings, kernels.sparse_product(columns, loadings), moved, 1)
        np.subtract(moved, words, out=ahead)
        ahead *= _EXTRAPOLATION if sweep else 0.0
        ahead += moved
        np.maximum(ahead, 0.0, out=ahead)
        words[:] = moved
    # Only the product of the factors is determined.
    norms = np.linalg.norm(words, axis=0)
    norms[norms == 0.0] = 1.0
    words /= norms
    loadings *= norms
    return loadings


def _descend(fixed: FloatArray, target: FloatArray, rows: FloatArray, n_sweeps: int) -> None:
    """Improve `rows` in place towards ``|X - rows fixed^T|`` minimal.

    Nearly empty columns of `fixed` are left out, since they would lead to huge entries.
    """

    def own_gram(first: int, last: int) -> FloatArray:
        return np.asarray(fixed[first:last].T @ fixed[first:last])

    gram = np.asarray(sum(run_ranges(own_gram, len(fixed), _GRAM_RANGE)))
    size = np.diagonal(gram)
    np.fill_diagonal(gram, np.where(size > _EMPTY * size.max(), size, 0.0))

    def descend(first: int, last: int) -> None:
        own = rows[first:last]
        kernels.descend_rows(gram, own @ gram - target[first:last], n_sweeps, own)

    run_ranges(descend, len(rows), _ROW_RANGE)


def _kmeans(rows: csr_array, n_topics: int, rng: np.random.Generator) -> FloatArray:
    """Unit centres [T, V] of spherical k-means."""
    centres = _seeds(rows, n_topics, rng)
    for _ in range(_KMEANS_PASSES):
        nearest = kernels.sparse_product(rows, np.ascontiguousarray(centres.T)).argmax(axis=1)
        member = csr_array(
            (np.ones(len(nearest), np.float32), (nearest, np.arange(len(nearest)))),
            shape=(n_topics, len(nearest)),
        )
        sums = (member @ rows).toarray()
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-30), centres)
    return centres


def _seeds(rows: csr_array, n_topics: int, rng: np.random.Generator) -> FloatArray:
    """k-means++ seeds [T, V] among a sample of the documents, by cosine distance."""
    chosen = rng.permutation(rows.shape[0])[:_SEEDING_DOCUMENTS]
    sample = rows[np.sort(chosen)]
    distance = np.ones(sample.shape[0])
    seeds: list[int] = []
    for _ in range(n_topics):
        total = distance.sum()
        share = distance / total if total > 1e-6 else np.full(len(distance), 1 / len(distance))
        seed = int(rng.choice(len(distance), p=share))
        seeds.append(seed)
        similarity = sample @ sample[[seed]].toarray()[0]
        distance = np.minimum(distance, np.maximum(1.0 - similarity, 0.0))
    index: IntArray = np.array(seeds)
    return np.asarray(sample[index].toarray(), dtype=np.float32)
