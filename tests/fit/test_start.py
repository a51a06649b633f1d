"""Starts by name, and what they must give the first pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from hdsp import Corpus, simulate
from hdsp.fit.start import initial_state, nmf_topics, spherical_kmeans
from hdsp.kernels import use_threads
from hdsp.metrics import match_topics
from tests.problems import problem_of


def start(counts, init, n_topics=6, seed=0):
    problem, rng = problem_of(Corpus(counts)), np.random.default_rng(seed)
    return initial_state(problem, n_topics, init, 1.0, 20.0, rng)


def corpus(seed=0, n_topics=6):
    drawn, truth = simulate(
        n_documents=300,
        n_topics=n_topics,
        n_words=60,
        document_length=80,
        corpus_concentration=30.0,
        topic_prior=0.05,
        random_state=seed,
    )
    return drawn.counts, truth


@pytest.mark.parametrize("init", ["nmf", "words", "lda", "random"])
def test_a_start_holds_the_corpus_once_and_is_ordered(init):
    counts, _ = corpus()
    state = start(counts, init)
    assert state.topics.shape == (60, 6)
    assert (state.topics >= 0.05 - 1e-6).all()
    assert state.topics.sum() == pytest.approx(counts.sum() + 60 * 6 * 0.05, rel=1e-5)
    weight = state.topic_weight
    assert (np.diff(weight) <= 1e-12).all()
    assert weight.sum() == pytest.approx(1.0)
    held = state.topics.sum(axis=0) - 60 * 0.05
    np.testing.assert_allclose(held / held.sum(), weight, rtol=1e-4)


def test_an_array_is_taken_as_it_is():
    counts, _ = corpus()
    weights = np.random.default_rng(0).random((6, 60))
    state = start(counts, weights)
    size = weights.sum(axis=1)
    order = np.argsort(-size)
    found = (state.topics - 0.05) / (state.topics - 0.05).sum(axis=0)
    np.testing.assert_allclose(found.T, (weights / size[:, None])[order], rtol=1e-4)


def test_the_default_start_is_near_the_truth_and_a_random_one_is_not():
    counts, truth = corpus()
    words, _ = nmf_topics(counts, 6, np.random.default_rng(0))
    near = match_topics(truth.word_share, words.T)[1].mean()
    far = match_topics(truth.word_share, start(counts, "random").topics.T)[1].mean()
    # Tf-idf flattens frequencies, so that even the right factors stay some way off.
    assert near < 0.45
    assert far > 0.6


def test_factors_approximate_the_matrix():
    counts, _ = corpus()
    words, loadings = nmf_topics(counts, 6, np.random.default_rng(0))
    rows = TfidfTransformer(norm=None, sublinear_tf=True).fit_transform(counts).toarray()
    rows /= np.sqrt(np.linalg.norm(rows, axis=1, keepdims=True))
    left = np.linalg.norm(rows - loadings @ words.T) / np.linalg.norm(rows)
    singular = np.linalg.svd(rows, compute_uv=False)
    best = np.sqrt((singular[6:] ** 2).sum() / (singular**2).sum())
    assert (words >= 0).all()
    assert (loadings >= 0).all()
    # Non-negative factors cannot beat the singular vectors, and come close on such a corpus.
    assert best - 1e-6 <= left < best * 1.08


@given(
    n_documents=st.integers(1, 5),
    n_words=st.integers(1, 4),
    n_topics=st.integers(2, 12),
    seed=st.integers(0, 2**32 - 1),
)
def test_more_topics_than_documents_or_words(n_documents, n_words, n_topics, seed):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(1.0, size=(n_documents, n_words)).astype(float)
    dense[0, 0] += 1.0
    state = start(dense, "nmf", n_topics, seed % 1000)
    assert np.isfinite(state.topics).all()
    assert np.isfinite(state.sticks).all()
    assert (state.topic_weight > 0).all()


@given(
    scale=st.floats(1e-6, 1e6),
    n_topics=st.sampled_from([20, 100, 200]),
    seed=st.integers(0, 2**32 - 1),
)
def test_factors_of_fractional_counts_stay_in_bounds(scale, n_topics, seed):
    # The logarithm of a small fraction is negative, and a factor that shrinks to nothing once
    # let the other grow to 1e17: topics below their prior, and a bound that is no number.
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(10, 10))
    dense = scale * (dense - dense.min())
    words, loadings = nmf_topics(csr_array(dense), n_topics, rng)
    assert (words >= 0).all()
    assert (loadings >= 0).all()
    assert words.max() <= 1.001
    assert np.isfinite(loadings).all()
    assert (start(dense, "nmf", n_topics, seed % 1000).topics >= 0.05 * (1 - 1e-6)).all()


def test_threads_do_not_change_the_start():
    counts, _ = corpus()
    one = nmf_topics(counts, 6, np.random.default_rng(0))
    with use_threads(3):
        other = nmf_topics(counts, 6, np.random.default_rng(0))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


def two_kinds(n_long, n_short):
    """Documents of 30 tokens on two words, and of 10 tokens on two others."""
    return csr_array([[15.0, 15.0, 0.0, 0.0]] * n_long + [[0.0, 0.0, 5.0, 5.0]] * n_short)


@pytest.mark.parametrize("sparse", [True, False])
def test_clusters_are_seeded_apart_and_have_unit_centres(sparse):
    rows = two_kinds(97, 3).toarray() / np.array([[15.0 * 2**0.5]] * 97 + [[5.0 * 2**0.5]] * 3)
    rows = csr_array(rows, dtype=np.float32) if sparse else rows.astype(np.float32)
    for seed in range(10):
        # Three in a hundred documents are of the other kind: drawn evenly, they would be missed.
        found = spherical_kmeans(rows, 2, rows, np.random.default_rng(seed), 3)
        cluster, centres, closeness = found
        assert len(set(cluster[:97])) == len(set(cluster[97:])) == 1
        assert cluster[0] != cluster[-1]
        np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1.0, rtol=1e-5)
        assert closeness == pytest.approx(100.0, rel=1e-5)


def test_a_start_weighs_topics_by_tokens():
    weight = start(two_kinds(10, 10), "nmf", 2).topic_weight
    # 300 and 100 tokens that share no word, so the factors part them to float32's rounding.
    np.testing.assert_allclose(weight, [0.75, 0.25], rtol=1e-4)


def test_every_word_is_within_reach_of_every_topic():
    counts, _ = corpus()
    expected = start(counts, "nmf").topics - 0.05
    share = expected / expected.sum(axis=0)
    frequency = counts.sum(axis=0) / counts.sum()
    # Half of a start is the corpus; words a factor leaves out have no more, to float32's rounding.
    used = frequency > 1e-3
    least = (share[used] / frequency[used, None]).min()
    assert least == pytest.approx(0.5, rel=2e-3)
