"""Plain twin of `hdsp.metrics.coherence`, written for reading."""

from itertools import combinations
from math import log

import numpy as np


def npmi(top_words, counts):
    """Mean NPMI over the pairs of each topic's words; `counts` is dense [M, V]."""
    documents = [set(np.flatnonzero(row)) for row in counts]

    def share(*words):
        return sum(set(words) <= document for document in documents) / len(documents)

    def pair(i, j):
        joint = share(i, j)
        if joint == 0:
            return -1.0
        if joint == 1:
            return 0.0
        return log(joint / (share(i) * share(j))) / -log(joint)

    return np.array(
        [np.mean([pair(i, j) for i, j in combinations(topic, 2)]) for topic in top_words]
    )
