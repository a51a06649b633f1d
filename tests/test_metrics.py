"""Measures of topics: plain twins, permutations, closed cases and refusals."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hdsp import metrics
from hdsp.metrics import (
    effective_topics,
    exclusivity,
    frex,
    match_topics,
    npmi,
    stability,
    topic_diversity,
    topic_top_words,
)
from tests.reference import measures as reference

seeds = st.integers(0, 10**6)


def random_components(rng, n_topics=4, n_words=6):
    """Weights with zeros and repeated words, whose equal values must share a rank."""
    weights = rng.gamma(0.3, size=(n_topics, n_words)) * (rng.random((n_topics, n_words)) < 0.7)
    weights[:, 0] = rng.gamma(1.0, size=n_topics)
    return weights[:, rng.integers(0, n_words, size=n_words) * (np.arange(n_words) > 0)]


def random_case(seed):
    rng = np.random.default_rng(seed)
    top_words = np.array([rng.permutation(6)[: rng.integers(2, 5)] for _ in range(1)])
    top_words = np.vstack([top_words, rng.permutation(6)[None, : top_words.shape[1]]])
    counts = rng.integers(0, 3, size=(rng.integers(1, 12), 6))
    return rng, top_words, counts, random_components(rng)


@given(seeds, st.integers(1, 8), st.floats(0, 1))
def test_measures_equal_their_plain_twins_and_stay_in_range(seed, n, weight):
    rng, top_words, counts, components = random_case(seed)
    runs = [rng.dirichlet(np.ones(40), size=rng.integers(1, 5)) for _ in range(3)]
    for value, expected, lowest, highest in (
        (npmi(top_words, sp.csr_array(counts)), reference.npmi(top_words, counts), -1, 1),
        (exclusivity(components, n), reference.exclusivity(components, n), 0, 1),
        (frex(components, weight), reference.frex(components, weight), 0, 1),
        (effective_topics(components[0]), reference.effective_topics(components[0]), 1, 6),
        (stability(runs), reference.stability(runs), 0, 1),
    ):
        np.testing.assert_allclose(value, expected, atol=1e-12)
        assert np.all((value >= lowest - 1e-12) & (value <= highest + 1e-12))


@given(seeds)
def test_permuting_topics_words_and_documents_permutes_the_measures(seed):
    rng, top_words, counts, _ = random_case(seed)
    components = rng.gamma(0.5, size=(4, 6)) + 1e-9
    topics, words, documents = rng.permutation(4), rng.permutation(6), rng.permutation(len(counts))
    # Powers of two keep equal values equal.
    scaled = 2.0 ** rng.integers(-5, 6, size=(4, 1)) * components
    permuted = scaled[topics][:, words]
    renamed = np.argsort(words)[top_words]
    other, third = rng.dirichlet(np.ones(6), size=(2, 5))
    for changed, value in (
        (npmi(renamed[::-1, ::-1], 7 * counts[documents][:, words]), npmi(top_words, counts)[::-1]),
        (exclusivity(permuted, 3), exclusivity(components, 3)[topics]),
        (frex(permuted), frex(components)[topics][:, words]),
        (effective_topics(components[0, words] * 8), effective_topics(components[0])),
        (effective_topics(np.repeat(components[0], 2)), 2 * effective_topics(components[0])),
        (topic_diversity(renamed[::-1]), topic_diversity(top_words)),
        (
            match_topics(permuted, other[:, words])[1].sum(),
            match_topics(components, other)[1].sum(),
        ),
        (
            stability([permuted, third[:, words], other[:, words]]).sum(),
            stability([components, other, third]).sum(),
        ),
    ):
        np.testing.assert_allclose(changed, value, atol=1e-12)


@given(seeds, st.integers(1, 3), st.integers(1, 5))
def test_matching_finds_the_pairing_with_the_smallest_total(seed, n_true, n_fitted):
    rng = np.random.default_rng(seed)
    truth, fitted = (rng.dirichlet(np.ones(5), size=n) for n in (n_true, n_fitted))
    indices, distances = match_topics(truth, fitted)
    distance = 0.5 * np.abs(truth[:, None] - fitted).sum(axis=2)
    # A true topic without a partner costs 1.
    distance = np.hstack([distance, np.ones((n_true, n_true))])
    totals = [
        distance[np.arange(n_true), list(pairing)].sum()
        for pairing in permutations(range(n_fitted + n_true), n_true)
    ]
    assert distances.sum() == pytest.approx(min(totals))
    np.testing.assert_allclose(distance[np.arange(n_true), indices], distances)
    assert (indices == -1).sum() == max(n_true - n_fitted, 0)


@given(seeds, st.integers(1, 12))
def test_top_words_are_the_heaviest_in_order(seed, n):
    components = np.random.default_rng(seed).integers(0, 4, size=(3, 40)).astype(float)
    top = topic_top_words(components, n)
    np.testing.assert_array_equal(top, np.argsort(-components, axis=1, kind="stable")[:, :n])


COUNTS = np.array(
    # always the first, two that come together, two that are independent of each other, none
    [[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]
)
# In the first topic: frequency ranks 4 3 2 1; exclusivity 1/2, 1, 2/3, 0 ranks 2 4 3 1.
TWO = np.array([[0.5, 0.3, 0.2, 0.0], [0.5, 0.0, 0.1, 0.4]])
FREQUENT, EXCLUSIVE = np.array([4, 3, 2, 1]) / 4, np.array([2, 4, 3, 1]) / 4
SHARES = np.array([0.5, 0.3, 0.15, 0.05])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # The third: ln(1/4 / (1/2 · 1/2)) = 0 and ln(2) / ln(2) = 1: the mean over three pairs.
        (npmi([[1, 2], [1, 3], [0, 1], [0, 5]], COUNTS), [1, 0, 0, -1]),
        (npmi([[1, 2, 3]], COUNTS), [1 / 3]),
        (npmi([[0, 1]], np.ones((3, 2))), [0]),
        (npmi([[0, 1]], np.eye(2), eps=1e-12), [np.log(1e-12 / 0.25) / -np.log(1e-12)]),
        (topic_diversity(np.arange(12).reshape(3, 4)), 1),
        (topic_diversity(np.tile(np.arange(4), (3, 1))), 1 / 3),
        (topic_diversity([[0, 1, 2], [2, 3, 4]]), 5 / 6),
        (exclusivity(np.eye(3), n=1), [1, 1, 1]),
        (exclusivity(np.ones((4, 6)), n=3), np.full(4, 1 / 4)),
        # 0.6 / 0.6 and 0.3 / (0.3 + 0.5); then 0.5 / 0.8 and 0.5 / (0.1 + 0.5).
        (
            exclusivity(np.array([[6.0, 3.0, 1.0], [0.0, 1.0, 1.0]]), n=2),
            [(1 + 0.375) / 2, (0.625 + 0.5 / 0.6) / 2],
        ),
        (exclusivity(np.array([[1.0, 0.0]]), n=2), [1 / 2]),
        (frex(TWO, weight=0.0)[0], FREQUENT),
        (frex(TWO, weight=1.0)[0], EXCLUSIVE),
        (frex(TWO, weight=0.7)[0], 1 / (0.7 / EXCLUSIVE + 0.3 / FREQUENT)),
        (topic_top_words(frex(TWO), 2), [[1, 0], [0, 3]]),
        (topic_top_words(np.array([[1.0, 2.0, 1.0, 2.0]]), 4), [[1, 3, 0, 2]]),
        (effective_topics(np.array([7.0])), 1),
        (effective_topics(np.array([1, 1, 0, 0])), 2),
        # The Hill number of order 1 is between its neighbours.
        (
            effective_topics(SHARES),
            np.mean([reference.hill_number(SHARES, 1 + sign * 1e-6) for sign in (-1, 1)]),
        ),
        (match_topics(np.eye(3), np.eye(3)[[2]])[0], [-1, -1, 0]),
        (match_topics(np.eye(3), np.eye(3)[[2]])[1], [1, 1, 0]),
        (stability([np.eye(3), np.eye(3)[::-1], 5 * np.eye(3)]), [1, 1, 1]),
        # A topic without a partner has no words in common with that run: half of two runs.
        (stability(run for run in [np.eye(3), np.eye(3)[:2], np.eye(3)]), [1, 1, 0.5]),
    ],
)
def test_closed_cases(value, expected):
    np.testing.assert_allclose(value, expected, atol=1e-9)


def test_a_stored_zero_is_no_occurrence_and_arguments_are_not_changed():
    counts = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]))
    counts.data[1] = 0.0
    assert npmi([[0, 1]], counts) == pytest.approx(np.log(1.5) / np.log(3))
    assert counts.nnz == 4


NAN = np.array([[1.0, np.nan]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: npmi(np.array([[0.0, 1.0]]), np.eye(2)), "word indices"),
        (lambda: npmi([[0]], np.eye(2)), r"at least 2 words per topic.*\(1, 1\)"),
        (lambda: npmi([[0, 2]], np.eye(2)), r"must be columns of `counts`. Got 2 in topic 0"),
        (lambda: npmi([[0, 1], [0, -1]], np.eye(2)), r"-1 in topic 1"),
        (lambda: npmi([[0, 1], [1, 1]], np.eye(2)), r"must be distinct.*in topic 1"),
        (lambda: npmi([[0, 1]], np.ones((0, 2))), r"at least one document, got 0 rows"),
        (lambda: npmi([[0, 1]], np.eye(2), eps=-1.0), r"eps.*-1"),
        (lambda: topic_top_words(np.ones(3)), r"must be a matrix \[T, V\], got 1 dimension"),
        (lambda: topic_top_words(np.ones((1, 3)), n=0), r"n must be an integer >= 1, got 0"),
        (lambda: topic_diversity(np.arange(3)), r"must be a matrix \[T, n\].*\(3,\)"),
        (lambda: exclusivity(np.eye(2), n=0), r"n must be an integer >= 1, got 0"),
        (lambda: exclusivity(np.ones(2)), r"must be a matrix, topics x words.*\(2,\)"),
        (lambda: exclusivity(-np.eye(2)), r"finite and not negative.*-1\.0 at topic 0, word 0"),
        (lambda: frex(NAN), r"finite and not negative.*nan at topic 0, word 1"),
        (lambda: frex(np.eye(2)[[0, 0]] * [[1], [0]]), r"some weight.*in topic 1"),
        (lambda: frex(np.eye(2), weight=1.5), r"weight must be between 0 and 1, got 1\.5"),
        (lambda: effective_topics(np.ones((3, 2))), r"must be a vector \[T\] of finite"),
        (lambda: effective_topics([0.5, -0.5]), r"finite values >= 0, got \[ ?0\.5"),
        (lambda: effective_topics([0.0, 0.0]), r"must not all be zero"),
        (lambda: match_topics(np.eye(2), np.eye(3)), r"got 2 and 3 words"),
        (lambda: match_topics(np.eye(2), NAN), r"`found` .*nan"),
        (lambda: stability([np.eye(2)]), r"at least two fits, got 1"),
        (lambda: stability([np.eye(2), np.eye(2), np.eye(3)]), r"got 2 and 3 words"),
        (lambda: stability([np.eye(2), np.zeros((1, 2))]), r"`runs\[1\]` .*some weight"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_npmi_equals_gensim_if_documents_fit_its_window():
    models, corpora = pytest.importorskip("gensim.models"), pytest.importorskip("gensim.corpora")
    rng = np.random.default_rng(0)
    top_words = np.array([rng.permutation(40)[:6] for _ in range(8)])
    documents = [rng.integers(0, 40, size=rng.integers(1, 20)) for _ in range(80)]
    counts = np.array([np.bincount(tokens, minlength=40) for tokens in documents])
    words = [f"w{word}" for word in range(40)]
    model = models.CoherenceModel(
        topics=[[words[i] for i in row] for row in top_words],
        texts=[[words[i] for i in row] for row in documents],
        dictionary=corpora.Dictionary([words]),
        coherence="c_npmi",
        topn=6,
        window_size=110,
        processes=1,
    )
    value = npmi(top_words, counts, eps=1e-12)
    np.testing.assert_allclose(value, model.get_coherence_per_topic(), atol=1e-9)


def test_every_measure_has_a_row_in_its_page():
    page = (Path(__file__).parents[1] / "docs" / "metrics.md").read_text(encoding="utf-8")
    measures = [name for name in metrics.__all__ if name != "topic_top_words"]
    assert [name for name in measures if f"| [`{name}`](#" not in page] == []
