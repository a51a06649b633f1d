"""Correlations of topics over documents."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus
from hdsp.model import make_problem
from hdsp.prediction.correlations import beyond_the_sum, topic_correlations
from hdsp.scaling import Constant
from tests.reference import correlations as plain

T, V = 6, 120


def draw(n_documents, seed, together=0.0, words=60, authors=None):
    """Counts, topics [T, V] and proportions; topics 0 and 1 correlate in log proportions."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(V, 0.05), size=T)
    covariance = np.eye(T)
    covariance[0, 1] = covariance[1, 0] = together
    score = rng.normal(size=(n_documents, T)) @ (1.5 * np.linalg.cholesky(covariance)).T
    if authors is not None:
        score += 1.5 * rng.normal(size=(authors.max() + 1, T))[authors]
    share = np.exp(score)
    share /= share.sum(axis=1, keepdims=True)
    lengths = rng.poisson(words, size=n_documents) + 2
    rows = zip(lengths, share @ topics, strict=True)
    return np.array([rng.multinomial(n, row) for n, row in rows]).astype(float), topics, share


def given_topics(counts, topics):
    """A problem, and a fitted state whose topics are these."""
    model = HDSP(T, fixed_number=True, tol=0.1, init=topics, random_state=0).fit(counts)
    fitted = model._model
    design = csr_array((len(counts), 0))
    problem = make_problem(Corpus(counts).counts, design, Constant(), fitted.priors)
    return problem, replace(fitted.state, topics=1e6 * topics.T), fitted.calibration


def correlations(counts, topics, groups=None):
    problem, state, regression = given_topics(counts, topics)
    return topic_correlations(problem, state, regression, T, groups)


def test_correlations_are_those_of_true_proportions():
    counts, topics, share = draw(3_000, 0, together=0.6)
    found = correlations(counts, topics)
    value, lower, upper = found.intervals(0.9)
    mean = share.mean(axis=0)
    wanted, _ = beyond_the_sum(np.cov(share.T), np.outer(mean, mean))
    wanted = wanted[np.triu_indices(T, 1)]
    # Documents of 60 words know their topics to within a few parts in a hundred.
    np.testing.assert_allclose(value[1], wanted, atol=0.05)
    assert value[1].argmax() == 0
    assert wanted[0] > 0.2
    assert lower[1][0] > 0
    inside = (lower[1] <= wanted) & (wanted <= upper[1])
    assert inside.mean() > 0.8
    # Without labels both are the same, but that an expected mean takes the place of one found.
    np.testing.assert_allclose(value[0], value[1], atol=0.02)


def test_lengths_of_documents_do_not_weaken_correlations():
    values = []
    for words in (12, 200):
        counts, topics, _ = draw(4_000, 1, together=0.6, words=words)
        values.append(correlations(counts, topics).values[1][0])
    assert values[0] == pytest.approx(values[1], abs=0.07)


def test_moments_are_those_of_the_plain_twin():
    counts, topics, _ = draw(60, 2, words=15)
    counts[0] = 0.0
    counts[0, :40] = 1.0
    problem, state, regression = given_topics(counts, topics)
    found = topic_correlations(problem, state, regression, T)
    expected = regression.proportions(problem.design)
    share = topics.T
    (both, mean, across, products, total), reading = plain.moments(
        counts, share, expected, expected.mean(axis=0)
    )
    second = plain.with_equal_words(both, share, reading)
    raw = beyond_the_sum(second - np.outer(mean, mean), np.outer(mean, mean))[0]
    shift = mean - total
    left = second - across - across.T + products - np.outer(shift, shift)
    given = beyond_the_sum(left, products)[0]
    pairs = np.triu_indices(T, 1)
    known = found.errors > 0
    assert known.mean() > 0.5
    wanted = np.clip([given[pairs], raw[pairs]], -1.0, 1.0)
    np.testing.assert_allclose(found.values[known], wanted[known], atol=5e-3)


def test_what_the_sum_brings_is_least_in_absolute_deviations():
    rng = np.random.default_rng(3)
    share = rng.dirichlet(np.full(8, 0.4), size=4_000)
    covariance, mean = np.cov(share.T), share.mean(axis=0)
    products = np.outer(mean, mean)
    value, _ = beyond_the_sum(covariance, products)
    off = value[np.triu_indices(8, 1)]
    # A Dirichlet distribution has independent amounts.
    assert np.abs(off).max() < 0.06
    best = np.full(8, -(covariance / products)[np.triu_indices(8, 1)].mean() / 2)
    least = plain.absolute_deviations(covariance, products, best)
    assert np.abs(off).sum() < 1.1 * least


def test_dependent_documents_have_wider_intervals():
    authors = np.repeat(np.arange(40), 25)
    counts, topics, _ = draw(1_000, 4, authors=authors)
    apart, together = correlations(counts, topics), correlations(counts, topics, authors)
    np.testing.assert_allclose(apart.values, together.values, atol=1e-6)
    assert np.median(together.errors / apart.errors) > 1.2
    few = correlations(counts, topics, authors % 3)
    assert few.degrees == 2


def test_order_of_documents_does_not_matter():
    counts, topics, _ = draw(300, 5)
    first, second = correlations(counts, topics), correlations(counts[::-1], topics)
    np.testing.assert_allclose(first.values, second.values, atol=1e-5)
    np.testing.assert_allclose(first.errors, second.errors, atol=1e-5)


def test_of_three_topics_nothing_is_known():
    counts, topics, _ = draw(200, 6)
    problem, state, regression = given_topics(counts, topics)
    found = topic_correlations(problem, state, regression, 3)
    assert found.n_topics == 3
    assert np.isnan(found.intervals(0.9)).all()


def test_of_topics_that_words_do_not_tell_apart_nothing_is_known():
    counts, topics, _ = draw(500, 6)
    topics[2] = 0.999 * topics[1] + 0.001 * topics[2]
    found = correlations(counts, topics)
    first, second = np.triu_indices(T, 1)
    alike = np.isin(first, (1, 2)) | np.isin(second, (1, 2))
    assert (found.errors[:, alike] == 0).all()
    assert (found.errors[:, ~alike] > 0).all()


def fitted(**options):
    counts, topics, _ = draw(300, 7, together=0.6)
    tags = [["odd"] if row % 2 else [] for row in range(300)]
    return HDSP(T, fixed_number=True, init=topics, random_state=0, **options).fit(
        counts, labels=tags
    )


def test_the_table_has_a_row_for_each_pair_and_names():
    model = fitted()
    table = model.topic_correlations()
    names = ["topic", "other", "correlation", "lower", "upper", "raw", "raw_lower", "raw_upper"]
    assert list(table.columns) == names
    assert len(table) == T * (T - 1) // 2
    assert (table["topic"] < table["other"]).all()
    assert (model.topic_correlations(0.5)["lower"] >= table["lower"]).all()
    model.name_topics({0: "tea"})
    assert model.topic_correlations()["name"].iloc[0] == "tea"
    with pytest.raises(ValueError, match=r"`level` of HDSP\.topic_correlations"):
        model.topic_correlations(1.5)


def test_merged_topics_have_no_correlations_and_others_keep_theirs():
    model = fitted()
    merged = model.merged([0, 3])
    table = merged.topic_correlations()
    whole = model.topic_correlations().set_index(["topic", "other"])["correlation"]
    assert len(table) == 6
    for row in table.itertuples():
        pair = sorted(merged.fitted_topics_[k][0] for k in (row.topic, row.other))
        assert row.correlation == whole[tuple(pair)]


def test_documents_of_a_stream_have_correlations():
    counts, _, _ = draw(400, 8)
    model = HDSP(T, fixed_number=True, init="nmf", random_state=0)
    model.partial_fit(counts[:200]).partial_fit(counts[200:])
    assert len(model.topic_correlations()) == T * (T - 1) // 2


def test_versions_of_topics_are_read_with_their_own_words():
    counts, topics, share = draw(1_500, 9, together=0.6)
    # The second half uses other words for the first forty.
    side = np.arange(1_500) % 2
    other = np.hstack([counts, np.zeros((1_500, 40))])
    other[side == 1, V:] = counts[side == 1, :40]
    other[side == 1, :40] = 0.0
    labels = pd.DataFrame({"side": np.where(side, "left", "right")})
    start = np.hstack([topics, topics[:, :40]])
    model = HDSP(T, fixed_number=True, init=start, content="side", random_state=0)
    model.fit(other, labels=labels)
    found = model._model.correlations
    strongest = found.values[1].max()
    mean = share.mean(axis=0)
    wanted, _ = beyond_the_sum(np.cov(share.T), np.outer(mean, mean))
    assert strongest == pytest.approx(wanted[0, 1], abs=0.1)
