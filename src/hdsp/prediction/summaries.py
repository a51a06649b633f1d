"""Words that describe topics."""

import numpy as np

from hdsp.numerics.types import FloatArray, IntArray


def distinctive_words(word_share: FloatArray, topic_weight: FloatArray, n: int) -> IntArray:
    """The words whose probability a topic raises most: by phi_ki ln(phi_ki / mean_i), [T, n].

    Parameters
    ----------
    word_share : [T, V] E[phi]
    topic_weight : [T]
    """
    overall = topic_weight @ word_share
    gain = word_share * (np.log(word_share) - np.log(overall))
    return np.argsort(-gain, axis=1, kind="stable")[:, :n]
