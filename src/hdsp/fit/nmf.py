"""Initial topics: non-negative factors of the tf-idf matrix.

Spherical k-means from k-means++ seeds gives the first factors; hierarchical alternating least
squares improves them. Everything runs on the sparse matrix, in float32.
"""

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from hdsp import kernels
from hdsp.kernels import run_ranges, sparse_product
from hdsp.model.state import padded
from hdsp.numerics.types import FloatArray, IntArray

# The first centres of k-means are chosen among at most this many documents.
_SEEDING_DOCUMENTS = 2_000
# Passes of k-means, which is only where the factorisation starts.
_KMEANS_PASSES = 3
_ROW_RANGE = 256
# Columns below this share of the largest column's sum of squares count as empty.
_EMPTY = 1e-12


def nmf_topics(
    counts: csr_array, n_topics: int, rng: np.random.Generator, n_sweeps: int = 20
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
    n_sweeps : int, default=20
        Sweeps of alternating least squares.

    Returns
    -------
    topics : float array of shape [V, T]
        Word weights of the topics, non-negative.
    loadings : float array of shape [M, T]
        Topic weights of the documents, non-negative.
    """
    rows = csr_array(counts, dtype=np.float32, copy=True)
    # 1 + ln c for counts above 1; smaller counts as they are, so that no weight is negative.
    rows.data = np.minimum(rows.data, 1.0) + np.log(np.maximum(rows.data, 1.0))
    rows = csr_array(TfidfTransformer(norm=None).fit_transform(rows), dtype=np.float32)
    norms = np.maximum(np.sqrt(np.asarray(rows.power(2).sum(axis=1))), 1e-30)[:, None]
    unit = csr_array(rows.multiply(1.0 / norms))
    # Long documents have more weight than short ones, but not in proportion to their length.
    rows = csr_array(rows.multiply(1.0 / np.sqrt(norms)))
    columns = csr_array(rows.T)
    # Columns of zeros up to whole vector registers; they stay zero.
    words = np.zeros((rows.shape[1], padded(n_topics)), dtype=np.float32)
    words[:, :n_topics] = _kmeans(unit, n_topics, rng).T
    loadings = sparse_product(rows, words)
    for sweep in range(n_sweeps):
        target = sparse_product(rows, words)
        _descend(words, target, loadings, 1 if sweep else 3)
        _descend(loadings, sparse_product(columns, loadings), words, 1)
        # Only the product of the factors is determined; normalising keeps both in range.
        norms = np.linalg.norm(words, axis=0)
        norms[norms == 0.0] = 1.0
        words /= norms
        loadings *= norms
    return words[:, :n_topics], loadings[:, :n_topics]


def _descend(fixed: FloatArray, target: FloatArray, rows: FloatArray, n_sweeps: int) -> None:
    """Improve `rows` in place towards ``|X - rows fixed^T|`` minimal.

    Nearly empty columns of `fixed` are left out, since they would lead to huge entries.
    """
    gram = fixed.T @ fixed
    size = np.diagonal(gram)
    np.fill_diagonal(gram, np.where(size > _EMPTY * size.max(), size, 0.0))
    run_ranges(kernels.descend_rows, rows.shape[0], _ROW_RANGE, gram, target, n_sweeps, rows)


def _kmeans(rows: csr_array, n_topics: int, rng: np.random.Generator) -> FloatArray:
    """Unit centres [T, V] of spherical k-means."""
    centres = _seeds(rows, n_topics, rng)
    for _ in range(_KMEANS_PASSES):
        nearest = sparse_product(rows, np.ascontiguousarray(centres.T)).argmax(axis=1)
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
