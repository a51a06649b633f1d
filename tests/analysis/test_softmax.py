"""The softmax regression: its gradient, its solution, its bands."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax as softmax_of
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from hdsp.analysis import softmax
from hdsp.analysis.softmax import (
    SoftmaxRegression,
    fit_softmax,
    group_documents,
    learn_softmax,
    mean_expected,
    predict,
    with_ones,
)
from hdsp.analysis.topics import TopicGroups
from tests.analysis.corpora import draw_counts, draw_topics
from tests.reference import softmax as plain

M, T = 240, 4


def labels(seed=0, n_documents=M):
    """A category of three levels with one left out, and a number; without an intercept."""
    rng = np.random.default_rng(seed)
    levels = np.eye(3)[rng.integers(3, size=n_documents)][:, 1:]
    return np.column_stack([levels, rng.normal(size=n_documents)])


def tokens_of(design, seed=0, n_tokens=30):
    rng = np.random.default_rng(seed)
    share = softmax_of(design @ rng.normal(size=(design.shape[1], T)), axis=1)
    return rng.multinomial(n_tokens, share).astype(np.float32)


@pytest.mark.parametrize("ridge", [0.5, 30.0])
def test_the_solution_agrees_with_scikit_learn(ridge):
    design = labels()
    tokens = tokens_of(design)
    found = fit_softmax(with_ones(csr_array(design)), tokens, ridge, tol=1e-10)
    model = LogisticRegression(C=1.0 / ridge, tol=1e-8, max_iter=5_000)
    rows, topic = np.repeat(np.arange(M), T), np.tile(np.arange(T), M)
    model.fit(design[rows], topic, sample_weight=tokens.ravel().astype(float))
    # What all topics have in common changes nothing.
    own = found[1:] - found[1:].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(own, model.coef_.T, atol=5e-3)
    expected = predict(found, csr_array(design))
    np.testing.assert_allclose(expected, model.predict_proba(design), atol=5e-4)
    _, gradient = plain.penalised_loss(with_ones(csr_array(design)).toarray(), tokens, ridge, found)
    # Of 7,200 tokens.
    assert np.abs(gradient).max() < 0.5


def words_of(effect, seed=0, n_documents=600):
    """Labelled documents whose topics follow their labels, and the topics [V, T]."""
    rng = np.random.default_rng(seed)
    design = labels(seed, n_documents)
    score = effect * design @ np.random.default_rng(5).normal(size=(3, T))
    share = softmax_of(score + 0.5 * rng.normal(size=score.shape), axis=1)
    topics = draw_topics(T, 60, overlap=0.3)
    counts = csr_array(draw_counts(share, topics, 40, rng).astype(np.float32))
    parts = counts, share, rng.integers(3, size=n_documents), np.ones(n_documents)
    return group_documents(csr_array(design), *parts), [topics.T] * 3


def log_likelihood(documents, shares, weights):
    expected = softmax_of(documents.design @ weights, axis=1)
    words = np.log(expected @ shares[0].T)
    return (documents.counts.toarray() * words).sum()


def test_em_steps_raise_the_likelihood_of_words():
    documents, shares = words_of(1.0)
    # Tokens that were read badly: with a part of every topic.
    blurred = documents.tokens + 0.3 * documents.tokens.mean(axis=1, keepdims=True)
    ridge, single = 1.0, [share.astype(np.float32) for share in shares]
    weights = fit_softmax(documents.design, blurred.astype(np.float32), ridge)

    def value(weights):
        penalty = ridge * (weights[1:] ** 2).sum() / 2
        return log_likelihood(documents, shares, weights) - penalty

    values = [value(weights)]
    for _ in range(5):
        weights = softmax._em_step(documents, single, weights, ridge)
        values.append(value(weights))
    assert (np.diff(values) > 0).all()
    assert values[-1] > values[0] + 20.0


def test_the_ridge_is_chosen_by_held_out_words():
    nothing, shares = words_of(0.0)
    assert learn_softmax(nothing, shares).ridge >= 30.0
    strong, _ = words_of(1.5)
    found = learn_softmax(strong, shares)
    assert found.ridge < 10.0
    held_out, _ = words_of(1.5, seed=1)
    reached = log_likelihood(held_out, shares, found.weights)
    rigid = fit_softmax(strong.design, strong.tokens, 1_000.0)
    assert reached > log_likelihood(held_out, shares, rigid) + 100.0
    again = learn_softmax(strong, shares)
    np.testing.assert_array_equal(found.weights, again.weights)


def test_documents_with_equal_labels_and_folds_are_added_up():
    rng = np.random.default_rng(0)
    design = csr_array(rng.integers(0, 2, size=(50, 2)).astype(float))
    counts, fold = csr_array(rng.poisson(1.0, size=(50, 7)).astype(float)), rng.integers(3, size=50)
    share, weights = rng.normal(0.5, 0.5, size=(50, 3)), rng.gamma(2.0, size=50)
    found = group_documents(design, counts, share, fold, weights)
    assert found.design.shape == (12, 3)
    clipped = np.maximum(share, 0.0)
    clipped /= np.maximum(clipped.sum(axis=1, keepdims=True), 1e-12)
    tokens = (weights * counts.sum(axis=1))[:, None] * clipped
    for group in range(12):
        one, *row = found.design.toarray()[group]
        own = (design.toarray() == row).all(axis=1) & (fold == found.fold[group])
        assert one == 1.0
        np.testing.assert_allclose(found.tokens[group], tokens[own].sum(axis=0), rtol=1e-5)
        words = weights[own] @ counts.toarray()[own]
        np.testing.assert_allclose(found.counts.toarray()[group], words, rtol=1e-5)


def spread_around(expected, rng, concentration=6.0):
    """Proportions of documents with these means."""
    return np.array([rng.dirichlet(concentration * row) for row in expected])


def bands(design, proportions, settings, ridge, penalty, groups=None, tol=1e-13):
    """The weights of a regression, and half widths of mean proportions in settings."""
    weights = fit_softmax(with_ones(design), 40 * proportions, ridge, tol=tol)
    regression, ones = SoftmaxRegression(weights, ridge, 0), np.ones(len(proportions))
    parts = regression, design, proportions, ones, penalty, groups, settings
    return weights, mean_expected(*parts, TopicGroups.single(T)).half_width(0.9)


@pytest.mark.parametrize(
    ("columns", "tolerance"), [(slice(0, 2), 1e-3), (slice(0, 3), 0.1)], ids=["category", "number"]
)
def test_bands_agree_with_the_whole_hessian(columns, tolerance):
    """Exactly for a category; with a number, topics are coupled a little more."""
    rng = np.random.default_rng(0)
    design = labels()[:, columns]
    score = design @ rng.normal(size=(design.shape[1], T)) + [2.0, 0.0, 0.0, -1.0]
    proportions = spread_around(softmax_of(score, axis=1), rng)
    sparse, rows = csr_array(design), with_ones(csr_array(design)).toarray()
    settings = [(sparse[:3], np.full(3, 1 / 3)), (sparse[5:6], np.ones(1))]
    weights, found = bands(sparse, proportions, settings, 1e-3, 1e-6, np.arange(M))
    expected = predict(weights, sparse)
    excess = ((proportions - expected) ** 2).sum(axis=0) / (expected * (1 - expected)).sum(axis=0)
    excess *= M / (M - rows.shape[1])
    for half, (own, shares) in zip(found, settings, strict=True):
        own = with_ones(own).toarray()
        influence, variance = plain.mean_variances(rows, proportions, weights, 1e-6, own, shares)
        robust = (influence**2).sum(axis=0)
        degrees = robust**2 / (influence**4).sum(axis=0) - 1.0
        robust *= (degrees + 1.0) / degrees
        wide = student.ppf(0.95, degrees) * np.sqrt(robust)
        classical = student.ppf(0.95, M - 1) * np.sqrt(excess * variance)
        np.testing.assert_allclose(half, np.maximum(wide, classical), rtol=tolerance)
