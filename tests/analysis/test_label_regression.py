"""Probabilities of labels that hold on corpora that the model was not made for."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from hdsp import HDSP
from hdsp.analysis import label_prediction
from hdsp.analysis.label_prediction import STRENGTH, word_evidence
from hdsp.corpus import LabelSchema
from hdsp_studies.synthetic import LabelDesign, make_corpus

TRAIN = 1_200


@cache
def fitted():
    """A model of documents with tags, a category and numbers."""
    corpus, _ = make_corpus(
        2_000,
        n_topics=8,
        n_words=300,
        document_length=150,
        labels=LabelDesign(null_tags=1, null_numbers=0),
        random_state=0,
    )
    model = HDSP(8, random_state=0, n_jobs=1)
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
    share = fitted()[0]._model.carriers / TRAIN
    columns = fitted()[0].label_schema_.slices()["tags"]
    base = log_loss(np.tile(share[columns], (len(carried), 1)), carried)
    assert log_loss(chance, carried) < base - 0.1
    assert log_loss(found("generative", "tags")[0].to_numpy(), carried) > base


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
    for column in range(2):
        carried, ratios = labels.toarray()[:, column] == 1, []
        for rows in (carried, ~carried):
            words = counts[rows].sum(axis=0)
            ratios.append((words + STRENGTH) / (words.sum() * share + STRENGTH))
        wanted = damped @ np.log(ratios[0] / ratios[1]) / np.sqrt(damped.sum(axis=1))
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
    point = np.concatenate([[slope], weights.ravel()])
    assert slope > 0.3
    np.testing.assert_allclose(approx_fprime(point, loss, 1e-6), 0.0, atol=0.02)


def test_many_values_with_ties_have_probabilities_that_sum_to_1():
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.5, size=(300, 40)).astype(float))
    votes = pd.DataFrame({"votes": np.where(rng.random(300) < 0.8, 0, rng.integers(0, 400, 300))})
    model = HDSP(3, random_state=0, n_jobs=1).fit(counts, labels=votes * 1.0)
    for method in ("calibrated", "generative"):
        table = model.predict_labels(counts, "votes", method=method)
        assert len(set(table.columns)) == len(table.columns)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)


def test_rare_tags_add_up_to_their_rates_in_new_documents():
    """Evidence of training documents is that of words of other documents."""
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
    model = HDSP(12, random_state=2, n_jobs=1, max_iter=40, tol=0.01).fit(train)
    rare = [name for name in model.label_names_ if name.startswith("rare")]
    chances = model.predict_labels(fresh, "tags")[rare].to_numpy()
    known = train.labels.block("tags")
    number = known.values[:, [known.columns.index(name) for name in rare]].sum()
    assert 0.94 < chances.sum() / len(fresh) / (number / len(train)) < 1.06
