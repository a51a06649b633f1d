"""The topics' side of a pass, written for reading."""

import numpy as np
from scipy.special import psi


def word_table(topics):
    """exp(E ln phi_ki), [V, T], of Dirichlet parameters [V, T]."""
    return np.exp(psi(topics) - psi(topics.sum(axis=0)))


def word_counts(counts, table, weight):
    """sum_m c_mi gamma_mik, [V, T], from dense counts [M, V] and exp(E ln pi) [M, T]."""
    total = np.zeros_like(table)
    for row, e in zip(counts, weight, strict=True):
        for i in np.flatnonzero(row):
            joint = table[i] * e
            total[i] += row[i] * joint / joint.sum()
    return total
