"""Labels from words: by the model's definition, and as often right as promised."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus, simulate
from hdsp.analysis import label_prediction
from hdsp.analysis.label_prediction import STRENGTH, word_evidence
from hdsp.corpus import LabelSchema
from hdsp_studies.synthetic import LabelDesign, make_corpus

TRAIN = 1_200
pytestmark = pytest.mark.filterwarnings("ignore:HDSP stopped after")


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
    sizes = {"n_topics": 6, "n_words": 60, "document_length": 60, "topic_prior": 0.05}
    sizes |= {"corpus_concentration": 5.0, "document_concentration": 10.0}
    counts = simulate(frame, **sizes, random_state=5)[0].counts
    return counts[:400], frame[:400], counts[400:], frame[400:].reset_index(drop=True)


@cache
def fitted():
    counts, frame, _, _ = data()
    return HDSP(8, random_state=0, n_jobs=1, max_iter=40).fit(counts, labels=frame)


def log_word(labels, level=None):
    """ln p(word | labels) of one document, by definition, with the words that a level favours."""
    model, (counts, frame, _, _) = fitted(), data()
    share = model.components_ / model.components_.sum(axis=1, keepdims=True)
    probability = model.expected_topics(labels, weight="tokens")[0] @ share
    if level is not None:
        carried = (frame["place"] == level).to_numpy()
        theta = np.maximum(model.proportions_[carried], 0.0)
        theta /= theta.sum(axis=1, keepdims=True)
        expected = (np.asarray(counts[carried].sum(axis=1))[:, None] * theta).sum(axis=0) @ share
        found = np.asarray(counts[carried].sum(axis=0))
        probability = probability * (found + STRENGTH) / (expected + STRENGTH)
    return np.log(probability / probability.sum())


@pytest.mark.parametrize("target", ["place", "rating"])
def test_generative_probabilities_by_definition(target):
    """Of a category, and of a number where other labels are known."""
    _, frame, new, labels = data()
    known = labels[["place"]][:4] if target == "rating" else None
    found = fitted().predict_labels(new[:4], target, labels=known, method="generative")
    values = {"place": ["north", "south", "west"], "rating": [1.0, 2.0, 3.0]}[target]
    assert list(found.columns) == [f"{v:.0f}" if target == "rating" else v for v in values]
    score = np.empty((4, 3))
    for (m, j), _ in np.ndenumerate(score):
        row = pd.DataFrame({target: [values[j]]})
        if known is not None:
            row["place"] = known["place"][m]
        log_words = log_word(row, None if target == "rating" else values[j])
        score[m, j] = (new[[m]] @ log_words)[0] + np.log((frame[target] == values[j]).sum() + 1)
    expected = np.exp(score - score.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    # The model expects of labels' documents by label sets, here document by document.
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-4, atol=1e-8)


def test_the_targets_own_values_are_not_looked_at():
    model, (_, _, new, labels) = fitted(), data()
    for target in ("place", "tags", "rating"):
        ours = model.predict_labels(new, target, labels=labels)
        others = model.predict_labels(new, target, labels=labels.drop(columns=target))
        pd.testing.assert_frame_equal(ours, others)
    corpus = Corpus(new, words=model.words_, labels=labels)
    pd.testing.assert_frame_equal(model.predict_labels(corpus, "rating"), ours)


def test_the_prior_is_how_often_values_occurred():
    model, (_, frame, new, _) = fitted(), data()
    with_prior, without = (
        model.predict_labels(new[:5], "place", prior=prior).to_numpy() for prior in (True, False)
    )
    carriers = frame["place"].value_counts()[["north", "south", "west"]].to_numpy() + 1
    expected = without * carriers
    np.testing.assert_allclose(with_prior, expected / expected.sum(axis=1, keepdims=True))
    for target, chance in (("place", 1 / 3), ("tags", 0.5)):
        nothing = csr_array((1, new.shape[1]))
        none = model.predict_labels(nothing, target, prior=False, method="generative")
        assert none.to_numpy() == pytest.approx(chance)


def test_some_values_only():
    model, (_, _, new, _) = fitted(), data()
    every = model.predict_labels(new[:5], "place")[["west", "north"]]
    some = model.predict_labels(new[:5], "place", values=["west", "north"])
    pd.testing.assert_frame_equal(some, every.div(every.sum(axis=1), axis=0))
    numbers = model.predict_labels(new[:5], "rating", values=[1.5, 3])
    assert list(numbers.columns) == ["1.5", "3"]


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        (None, {}, "must be labels that documents had in training"),
        ("place", {"values": []}, r"must be a list of values, each named once. Got \[\]"),
        ("place", {"values": "north"}, "must be a list of values, each named once. Got 'north'"),
        ("place", {"values": ["west", "west"]}, "each named once"),
        ("rating", {"values": ["good"]}, "must be numbers near those of training"),
        ("rating", {"values": [np.nan]}, "must be numbers near those of training"),
        ("rating", {"values": [3, 1e308]}, "near those of training"),
        ("place", {"prior": 0.5}, "`prior` of HDSP.predict_labels must be True or False"),
        ("place", {"method": "bayes"}, "`method` of HDSP.predict_labels must be one of"),
    ],
)
def test_bad_questions(target, settings, message):
    with pytest.raises(ValueError, match=message):
        fitted().predict_labels(data()[2], target, **settings)


@cache
def larger():
    """A model of documents with tags, a category and numbers, and further documents."""
    labels = LabelDesign(null_tags=1, null_numbers=0)
    sizes = {"n_topics": 8, "n_words": 300, "document_length": 150}
    corpus, _ = make_corpus(2_000, **sizes, labels=labels, random_state=0)
    return HDSP(8, random_state=0, n_jobs=1).fit(corpus[:TRAIN]), corpus[TRAIN:]


def chances(method, target):
    """Probabilities of labels in further documents, and the labels that these have."""
    model, test = larger()
    schema = LabelSchema.of(test.labels)
    carried = schema.encode(test.labels)[:, schema.slices()[target]].toarray()
    return model.predict_labels(test, target, method=method).to_numpy(), carried


def log_loss(chance, carried):
    chance = np.clip(chance, 1e-9, 1 - 1e-9)
    return -(carried * np.log(chance) + (1 - carried) * np.log1p(-chance)).sum(axis=1).mean()


def test_alternatives_are_as_often_right_as_promised():
    (chance, true), (generative, _) = (chances(m, "category") for m in ("calibrated", "generative"))
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    right = true[np.arange(len(true)), chance.argmax(axis=1)].mean()
    # 800 answers, so that 0.05 is about three standard errors.
    assert chance.max(axis=1).mean() == pytest.approx(right, abs=0.05)
    # The model itself is too sure.
    assert generative.max(axis=1).mean() > right + 0.15
    ours, its = (
        -np.log(np.maximum((p * true).sum(axis=1), 1e-12)).mean() for p in (chance, generative)
    )
    assert ours < min(0.7 * its, np.log(3) - 0.1)


def test_tags_are_as_many_as_promised():
    chance, carried = chances("calibrated", "tags")
    np.testing.assert_allclose(chance.mean(axis=0), carried.mean(axis=0), atol=0.06)
    assert carried[chance > 0.7].mean() > 0.65
    model = larger()[0]
    share = model._model.carriers[model.label_schema_.slices()["tags"]] / TRAIN
    base = log_loss(np.tile(share, (len(carried), 1)), carried)
    assert log_loss(chance, carried) < base - 0.1
    assert log_loss(chances("generative", "tags")[0], carried) > base


def test_the_words_of_a_document_do_not_count_for_its_own_label():
    # Documents of random words: what a tag's documents have in common is chance alone, which its
    # own words would make look like evidence.
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.3, size=(300, 200)).astype(float))
    tags = [["t"] if carried else [] for carried in rng.random(300) < 0.1]
    model = HDSP(3, random_state=0, n_jobs=1).fit(counts, labels=tags)
    new = csr_array(rng.poisson(0.3, size=(300, 200)).astype(float))
    chance = model.predict_labels(new, "tags").to_numpy()
    assert chance.mean() == pytest.approx(0.1, abs=0.05)
    assert chance.max() < 0.5


def test_evidence_by_definition():
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.0, size=(12, 7)).astype(float)
    labels = csr_array((rng.random((12, 2)) < 0.5).astype(float))
    both = label_prediction.indicators("tags", labels, np.zeros(0))
    found = word_evidence(csr_array(counts), csr_array(both.T @ csr_array(counts)))
    share = counts.sum(axis=0) / counts.sum()
    damped = np.log1p(counts)
    for column, carried in enumerate(labels.toarray().T == 1):
        words = np.array([counts[rows].sum(axis=0) for rows in (carried, ~carried)])
        ratio = (words + STRENGTH) / (words.sum(axis=1, keepdims=True) * share + STRENGTH)
        wanted = damped @ np.log(ratio[0] / ratio[1]) / np.sqrt(damped.sum(axis=1))
        np.testing.assert_allclose(found[:, column], wanted)


def test_numbers_are_indicated_by_the_nearest_value():
    labels = csr_array((np.array([0.1, 1.9, 0.0]), np.zeros(3, dtype=int), [0, 1, 2, 2, 3]))
    found = label_prediction.indicators("number", labels, np.array([0.0, 2.0]))
    np.testing.assert_array_equal(found.toarray(), [[1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 0, 1]])


@pytest.mark.parametrize("kind", ["tags", "category", "number"])
def test_the_regression_has_the_smallest_loss(monkeypatch, kind):
    monkeypatch.setattr(label_prediction, "_TOL", 1e-12)
    monkeypatch.setattr(label_prediction, "_MAX_ITER", 1_000)
    rng = np.random.default_rng(0)
    target = np.eye(3)[rng.integers(3, size=60)]
    evidence = target + rng.normal(size=(60, 3))
    design = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    log_prior = np.log([0.2, 0.5, 0.3])
    penalty = 3.0 if kind == "number" else 1.0

    def loss(point):
        weights = point[1:].reshape(3, 3)
        scores = point[0] * evidence + design @ weights + log_prior
        chance = label_prediction.probabilities(kind, scores)
        likely = np.log(chance) * target
        if kind == "tags":
            likely += np.log1p(-chance) * (1 - target)
        # What intercepts share is free.
        weights = weights - np.outer([1, 0, 0], np.full(3, weights[0].mean()))
        return 0.5 * penalty * (weights**2).sum() - likely.sum()

    slope, weights = label_prediction._minimise(kind, target, evidence, design, log_prior)
    assert slope > 0.3
    point = np.append(slope, weights)
    np.testing.assert_allclose(approx_fprime(point, loss, 1e-6), 0.0, atol=0.02)


@pytest.mark.parametrize("method", ["calibrated", "generative"])
def test_many_values_with_ties_have_probabilities_that_sum_to_1(method):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.5, size=(300, 40)).astype(float))
    votes = np.where(rng.random(300) < 0.8, 0, rng.integers(0, 400, 300))
    model = HDSP(3, random_state=0, n_jobs=1).fit(counts, labels=pd.DataFrame({"votes": votes}))
    table = model.predict_labels(counts, "votes", method=method)
    assert table.columns.is_unique
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
