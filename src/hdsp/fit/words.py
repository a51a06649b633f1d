"""Initial topics from words that go together, for short texts.

A document of ten words says little of its topics, and factors of documents find few. Words say more
of each other: how often two of them share a document, over all documents, gives every word a
vector; documents are clustered among the vectors of their words, and each cluster is a topic.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import lu
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.numerics import FloatArray, IntArray

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
# Seeds are chosen among at most this many documents.
_SEEDING_DOCUMENTS = 4_000
# Documents at a time.
_DOCUMENTS = 1_024


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
    sample = vectors[rng.permutation(len(vectors))[:_SEEDING_DOCUMENTS]]
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
