"""Multidimensional scaling of two kinds of points of which only the distances across are known."""

import numpy as np

from hdsp_studies.types import FloatArray

# Added to a distance before dividing by it, else the closest pairs would outweigh all others.
_SOFTENING = 0.5


def unfold(
    distance: FloatArray, rng: np.random.Generator, n_starts: int = 20, n_steps: int = 300
) -> tuple[FloatArray, FloatArray, float]:
    """Place rows and columns in the plane so that their distances are close to given ones.

    The stress is lowered by majorisation (SMACOF) from several random starts. Pairs of two rows or
    two columns have weight 0; others count by their relative error, so that small distances are
    kept better than large ones.

    Parameters
    ----------
    distance : float array of shape [K, J]
        Distances of rows and columns, not negative.
    rng : numpy.random.Generator
        Draws the starts.
    n_starts : int, default=20
        Number of starts.
    n_steps : int, default=300
        Steps from each start.

    Returns
    -------
    rows : float array of shape [K, 2]
        Places of the rows, from the best start.
    columns : float array of shape [J, 2]
        Places of the columns.
    stress : float
        Root of the weighted squared error, relative to that of the distances; 0 is a perfect fit.

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
