"""Proportions by CVB0: the compiled form against its twin, its equation and its identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import use_threads
from hdsp.model.documents import pad
from hdsp.model.reading import predict_proportions
from hdsp.model.state import padded
from tests.reference import cvb0

SEEDS = st.integers(0, 2**32 - 1)


def draw_topics(rng, n_words, n_topics, spread=0.1):
    """Topics [V, T] as a fit leaves them: peaked, no word impossible."""
    topics = rng.gamma(spread, size=(n_words, n_topics)) + 1e-4
    return topics / topics.sum(axis=0)


def draw_documents(rng, word_share, lengths):
    """Counts [M, V] of documents with two or three topics each."""
    n_topics = word_share.shape[1]
    rows = []
    for length in lengths:
        theta = rng.dirichlet(np.full(n_topics, 2.5 / n_topics))
        mixed = word_share @ theta
        rows.append(rng.multinomial(length, mixed / mixed.sum()))
    return csr_array(np.array(rows, dtype=np.float64))


def solve(dense, word_share, prior_shape, rate, max_iter=3_000, tol=1e-12, least=0.0):
    """The kernel in float64."""
    counts = csr_array(dense)
    out = np.empty((counts.shape[0], len(prior_shape)))
    made = kernels.predict_documents(
        0,
        counts.shape[0],
        counts.indptr,
        counts.indices,
        counts.data,
        word_share,
        prior_shape,
        rate,
        dense.sum(axis=1),
        max_iter,
        tol,
        least,
        out,
    )
    return out, made


def predict(counts, word_share, prior_shape, rate):
    """As models predict: in float32, with topics padded."""
    width, dtype = padded(len(prior_shape)), np.dtype(np.float32)
    rates = np.ones((len(rate), width), dtype=dtype)
    rates[:, : len(prior_shape)] = rate
    out = np.empty((counts.shape[0], len(prior_shape)))
    table, prior = pad(word_share, width, dtype), pad(prior_shape, width, dtype)
    predict_proportions(counts, table, prior, rates, out)
    return out


def unsolved(proportions, counts, word_share, prior_shape, rate):
    """The largest share of a document's tokens that another update would move."""
    found = 0.0
    for m, theta in enumerate(proportions):
        row = slice(counts.indptr[m], counts.indptr[m + 1])
        tokens, words = counts.data[row], counts.indices[row]
        if tokens.sum() > 0:
            moved = cvb0.unsolved_share(theta, tokens, word_share[words], prior_shape, rate[m])
            found = max(found, moved)
    return found


@given(seed=SEEDS, largest=st.sampled_from([1.0, 3.0, 10.0]), whole=st.booleans())
def test_equals_its_twin(seed, largest, whole):
    rng = np.random.default_rng(seed)
    n_documents, n_words, n_topics = 4, 9, 7
    dense = rng.random((n_documents, n_words)) * largest
    dense = (np.ceil(dense) if whole else dense) * (rng.random(dense.shape) < 0.6)
    dense[1] = 0.0
    word_share = draw_topics(rng, n_words, n_topics, spread=0.5)
    prior_shape = rng.gamma(1.0, size=n_topics) + 1.0
    rate = rng.gamma(2.0, size=(n_documents, n_topics)) + 0.3
    found, _ = solve(dense, word_share, prior_shape, rate)
    for m in range(n_documents):
        words = np.flatnonzero(dense[m])
        expected = cvb0.predict_document(
            dense[m, words], word_share[words], prior_shape, rate[m], 400
        )
        np.testing.assert_allclose(found[m], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_topics", [2, 30, 400])
@pytest.mark.parametrize("concentration", [0.5, 5.0, 100.0])
def test_solves_its_equation_for_short_and_long_documents(n_topics, concentration):
    rng = np.random.default_rng(n_topics)
    word_share = draw_topics(rng, 4_000, n_topics)
    counts = draw_documents(rng, word_share, [1, 2, 5, 30, 200, 3_000])
    prior_shape = concentration * rng.dirichlet(np.full(n_topics, 2.0))
    rate = np.exp(rng.normal(size=(counts.shape[0], n_topics)))
    args = (word_share, prior_shape, rate)
    exact, _ = solve(counts.toarray(), *args, tol=1e-10)
    assert unsolved(exact, counts, *args) < 1e-8
    usual = predict(counts, *args)
    np.testing.assert_allclose(usual.sum(axis=1), 1.0, rtol=1e-12)
    # It stops where an update moves a thousandth of the tokens, the background by as much again.
    assert unsolved(usual, counts, *args) < 5e-3


def test_ends_with_any_rates_and_priors():
    rng = np.random.default_rng(0)
    n_topics = 50
    word_share = draw_topics(rng, 300, n_topics)
    counts = draw_documents(rng, word_share, [1, 3, 20, 100] * 8)
    prior_shape = 10.0 * rng.dirichlet(np.full(n_topics, 0.05)) + 1e-12
    rate = np.exp(rng.normal(0.0, 8.0, size=(counts.shape[0], n_topics)))
    theta = predict(counts, word_share, prior_shape, rate)
    assert np.isfinite(theta).all()
    assert (theta >= 0.0).all()
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=1e-12)


def drawn(n_words, n_topics=5, n_documents=1):
    """A generator, topics, prior shapes and rates."""
    rng = np.random.default_rng(0)
    word_share, prior_shape = draw_topics(rng, n_words, n_topics), rng.gamma(1.0, size=n_topics)
    return rng, word_share, prior_shape + 0.1, rng.gamma(2.0, size=(n_documents, n_topics)) + 0.1


def test_one_token_is_judged_by_the_prior_alone():
    _, word_share, prior_shape, _ = drawn(20)
    joint = word_share[3] * prior_shape
    expected = (prior_shape + joint / joint.sum()) / (prior_shape.sum() + 1.0)
    theta = predict(csr_array(np.eye(20)[[3]]), word_share, prior_shape, np.ones((1, 5)))
    # float32 takes the token's share from itself: rounding against the prior's smallest weight.
    np.testing.assert_allclose(theta[0], expected, rtol=1e-5)


def test_a_word_that_occurs_thrice_is_three_tokens():
    _, word_share, prior_shape, rate = drawn(12)
    apart = np.concatenate([word_share, word_share[:1], word_share[:1]])
    together, single = np.zeros((1, 12)), np.zeros((1, 14))
    together[0, [0, 4, 7]] = 3.0, 1.0, 2.0
    single[0, [0, 4, 7, 12, 13]] = 1.0, 1.0, 2.0, 1.0, 1.0
    one, _ = solve(together, word_share, prior_shape, rate)
    other, _ = solve(single, apart, prior_shape, rate)
    np.testing.assert_allclose(one, other, rtol=1e-8)


def test_stored_zeros_do_nothing_and_documents_without_words_have_the_prior():
    rng, word_share, prior_shape, rate = drawn(30, n_documents=2)
    dense = np.vstack([rng.poisson(1.0, size=30), np.zeros(30)])
    stored = csr_array((dense.ravel(), np.tile(np.arange(30), 2), [0, 30, 60]), shape=(2, 30))
    found, expected = (
        predict(counts, word_share, prior_shape, rate) for counts in (stored, csr_array(dense))
    )
    # The sums are taken in another order.
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    prior = prior_shape / rate[1]
    np.testing.assert_allclose(expected[1], prior / prior.sum(), rtol=1e-6)


def test_equal_rates_cancel():
    rng, word_share, prior_shape, _ = drawn(100, 20)
    dense = draw_documents(rng, word_share, [5, 40]).toarray()
    one, _ = solve(dense, word_share, prior_shape, np.ones((2, 20)))
    other, _ = solve(dense, word_share, prior_shape, np.full((2, 20), 7.0))
    np.testing.assert_allclose(one, other, rtol=1e-7)


def test_the_same_bits_in_any_order_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    word_share = draw_topics(rng, 500, 60)
    counts = draw_documents(rng, word_share, rng.integers(0, 120, size=400))
    rate = np.exp(rng.normal(size=(400, 60)))
    prior_shape = 5.0 * rng.dirichlet(np.ones(60))
    one = predict(counts, word_share, prior_shape, rate)
    with use_threads(3):
        three = predict(counts, word_share, prior_shape, rate)
    np.testing.assert_array_equal(one, three)
    order = rng.permutation(400)
    shuffled = predict(counts[order], word_share, prior_shape, rate[order])
    np.testing.assert_array_equal(shuffled, one[order])
