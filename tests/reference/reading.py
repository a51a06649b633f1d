"""The unbiased linear reading of a document, written for reading."""

import numpy as np


def read_document(counts, tokens):
    """Proportions [T] of a document [V], given the tokens [T, V] of topics without their prior.

    Weighted least squares of word shares on topics; words that no topic has are ignored.
    """
    topics = tokens / tokens.sum(axis=1, keepdims=True)
    frequency = tokens.sum(axis=0) / tokens.sum()
    known = frequency > 0
    topics, frequency, own = topics[:, known], frequency[known], counts[known]
    if not own.sum():
        return np.full(len(topics), np.nan)
    scaled = topics / frequency
    return np.linalg.solve(scaled @ topics.T, scaled @ own / own.sum())
