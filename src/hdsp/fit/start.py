"""The initial state of a fit.

By default topics begin as non-negative factors of the tf-idf matrix: spherical k-means from
k-means++ seeds gives the first factors, and hierarchical alternating least squares improves them,
on the sparse matrix, in float32.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from scipy.linalg import lu, qr
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.checks import quoted
from hdsp.exceptions import FitWarning
from hdsp.kernels import run_ranges
from hdsp.model import GlobalState, Problem
from hdsp.model.priors import NOT_SEEDED
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


# The first centres of k-means are chosen among at most this many documents.
_SEEDING_DOCUMENTS = 2_000
# Passes of k-means, which is only where the factorisation starts.
_KMEANS_PASSES = 3
_ROW_RANGE, _GRAM_RANGE = 256, 1_024
# Columns below this share of the largest column's sum of squares count as empty.
_EMPTY = 1e-12


# Dimensions of the word vectors, at most, and the steps in which they are found.
_MOST_DIMENSIONS, _POWER_ITERATIONS = 100, 4
_FURTHER_DIMENSIONS = 10
# Pairs of words in documents that are looked at; of long documents fewer words.
_MOST_PAIRS = 20_000_000
# The frequency of the second word of a pair counts with this power: pairs with rare words would
# otherwise seem to go together too much.
_POWER = 0.75
# Clusterings, and the passes of each.
RESTARTS, _PASSES = 3, 20
# Seeds of clusters are chosen among at most this many documents.
_CLUSTER_SEEDING_DOCUMENTS = 4_000
# Documents at a time.
_DOCUMENTS = 1_024


# Topics are first learned for the most frequent words: pairs of all would be too many.
_MOST_WORDS = 1_000
# Clusters for each topic, and the passes that find them: they are only where steps begin.
_TIMES, _CLUSTER_PASSES = 2, 10
# Steps of expectation maximisation, with all clusters and with those that are chosen.
STEPS, _LAST_STEPS = 45, 6
# Each goes so many times as far as the maximum, in logarithms (over-relaxation), which takes little
# more than half of the steps. Longer ones find fewer topics (1.8), and from 2 on do not settle.
_STEP_LENGTH = 1.5
# Words at a time.
_WORDS = 128
# The share of pairs whose words are of one topic, to begin with.
_SAME = 0.5
_SMALLEST = 1e-9


# The share of a seeded topic's first words that its seeds are; the rest keep them company.
_SEED_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class WordSpace:
    """Documents, pairs of words that share them, and a vector of every word.

    Attributes
    ----------
    counts : sparse array of shape [M, V]
        Word counts of the documents.
    pairs : sparse array of shape [V, V]
        How often two tokens of a document are these words.
    vectors : float array of shape [V, n]
        The words' vectors, the most important dimension first, times how rare words are.
    """

    counts: csr_array
    pairs: csr_array
    vectors: FloatArray

    def clusters(
        self,
        n_clusters: int,
        rng: np.random.Generator,
        n_restarts: int = RESTARTS,
        n_passes: int = _PASSES,
    ) -> FloatArray:
        """Tokens of each word in clusters of documents among the vectors of their words, [V, n].

        Parameters
        ----------
        n_clusters : int
            The number of clusters.
        rng : numpy.random.Generator
            Chooses the seeds.
        n_restarts : int, default=3
            Clusterings from other seeds, of which the closest is taken.
        n_passes : int, default=20
            The most passes of each.
        """
        vectors = np.asarray(self.counts @ self.vectors[:, :n_clusters], dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1)
        rows = np.flatnonzero(norms > 0)
        if not len(rows):
            return np.zeros((self.counts.shape[1], n_clusters))
        vectors = vectors[rows] / norms[rows, None]
        clusterings = [_cluster(vectors, n_clusters, rng, n_passes) for _ in range(n_restarts)]
        cluster, _ = max(clusterings, key=lambda found: found[1])
        shape = (n_clusters, self.counts.shape[0])
        member = csr_array((np.ones(len(rows)), (cluster, rows)), shape=shape)
        return np.asarray((member @ self.counts).T.toarray())


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
    prior = problem.priors.of_topics(seeded)
    return GlobalState(
        topics=prior.add_to(held * size * word_share).astype(problem.dtype),
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
    return Versions.initial(word_spread(problem.counts), n_topics, problem.content, problem.dtype)


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


def word_space(counts: csr_array, rng: np.random.Generator) -> WordSpace:
    """The space of the words of some documents [M, V]."""
    # Pairs are the largest arrays of a fit: single precision will do for a start.
    counts = csr_array(counts, dtype=np.float32)
    pairs = cooccurrence(_fewer_words(counts, rng))
    left, size = _leading(ppmi(pairs), min(_MOST_DIMENSIONS, counts.shape[1]), rng)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log((1.0 + counts.shape[0]) / (1.0 + documents)) + 1.0
    return WordSpace(counts, pairs, left * np.sqrt(size) * rarity[:, None])


def _leading(
    matrix: csr_array, n_dimensions: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors [V, n] and singular values [n], by randomised subspace iteration.

    As scikit-learn's `randomized_svd`, but in single precision and on threads.
    """
    rows = csr_array(matrix, dtype=np.float32, copy=False)
    columns = csr_array(rows.T)
    n_tried = min(n_dimensions + _FURTHER_DIMENSIONS, rows.shape[0])
    basis = rng.normal(size=(rows.shape[1], n_tried)).astype(np.float32)
    for _ in range(_POWER_ITERATIONS):
        for factor in (rows, columns):
            # Only the space that it spans matters; a triangular factor takes it away fastest.
            basis = lu(kernels.sparse_product(factor, basis), permute_l=True)[0]
    basis = np.linalg.qr(kernels.sparse_product(rows, basis))[0]
    _, size, within = np.linalg.svd(kernels.sparse_product(columns, basis), full_matrices=False)
    return (basis @ within.T)[:, :n_dimensions], size[:n_dimensions]


def cooccurrence(counts: csr_array) -> csr_array:
    """How often two tokens of a document are these words, added over documents, [V, V].

    ``sum_m (x_m x_m^T - diag x_m) / (N_m (N_m - 1))``: an unbiased estimate of the joint
    probabilities of two tokens of a document, which weighs all documents alike.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    weight = np.where(lengths > 1.0, 1.0 / np.maximum(lengths * (lengths - 1.0), 1e-300), 0.0)
    weighted = csr_array(counts.multiply(weight[:, None].astype(counts.dtype)))
    found = csr_array(weighted.T @ counts)
    found.sort_indices()
    # In place, as below: these are the largest arrays of a fit.
    present = np.flatnonzero(found.diagonal())
    found[present, present] = (found.diagonal() - np.asarray(weighted.sum(axis=0)))[present]
    return found


def ppmi(joint: csr_array) -> csr_array:
    """Positive pointwise mutual information, max(0, ln q_ij / (r_i c_j)), [V, V]."""
    total = np.maximum(np.asarray(joint.sum(axis=1), dtype=np.float64), 0.0)
    context = total**_POWER
    context /= max(float(context.sum()), 1e-300)
    found = csr_array(joint, copy=True)
    for row, (first, last) in enumerate(pairwise(joint.indptr.tolist())):
        expected = np.maximum(total[row] * context[joint.indices[first:last]], 1e-300)
        own = np.log(np.maximum(joint.data[first:last].astype(np.float64), 1e-300) / expected)
        found.data[first:last] = np.maximum(own, 0.0)
    found.eliminate_zeros()
    return found


def _fewer_words(counts: csr_array, rng: np.random.Generator) -> csr_array:
    """The documents, with so many random ones of their words that their pairs are not too many."""
    most = max(int(np.sqrt(_MOST_PAIRS / max(counts.shape[0], 1))), 2)
    sizes = np.diff(counts.indptr)
    if sizes.max(initial=0) <= most:
        return counts
    rows = np.repeat(np.arange(counts.shape[0]), sizes)
    kept = sizes[rows] <= most
    long = np.flatnonzero(~kept)
    order = np.lexsort((rng.random(len(long)), rows[long]))
    first = np.cumsum(sizes * (sizes > most)) - sizes
    rank = np.arange(len(long)) - first[rows[long]]
    kept[long[order[rank < most]]] = True
    indptr = np.concatenate([[0], np.cumsum(np.minimum(sizes, most))])
    return csr_array((counts.data[kept], counts.indices[kept], indptr), shape=counts.shape)


def _cluster(
    vectors: FloatArray, n_clusters: int, rng: np.random.Generator, n_passes: int
) -> tuple[IntArray, float]:
    """The cluster of each unit vector by spherical k-means, and how close vectors are to them."""
    sample = vectors[rng.permutation(len(vectors))[:_CLUSTER_SEEDING_DOCUMENTS]]
    distance = np.ones(len(sample))
    seeds = []
    for _ in range(n_clusters):
        seeds.append(int(rng.choice(len(sample), p=distance / distance.sum())))
        away = 1.0 - sample @ sample[seeds[-1]]
        distance = np.minimum(distance, np.maximum(away, 1e-9))
    centres = sample[seeds]
    cluster, closeness = np.full(len(vectors), -1), np.empty(len(vectors), dtype=np.float32)

    def assign(first: int, last: int) -> None:
        similarity = vectors[first:last] @ centres.T
        cluster[first:last] = similarity.argmax(axis=1)
        closeness[first:last] = similarity.max(axis=1)

    for _ in range(n_passes):
        before = cluster.copy()
        run_ranges(assign, len(vectors), _DOCUMENTS)
        if (before == cluster).all():
            break
        member = csr_array(
            (np.ones(len(cluster), np.float32), (cluster, np.arange(len(cluster)))),
            shape=(n_clusters, len(cluster)),
        )
        sums = np.asarray(member @ vectors)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0.0, sums / np.maximum(norms, 1e-30), centres)
    return cluster, float(closeness.sum(dtype=np.float64))


def pair_topics(
    space: WordSpace,
    n_topics: int,
    topic_prior: float,
    rng: np.random.Generator,
    n_steps: int = STEPS,
) -> FloatArray:
    """Expected tokens of each word in topics, [V, T].

    Parameters
    ----------
    space : WordSpace
        The documents and their words.
    n_topics : int
        The number of topics T.
    topic_prior : float
        What every word has in a cluster besides its tokens.
    rng : numpy.random.Generator
        Chooses the seeds of clusters.
    n_steps : int, default=45
        Steps of expectation maximisation with all clusters.
    """
    counts, pairs = space.counts, space.pairs
    clusters = space.clusters(_TIMES * n_topics, rng, 1, _CLUSTER_PASSES)
    frequency = np.maximum(np.asarray(pairs.sum(axis=1)), 0.0)
    if not frequency.any():
        return np.zeros((counts.shape[1], n_topics))
    common = np.sort(np.argsort(-frequency, kind="stable")[:_MOST_WORDS])
    joint = np.maximum(pairs[common][:, common].toarray(), 0.0).astype(np.float32)
    joint /= max(float(joint.sum()), 1e-30)
    words = (clusters[common] + topic_prior).astype(np.float32)
    words, together = factorise_pairs(joint, words / words.sum(axis=0), n_steps)
    chosen = _unmixed(joint, words, together.sum(axis=1), n_topics)
    words, together = factorise_pairs(joint, words[:, chosen], _LAST_STEPS)
    found = np.zeros((counts.shape[1], n_topics))
    found[common] = words * together.sum(axis=1)
    rare = np.setdiff1d(np.arange(counts.shape[1]), common)
    if len(rare):
        # A rare word is of the topics of the words that it shares documents with.
        own = np.maximum(frequency[common] / frequency[common].sum(), 1e-30)
        found[rare] = pairs[rare][:, common] @ (words @ together / own[:, None]) / frequency.sum()
    found = np.maximum(found, 0.0)
    return np.asarray(found * (counts.sum() / max(float(found.sum()), 1e-300)))


def factorise_pairs(
    joint: FloatArray, words: FloatArray, n_steps: int
) -> tuple[FloatArray, FloatArray]:
    """Over-relaxed steps of expectation maximisation for Q ~ Phi S Phi^T.

    Parameters
    ----------
    joint : float array of shape [W, W]
        Q, the shares of pairs of words; symmetric.
    words : float array of shape [W, T]
        The word shares Phi to start from; columns sum to 1.
    n_steps : int
        The number of steps.

    Returns
    -------
    words : float array of shape [W, T]
        The word shares.
    together : float array of shape [T, T]
        The shares S of pairs of topics.
    """
    n_topics = words.shape[1]
    apart = np.float32((1.0 - _SAME) / n_topics**2)
    together = np.eye(n_topics, dtype=np.float32) * np.float32(_SAME / n_topics) + apart
    length = np.float32(_STEP_LENGTH)
    new = np.empty_like(words)

    def step(first: int, last: int) -> FloatArray:
        own = words[first:last]
        ratio = (own @ together) @ words.T
        np.divide(joint[first:last], np.maximum(ratio, 1e-12), out=ratio)
        weighted = ratio @ words
        new[first:last] = own * (weighted @ together) ** length
        return np.asarray(own.T @ weighted)

    for _ in range(n_steps):
        together = together * sum(run_ranges(step, len(words), _WORDS)) ** length
        together /= together.sum()
        words = new / np.maximum(new.sum(axis=0), 1e-30) + np.float32(_SMALLEST)
    return words, together


def _unmixed(joint: FloatArray, words: FloatArray, size: FloatArray, n_topics: int) -> FloatArray:
    """The T topics that differ most from mixtures of each other, in order.

    By a QR decomposition with pivots: the next topic is the one of which those before it explain
    least. A mixture of topics, and one that is there twice, has little left.
    """
    frequency = np.maximum(joint.sum(axis=1), _SMALLEST)
    scaled = words / np.sqrt(frequency)[:, None] * np.sqrt(size)
    _, order = qr(scaled, mode="r", pivoting=True)
    return np.asarray(np.sort(order[:n_topics]))


def find_seeds(seeds: Mapping[str, Sequence[str]], words: Sequence[str]) -> list[IntArray]:
    """The places of seed words among `words`, one array per seeded topic.

    Warns of words that the corpus does not have; a topic with no other raises.
    """
    place = {word: i for i, word in enumerate(words)}
    unknown = [word for seed in seeds.values() for word in seed if word not in place]
    found: list[IntArray] = [
        np.unique([place[word] for word in seed if word in place]).astype(np.int64)
        for seed in seeds.values()
    ]
    for (name, seed), own in zip(seeds.items(), found, strict=True):
        if not len(own):
            raise ValueError(
                f"`seeds` of HDSP has no word for {name!r} that the corpus counts. Got "
                f"{quoted(seed)}. Choose other words, or have rarer ones counted (min_df); counts "
                "know no words unless X is a Corpus, or a frame with words as columns."
            )
    if unknown:
        warnings.warn(
            f"`seeds` of HDSP names words that the corpus does not count, and that steer nothing: "
            f"{quoted(dict.fromkeys(unknown))}.",
            FitWarning,
            stacklevel=6,
        )
    return found


def place_seeds(
    counts: csr_array, seeds: csr_array, word_share: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Start topics from seeds in place of those that resemble them most.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        The documents.
    seeds : sparse array of shape [S, V]
        The prior's tokens of seed words.
    word_share : float array of shape [V, T]
        Initial topics; columns sum to 1.

    Returns
    -------
    word_share : float array of shape [V, T]
        The same, with seeded topics.
    seeded : int array of shape [S]
        The topics that are seeded.
    """
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    frequency /= frequency.sum()
    profile = _company(counts, seeds, frequency)
    profile = (1.0 - _SMOOTHING) * profile + _SMOOTHING * frequency[:, None]
    # What topics have beyond the words of the whole corpus tells them apart.
    likeness = _unit(profile - frequency[:, None]).T @ _unit(word_share - frequency[:, None])
    _, seeded = linear_sum_assignment(-likeness)
    result = word_share.copy()
    # A topic that is only half the one wanted would keep its other half.
    result[:, seeded] = profile
    return result, seeded.astype(np.int64)


def _company(counts: csr_array, seeds: csr_array, frequency: FloatArray) -> FloatArray:
    """Seed words, and words that documents use more where seed words are, [V, S].

    A document has the weight of its seed words' inverse document frequencies, squared, so that
    those with several of them count most; and all of its words together count as one.
    """
    present = csr_array((np.sign(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    held = np.maximum(np.asarray(present.sum(axis=0), dtype=np.float64), 1.0)
    carried = csr_array((np.ones(seeds.nnz), seeds.indices, seeds.indptr), shape=seeds.shape)
    rare = csr_array(carried.multiply(np.log1p(counts.shape[0] / held)))
    lengths = np.maximum(np.asarray(counts.sum(axis=1), dtype=np.float64), 1e-300)
    weight = (present @ rare.T).toarray() ** 2 / lengths[:, None]
    used = np.asarray(counts.T @ weight, dtype=np.float64)
    used /= np.maximum(used.sum(axis=0), 1e-300)
    own = carried.toarray().T > 0
    gained = np.where(own, 0.0, np.maximum(used - frequency[:, None], 0.0))
    # Words that no document has, or no company, are left with those of the corpus.
    return np.asarray(
        _SEED_SHARE * _column_shares(np.where(own, frequency[:, None] + 1e-12, 0.0), frequency)
        + (1.0 - _SEED_SHARE) * _column_shares(gained, frequency)
    )


def _column_shares(columns: FloatArray, otherwise: FloatArray) -> FloatArray:
    total = columns.sum(axis=0)
    return np.where(total > 0, columns / np.maximum(total, 1e-300), otherwise[:, None])


def _unit(columns: FloatArray) -> FloatArray:
    return np.asarray(columns / np.maximum(np.sqrt((columns**2).sum(axis=0)), 1e-300))
