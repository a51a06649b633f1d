"""Log likelihood of counts under mixtures, written for reading."""

import numpy as np


def mixture_log_likelihood(counts, proportions, word_share):
    """sum_i c_mi ln sum_k theta_mk phi_ki, [M], from dense arrays [M, V], [M, T], [V, T]."""
    mixed = proportions @ word_share.T
    return np.where(counts > 0, counts * np.log(mixed), 0.0).sum(axis=1)
