"""The stability of topics across fits with other seeds."""

import warnings
from collections.abc import Callable, Mapping, Sequence
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
    first = first_seed(settings)
    changes = [{"random_state": seed} for seed in range(first, first + n_fits)]

    def read(other: Any) -> tuple[int, FloatArray]:
        return other.n_topics_, 1.0 - match_topics(fitted.components, other.components_)[1]

    found = fit_again(settings, X, labels, changes, "Fitting with other seeds", read)
    numbers, similarity = zip(*found, strict=True)
    return Refits(np.array(numbers), np.array(similarity))


def first_seed(settings: Any) -> int:
    """The first seed of further fits: the one after that of an estimator, or 1 if it has none."""
    seeded = isinstance(settings.random_state, (int, np.integer))
    return int(settings.random_state) + 1 if seeded else 1


def fit_again(
    settings: Any,
    X: Any,
    labels: object,
    changes: Sequence[Mapping[str, Any]],
    title: str,
    read: Callable[[Any], Any],
) -> list[Any]:
    """What `read` makes of each fit of an estimator with some parameters changed.

    Parameters
    ----------
    settings : HDSP
        The estimator, whether it is fitted or not.
    X : sparse array of shape [M, V] or Corpus
        The documents.
    labels : object
        Their labels, as in `HDSP.fit`.
    changes : sequence of mapping
        The parameters of each fit that differ.
    title : str
        What progress says is done.
    read : callable
        A function of a fitted estimator.
    """
    numbers, results = [], []
    told: dict[type[Warning], list[str]] = {}
    with progress.task(title, total=len(changes)) as task, interrupting_at_once():
        for done, change in enumerate(changes, start=1):
            other = clone(settings).set_params(**change, checkpoint=None)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                other.fit(X, labels=labels)
                numbers.append(other.n_topics_)
                results.append(read(other))
            for kind, message in {one.category: str(one.message) for one in caught}.items():
                told.setdefault(kind, []).append(message)
            task.update(done=done, topics_found=", ".join(map(str, numbers)))
    for kind, messages in told.items():
        warnings.warn(
            f"In {len(messages)} of {len(changes)} fits with other seeds or numbers, at first: "
            f"{messages[0]}",
            kind,
            stacklevel=5,
        )
    return results


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
