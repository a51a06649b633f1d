"""Words and labels that describe topics."""

import numpy as np

from hdsp.numerics.types import FloatArray, IntArray


def distinctive_words(word_share: FloatArray, topic_weight: FloatArray, n: int) -> IntArray:
    """The words whose probability a topic raises most, by phi_ki ln(phi_ki / mean_i), [T, n].

    `word_share` [T, V] is E[phi], and the mean is weighted by `topic_weight` [T].
    """
    overall = topic_weight @ word_share
    gain = word_share * (np.log(word_share) - np.log(overall))
    return np.argsort(-gain, axis=1, kind="stable")[:, :n]


def associated_labels(effect: FloatArray, n: int) -> tuple[list[IntArray], list[IntArray]]:
    """For each topic at most `n` labels that raise it most, and `n` that lower it most.

    `effect` [J, T] are the changes of expected proportions.
    """
    order = np.argsort(-effect, axis=0, kind="stable")
    raised = [column[:n][effect[column[:n], k] > 0] for k, column in enumerate(order.T)]
    lowered = [column[::-1][:n] for column in order.T]
    return raised, [row[effect[row, k] < 0] for k, row in enumerate(lowered)]
