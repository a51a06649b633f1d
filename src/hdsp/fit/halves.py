"""Which topics come back if they are learned from the other half of the documents."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from hdsp.fit.run import Run
from hdsp.fit.search import MOST_FITTED, short_fit
from hdsp.model import GlobalState, Problem
from hdsp.numerics import FloatArray

# Topics whose words deviate from the corpus' in directions with at least this cosine are the same.
SAME = 0.6


def count_returning(
    problem: Problem, start: Callable[[Problem], GlobalState], run: Run, rng: np.random.Generator
) -> int | None:
    """How many topics of a short fit of one half have a partner in that of the other.

    Parameters
    ----------
    problem : Problem
        All documents, or a sample of them.
    start : callable
        The state where a short fit of a half starts.
    run : Run
        How fits proceed.
    rng : numpy.random.Generator
        Chooses the halves.

    Returns
    -------
    int or None
        None if the run was interrupted.
    """
    order = rng.permutation(problem.n_documents)[: 2 * MOST_FITTED]
    middle = len(order) // 2
    found = []
    for rows in (order[:middle], order[middle:]):
        half = problem.take(np.sort(rows))
        found.append(short_fit(half, start(half), run).topics.T)
        if run.interrupted:
            return None
    frequency = np.asarray(problem.counts.sum(axis=0), dtype=np.float64)
    return returning_topics(found[0], found[1], frequency)


def returning_topics(one: FloatArray, other: FloatArray, frequency: FloatArray) -> int:
    """How many topics have a partner among others: a one-to-one match of `likeness` [T, T']."""
    alike = likeness(one, other, frequency)
    return int((alike[linear_sum_assignment(-alike)] >= SAME).sum())


def likeness(one: FloatArray, other: FloatArray, frequency: FloatArray) -> FloatArray:
    """How alike topics are, [T, T']: `SAME` or more are the same.

    The cosine of sqrt(phi) - sqrt(f), for word shares phi and the words' shares f of the corpus:
    what all topics share does not count.

    Parameters
    ----------
    one, other : float array of shape [T, V]
        Word weights of topics.
    frequency : float array of shape [V]
        Tokens of words in the corpus.
    """
    usual = np.sqrt(frequency / frequency.sum())
    directions = []
    for topics in (one, other):
        away = np.sqrt(topics / topics.sum(axis=1, keepdims=True)) - usual
        directions.append(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12))
    return np.asarray(directions[0] @ directions[1].T)
