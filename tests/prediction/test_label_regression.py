"""Probabilities of labels that hold on corpora that the model was not made for."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from hdsp import HDSP
from hdsp.corpus import LabelSchema, as_labels
from hdsp.datasets import LabelDesign, make_corpus
from hdsp.prediction import label_regression
from hdsp.prediction.evidence import STRENGTH, LabelCounts, word_evidence
from hdsp.prediction.label_regression import known_features
from hdsp.prediction.training import _frequencies

TRAIN = 1_200


@cache
def fitted():
    """A model of a logistic-normal corpus, whose words are far from independent given labels."""
    corpus, _ = make_corpus(
        2_000,
        n_topics=8,
        n_words=300,
        document_length=150,
        labels=LabelDesign(null_tags=1, null_numbers=0),
        prior="logistic-normal",
        random_state=0,
    )
    model = HDSP(8, fixed_number=True, random_state=0, n_jobs=1)
    return model.fit(corpus[:TRAIN]), corpus[TRAIN:]


def found(method, target, **settings):
    model, test = fitted()
    table = model.predict_labels(test, target, method=method, **settings)
    design = LabelSchema.of(test.labels).encode(test.labels)
    columns = LabelSchema.of(test.labels).slices()[target]
    return table, design[:, columns].toarray()


def log_loss(chance, carried):
    chance = np.clip(chance, 1e-9, 1 - 1e-9)
    return -(carried * np.log(chance) + (1 - carried) * np.log1p(-chance)).sum(axis=1).mean()


def test_alternatives_are_as_often_right_as_promised():
    table, true = found("calibrated", "category")
    chance = table.to_numpy()
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    sure = chance.max(axis=1)
    right = true[np.arange(len(true)), chance.argmax(axis=1)]
    # 800 answers, so that 0.05 is about three standard errors.
    assert sure.mean() == pytest.approx(right.mean(), abs=0.05)
    generative = found("generative", "category")[0].to_numpy()
    # The model itself is too sure.
    assert generative.max(axis=1).mean() > right.mean() + 0.15
    losses = [
        -np.log(np.maximum((p * true).sum(axis=1), 1e-12)).mean() for p in (chance, generative)
    ]
    assert losses[0] < min(0.7 * losses[1], np.log(3) - 0.1)


def test_tags_are_as_many_as_promised():
    table, carried = found("calibrated", "tags")
    chance = table.to_numpy()
    np.testing.assert_allclose(chance.mean(axis=0), carried.mean(axis=0), atol=0.06)
    likely = chance > 0.7
    assert carried[likely].mean() > 0.65
    share = fitted()[0]._model.training.carriers / TRAIN
    columns = fitted()[0].label_schema_.slices()["tags"]
    base = log_loss(np.tile(share[columns], (len(carried), 1)), carried)
    assert log_loss(chance, carried) < base - 0.1
    assert log_loss(found("generative", "tags")[0].to_numpy(), carried) > base


def test_a_number_is_nearer_than_its_mean():
    model, test = fitted()
    table, true = found("calibrated", "number_0")
    assert len(table.columns) == 50
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    block = model.label_schema_.block("number_0")
    true = test.labels.block("number_0").values.toarray()[:, 0]
    mean = table.to_numpy() @ table.columns.astype(float).to_numpy()
    error = np.sqrt(np.mean((mean - true) ** 2))
    assert error < 0.85 * np.sqrt(np.mean((block.mean[0] - true) ** 2))
    # The spread of the distribution is that of the errors.
    square = table.to_numpy() @ table.columns.astype(float).to_numpy() ** 2
    assert np.sqrt(np.mean(square - mean**2)) == pytest.approx(error, rel=0.1)


def test_the_prior_can_be_left_out():
    model, _ = fitted()
    with_prior, _ = found("calibrated", "tags")
    without, _ = found("calibrated", "tags", prior=False)
    share = (model._model.training.carriers[model.label_schema_.slices()["tags"]] + 0.5) / (
        TRAIN + 1
    )
    odds = (with_prior / (1 - with_prior)) / (without / (1 - without))
    np.testing.assert_allclose(odds, np.tile(share / (1 - share), (len(odds), 1)), rtol=1e-6)


def test_the_words_of_a_document_do_not_count_for_its_own_label():
    # Documents of random words: what a tag's documents have in common is chance alone, which its
    # own words would make look like evidence.
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.3, size=(300, 200)).astype(float))
    tags = [["t"] if carried else [] for carried in rng.random(300) < 0.1]
    model = HDSP(3, fixed_number=True, random_state=0, n_jobs=1).fit(counts, labels=tags)
    new = csr_array(rng.poisson(0.3, size=(300, 200)).astype(float))
    chance = model.predict_labels(new, "tags").to_numpy()
    assert chance.mean() == pytest.approx(0.1, abs=0.05)
    assert chance.max() < 0.5


@cache
def counted():
    rng = np.random.default_rng(3)
    counts = csr_array(rng.poisson(1.0, size=(12, 7)).astype(float))
    design = csr_array(np.column_stack([rng.random(12) < 0.5, rng.normal(size=12)]).astype(float))
    share = rng.dirichlet(np.ones(3), size=12)
    phi = rng.dirichlet(np.ones(7), size=3).T
    expected = np.asarray(counts.sum(axis=1))[:, None] * share
    return counts, design, expected, phi


def label_counts(rows):
    counts, design, expected = (part[rows] for part in counted()[:3])
    return LabelCounts(
        csr_array(design.T @ counts),
        design.T @ expected,
        np.asarray(counts.sum(axis=0)),
        expected.sum(axis=0),
        np.ones(2),
    )


def test_counts_without_documents_are_those_of_the_others():
    counts, design, expected, _ = counted()
    some, others = np.arange(5), np.arange(5, 12)
    found = label_counts(np.arange(12)).without(counts[some], design[some], expected[some])
    wanted = label_counts(others)
    np.testing.assert_allclose(found.words.toarray(), wanted.words.toarray(), atol=1e-12)
    for name in ("topics", "all_words", "all_topics"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name))


def test_evidence_by_definition():
    counts, design, expected, phi = counted()
    labels = label_counts(np.arange(12))
    damped = np.log1p(counts.toarray())
    length = np.sqrt(damped.sum(axis=1))
    carried = design.toarray()[:, 0] == 1
    log_share = []
    for rows in (carried, ~carried):
        by_topics = expected[rows].sum(axis=0) @ phi.T
        words = counts.toarray()[rows].sum(axis=0)
        share = by_topics * (words + STRENGTH) / (by_topics + STRENGTH)
        log_share.append(np.log(share / share.sum()))
    wanted = damped @ (log_share[0] - log_share[1]) / length
    tag = word_evidence(counts, labels.block(slice(0, 1)), phi, number=False)
    np.testing.assert_allclose(tag[:, 0], wanted)

    value = design.toarray()[:, 1]
    share = counts.toarray().sum(axis=0) / counts.sum()
    total = counts.sum() * share
    residual = value @ (counts.toarray() - np.asarray(counts.sum(axis=1))[:, None] * share)
    by_topics = value @ (expected @ phi.T - expected.sum(axis=1)[:, None] * share) / total
    slope = (residual + STRENGTH * by_topics) / (total + STRENGTH)
    number = word_evidence(counts, labels.block(slice(1, 2)), phi, number=True)
    np.testing.assert_allclose(number[:, 0], damped @ slope / length)


def test_losses_have_their_gradients():
    rng = np.random.default_rng(0)
    carried = (rng.random((6, 3)) < 0.4).astype(float)
    level = np.eye(3)[rng.integers(3, size=6)]
    values, log_prior = np.array([-1.0, 0.0, 2.0]), np.log([0.2, 0.5, 0.3])
    number = label_regression._NumberLoss(values, rng.integers(3, size=6), log_prior)
    for loss, width in (
        (label_regression._TagLoss(carried, log_prior), 3),
        (label_regression._LevelLoss(level, log_prior), 3),
        (number, 1),
    ):
        point = rng.normal(size=6 * width + 1)
        point[-1] = 0.5

        def value(point, loss=loss, width=width):
            return loss(slice(0, 6), point[:-1].reshape(6, width), point[-1])[0]

        _, by_score, by_curvature = loss(slice(0, 6), point[:-1].reshape(6, width), point[-1])
        slopes = approx_fprime(point, value, 1e-3)
        # Priors are in single precision.
        np.testing.assert_allclose(by_score.ravel(), slopes[:-1], atol=2e-3)
        assert by_curvature == pytest.approx(slopes[-1], abs=2e-3)


def test_documents_are_weighed_in_parts_of_any_size(monkeypatch):
    rng = np.random.default_rng(0)
    carried = (rng.random((50, 3)) < 0.4).astype(float)
    evidence, features = carried + rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    values = np.array([-1.0, 0.0, 2.0])
    number = label_regression._NumberLoss(values, rng.integers(3, size=50), np.zeros(3))
    for loss, width in ((label_regression._TagLoss(carried, np.zeros(3)), 3), (number, 1)):
        found = []
        for size in (7, 1_024):
            monkeypatch.setattr(label_regression, "_ROWS", size)
            found.append(label_regression._minimise(loss, evidence[:, :width], features))
        for one, other in zip(*found, strict=True):
            # Sums are in single precision, and the optimiser stops where the loss hardly changes.
            np.testing.assert_allclose(one, other, rtol=0.02, atol=0.01)


def test_unknown_labels_are_as_good_as_the_average():
    frame = pd.DataFrame({"place": ["a", "b", None, "b"], "size": [1.0, None, 3.0, 5.0], "y": 1.0})
    labels = as_labels(frame, 4, "")
    schema = LabelSchema.of(labels)
    features, mean = known_features(schema, "y", schema.encode(labels))
    np.testing.assert_allclose(mean[:2], [1 / 3, 2 / 3])
    assert not features[2, :2].any()
    assert not features[1, 2]
    np.testing.assert_allclose(features[0, :2], [2 / 3, -2 / 3])


@given(st.lists(st.integers(-60, 60).map(float), min_size=1, max_size=400))
def test_tied_values_are_one(values):
    found, counts = _frequencies(np.array(values))
    assert len(found) <= 50
    assert (np.diff(found) > 0).all()
    assert counts.sum() == len(values)
    np.testing.assert_allclose(found @ counts, np.sum(values), atol=1e-9)


def test_many_values_with_ties_have_probabilities_that_sum_to_1():
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.5, size=(300, 40)).astype(float))
    votes = pd.DataFrame({"votes": np.where(rng.random(300) < 0.8, 0, rng.integers(0, 400, 300))})
    model = HDSP(3, fixed_number=True, random_state=0, n_jobs=1).fit(counts, labels=votes * 1.0)
    for method in ("calibrated", "generative"):
        table = model.predict_labels(counts, "votes", method=method)
        assert len(set(table.columns)) == len(table.columns)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)


def test_thousands_of_labels_share_their_weights(monkeypatch):
    monkeypatch.setattr(label_regression, "_MOST_LABELS", 2)
    corpus, _ = make_corpus(200, n_topics=3, n_words=60, labels=LabelDesign(), random_state=0)
    model = HDSP(3, fixed_number=True, random_state=0, n_jobs=1).fit(corpus)
    assert model._model.label_regressions["tags"].weights.shape == (0, 7)
    assert model.predict_labels(corpus, "tags").shape == (200, 7)


def test_rare_tags_add_up_to_their_rates_in_new_documents():
    """Evidence of training documents is that of topics which have not seen them."""
    tags = LabelDesign(
        2, rare_tags=20, rare_documents=120, null_tags=0, levels=0, numbers=0, null_numbers=0
    )
    corpus, _ = make_corpus(
        3_000,
        n_topics=6,
        n_words=600,
        overlap=0.3,
        labels=tags,
        document_length=40.0,
        random_state=2,
    )
    train, fresh = corpus[:500], corpus[500:]
    model = HDSP(12, fixed_number=True, random_state=2, n_jobs=1, max_iter=40, tol=0.01).fit(train)
    rare = [name for name in model.label_names_ if name.startswith("rare")]
    chances = model.predict_labels(fresh, "tags")[rare].to_numpy()
    known = train.labels.block("tags")
    number = known.values[:, [known.columns.index(name) for name in rare]].sum()
    # With topics that have seen the documents it is .91.
    assert 0.94 < chances.sum() / len(fresh) / (number / len(train)) < 1.06
