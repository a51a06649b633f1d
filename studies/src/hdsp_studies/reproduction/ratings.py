"""Ratings of reviews from their words, by the classifiers of the paper."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hdsp import Corpus
from hdsp_studies.peers import FitSettings, Peer, make_peer
from hdsp_studies.peers.classifiers import TopicClassifier
from hdsp_studies.reproduction.models import DEFAULT, PublishedModel, describe_fit
from hdsp_studies.reproduction.study import Row, Settings

_TARGET, OURS = "rating", "wHDSP"


@dataclass(frozen=True)
class Rater:
    """How a classifier of the paper rates reviews.

    Attributes
    ----------
    make : callable
        Makes the model.
    n_topics : int or None, default=None
        Number of topics; None takes the study's.
    takes_categories : bool, default=True
        Whether it can know a review's category.
    rating_is_number : bool, default=True
        Whether it takes the rating as a number, else as a category.
    """

    make: Callable[[], Peer]
    n_topics: int | None = None
    takes_categories: bool = True
    rating_is_number: bool = True


def _peer(name: str) -> Callable[[], Peer]:
    return partial(make_peer, name)


# The paper does not say how LDA was fitted.
_LDA = partial(TopicClassifier, passes=10)
RATERS = {
    OURS: Rater(partial(PublishedModel, OURS)),
    DEFAULT: Rater(_peer("hdsp"), rating_is_number=False),
    "LDA50+SVM": Rater(_LDA, 50),
    "LDA100+SVM": Rater(_LDA, 100),
    "LDA200+SVM": Rater(_LDA, 200),
    "SLDA50": Rater(_peer("slda"), 50, takes_categories=False, rating_is_number=False),
    "SLDA100": Rater(_peer("slda"), 100, takes_categories=False, rating_is_number=False),
    "SLDA200": Rater(_peer("slda"), 200, takes_categories=False, rating_is_number=False),
    "SVM": Rater(_peer("svm")),
    "NaiveBayes": Rater(_peer("nb"), takes_categories=False),
    "DecisionTree": Rater(_peer("tree")),
}


def rate(unit: Row, train: Corpus, test: Corpus, settings: Settings) -> tuple[list[int], Any]:
    """The ratings that the model of a unit gives to test documents, and how its fit went.

    wHDSP gives the rating under which the words are most probable, as in the paper, the library's
    default fit the most probable one.
    """
    rater = RATERS[unit["model"]]
    peer = PublishedModel(OURS, unit["fit"]) if unit["model"] == OURS else rater.make()
    chosen = FitSettings(
        n_topics=rater.n_topics or settings["topics"],
        seed=unit["seed"],
        quick=settings["quick"],
        target=_TARGET,
        # The others keep their own.
        topic_prior=settings["topic_prior"] if unit["model"] == OURS else None,
        sweeps=settings["sweeps"],
    )
    fitted = peer.fit(train, chosen)
    found = fitted.predict(test.counts, test.labels)
    if found is None:
        raise TypeError(f"The model {unit['model']!r} predicts no labels.")
    return [int(float(value)) for value in found], describe_fit(fitted, peer, chosen)
