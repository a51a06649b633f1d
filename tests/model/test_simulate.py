"""The generative process: what it draws, what it refuses, labels that it leaves out."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import chisquare

from hdsp import HDSP, Categorical, LogLinear, simulate
from hdsp.model.simulate import Truth, _draw_words, draw_documents
from hdsp.numerics import normalised_gamma_mean, weights_from_sticks


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_topics": 0}, "`n_topics` of simulate must be an integer >= 1"),
        ({"n_words": 0}, "`n_words` of simulate must be an integer >= 1"),
        ({"document_concentration": -1.0}, "`document_concentration` of simulate must be a number"),
        ({"document_length": 0.0}, "`document_length` of simulate must be a number"),
        ({"n_documents": None}, "`n_documents` of simulate is needed"),
        ({"labels": 5, "n_documents": None}, "`labels` of simulate must have one row"),
    ],
)
def test_bad_settings(setting, message):
    with pytest.raises((ValueError, TypeError), match=message):
        simulate(**{"n_documents": 3, **setting})


def test_columns_the_scaling_leaves_out():
    table = pd.DataFrame({"kind": list("ab") * 30, "rating": np.arange(60.0)})
    corpus, truth = simulate(table, scaling=LogLinear("rating"), n_topics=3, random_state=0)
    assert truth.weights.shape == (3, 3)
    assert np.isnan(truth.weights[:, :2]).all()
    model = HDSP(20, scaling=LogLinear("rating"), random_state=0).fit(corpus)
    assert model.simulate(table, random_state=0).shape == corpus.shape


def example(n_documents, rng, n_topics=5, n_words=30):
    """Parameters and labels, with topics that differ much."""
    scaling = Categorical()
    truth = Truth(
        topic_weight=weights_from_sticks(rng.beta(1.0, 1.0, size=n_topics - 1)),
        word_share=rng.dirichlet(np.full(n_words, 0.2), size=n_topics),
        weights=scaling.draw_prior(n_topics, 3, rng),
        document_concentration=1.0,
    )
    design = csr_array((rng.random((n_documents, 3)) < 0.4).astype(float))
    return truth, scaling, design


@pytest.mark.parametrize("length", [7, 500])
def test_words_are_multinomial_given_the_proportions(length):
    rng = np.random.default_rng(1)
    truth, _, _ = example(1, rng)
    proportions = np.tile(rng.dirichlet(np.ones(5)), (20_000, 1))
    tokens = np.full(20_000, length)
    found = _draw_words(truth.word_share, proportions, tokens, rng).toarray()
    assert (found.sum(axis=1) == length).all()
    share = proportions[0] @ truth.word_share
    total = found.sum(axis=0)
    # Means, by a chi-square test of all tokens.
    assert chisquare(total, total.sum() * share).pvalue > 1e-3
    # Variances and covariances of counts, to five standard errors of a sample of 20,000.
    expected = length * (np.diag(share) - np.outer(share, share))
    scale = length * np.sqrt(np.outer(share, share))
    assert (np.abs(np.cov(found.T) - expected) < 5.0 * np.maximum(scale, 0.02) / 100.0).all()


def test_documents_have_the_words_that_their_labels_lead_one_to_expect():
    rng = np.random.default_rng(2)
    truth, scaling, design = example(9_000, rng)
    lengths = rng.poisson(40.0, size=9_000)
    counts = draw_documents(truth, scaling, design, lengths, rng)
    np.testing.assert_array_equal(counts.sum(axis=1), lengths)
    for labels in np.unique(design.toarray(), axis=0):
        rows = (design.toarray() == labels).all(axis=1)
        rate = scaling.rate(truth.weights, csr_array(labels[None]))
        shape = truth.document_concentration * truth.topic_weight
        share = normalised_gamma_mean(shape, rate)[0] @ truth.word_share
        found = counts[rows].sum(axis=0) / lengths[rows].sum()
        # Documents differ more than their words alone: by about 1 / sqrt(documents).
        assert np.abs(found - share).max() < 5.0 / np.sqrt(rows.sum())


def test_a_seed_gives_the_same_documents_and_another_one_others():
    drawn = [simulate(n_documents=5_000, random_state=seed)[0].counts for seed in (3, 3, 4)]
    assert (drawn[0] != drawn[1]).nnz == 0
    assert (drawn[0] != drawn[2]).nnz > 0


def test_documents_of_no_words_and_of_very_many():
    rng = np.random.default_rng(0)
    truth, scaling, design = example(6, rng)
    lengths = np.array([0, 10**7, 3, 0, 121, 10**5])
    counts = draw_documents(truth, scaling, design, lengths, rng)
    assert counts.has_canonical_format
    np.testing.assert_array_equal(counts.sum(axis=1), lengths)
    empty = draw_documents(truth, scaling, design, np.zeros(6), rng)
    assert (empty.nnz, empty.shape) == (0, (6, 30))


def test_the_memory_grows_with_tokens_and_not_with_words():
    proportions, tokens = np.full((400, 4), 0.25), np.full(400, 20)
    memory = []
    for n_words in (200, 100_000):
        share = np.full((4, n_words), 1.0 / n_words)
        tracemalloc.start()
        _draw_words(share, proportions, tokens, np.random.default_rng(0))
        memory.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Topics take a few MB, and a table of documents and words would take 320 MB.
    assert memory[1] < 2 * memory[0] + 3 * share.nbytes
