"""Labels from words."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus, simulate
from hdsp.analysis.label_prediction import STRENGTH


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="HDSP stopped after")
        yield


@cache
def data():
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {
            "place": rng.choice(["north", "south", "west"], p=[0.6, 0.3, 0.1], size=n),
            "tags": pd.Series([list(np.array(["a", "b"])[rng.random(2) < 0.3]) for _ in range(n)]),
            "rating": rng.integers(1, 4, size=n).astype(float),
        }
    )
    corpus, _ = simulate(
        frame,
        n_topics=6,
        n_words=60,
        document_length=60,
        topic_prior=0.05,
        corpus_concentration=5.0,
        document_concentration=10.0,
        random_state=5,
    )
    return corpus.counts[:400], frame[:400], corpus.counts[400:], frame[400:].reset_index(drop=True)


@cache
def fitted():
    counts, frame, _, _ = data()
    return HDSP(8, random_state=0, n_jobs=1, max_iter=40).fit(counts, labels=frame)


def word_probability(model, labels, column=None):
    """p(word | labels) of one document, by definition, with the words a label favours."""
    share = model.components_ / model.components_.sum(axis=1, keepdims=True)
    probability = model.expected_topics(labels, weight="tokens") @ share
    if column is not None:
        counts, frame, _, _ = data()
        carried = {
            "place": lambda: frame["place"] == column[1],
            "tags": lambda: frame["tags"].map(lambda tags: column[1] in tags),
        }[column[0]]().to_numpy()
        theta = np.maximum(model.proportions_[carried], 0.0)
        theta /= theta.sum(axis=1, keepdims=True)
        expected = (np.asarray(counts[carried].sum(axis=1))[:, None] * theta).sum(axis=0) @ share
        found = np.asarray(counts[carried].sum(axis=0))
        probability = probability * (found + STRENGTH) / (expected + STRENGTH)
    return probability / probability.sum(axis=1, keepdims=True)


def test_a_category_by_definition():
    model = fitted()
    _counts, frame, new, _ = data()
    found = model.predict_labels(new[:4], "place", method="generative")
    assert list(found.columns) == ["north", "south", "west"]
    score = np.empty((4, 3))
    for j, level in enumerate(found.columns):
        probability = word_probability(model, pd.DataFrame({"place": [level]}), ("place", level))
        carriers = (frame["place"] == level).sum() + 1
        score[:, j] = new[:4] @ np.log(probability[0]) + np.log(carriers)
    expected = np.exp(score - score.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    # The model expects of labels' documents by label sets, here document by document.
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-4, atol=1e-8)


def test_a_number_by_definition_with_other_labels_known():
    model = fitted()
    _, frame, new, labels = data()
    known = labels[["place"]][:3]
    found = model.predict_labels(new[:3], "rating", labels=known, method="generative")
    assert list(found.columns) == ["1", "2", "3"]
    score = np.empty((3, 3))
    for j, value in enumerate((1.0, 2.0, 3.0)):
        for m in range(3):
            row = pd.DataFrame({"place": [known["place"][m]], "rating": [value]})
            log_word = np.log(word_probability(model, row)[0])
            score[m, j] = (new[[m]] @ log_word)[0] + np.log((frame["rating"] == value).sum() + 1)
    expected = np.exp(score - score.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-4, atol=1e-8)


def test_the_targets_own_values_are_not_looked_at():
    model = fitted()
    _, _, new, labels = data()
    for target in ("place", "tags", "rating"):
        others = labels.drop(columns=target)
        ours = model.predict_labels(new, target, labels=labels)
        pd.testing.assert_frame_equal(ours, model.predict_labels(new, target, labels=others))
    corpus = Corpus(new, words=model.words_, labels=labels)
    pd.testing.assert_frame_equal(
        model.predict_labels(corpus, "rating"), model.predict_labels(new, "rating", labels=labels)
    )


def test_the_prior_is_how_often_values_occurred():
    model = fitted()
    _, frame, new, _ = data()
    with_prior, without = (
        model.predict_labels(new[:5], "place", prior=prior).to_numpy() for prior in (True, False)
    )
    carriers = frame["place"].value_counts()[["north", "south", "west"]].to_numpy() + 1
    expected = without * carriers
    np.testing.assert_allclose(with_prior, expected / expected.sum(axis=1, keepdims=True))
    empty = csr_array(new.shape)
    none = model.predict_labels(empty[:1], "place", prior=False, method="generative")
    assert none.to_numpy() == pytest.approx(1 / 3)
    none = model.predict_labels(empty[:1], "tags", prior=False, method="generative")
    assert none.to_numpy() == pytest.approx(0.5)


def test_some_values_only():
    model = fitted()
    _, _, new, _ = data()
    every = model.predict_labels(new[:5], "place")[["west", "north"]]
    some = model.predict_labels(new[:5], "place", values=["west", "north"])
    assert list(some.columns) == ["west", "north"]
    np.testing.assert_allclose(some, every.div(every.sum(axis=1), axis=0))
    numbers = model.predict_labels(new[:5], "rating", values=[1.5, 3])
    assert list(numbers.columns) == ["1.5", "3"]


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("weather", {}, "must be labels that the model was trained with: .*. Got 'weather'"),
        (None, {}, "must be labels that the model was trained with"),
        ("place", {"values": []}, "must be a list of values, each named once. Got \\[\\]"),
        ("place", {"values": "north"}, "must be a list of values, each named once. Got 'north'"),
        (
            "place",
            {"values": ["moon"]},
            "must be among those of 'place' in training: .*. Got 'moon'",
        ),
        ("place", {"values": ["west", "west"]}, "each named once"),
        ("rating", {"values": ["good"]}, "must be numbers near those of training"),
        ("rating", {"values": [np.nan]}, "must be numbers near those of training"),
        ("rating", {"values": [3, 1e308]}, r"from \S+ to \S+\. Got 1e\+308"),
        ("place", {"prior": 0.5}, "`prior` of HDSP.predict_labels must be True or False"),
        ("place", {"method": "bayes"}, "`method` of HDSP.predict_labels must be one of"),
    ],
)
def test_bad_questions(target, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitted().predict_labels(data()[2], target, **settings)
