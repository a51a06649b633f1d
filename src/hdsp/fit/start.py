"""The initial state of a fit.

- ``"nmf"``: topics begin as non-negative factors of the tf-idf matrix. Spherical k-means gives the
  first factors, and hierarchical alternating least squares improves them, on the sparse matrix, in
  float32.
- ``"words"``, for short texts: how often two words share a document gives every word a vector;
  documents are clustered among the vectors of their words, and each cluster is a topic.
- ``"pairs"``, for short texts of several topics: two tokens of a document are of topics k and l
  with probability s_kl, and words of these, so that pairs of words are Q ~ Phi S Phi^T (Hofmann's
  aspect model). The factors begin at clusters of documents, twice as many as topics are wanted;
  those that are mixtures of others are left out.
- ``"lda"``, the paper's start, and ``"random"``.

Topics that seed words steer take the place of those that resemble them most.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from scipy.linalg import lu, qr
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.checks import quoted
from hdsp.exceptions import FitWarning, warn_caller
from hdsp.kernels import run_ranges
from hdsp.model.data import Problem
from hdsp.model.priors import NOT_SEEDED
from hdsp.model.state import GlobalState, padded
from hdsp.model.versions import Versions, word_spread
from hdsp.numerics import FloatArray, IntArray, sticks_from_weights

STARTS = ("auto", "nmf", "words", "pairs", "lda", "random")
# The paper starts from three passes of LDA.
_LDA_PASSES = 3
# Larger corpora are started from a sample of this many documents.
_MOST_DOCUMENTS = 20_000
# Sweeps of alternating least squares; with more documents than so many, most of them are over a
# part of these, and the last ones over all.
_SWEEPS, _LAST_SWEEPS, _FEW_DOCUMENTS = 12, 4, 5_000
# Each sweep begins from words that are carried further by this part of what the last one changed
# (Ang and Gillis, 2019): 12 sweeps come as near as 20 without it. More than 1 may not settle.
_EXTRAPOLATION = 0.8
# A rougher start: sweeps of a factorisation of few documents, and steps for pairs of words.
_QUICK_SWEEPS, _QUICK_STEPS = 5, 17
# The share of an initial topic that is spread over all words, so that none is ruled out.
_SMOOTHING = 0.5
# Tokens that each group is taken to have of a word besides those that it has, as all groups do.
_COMMON_TOKENS = 5.0
# Documents among which the first centres of k-means are chosen, and its passes, for factors.
_FACTOR_SEEDING, _FACTOR_PASSES = 2_000, 3
# The same for clusters of documents among word vectors, and how many clusterings are compared.
_CLUSTER_SEEDING, _CLUSTER_PASSES, RESTARTS = 4_000, 20, 3
_DOCUMENT_RANGE, _ROW_RANGE, _GRAM_RANGE, _WORD_RANGE = 1_024, 256, 1_024, 128
# Columns below this share of the largest column's sum of squares count as empty.
_EMPTY = 1e-12
# Dimensions of the word vectors, at most, and the steps that find them.
_MOST_DIMENSIONS, _FURTHER_DIMENSIONS, _POWER_ITERATIONS = 100, 10, 4
# Pairs of words in documents that are looked at; of long documents fewer words.
_MOST_PAIRS = 20_000_000
# The frequency of the second word of a pair counts with this power: pairs with rare words would
# otherwise seem to go together too much.
_POWER = 0.75
# Topics are first learned for the most frequent words: pairs of all would be too many.
_MOST_WORDS = 1_000
# Clusters for each topic where steps for pairs begin, and the passes that find them.
_TIMES, _PAIR_PASSES = 2, 10
# Steps of expectation maximisation, with all clusters and with those that are chosen.
STEPS, _LAST_STEPS = 45, 6
# Each goes so many times as far as the maximum, in logarithms (over-relaxation), which takes little
# more than half of the steps. Longer ones find fewer topics (1.8), and from 2 on do not settle.
_STEP_LENGTH = 1.5
# The share of pairs whose words are of the same topic, to begin with.
_SAME_TOPIC = 0.5
_SMALLEST = 1e-9
# The share of a seeded topic's first words that its seeds are; the rest keep them company.
_SEED_SHARE = 0.25


def initial_state(
    problem: Problem,
    n_topics: int,
    init: Any,
    corpus_concentration: float,
    document_concentration: float,
    rng: np.random.Generator,
    n_tokens: float | None = None,
    spaces: "WordSpaceCache | None" = None,
) -> GlobalState:
    """The state before the first pass: topics by `init`, ordered by size, labels without effect.

    `n_tokens` are the tokens that topics hold together, by default those of the problem. Trials of
    a search share `spaces`; a rougher start will do for them.
    """
    word_share, size = _start(problem, n_topics, init, rng, spaces)
    seeds, seeded = problem.priors.seeds, NOT_SEEDED
    if seeds is not None:
        word_share, seeded = place_seeds(problem.counts, seeds, word_share)
    order = np.argsort(-size, kind="stable")
    word_share, size = word_share[:, order], size[order]
    seeded = np.argsort(order)[seeded]
    total = problem.n_tokens if n_tokens is None else n_tokens
    versions = None
    if len(problem.content):
        spread = word_spread(problem.counts)
        versions = Versions.initial(spread, n_topics, problem.content, problem.dtype)
    prior = problem.priors.of_topics(seeded)
    return GlobalState(
        topics=prior.add_to(total * size * word_share).astype(problem.dtype),
        sticks=sticks_from_weights(size),
        corpus_concentration=corpus_concentration,
        document_concentration=document_concentration,
        scaling=problem.scaling.initial(n_topics, problem.design.shape[1]),
        seeded=seeded,
        versions=versions,
    )


def _start(
    problem: Problem,
    n_topics: int,
    init: Any,
    rng: np.random.Generator,
    spaces: "WordSpaceCache | None",
) -> tuple[FloatArray, FloatArray]:
    """Word shares [V, T] (columns sum to 1) and topic sizes [T] (sum to 1)."""
    if not isinstance(init, str):
        return _shares(_check_weights(init, n_topics, problem.n_words))
    counts, quick = problem.counts, spaces is not None
    prior, weight = problem.priors.topic_prior, common_words(problem)
    if init == "nmf":
        sample = _sample(counts, rng, _FEW_DOCUMENTS if quick else _MOST_DOCUMENTS)
        n_sweeps = _QUICK_SWEEPS if quick else _SWEEPS
        words, loadings = nmf_topics(sample, n_topics, rng, n_sweeps, weight)
        return _from_factors(sample, words, loadings)
    if init in ("words", "pairs"):
        space = (spaces or WordSpaceCache(int(rng.integers(2**62)))).get(problem)
        if init == "words":
            tokens = space.clusters(n_topics, rng, 1 if quick else RESTARTS)
        else:
            tokens = pair_topics(space, n_topics, prior, rng, _QUICK_STEPS if quick else STEPS)
        return _shares((tokens if weight is None else tokens / weight[:, None]) + prior)
    if init == "lda":
        return _shares(lda_topics(counts, n_topics, prior, rng))
    return _shares(rng.gamma(100.0, 0.01, size=(problem.n_words, n_topics)))


def _check_weights(init: Any, n_topics: int, n_words: int) -> FloatArray:
    """An array of word weights [T, V] that was given as the start, as [V, T]."""
    valid = np.shape(init) == (n_topics, n_words)
    if valid:
        weights = np.asarray(init, dtype=np.float64)
        valid = bool(np.isfinite(weights).all() and (weights >= 0).all() and weights.any(1).all())
    if not valid:
        raise ValueError(
            f"`init` of HDSP, as an array, must be of shape ({n_topics}, {n_words}), topics by "
            "words, finite and non-negative with a positive entry in every row. "
            f"Got {type(init).__name__} of shape {np.shape(init)}."
        )
    # Shares alone matter, and sums of very large weights would be infinite.
    return np.asarray(weights.T / weights.max())


def _sample(counts: csr_array, rng: np.random.Generator, most: int) -> csr_array:
    """A random `most` of the documents."""
    if counts.shape[0] <= most:
        return counts
    return counts[np.sort(rng.permutation(counts.shape[0])[:most])]


def common_words(problem: Problem) -> FloatArray | None:
    """How alike groups use each word, [V]: 1 where all do, near 0 for words of one group.

    A start from words that only some groups use would have topics of single groups, which versions
    of the same topics explain better. None if groups have no versions.
    """
    if not len(problem.content):
        return None
    # Documents that have a word: its tokens are no independent evidence.
    entries = problem.entries()
    n_documents = np.bincount(entries.indices, minlength=entries.shape[1])
    documents = n_documents.reshape(problem.n_words, -1)[:, 1:].T.astype(np.float64)
    share = documents.sum(axis=1, keepdims=True) / max(documents.sum(), 1e-300)
    expected = np.maximum(share * documents.sum(axis=0), 1e-300)
    evidence = (documents * np.log(np.maximum(documents, 1e-300) / expected)).sum(axis=0)
    evidence -= 0.5 * (len(documents) - 1) * np.log1p(documents.sum(axis=0))
    difference = np.abs(np.log((documents + _COMMON_TOKENS) / (expected + _COMMON_TOKENS)))
    # One word by chance among all would already change the start.
    differs = evidence > np.log(problem.n_words)
    return np.where(differs, np.exp(-(share * difference).sum(axis=0)), 1.0)


def _weighted(counts: csr_array, weight: FloatArray | None) -> csr_array:
    return counts if weight is None else csr_array(counts.multiply(weight[None, :]))


def _shares(words: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = words.sum(axis=0)
    return words / total, total / total.sum()


def _from_factors(
    counts: csr_array, words: FloatArray, loadings: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Word shares [V, T] and topic sizes [T] from non-negative factors."""
    words, frequency = words.astype(np.float64), _frequency(counts)
    share = _smoothed(_column_shares(words, frequency), frequency)
    tokens = loadings * words.sum(axis=0)
    tokens_total = tokens.sum(axis=1, keepdims=True)
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    size = np.where(
        tokens_total > 0, tokens / np.maximum(tokens_total, 1e-300), 1.0 / tokens.shape[1]
    )
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
    """Topics [V, T] and loadings of documents [M, T] from non-negative matrix factorisation.

    `weight` [V] weighs the words.
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
    seeding = np.sort(rng.permutation(rows.shape[0])[:_FACTOR_SEEDING])
    centres = spherical_kmeans(unit, n_topics, unit[seeding], rng, _FACTOR_PASSES)[1]
    words[:, :n_topics] = centres.T
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
    return np.asarray(loadings)


def _descend(fixed: FloatArray, target: FloatArray, rows: FloatArray, n_sweeps: int) -> None:
    """Improve `rows` in place towards ``|X - rows fixed^T|`` minimal.

    Nearly empty columns of `fixed` are left out, since they would lead to huge entries.
    """

    def gram_of_rows(first: int, last: int) -> FloatArray:
        return np.asarray(fixed[first:last].T @ fixed[first:last])

    gram = np.asarray(sum(run_ranges(gram_of_rows, len(fixed), _GRAM_RANGE)))
    size = np.diagonal(gram)
    np.fill_diagonal(gram, np.where(size > _EMPTY * size.max(), size, 0.0))

    def descend(first: int, last: int) -> None:
        part = rows[first:last]
        kernels.descend_rows(gram, part @ gram - target[first:last], n_sweeps, part)

    run_ranges(descend, len(rows), _ROW_RANGE)


def spherical_kmeans(
    rows: Any, n_clusters: int, sample: Any, rng: np.random.Generator, n_passes: int
) -> tuple[IntArray, FloatArray, float]:
    """Clusters of unit rows, sparse or not, from k-means++ seeds by cosine distance.

    Returns the cluster of each row [M], unit centres [K, V], and the sum of the rows' cosines with
    their centres. `sample` are the rows among which seeds are chosen.
    """
    distance = np.ones(sample.shape[0])
    seeds: list[int] = []
    for _ in range(n_clusters):
        seeds.append(int(rng.choice(len(distance), p=distance / distance.sum())))
        similarity = np.asarray(sample @ _dense(sample[[seeds[-1]]])[0])
        # The smallest distance keeps a sum of zeros from being divided by.
        distance = np.minimum(distance, np.maximum(1.0 - similarity, _SMALLEST))
    centres = _dense(sample[np.array(seeds)])
    cluster, closeness = np.full(rows.shape[0], -1), np.empty(rows.shape[0], dtype=np.float32)
    sparse = isinstance(rows, csr_array)

    def assign(first: int, last: int) -> None:
        part = products[first:last] if sparse else rows[first:last] @ centres.T
        cluster[first:last], closeness[first:last] = part.argmax(axis=1), part.max(axis=1)

    for _ in range(n_passes):
        before = cluster.copy()
        if sparse:
            products = kernels.sparse_product(rows, np.ascontiguousarray(centres.T))
        run_ranges(assign, rows.shape[0], _DOCUMENT_RANGE)
        if (before == cluster).all():
            break
        member = csr_array(
            (np.ones(len(cluster), np.float32), (cluster, np.arange(len(cluster)))),
            shape=(n_clusters, len(cluster)),
        )
        sums = _dense(member @ rows)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0.0, sums / np.maximum(norms, 1e-30), centres)
    return cluster, centres, float(closeness.sum(dtype=np.float64))


def _dense(rows: Any) -> FloatArray:
    return np.asarray(rows.toarray() if isinstance(rows, csr_array) else rows)


class WordSpaceCache:
    """The word space of a problem, which trials share; `seed` makes it the same for all."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._space: WordSpace | None = None
        self._lock = Lock()

    def get(self, problem: Problem) -> "WordSpace":
        """The word space of the problem, made at the first call."""
        with self._lock:
            if self._space is None:
                rng = np.random.default_rng(self._seed)
                sample = _sample(problem.counts, rng, _MOST_DOCUMENTS)
                self._space = WordSpace(_weighted(sample, common_words(problem)), rng)
            return self._space


class WordSpace:
    """Documents, pairs of words that share them, and a vector of every word.

    Attributes
    ----------
    counts : sparse array of shape [M, V]
        Word counts of the documents.
    pairs : sparse array of shape [V, V]
        How often two tokens of a document are these words.
    vectors : float array of shape [V, n]
        The word vectors, the most important dimension first, times how rare words are.
    """

    def __init__(self, counts: csr_array, rng: np.random.Generator) -> None:
        # Pairs are the largest arrays of a fit: single precision will do for a start.
        self.counts = counts = csr_array(counts, dtype=np.float32)
        self.pairs = cooccurrence(_fewer_words(counts, rng))
        left, size = _leading(ppmi(self.pairs), min(_MOST_DIMENSIONS, counts.shape[1]), rng)
        documents = np.bincount(counts.indices, minlength=counts.shape[1])
        rarity = np.log((1.0 + counts.shape[0]) / (1.0 + documents)) + 1.0
        self.vectors = left * np.sqrt(size) * rarity[:, None]

    def clusters(
        self,
        n_clusters: int,
        rng: np.random.Generator,
        n_restarts: int = RESTARTS,
        n_passes: int = _CLUSTER_PASSES,
    ) -> FloatArray:
        """Tokens of each word in clusters of documents among the vectors of their words, [V, n].

        The closest of `n_restarts` clusterings, from different seeds, is taken.
        """
        vectors = np.asarray(self.counts @ self.vectors[:, :n_clusters], dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1)
        rows = np.flatnonzero(norms > 0)
        if not len(rows):
            return np.zeros((self.counts.shape[1], n_clusters))
        vectors = vectors[rows] / norms[rows, None]
        found = []
        for _ in range(n_restarts):
            sample = vectors[rng.permutation(len(vectors))[:_CLUSTER_SEEDING]]
            found.append(spherical_kmeans(vectors, n_clusters, sample, rng, n_passes))
        best, _, _ = max(found, key=lambda clustering: clustering[2])
        shape = (n_clusters, self.counts.shape[0])
        member = csr_array((np.ones(len(rows)), (best, rows)), shape=shape)
        return np.asarray((member @ self.counts).T.toarray())


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
    joint = csr_array(weighted.T @ counts)
    joint.sort_indices()
    # In place, as below: these are the largest arrays of a fit.
    present = np.flatnonzero(joint.diagonal())
    joint[present, present] = (joint.diagonal() - np.asarray(weighted.sum(axis=0)))[present]
    return joint


def ppmi(joint: csr_array) -> csr_array:
    """Positive pointwise mutual information, max(0, ln q_ij / (r_i c_j)), [V, V]."""
    total = np.maximum(np.asarray(joint.sum(axis=1), dtype=np.float64), 0.0)
    context = total**_POWER
    context /= max(float(context.sum()), 1e-300)
    result = csr_array(joint, copy=True)
    for row, (first, last) in enumerate(pairwise(joint.indptr.tolist())):
        expected = np.maximum(total[row] * context[joint.indices[first:last]], 1e-300)
        ratio = np.log(np.maximum(joint.data[first:last].astype(np.float64), 1e-300) / expected)
        result.data[first:last] = np.maximum(ratio, 0.0)
    result.eliminate_zeros()
    return result


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


def pair_topics(
    space: WordSpace,
    n_topics: int,
    topic_prior: float,
    rng: np.random.Generator,
    n_steps: int = STEPS,
) -> FloatArray:
    """Expected tokens of each word in topics, [V, T], from pairs of words.

    `topic_prior` is what every word has in a cluster besides its tokens, and `n_steps` are those
    with all clusters.
    """
    counts, pairs = space.counts, space.pairs
    clusters = space.clusters(_TIMES * n_topics, rng, 1, _PAIR_PASSES)
    frequency = np.maximum(np.asarray(pairs.sum(axis=1)), 0.0)
    tokens = np.zeros((counts.shape[1], n_topics))
    if not frequency.any():
        return tokens
    common = np.sort(np.argsort(-frequency, kind="stable")[:_MOST_WORDS])
    joint = np.maximum(pairs[common][:, common].toarray(), 0.0).astype(np.float32)
    joint /= max(float(joint.sum()), 1e-30)
    words = (clusters[common] + topic_prior).astype(np.float32)
    words, together = factorise_pairs(joint, words / words.sum(axis=0), n_steps)
    chosen = _unmixed(joint, words, together.sum(axis=1), n_topics)
    words, together = factorise_pairs(joint, words[:, chosen], _LAST_STEPS)
    tokens[common] = words * together.sum(axis=1)
    rare = np.setdiff1d(np.arange(counts.shape[1]), common)
    if len(rare):
        # A rare word is of the topics of the words that it shares documents with.
        share = np.maximum(frequency[common] / frequency[common].sum(), 1e-30)
        neighbours = pairs[rare][:, common] @ (words @ together / share[:, None])
        tokens[rare] = neighbours / frequency.sum()
    tokens = np.maximum(tokens, 0.0)
    return np.asarray(tokens * (counts.sum() / max(float(tokens.sum()), 1e-300)))


def factorise_pairs(
    joint: FloatArray, words: FloatArray, n_steps: int
) -> tuple[FloatArray, FloatArray]:
    """Over-relaxed steps of expectation maximisation for Q ~ Phi S Phi^T, from Phi = `words`.

    `joint` [W, W] are the symmetric shares Q of pairs of words. Returns the word shares Phi [W, T],
    whose columns sum to 1, and the shares S [T, T] of pairs of topics.
    """
    n_topics = words.shape[1]
    apart = np.float32((1.0 - _SAME_TOPIC) / n_topics**2)
    together = np.eye(n_topics, dtype=np.float32) * np.float32(_SAME_TOPIC / n_topics) + apart
    length = np.float32(_STEP_LENGTH)
    new = np.empty_like(words)

    def step(first: int, last: int) -> FloatArray:
        part = words[first:last]
        ratio = (part @ together) @ words.T
        np.divide(joint[first:last], np.maximum(ratio, 1e-12), out=ratio)
        weighted = ratio @ words
        new[first:last] = part * (weighted @ together) ** length
        return np.asarray(part.T @ weighted)

    for _ in range(n_steps):
        together = together * sum(run_ranges(step, len(words), _WORD_RANGE)) ** length
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
    places: list[IntArray] = []
    for name, seed in seeds.items():
        known = [place[word] for word in seed if word in place]
        if not known:
            raise ValueError(
                f"`seeds` of HDSP has no word for {name!r} that the corpus counts. Got "
                f"{quoted(seed)}. Choose other words, or have rarer ones counted (min_df); counts "
                "know no words unless X is a Corpus, or a frame with words as columns."
            )
        places.append(np.unique(known).astype(np.int64))
    unknown = [word for seed in seeds.values() for word in seed if word not in place]
    if unknown:
        warn_caller(
            f"`seeds` of HDSP names words that the corpus does not count, and that steer nothing: "
            f"{quoted(dict.fromkeys(unknown))}.",
            FitWarning,
        )
    return places


def place_seeds(
    counts: csr_array, seeds: csr_array, word_share: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Start topics from `seeds` [S, V] in place of those of `word_share` [V, T] that resemble them.

    Returns the word shares with seeded topics, and the topics that are seeded, [S].
    """
    frequency = _frequency(counts)
    profile = _smoothed(_company(counts, seeds, frequency), frequency)
    # What topics have beyond the words of the whole corpus tells them apart.
    similarity = _unit(profile - frequency[:, None]).T @ _unit(word_share - frequency[:, None])
    _, seeded = linear_sum_assignment(-similarity)
    result = word_share.copy()
    # A topic that is only half the wanted one would keep its other half.
    result[:, seeded] = profile
    return result, seeded.astype(np.int64)


def _company(counts: csr_array, seeds: csr_array, frequency: FloatArray) -> FloatArray:
    """Seed words, and words that documents use more where seed words are, [V, S].

    A document has the weight of its seed words' inverse document frequencies, squared, so that
    those with several of them count most; and all of its words together count as one.
    """
    present = csr_array((np.sign(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    n_documents = np.maximum(np.asarray(present.sum(axis=0), dtype=np.float64), 1.0)
    carried = csr_array((np.ones(seeds.nnz), seeds.indices, seeds.indptr), shape=seeds.shape)
    rare = csr_array(carried.multiply(np.log1p(counts.shape[0] / n_documents)))
    lengths = np.maximum(np.asarray(counts.sum(axis=1), dtype=np.float64), 1e-300)
    weight = (present @ rare.T).toarray() ** 2 / lengths[:, None]
    used = np.asarray(counts.T @ weight, dtype=np.float64)
    used /= np.maximum(used.sum(axis=0), 1e-300)
    is_seed = carried.toarray().T > 0
    gained = np.where(is_seed, 0.0, np.maximum(used - frequency[:, None], 0.0))
    # Words that no document has, or no company, are left with those of the corpus.
    return np.asarray(
        _SEED_SHARE * _column_shares(np.where(is_seed, frequency[:, None] + 1e-12, 0.0), frequency)
        + (1.0 - _SEED_SHARE) * _column_shares(gained, frequency)
    )


def _frequency(counts: csr_array) -> FloatArray:
    """The share of each word in all tokens, [V]."""
    tokens = np.asarray(counts.sum(axis=0), dtype=np.float64)
    return np.asarray(tokens / tokens.sum())


def _smoothed(share: FloatArray, frequency: FloatArray) -> FloatArray:
    return (1.0 - _SMOOTHING) * share + _SMOOTHING * frequency[:, None]


def _column_shares(columns: FloatArray, otherwise: FloatArray) -> FloatArray:
    total = columns.sum(axis=0)
    return np.where(total > 0, columns / np.maximum(total, 1e-300), otherwise[:, None])


def _unit(columns: FloatArray) -> FloatArray:
    return np.asarray(columns / np.maximum(np.sqrt((columns**2).sum(axis=0)), 1e-300))
