"""Multinomial regression, written for reading."""

import numpy as np
from scipy.special import log_softmax


def softmax_residuals(design, coefficients, intercept, targets):
    """- sum_k n_mk ln theta_mk by document, and N_m theta_m - n_m, from a dense design [M, J]."""
    log_share = log_softmax(design @ coefficients + intercept, axis=1)
    lengths = targets.sum(axis=1, keepdims=True)
    return -(targets * log_share).sum(axis=1), lengths * np.exp(log_share) - targets
