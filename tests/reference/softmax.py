"""Softmax regression, written for reading."""

import numpy as np
from scipy.special import log_softmax, logsumexp


def softmax_loss(design, lengths, weights):
    """sum_m N_m ln sum_k exp(r_m w_k) of a dense design [M, J], and its gradient [J, T]."""
    scores = design @ weights
    share = np.exp(log_softmax(scores, axis=1))
    return lengths @ logsumexp(scores, axis=1), design.T @ (lengths[:, None] * share)


def share_tokens(counts, proportions, word_share):
    """Expected tokens of each topic [M, T], of documents with given proportions of topics."""
    mixed = proportions @ word_share.T
    return proportions * ((counts / mixed) @ word_share)


def penalised_loss(design, tokens, ridge, weights):
    """The negative log likelihood of tokens [M, T] and half the ridge's penalty, and its gradient.

    The first row of `weights` is the intercept, which has no penalty.
    """
    loss, gradient = softmax_loss(design, tokens.sum(axis=1), weights)
    penalised = weights.copy()
    penalised[0] = 0.0
    loss += ridge * (penalised**2).sum() / 2 - (tokens * (design @ weights)).sum()
    return loss, gradient - design.T @ tokens + ridge * penalised


def mean_variances(design, proportions, weights, ridge, rows, shares):
    """The delta method for means over rows of expected proportions, with the whole Hessian.

    Returns the influence of each document on them [M, T], whose squares add up to the sandwich
    variance, and their variances if documents were multinomials of one token, [T].
    """
    theta, at = (np.exp(log_softmax(one @ weights, axis=1)) for one in (design, rows))
    n_topics, n_columns = theta.shape[1], design.shape[1]
    hessian = np.kron(np.eye(n_topics), np.diag([0.0] + [ridge] * (n_columns - 1)))
    for own, row in zip(theta, design, strict=True):
        hessian += np.kron(np.diag(own) - np.outer(own, own), np.outer(row, row))
    gradient = np.zeros((n_topics, n_topics * n_columns))
    for share, own, row in zip(shares, at, rows, strict=True):
        gradient += share * np.kron(np.diag(own) - np.outer(own, own), row)
    inverse = np.linalg.pinv(hessian, hermitian=True, rcond=1e-10)
    pairs = zip(proportions - theta, design, strict=True)
    scores = np.array([np.kron(residual, row) for residual, row in pairs])
    return scores @ inverse @ gradient.T, np.diag(gradient @ inverse @ gradient.T)
