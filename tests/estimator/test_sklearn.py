import os
import subprocess
import sys
from functools import cache, partial
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from hdsp import HDSP, simulate
from hdsp.model.reading import split_tokens
from tests import zoo

# The checks' data is small: few words, few documents, so that topics fill up and limits are met.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* topics are in use of:UserWarning"),
    pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter"),
    # The checks pass a target to every estimator.
    pytest.mark.filterwarnings("ignore:HDSP.(partial_)?fit ignores `y`"),
    # scikit-learn asks for one component in some of its checks.
    pytest.mark.filterwarnings("ignore:n_components=1 of HDSP leaves a single topic"),
]

# SciPy reads this variable when it is imported, so this check has a process of its own below.
_ARRAY_API_CHECK = "check_array_api_input"

_RUN_CHECK = """
import warnings
warnings.simplefilter("ignore")
from tests.estimator.test_sklearn import _ARRAY_API_CHECK, checks
(check,) = [check for name, check in checks() if name == _ARRAY_API_CHECK]
check()
"""


def checks():
    """The default but for the ceiling: a search up to 200 topics on so few words takes minutes."""
    estimator = HDSP(max_components=5, max_iter=20, random_state=0)
    for model, check in estimator_checks_generator(estimator):
        yield check.func.__name__, partial(check, model)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{number}-{name}")
        for number, (name, check) in enumerate(checks())
        if name != _ARRAY_API_CHECK
    ],
)
def test_check_estimator(check):
    try:
        check()
    except SkipTest as reason:
        pytest.fail(f"The check was skipped: {reason}")


def test_the_check_that_needs_a_process_of_its_own():
    finished = subprocess.run(
        [sys.executable, "-c", _RUN_CHECK],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr


TAGS = [["red"], ["blue"], ["red", "blue"], []] * 20


@cache
def tagged():
    return simulate(TAGS, n_topics=3, n_words=24, document_length=40, random_state=1)[0]


def small(**settings):
    return HDSP(**{"n_components": 8, "random_state": 0, "n_jobs": 1} | settings)


def routed(model):
    return (
        model.set_fit_request(labels=True)
        .set_transform_request(labels=True)
        .set_score_request(labels=True)
    )


TEXTS = ["cat dog cat purr", "dog bark dog", "stock market trade", "trade stock price"] * 10
TEXT_TAGS = [["pets"], ["pets"], ["money"], ["money"]] * 10


def test_a_pipeline_routes_labels_to_every_method():
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(CountVectorizer(), routed(small(n_components=4)))
        pipeline.fit(TEXTS, labels=TEXT_TAGS)
        theta = pipeline.transform(TEXTS, labels=TEXT_TAGS)
        # Not pipeline.score: with routing on, it insists on a last step that takes sample_weight
        # (scikit-learn's issue 30937; its own LDA fails the same way).
        score = pipeline[-1].score(pipeline[:-1].transform(TEXTS), labels=TEXT_TAGS)
        at_once = clone(pipeline).fit_transform(TEXTS, labels=TEXT_TAGS)
        grid = {"hdsp__topic_prior": [0.05, 0.5]}
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise")
        search.fit(TEXTS, labels=TEXT_TAGS)
    counts = CountVectorizer().fit_transform(TEXTS)
    alone = small(n_components=4).fit(counts, labels=TEXT_TAGS)
    assert pipeline[-1].label_names_ == ("money", "pets")
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    np.testing.assert_array_equal(theta, alone.transform(counts, labels=TEXT_TAGS))
    np.testing.assert_array_equal(at_once, theta)
    assert score == alone.score(counts, labels=TEXT_TAGS)
    # Without the labels the proportions are others, so routing has made a difference.
    assert not np.array_equal(theta, alone.transform(counts))


GRID = {"n_components": [3, 8]}


def test_grid_search_splits_a_corpus_and_routes_labels():
    corpus, halves = tagged(), [slice(0, 40), slice(40, 80)]
    search = GridSearchCV(small(max_iter=10), GRID, cv=2, error_score="raise").fit(corpus)
    best = search.best_estimator_
    assert best.words_ == corpus.words
    assert best.label_names_ == ("blue", "red")
    by_hand = [
        small(max_iter=10, **search.best_params_)
        .fit(corpus[halves[1 - test]])
        .score(corpus[halves[test]])
        for test in (0, 1)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-6)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    frame = pd.DataFrame({"tags": pd.Series(TAGS, dtype=object)})
    for labels in (corpus.labels, corpus.labels.blocks[0].values.toarray(), frame):
        with sklearn.config_context(enable_metadata_routing=True):
            other = GridSearchCV(routed(small(max_iter=10)), GRID, cv=2, error_score="raise")
            other.fit(corpus.counts, labels=labels)
        np.testing.assert_allclose(
            search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
        )


def test_feature_names_and_pandas_output():
    corpus = tagged()
    model = small().fit(corpus)
    names = [f"hdsp{k}" for k in range(8)]
    assert list(model.get_feature_names_out()) == names
    plain = model.transform(corpus)
    counts = pd.DataFrame(corpus.counts.toarray(), columns=list(corpus.words))
    counts.index = [f"document {m}" for m in range(len(counts))]
    model = small().set_output(transform="pandas").fit(counts, labels=corpus.labels)
    frame = model.transform(counts, labels=corpus.labels)
    assert list(frame.columns) == names
    assert list(frame.index) == list(counts.index)
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    assert model.words_ == corpus.words
    assert list(model.feature_names_in_) == list(corpus.words)


def test_fitting_again_replaces_everything():
    counts = pd.DataFrame(
        tagged().counts.toarray()[:, :10], columns=[f"word{i}" for i in range(10)]
    )
    labels = pd.DataFrame({"tags": TAGS, "rating": np.arange(80.0)})
    other, _ = simulate(n_documents=50, n_topics=4, n_words=15, random_state=5)
    model = small(scaling="auto").fit(counts, labels=labels)
    model.set_params(n_components=6).fit(other)
    fresh = small(n_components=6).fit(other)
    zoo.assert_same(zoo.stored(model), zoo.stored(fresh))
    assert zoo.facts(model) == zoo.facts(fresh)
    assert list(model.get_feature_names_out()) == list(fresh.get_feature_names_out())
    # Attributes of the first fit, such as its words, do not outlive it.
    assert set(vars(model)) == set(vars(fresh))
    assert model.fit(np.ones((6, 2))).words_ == ("w0", "w1")


def test_a_document_of_weight_two_scores_as_two():
    counts = np.asarray(CountVectorizer().fit_transform(TEXTS).todense()) * 4.0
    model = small(max_iter=10).fit(counts)
    weight = np.arange(len(counts)) % 3
    by_hand = np.log(model.perplexity(counts, given="completion", per_document=True))
    tokens = split_tokens(csr_array(counts))[1].sum(axis=1)
    expected = -(weight * tokens * by_hand).sum() / (weight * tokens).sum()
    assert model.score(counts, sample_weight=weight) == pytest.approx(expected)
    assert model.score(counts, sample_weight=np.ones(len(counts))) == model.score(counts)
