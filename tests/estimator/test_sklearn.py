import os
import pickle
import subprocess
import sys
from functools import cache, partial
from unittest import SkipTest

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from hdsp import HDSP, Categorical, Constant, Corpus, LogLinear, simulate
from hdsp.model import split_tokens

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


@cache
def tagged():
    corpus, _ = simulate(
        [["red"], ["blue"], ["red", "blue"], []] * 20,
        n_topics=3,
        n_words=24,
        document_length=40,
        random_state=1,
    )
    return corpus


def tag_matrix(corpus):
    return corpus.labels.blocks[0].values.toarray()


def tag_frame(corpus):
    names = np.array(corpus.labels.blocks[0].columns)
    tags = [list(names[row > 0]) for row in tag_matrix(corpus)]
    return pd.DataFrame({"tags": pd.Series(tags, dtype=object)})


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
    counts = CountVectorizer().fit_transform(TEXTS)
    alone = small(n_components=4).fit(counts, labels=TEXT_TAGS)
    assert pipeline[-1].label_names_ == ("money", "pets")
    np.testing.assert_array_equal(theta, alone.transform(counts, labels=TEXT_TAGS))
    np.testing.assert_array_equal(at_once, theta)
    assert score == alone.score(counts, labels=TEXT_TAGS)
    # Without the labels the proportions are others, so routing has made a difference.
    assert not np.array_equal(theta, alone.transform(counts))


def test_a_pipeline_without_labels_needs_no_routing():
    pipeline = make_pipeline(CountVectorizer(), small(n_components=4)).fit(TEXTS)
    theta = pipeline.transform(TEXTS)
    assert theta.shape == (40, 4)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0)


SCALINGS = [
    "auto",
    Constant(),
    Categorical("tags", weight_shape=2.0),
    Categorical("tags") * LogLinear("rating", variance=0.5),
]


@pytest.mark.parametrize("scaling", SCALINGS, ids=repr)
def test_clone_copies_the_settings(scaling):
    model = HDSP(
        max_components=7,
        scaling=scaling,
        topic_prior=0.2,
        document_concentration=0.7,
        init="random",
        random_state=3,
    )
    copy = clone(model)
    assert repr(copy) == repr(model)
    assert copy.get_params() == model.get_params()
    assert repr(copy) != repr(clone(model).set_params(scaling=LogLinear("other")))


def test_a_clone_is_not_fitted_and_fits_to_the_same():
    model = small(scaling=Categorical("tags")).fit(tagged())
    copy = clone(model)
    with pytest.raises(NotFittedError):
        copy.transform(tagged())
    np.testing.assert_array_equal(copy.fit(tagged()).components_, model.components_)


GRID = {"n_components": [3, 8], "topic_prior": [0.05, 0.5]}


@pytest.mark.parametrize("form", ["matrix", "Labels", "frame"])
def test_grid_search_splits_and_routes_labels(form):
    corpus = tagged()
    labels = {"matrix": tag_matrix, "Labels": lambda c: c.labels, "frame": tag_frame}[form](corpus)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(routed(small(max_iter=10)), GRID, cv=2, error_score="raise")
        search.fit(corpus.counts, labels=labels)
    assert len(search.best_estimator_.label_names_) == 2
    assert search.best_estimator_.n_components == search.best_params_["n_components"]
    halves = [slice(0, 40), slice(40, 80)]
    by_hand = [
        small(max_iter=10, **search.best_params_)
        .fit(corpus[halves[1 - test]])
        .score(corpus[halves[test]])
        for test in (0, 1)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), rel=1e-6)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_grid_search_over_a_corpus():
    corpus = tagged()
    search = GridSearchCV(small(max_iter=10), GRID, cv=2, error_score="raise").fit(corpus)
    assert search.best_estimator_.words_ == corpus.words
    assert search.best_estimator_.label_names_ == ("blue", "red")
    with sklearn.config_context(enable_metadata_routing=True):
        other = GridSearchCV(routed(small(max_iter=10)), GRID, cv=2, error_score="raise")
        other.fit(corpus.counts, labels=corpus.labels)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )


def test_feature_names_and_pandas_output():
    corpus = tagged()
    model = small().fit(corpus)
    names = [f"hdsp{k}" for k in range(8)]
    assert list(model.get_feature_names_out()) == names
    plain = model.transform(corpus)
    frame = model.set_output(transform="pandas").transform(corpus)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == names
    np.testing.assert_array_equal(frame.to_numpy(), plain)


def test_pandas_output_keeps_the_index_of_the_documents():
    counts = pd.DataFrame(tagged().counts.toarray(), columns=list(tagged().words))
    counts.index = [f"document {m}" for m in range(len(counts))]
    model = small().set_output(transform="pandas").fit(counts)
    assert list(model.transform(counts).index) == list(counts.index)
    assert model.words_ == tagged().words
    assert list(model.feature_names_in_) == list(tagged().words)


@pytest.mark.parametrize(
    "scaling", ["auto", Categorical("tags") * LogLinear("rating")], ids=["auto", "product"]
)
def test_a_fitted_model_survives_pickling(scaling, tmp_path):
    frame = tag_frame(tagged()).assign(rating=np.arange(80.0))
    counts = tagged().counts
    model = small(scaling=scaling).fit(counts, labels=frame)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(
            copy.transform(counts, labels=frame), model.transform(counts, labels=frame)
        )
        for method in ("regression", "exact", "ratio"):
            np.testing.assert_array_equal(
                copy.expected_topics(frame, method), model.expected_topics(frame, method)
            )
        assert copy.history_ == model.history_
        pd.testing.assert_frame_equal(copy.topics(), model.topics())
        pd.testing.assert_frame_equal(copy.label_effects(), model.label_effects())


def test_fitting_again_replaces_everything():
    counts = pd.DataFrame(
        tagged().counts.toarray()[:, :10], columns=[f"word{i}" for i in range(10)]
    )
    labels = tag_frame(tagged()).assign(rating=np.arange(80.0))
    other, _ = simulate(n_documents=50, n_topics=4, n_words=15, random_state=5)
    model = small(scaling="auto").fit(counts, labels=labels)
    model.set_params(n_components=6).fit(other)
    fresh = small(n_components=6).fit(other)
    assert model.components_.shape == (6, 15)
    np.testing.assert_array_equal(model.components_, fresh.components_)
    np.testing.assert_array_equal(model.transform(other), fresh.transform(other))
    assert model.words_ == fresh.words_
    assert model.label_names_ == fresh.label_names_ == ()
    assert model.n_features_in_ == 15
    assert list(model.get_feature_names_out()) == list(fresh.get_feature_names_out())
    assert [row["bound"] for row in model.history_] == [row["bound"] for row in fresh.history_]
    # Attributes of the first fit, such as its words, do not outlive it.
    assert set(vars(model)) == set(vars(fresh))


def test_fitting_counts_after_a_corpus_replaces_its_words():
    model = small().fit(Corpus([[3, 0], [0, 2], [1, 1]] * 5, words=["cat", "dog"]))
    model.fit(np.array([[3, 0], [0, 2], [1, 1]] * 5))
    assert model.words_ == ("w0", "w1")


def test_a_corpus_of_other_words_in_a_pipeline_step_is_refused_after_fit_on_counts():
    pipeline = Pipeline([("model", small())]).fit(tagged().counts)
    other = Corpus(tagged().counts, words=[f"x{i}" for i in range(24)])
    with pytest.raises(ValueError, match="other words than the model"):
        pipeline.transform(other)


def test_changing_n_components_after_fit_does_not_change_the_fitted_model():
    model = small().fit(tagged())
    before = model.topics()
    model.set_params(n_components=20)
    assert len(model.get_feature_names_out()) == model.transform(tagged()).shape[1] == 8
    pd.testing.assert_frame_equal(model.topics(), before)


ANIMALS = ["cats chase mice", "dogs chase cats", "mice eat cheese", "dogs eat meat"] * 8


@pytest.mark.filterwarnings("ignore:HDSP stopped")
def test_grid_search_over_a_pipeline_with_labels():
    labels = pd.DataFrame({"kind": ["a", "b", "a", "c"] * 8})
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(CountVectorizer(), routed(small(max_iter=10)))
        grid = {"hdsp__topic_prior": [0.05, 0.5]}
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(ANIMALS, labels=labels)
        pipeline.fit(ANIMALS, labels=labels)
        scored = pipeline.score(ANIMALS, labels=labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[-1].label_names_ == ("a", "b", "c")
    counts = pipeline[0].transform(ANIMALS)
    assert scored == pytest.approx(pipeline[-1].score(counts, labels=labels))
    assert scored != pytest.approx(pipeline[-1].score(counts))


def test_a_document_of_weight_two_scores_as_two():
    counts = np.asarray(CountVectorizer().fit_transform(ANIMALS).todense()) * 4.0
    model = small(max_iter=10).fit(counts)
    weight = np.arange(len(counts)) % 3
    by_hand = np.log(model.perplexity(counts, given="completion", per_document=True))
    tokens = split_tokens(csr_array(counts))[1].sum(axis=1)
    expected = -(weight * tokens * by_hand).sum() / (weight * tokens).sum()
    assert model.score(counts, sample_weight=weight) == pytest.approx(expected)
    assert model.score(counts, sample_weight=np.ones(len(counts))) == model.score(counts)
    for wrong in (np.ones(3), np.full(len(counts), -1.0), np.full(len(counts), np.nan)):
        with pytest.raises(ValueError, match=r"`sample_weight` of HDSP.score must be a non-neg"):
            model.score(counts, sample_weight=wrong)
