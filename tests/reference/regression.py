"""Clustered variances of least squares, written for reading: every matrix as it is defined."""

import numpy as np
from scipy.linalg import sqrtm


def bias_reduced(design, outcomes, groups, contrast, weights=None):
    """The CR2 variance [T] of a contrast, and its degrees of freedom (Bell and McCaffrey 2002)."""
    n = len(design)
    root = np.sqrt(np.ones(n) if weights is None else weights)
    x, y = design * root[:, None], outcomes * root[:, None]
    bread = np.linalg.inv(x.T @ x)
    left = np.eye(n) - x @ bread @ x.T
    residuals = left @ y
    weigh = x @ bread @ contrast
    variance, columns = np.zeros(outcomes.shape[1]), []
    for group in np.unique(groups):
        own = groups == group
        adjusted = np.linalg.inv(sqrtm(left[np.ix_(own, own)]).real) @ weigh[own]
        variance += (adjusted @ residuals[own]) ** 2
        columns.append(left[:, own] @ adjusted)
    products = np.array(columns) @ np.array(columns).T
    return variance, np.trace(products) ** 2 / np.trace(products @ products)


def moulton(design, residuals, groups, contrast):
    """The classical variance of a contrast [T] with equal correlations within groups."""
    n, p = design.shape
    weigh = design @ np.linalg.inv(design.T @ design) @ contrast
    together = (groups[:, None] == groups) & ~np.eye(n, dtype=bool)
    variance = []
    for own in residuals.T:
        products = np.outer(own, own)
        correlation = np.clip(products[together].mean() / np.diag(products).mean(), 0.0, 1.0)
        covariance = np.eye(n) + correlation * together
        variance.append(weigh @ covariance @ weigh * (own @ own) / (n - p))
    return np.array(variance)
