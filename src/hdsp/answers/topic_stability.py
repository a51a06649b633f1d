"""The stability of topics across fits with other seeds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from hdsp import progress
from hdsp.fit import interrupting_at_once
from hdsp.metrics import match_topics
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import FittedModel

# Topics that share at least this much probability count as the same topic.
SAME = 0.5


@dataclass(frozen=True, eq=False)
class Refits:
    """Fits of the same model with other seeds.

    Attributes
    ----------
    numbers : int array of shape [R]
        Topics in use in each fit.
    similarity : float array of shape [R, T]
        The probability that each topic of the model shares with its partner in each fit: 1 minus
        their total variation; 0 without a partner.
    """

    numbers: IntArray
    similarity: FloatArray

    @property
    def found(self) -> IntArray:
        """In how many fits each topic was found again, [T]."""
        return np.asarray((self.similarity >= SAME).sum(axis=0))


def refit(fitted: FittedModel, settings: Any, X: Any, labels: object, n_fits: int) -> Refits:
    """Fit again with `n_fits` other seeds, and match the topics of a model.

    Parameters
    ----------
    fitted : FittedModel
        The model.
    settings : HDSP
        An estimator with the parameters of the fits, whether it is fitted or not.
    X : sparse array of shape [M, V] or Corpus
        The documents that `fitted` was fitted to.
    labels : object
        Their labels, as in `HDSP.fit`.
    n_fits : int
        The number R of fits.
    """
    seeded = isinstance(settings.random_state, (int, np.integer))
    first = int(settings.random_state) + 1 if seeded else 1
    numbers, similarity = [], []
    with progress.task("Fitting with other seeds", total=n_fits) as task, interrupting_at_once():
        for number, seed in enumerate(range(first, first + n_fits), start=1):
            other = clone(settings).set_params(random_state=seed, checkpoint=None)
            other.fit(X, labels=labels)
            numbers.append(other.n_topics_)
            similarity.append(1.0 - match_topics(fitted.components, other.components_)[1])
            task.update(done=number, topics_found=", ".join(map(str, numbers)))
    return Refits(np.array(numbers), np.array(similarity))


def stability_columns(refits: Refits) -> dict[str, list[Any]]:
    """The columns of `HDSP.topic_stability`, one row per topic."""
    n_fits, n_topics = refits.similarity.shape
    return {
        "topic": list(range(n_topics)),
        "similarity": refits.similarity.mean(axis=0).tolist(),
        "lowest": refits.similarity.min(axis=0).tolist(),
        "found_in": refits.found.tolist(),
        "fits": [n_fits] * n_topics,
    }
