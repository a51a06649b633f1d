"""Places and orders: the map of topics and labels, and the order of the heat map."""

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
# Of more labels, so many spread over all are placed or ordered, and the others put next to the most
# similar of these: time and memory would grow with the square of their number.
_MOST_PLACED, _NEIGHBOURS = 1_000, 3


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
    raised[raised.sum(axis=1) == 0] = 1.0
    mixture = raised / raised.sum(axis=1, keepdims=True)
    chosen = _spread(len(mixture))
    points = np.sqrt(np.concatenate([word_share, mixture[chosen] @ word_share]))
    places = _few_places(points) if len(points) <= _FEW else _many_places(points, seed)
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2.0
    places = places / (np.abs(places).max() or 1.0)
    topics, labels = places[: len(word_share)], places[len(word_share) :]
    if len(chosen) < len(mixture):
        _, near = _nearest(np.sqrt(mixture), chosen, _NEIGHBOURS)
        others = labels[near].mean(axis=1)
        others[chosen] = labels
        labels = others
    return topics, labels


def _spread(n: int) -> IntArray:
    """All of n positions, or as many as are placed, spread over them."""
    return np.linspace(0, n - 1, min(n, _MOST_PLACED)).round().astype(np.int64)


def _nearest(rows: FloatArray, chosen: IntArray, n: int) -> tuple[FloatArray, IntArray]:
    """Distances [R, n] of each row to the n nearest chosen ones, and their positions."""
    from sklearn.neighbors import NearestNeighbors

    distance, near = NearestNeighbors(n_neighbors=n).fit(rows[chosen]).kneighbors(rows)
    return distance, near


def _few_places(points: FloatArray) -> FloatArray:
    left, size, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    places = (left * size)[:, :2]
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))


def _many_places(points: FloatArray, seed: int) -> FloatArray:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n = min(_DIMENSIONS, *points.shape)
    reduced = PCA(n, svd_solver="randomized", random_state=seed).fit_transform(points)
    tsne = TSNE(
        perplexity=min(_PERPLEXITY, (len(points) - 1) / 3.0),
        # A start of two equal columns, as of points on a line, would divide by zero.
        init="pca" if n > 1 and reduced[:, 1].std() > 0 else "random",
        max_iter=1_000 if len(points) <= _MANY else 500,
        random_state=seed,
    )
    # One thread: for so few points several wait for one another, and change the order of sums.
    with threadpool_limits(1):
        return np.asarray(tsne.fit_transform(reduced), dtype=np.float64)


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
    chosen = _spread(len(matrix))
    tree = linkage(directions[chosen], "average", optimal_ordering=len(matrix) <= _MOST_ORDERED)
    order = np.asarray(leaves_list(tree), dtype=np.int64)
    if len(chosen) < len(matrix):
        distance, near = _nearest(directions, chosen, 1)
        near[chosen, 0], distance[chosen, 0] = np.arange(len(chosen)), -1.0
        order = np.lexsort((distance[:, 0], np.argsort(order)[near[:, 0]]))
    # An order and its reverse are as good: the one that begins with the smaller number.
    return order if order[0] < order[-1] else order[::-1]
