"""CVB0 for one document, written for reading: float64, equation 22 as it stands."""

import numpy as np
from scipy.optimize import brentq

from tests.reference.documents import solve_tangent


def predict_document(counts, word_share, prior_shape, rate, n_iter):
    """Proportions [T] of a document after `n_iter` updates of all its responsibilities at once.

    Parameters
    ----------
    counts : [W] of its words
    word_share : [W, T] E[phi] of those words
    """
    length = counts.sum()
    if length == 0:
        mean = prior_shape / rate
        return mean / mean.sum()
    own = np.minimum(counts, 1.0)[:, None]
    responsibility = np.zeros(word_share.shape)
    held = np.zeros(len(prior_shape))
    proportion_rate = rate
    for _ in range(n_iter):
        others = prior_shape + held - own * responsibility
        joint = word_share * others / proportion_rate
        responsibility = joint / joint.sum(axis=1, keepdims=True)
        held = counts @ responsibility
        xi = solve_tangent(length, prior_shape + held, rate)
        proportion_rate = rate + length / xi
    mean = (prior_shape + held) / proportion_rate
    return mean / mean.sum()


def unsolved_share(proportions, counts, word_share, prior_shape, rate):
    """How far proportions [T] are from solving equation 22: tokens that would move, over N.

    theta gives back xi = beta / sum_k theta_k rho_k and a_k = theta_k (rho_k xi + N). Given those,
    the responsibilities are x a / (1 + o x) with x = phi / (b Z), where Z makes them sum to 1.
    """
    length = counts.sum()
    xi = prior_shape.sum() / (proportions @ rate)
    shape = proportions * (rate * xi + length)
    held = np.zeros(len(prior_shape))
    for count, share in zip(counts, word_share, strict=True):
        weight = share / (rate + length / xi)
        own = min(count, 1.0)
        start = np.log((weight * shape).sum())
        norm = np.exp(brentq(_excess, start - 60.0, start + 1.0, (weight, shape, own), xtol=1e-14))
        held += count * weight * shape / (norm + own * weight)
    return np.abs(prior_shape + held - shape).sum() / length


def _excess(log_norm, weight, shape, own):
    return (weight * shape / (np.exp(log_norm) + own * weight)).sum() - 1.0
