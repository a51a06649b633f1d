"""Synthetic corpora: moments of topics, documents and labels."""

import numpy as np
import pytest
from scipy.special import digamma, softmax

from hdsp import Corpus
from hdsp_studies.synthetic import (
    LabelDesign,
    add_placebo_tags,
    draw_counts,
    draw_proportions,
    make_corpus,
)

FEW = {"n_topics": 5, "n_words": 40}


def zipf(n):
    share = 1.0 / np.arange(1, n + 1)
    return share / share.sum()


def test_proportions_are_dirichlet():
    shape = np.array([0.02, 0.3, 2.0])
    drawn = draw_proportions(np.tile(shape, (40_000, 1)), np.random.default_rng(0))
    mean = shape / shape.sum()
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    # Five standard errors of the mean are 0.004, of the variance 5%.
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.004)
    variance = mean * (1.0 - mean) / (shape.sum() + 1.0)
    np.testing.assert_allclose(drawn.var(axis=0)[1:], variance[1:], rtol=0.05)
    expected = digamma(shape[2]) - digamma(shape.sum())
    assert np.log(drawn[:, 2]).mean() == pytest.approx(expected, abs=0.02)


def test_tokens_follow_proportions_and_topics():
    rng = np.random.default_rng(0)
    proportions, words = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(6), size=3)
    lengths = np.array([0, 10, 100_000, 200_000])
    counts = draw_counts(proportions, words, lengths, rng)
    np.testing.assert_array_equal(counts.sum(axis=1), lengths)
    shares = counts[2:].toarray() / lengths[2:, None]
    np.testing.assert_allclose(shares, proportions[2:] @ words, atol=0.006)


def test_topics_vary_about_zipfs_frequencies_and_overlap():
    truth = make_corpus(2, n_topics=4_000, n_words=30, overlap=0.0, random_state=0)[1]
    mean = truth.word_share.mean(axis=0)
    np.testing.assert_allclose(np.sort(mean)[::-1], zipf(30), rtol=0.03)
    precision = (mean * (1.0 - mean)).sum() / truth.word_share.var(axis=0).sum() - 1.0
    assert precision == pytest.approx(100.0, rel=0.02)
    distinct, frequency, mixed = (
        make_corpus(3, overlap=share, random_state=0, **FEW)[1].word_share for share in (0, 1, 0.3)
    )
    np.testing.assert_allclose(mixed, 0.7 * distinct + 0.3 * frequency)


def test_documents_follow_topic_weights_and_labels():
    design = LabelDesign(2, 1, 1, 3, 1, 1, rare_documents=3_000)
    corpus, truth = make_corpus(30_000, labels=design, document_length=2.0, random_state=1, **FEW)
    null = np.array([name.startswith("null_") for name in corpus.labels.names])
    np.testing.assert_array_equal(truth.label_weights[null], 0.0)
    labels = np.hstack([block.values.toarray() for block in corpus.labels.blocks])
    expected = softmax(np.log(truth.topic_weight) + labels @ truth.label_weights, axis=1)
    for column in range(8):
        rows = labels[:, column] > 0.5
        mean = truth.proportions[rows].mean(axis=0)
        np.testing.assert_allclose(mean, expected[rows].mean(axis=0), atol=0.03)
    assert corpus.counts.sum(axis=1).mean() == pytest.approx(2, abs=0.05)


def test_labels_are_as_frequent_and_correlated_as_designed():
    labels = LabelDesign(levels=4).draw(4_000, np.random.default_rng(0))
    tags = labels.block("tags")
    sizes = dict(zip(tags.columns, np.asarray(tags.values.sum(axis=0)), strict=True))
    assert [sizes[name] for name in sizes if not name.startswith("rare")] == [1200.0] * 5
    assert sizes["rare_0"] == sizes["rare_1"] == 20.0
    np.testing.assert_array_equal(labels.block("category").values.sum(axis=0), [1000.0] * 4)
    plan = LabelDesign(1, 0, 1, 0, 1, 1, frequency=0.5, correlation=0.6)
    labels = plan.draw(20_000, np.random.default_rng(0))
    numbers = [labels.block(name).values.toarray()[:, 0] for name in ("number_0", "null_number_0")]
    assert np.corrcoef(numbers)[0, 1] == pytest.approx(0.6, abs=0.03)


def test_placebo_tags_are_on_as_many_documents():
    corpus = add_placebo_tags(Corpus(np.ones((50, 2))), [5, 20], random_state=0)
    np.testing.assert_array_equal(corpus.labels.block("placebo").values.sum(axis=0), [5, 20])
