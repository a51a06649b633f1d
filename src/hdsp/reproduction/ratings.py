"""Ratings of reviews from their words, by the classifiers of the paper."""

from dataclasses import dataclass, replace

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
    peer : its name among the peers
    n_topics : of its topics; None takes the study's
    takes_categories : whether it can know a review's category
    rating_is_number : else it is a category
    """

    peer: str
    n_topics: int | None = None
    takes_categories: bool = True
    rating_is_number: bool = True


RATERS = {
    "wHDSP": Rater("whdsp"),
    "HDSP": Rater("hdsp", rating_is_number=False),
    "LDA50+SVM": Rater("lda-svm", 50),
    "LDA100+SVM": Rater("lda-svm", 100),
    "LDA200+SVM": Rater("lda-svm", 200),
    "SLDA50": Rater("slda", 50, takes_categories=False, rating_is_number=False),
    "SLDA100": Rater("slda", 100, takes_categories=False, rating_is_number=False),
    "SLDA200": Rater("slda", 200, takes_categories=False, rating_is_number=False),
    "SVM": Rater("svm"),
    "NaiveBayes": Rater("nb", takes_categories=False),
    "DecisionTree": Rater("tree"),
}


def rate(
    model: str, train: Corpus, test: Corpus, settings: Settings, seed: int, n_jobs: int
) -> list[int]:
    """Fit the model of that name, and give every test document a rating."""
    rater = RATERS[model]
    chosen = FitSettings(
        n_topics=rater.n_topics or settings["topics"],
        seed=seed,
        quick=settings["quick"],
        n_jobs=n_jobs,
        target=_TARGET,
    )
    if model == "wHDSP":
        process = PapersProcess(LogLinear())
        fitted = process.fit(train, replace(chosen, topic_prior=settings["topic_prior"]))
        return _by_the_papers_rule(fitted, train, test)
    peer: Peer = make_peer(rater.peer)
    found = peer.fit(train, chosen).predict(test.counts, test.labels)
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
