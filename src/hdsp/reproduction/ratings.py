"""Ratings of reviews from their words, by the classifiers of the paper."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from hdsp.comparison import word_likelihoods
from hdsp.corpus import Corpus, Labels
from hdsp.peers import FittedHDSP, Peer, make_peer, target_values
from hdsp.peers import Settings as FitSettings
from hdsp.reproduction.models import PapersProcess
from hdsp.reproduction.study import Settings
from hdsp.scaling import LogLinear

_TARGET = "rating"


@dataclass(frozen=True)
class Rater:
    """A classifier by its name in the paper.

    Attributes
    ----------
    make : makes the model
    n_topics : of its topics; None takes the study's
    takes_categories : whether it can know a review's category
    rating_is_number : else it is a category
    by_likelihood : whether a review gets the rating that makes its words most probable, as in the
        paper; else the model predicts it
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


def rate(
    model: str, train: Corpus, test: Corpus, settings: Settings, seed: int, n_jobs: int
) -> list[int]:
    """Fit the model of that name, and give every test document a rating."""
    rater = RATERS[model]
    fitted = rater.make().fit(
        train,
        FitSettings(
            n_topics=rater.n_topics or settings["topics"],
            seed=seed,
            quick=settings["quick"],
            n_jobs=n_jobs,
            target=_TARGET,
            # The peers keep their own.
            topic_prior=settings["topic_prior"] if rater.by_likelihood else None,
        ),
    )
    if rater.by_likelihood and isinstance(fitted, FittedHDSP):
        return _by_the_papers_rule(fitted, train, test)
    found = fitted.predict(test.counts, test.labels)
    if found is None:
        raise TypeError(f"The model {model!r} predicts no labels.")
    return [int(float(value)) for value in found]


def _by_the_papers_rule(fitted: FittedHDSP, train: Corpus, test: Corpus) -> list[int]:
    """The rating whose expected topics, by the paper's ratio, make the words most probable."""
    seen = {float(value) for value in target_values(train.labels, _TARGET) if value is not None}
    values = np.array(sorted(seen))
    scores = [
        word_likelihoods(
            test.counts, fitted, fitted.given_labels(_rated(test.labels, value), "ratio")
        )
        for value in values
    ]
    return [int(value) for value in values[np.argmax(scores, axis=0)]]


def _rated(labels: Labels, value: float) -> Labels:
    """The same labels, all with this rating."""
    column = csr_array(np.full((len(labels), 1), value))
    blocks = [
        replace(block, values=column) if block.name == _TARGET else block for block in labels.blocks
    ]
    return Labels(tuple(blocks), len(labels))
