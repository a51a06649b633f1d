"""Correlations of topics over documents."""

import numpy as np
import pytest

from hdsp import HDSP
from hdsp.analysis.correlations import beyond_the_sum, correlate_topics
from tests.analysis.corpora import draw_counts, given_topics, read_with
from tests.reference import correlations as plain

T, V = 6, 120


def simulated(n_documents, seed, together=0.0, words=60, authors=None):
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
    return draw_counts(share, topics, lengths, rng), topics, share


def correlations(counts, topics, groups=None, n_topics=T):
    problem, state, _ = given_topics(counts, topics)
    mean = np.tile(read_with(counts, topics).mean(axis=0), (len(counts), 1))
    return correlate_topics(problem, state, mean, n_topics, groups)


def test_correlations_are_those_of_true_proportions():
    counts, topics, share = simulated(3_000, 0, together=0.6)
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


def test_moments_are_those_of_the_plain_twin():
    counts, topics, _ = simulated(60, 2, words=15)
    counts[0] = 0.0
    counts[0, :40] = 1.0
    found = correlations(counts, topics)
    expected = np.tile(read_with(counts, topics).mean(axis=0), (len(counts), 1))
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


def test_dependent_documents_have_wider_intervals():
    authors = np.repeat(np.arange(40), 25)
    counts, topics, _ = simulated(1_000, 4, authors=authors)
    apart, together = correlations(counts, topics), correlations(counts, topics, authors)
    np.testing.assert_allclose(apart.values, together.values, atol=1e-6)
    assert np.median(together.errors / apart.errors) > 1.2
    few = correlations(counts, topics, authors % 3)
    assert few.degrees == 2


def fitted(**options):
    counts, topics, _ = simulated(300, 7, together=0.6)
    tags = [["odd"] if row % 2 else [] for row in range(300)]
    return HDSP(T, init=topics, random_state=0, **options).fit(counts, labels=tags)


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
    merged = model.merge_topics([0, 3])
    table = merged.topic_correlations()
    whole = model.topic_correlations().set_index(["topic", "other"])["correlation"]
    assert len(table) == 6
    for row in table.itertuples():
        pair = sorted(merged.fitted_topics_[k][0] for k in (row.topic, row.other))
        assert row.correlation == whole[tuple(pair)]


def test_dirichlet_proportions_have_no_correlations_beyond_their_sum():
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
