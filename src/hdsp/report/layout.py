"""Places and orders: the map of topics and labels, the heat map's order, related topics."""

from typing import Any

import numpy as np

from hdsp.numerics import FloatArray, IntArray

# Below this many points distances are kept as they are; above, neighbours matter.
_FEW = 12
_PERPLEXITY = 20.0
# Of more points a step takes longer, and the later ones change little.
_MANY = 500
_DIMENSIONS = 50
# An exact order of leaves takes time that grows with the cube of their number.
_MOST_ORDERED = 400
# Of more labels, so many spread over all are placed or ordered, and the others put beside those
# that they are most similar to: time and memory would grow with the square of their number.
_MOST_PLACED, _NEIGHBOURS = 1_000, 3
_CHUNK = 1_000


def place_together(
    word_share: FloatArray, effect: FloatArray, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Places in the plane for topics and labels, between -1 and 1.

    A topic is the distribution of its words, a label the mixture of the topics that it raises, by
    how much. Points whose distributions are near by Hellinger's distance come out near (t-SNE;
    classical scaling of few points).

    Parameters
    ----------
    word_share : float array of shape [T, V]
        Words of topics, E[phi].
    effect : float array of shape [C, T]
        Changes of expected proportions by labels.
    seed : int, default=0
        Of the random start.

    Returns
    -------
    topics : float array of shape [T, 2]
        Places of topics.
    labels : float array of shape [C, 2]
        Places of labels.
    """
    raised = np.maximum(effect, 0.0)
    total = raised.sum(axis=1, keepdims=True)
    mixture = np.where(total > 0, raised / np.where(total > 0, total, 1.0), 1.0 / len(word_share))
    chosen = _spread(len(mixture), _MOST_PLACED)
    points = np.sqrt(np.concatenate([word_share, mixture[chosen] @ word_share]))
    places = _few_places(points) if len(points) <= _FEW else _many_places(points, seed)
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2.0
    places = places / (np.abs(places).max() or 1.0)
    topics, labels = places[: len(word_share)], places[len(word_share) :]
    if len(chosen) < len(mixture):
        near, _ = _most_similar(np.sqrt(mixture), np.sqrt(mixture[chosen]), _NEIGHBOURS)
        beside = labels[near].mean(axis=1)
        beside[chosen] = labels
        labels = beside
    return topics, labels


def _spread(n: int, most: int) -> IntArray:
    """All of n positions, or as many as `most` spread over them."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def _most_similar(rows: FloatArray, others: FloatArray, n: int) -> tuple[IntArray, FloatArray]:
    """For each row the n of `others` with the largest inner products, [R, n], and these."""
    near, found = np.empty((len(rows), n), dtype=np.int64), np.empty((len(rows), n))
    for first in range(0, len(rows), _CHUNK):
        part = slice(first, first + _CHUNK)
        product = rows[part] @ others.T
        near[part] = np.argpartition(-product, n - 1, axis=1)[:, :n]
        found[part] = np.take_along_axis(product, near[part], axis=1)
    return near, found


def _few_places(points: FloatArray) -> FloatArray:
    centred = points - points.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(points), 2))
    n = min(2, len(size))
    places[:, :n] = left[:, :n] * size[:n]
    return places


def _many_places(points: FloatArray, seed: int) -> FloatArray:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n = min(_DIMENSIONS, *points.shape)
    reduced = PCA(n, svd_solver="randomized", random_state=seed).fit_transform(points)
    perplexity = min(_PERPLEXITY, (len(points) - 1) / 3.0)
    # A start of two equal columns, as of points on a line, would divide by zero.
    init = "pca" if n > 1 and reduced[:, 1].std() > 0 else "random"
    # One thread: for so few points several wait for one another, and change the order of sums.
    with threadpool_limits(1):
        places = TSNE(
            perplexity=perplexity,
            init=init,
            max_iter=1_000 if len(points) <= _MANY else 500,
            random_state=seed,
        ).fit_transform(reduced)
    return np.asarray(places, dtype=np.float64)


def seriate(matrix: FloatArray) -> IntArray:
    """An order of rows in which similar ones are neighbours: leaves of a clustering, [n].

    Examples
    --------
    >>> seriate(np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]])).tolist()
    [0, 2, 3, 1]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(matrix) < 3:
        return np.arange(len(matrix))
    size = np.linalg.norm(matrix, axis=1, keepdims=True)
    directions = matrix / np.where(size > 0, size, 1.0)
    chosen = _spread(len(matrix), _MOST_PLACED)
    tree = linkage(directions[chosen], "average", optimal_ordering=len(matrix) <= _MOST_ORDERED)
    order = np.asarray(leaves_list(tree), dtype=np.int64)
    if len(chosen) < len(matrix):
        near, similarity = _most_similar(directions, directions[chosen], 1)
        near[chosen, 0], similarity[chosen, 0] = np.arange(len(chosen)), 2.0
        order = np.lexsort((-similarity[:, 0], np.argsort(order)[near[:, 0]]))
    # An order and its reverse are as good: the one that begins with the smaller number.
    return order if order[0] < order[-1] else order[::-1]


def map_view(word_share: FloatArray, effect: FloatArray) -> dict[str, Any]:
    """The map for a page."""
    topics, labels = place_together(word_share, effect)
    return {"topics": np.round(topics, 4).tolist(), "labels": np.round(labels, 4).tolist()}
