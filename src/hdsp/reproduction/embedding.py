"""Multidimensional scaling of two kinds of points of which only the distances across are known."""

import numpy as np

from hdsp.numerics.types import FloatArray

# Added to a distance before it is divided by: the closest pairs would else outweigh all others.
_SOFTENING = 0.5


def unfold(
    distance: FloatArray, rng: np.random.Generator, n_starts: int = 20, n_steps: int = 300
) -> tuple[FloatArray, FloatArray, float]:
    """Places in the plane for rows and columns whose distances come close to those given.

    The stress is lowered by majorisation (SMACOF) from several random starts; the best is returned.
    Pairs of two rows or two columns have weight 0; others count by their relative error, so that
    what is close comes out close, and how far the far is matters less.

    Parameters
    ----------
    distance : [K, J], not negative

    Returns
    -------
    rows [K, 2], columns [J, 2] and the stress, the root of the weighted squared error over
    that of the distances given: 0 is a perfect fit

    Examples
    --------
    >>> import numpy as np
    >>> places = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0]])
    >>> distance = np.linalg.norm(places[:2, None] - places[None, 2:], axis=2)
    >>> rows, columns, stress = unfold(distance, np.random.default_rng(0))
    >>> bool(stress < 0.01)
    True
    """
    n_rows, n_columns = distance.shape
    n = n_rows + n_columns
    weight = np.zeros((n, n))
    weight[:n_rows, n_rows:] = 1.0 / (_SOFTENING + distance) ** 2
    weight += weight.T
    wanted = np.zeros((n, n))
    wanted[:n_rows, n_rows:] = distance
    wanted += wanted.T
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    best, least = np.zeros((n, 2)), np.inf
    for _ in range(n_starts):
        places = rng.normal(scale=distance.mean(), size=(n, 2))
        for _ in range(n_steps):
            ratio = weight * wanted / np.maximum(_distances(places), 1e-12)
            places = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ places
        error = float((weight * (_distances(places) - wanted) ** 2).sum())
        if error < least:
            best, least = places, error
    stress = float(np.sqrt(least / (weight * wanted**2).sum()))
    return best[:n_rows], best[n_rows:], stress


def _distances(places: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(places[:, None] - places[None], axis=2))
