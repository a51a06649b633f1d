"""Ratings of reviews from their words, by the classifiers of the paper."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels, LogLinear
from hdsp_studies.comparison import word_likelihoods
from hdsp_studies.peers import FitSettings, FittedHDSP, Peer, make_peer, target_values
from hdsp_studies.reproduction.models import PapersProcess
from hdsp_studies.reproduction.study import Settings

_TARGET = "rating"


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
    by_likelihood : bool, default=False
        Whether a review gets the rating that makes its words most probable, as in the paper, else
        what the model predicts.
    """

    make: Callable[[], Peer]
    n_topics: int | None = None
    takes_categories: bool = True
    rating_is_number: bool = True
    by_likelihood: bool = False


def _peer(name: str) -> Callable[[], Peer]:
    return partial(make_peer, name)


RATERS = {
    "wHDSP": Rater(lambda: PapersProcess(LogLinear()), by_likelihood=True),
    "HDSP found": Rater(_peer("hdsp"), rating_is_number=False),
    "LDA50+SVM": Rater(_peer("lda-svm"), 50),
    "LDA100+SVM": Rater(_peer("lda-svm"), 100),
    "LDA200+SVM": Rater(_peer("lda-svm"), 200),
    "SLDA50": Rater(_peer("slda"), 50, takes_categories=False, rating_is_number=False),
    "SLDA100": Rater(_peer("slda"), 100, takes_categories=False, rating_is_number=False),
    "SLDA200": Rater(_peer("slda"), 200, takes_categories=False, rating_is_number=False),
    "SVM": Rater(_peer("svm")),
    "NaiveBayes": Rater(_peer("nb"), takes_categories=False),
    "DecisionTree": Rater(_peer("tree")),
}


def rate(model: str, train: Corpus, test: Corpus, settings: Settings, seed: int) -> list[int]:
    """Fit the model of that name, and rate every test document."""
    rater = RATERS[model]
    fitted = rater.make().fit(
        train,
        FitSettings(
            n_topics=rater.n_topics or settings["topics"],
            seed=seed,
            quick=settings["quick"],
            target=_TARGET,
            # The peers keep their own.
            topic_prior=settings["topic_prior"] if rater.by_likelihood else None,
        ),
    )
    if rater.by_likelihood and isinstance(fitted, FittedHDSP):
        found: list[str] | None = most_likely_ratings(fitted, train, test)
    else:
        found = fitted.predict(test.counts, test.labels)
    if found is None:
        raise TypeError(f"The model {model!r} predicts no labels.")
    return [int(float(value)) for value in found]


def most_likely_ratings(fitted: FittedHDSP, train: Corpus, test: Corpus) -> list[str]:
    """The paper's rule: the rating whose expected topics make the words most probable."""
    values = sorted({value for value in target_values(train.labels, _TARGET) if value is not None})
    scores = [
        word_likelihoods(
            test.counts, fitted, fitted.given_labels(_rated(test.labels, float(value)), "ratio")
        )
        for value in values
    ]
    return [values[place] for place in np.argmax(scores, axis=0)]


def _rated(labels: Labels, value: float) -> Labels:
    """The same labels, all with this rating."""
    column = csr_array(np.full((len(labels), 1), value))
    blocks = [
        replace(block, values=column) if block.name == _TARGET else block for block in labels.blocks
    ]
    return Labels(tuple(blocks), len(labels))
