"""Every kernel gives what its plain twin gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

from hdsp import kernels
from hdsp.analysis.softmax import share_tokens
from hdsp.kernels.documents import _solve_tangent
from hdsp.kernels.special import ARITHMETIC, digamma_and_log_gamma, exp_digamma, fast_exp, fast_log
from hdsp.model.reading import word_log_likelihood
from tests.reference import documents, factors, likelihood, scaling, softmax, terms, topics

SEEDS = st.integers(0, 2**32 - 1)


def elementwise(function, values):
    """A function of compiled code on each of some numbers, in a loop as kernels have."""

    @njit(**ARITHMETIC)
    def loop(values, out):
        for i in range(values.shape[0]):
            out[i] = function(values[i])

    out = np.empty_like(values)
    loop(values, out)
    return out


def draw_view(rng, n_documents, n_words, n_topics):
    """A word table, prior shapes and rates."""
    table = topics.word_table(rng.gamma(1.0, size=(n_words, n_topics)) + 0.05)
    prior_shape = rng.gamma(0.5, size=n_topics) + 1e-2
    return table, prior_shape, rng.gamma(1.0, size=(n_documents, n_topics)) + 0.05


def solve_documents(dense, table, prior_shape, rate, topic_weight, n_iter, start=None):
    """Tokens by topic, tangents, weights of tokens and iterations made, without a tolerance."""
    counts, lengths = csr_array(dense), dense.sum(axis=1)
    token_counts, xi = (np.zeros(rate.shape), np.ones(len(dense))) if start is None else start
    weight, token_weight = np.empty(rate.shape), np.empty(counts.nnz)
    made = kernels.solve_documents(
        *(0, len(dense), counts.indptr, counts.indices, counts.data, table, prior_shape, rate),
        *(lengths, start is not None, topic_weight, n_iter, 0.0, 0.0),
        *(token_counts, xi, weight, token_weight),
    )
    return token_counts, xi, token_weight, made


def fill_document_terms(dense, table, prior_shape, rate, token_counts, xi, weight, size):
    """Terms of each document and the sum of E[ln pi], from ranges of `size` documents."""
    counts, lengths = csr_array(dense), dense.sum(axis=1)
    token_weight = (dense / (weight @ table.T))[dense > 0]
    words, tangent, proportions = np.empty((3, len(dense)))
    starts = range(0, len(dense), size)
    sums = np.zeros((len(starts), len(prior_shape)))
    for first in starts:
        kernels.fill_document_terms(
            *(first, min(first + size, len(dense)), size, counts.indptr, counts.data, lengths),
            *(prior_shape, rate, token_counts, xi, weight, token_weight),
            *(words, tangent, proportions, sums),
        )
    return words, tangent, proportions, sums.sum(axis=0)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-6), (np.float64, 1e-12)])
def test_exp_digamma(dtype, tolerance):
    values = np.geomspace(0.03, 1e6, 4_001).astype(dtype)
    out = elementwise(exp_digamma, values)
    # Relative to float32's own rounding of the exponent near the small end.
    expected = np.exp(psi(values.astype(np.float64)))
    slack = 1.0 + np.abs(psi(values.astype(np.float64))) * (dtype == np.float32)
    np.testing.assert_array_less(np.abs(out / expected - 1.0), tolerance * slack)


def test_exp_digamma_of_tiny_and_of_huge_counts():
    tiny = np.array([1e-30, 1e-5, 0.005], dtype=np.float32)
    assert elementwise(exp_digamma, tiny).tolist() == [0.0, 0.0, 0.0]
    huge = np.array([1e9, 1e12, 1e18], dtype=np.float32)
    np.testing.assert_allclose(elementwise(exp_digamma, huge), huge, rtol=1e-6)


@given(seed=SEEDS, largest=st.sampled_from([1.0, 40.0, 1e6]))
def test_solve_documents(seed, largest):
    rng = np.random.default_rng(seed)
    n_documents, n_words, n_topics, n_iter = 4, 11, 5, 3
    dense = np.ceil(rng.random((n_documents, n_words)) * largest)
    dense *= rng.random(dense.shape) < 0.7
    counts = csr_array(dense)
    table, prior_shape, rate = draw_view(rng, n_documents, n_words, n_topics)
    weight = rng.dirichlet(np.ones(n_topics))
    token_counts, tangent, token_weight, made = solve_documents(
        dense, table, prior_shape, rate, weight, n_iter
    )
    assert made <= n_iter * n_documents
    for m in range(n_documents):
        words = np.flatnonzero(dense[m])
        if words.size == 0:
            assert token_counts[m].tolist() == [0.0] * n_topics
            continue
        expected, xi, _ = documents.fit_document(
            words, dense[m, words], table, prior_shape, rate[m], weight, n_iter
        )
        np.testing.assert_allclose(token_counts[m], expected, rtol=1e-7, atol=1e-9)
        assert tangent[m] == pytest.approx(xi, rel=1e-7)
        _, _, answered = documents.fit_document(
            words, dense[m, words], table, prior_shape, rate[m], weight, n_iter - 1
        )
        norm = table[words] @ answered
        start, stop = counts.indptr[m : m + 2]
        np.testing.assert_allclose(token_weight[start:stop], dense[m, words] / norm, rtol=1e-7)


def test_a_warm_document_continues_where_it_stopped():
    rng = np.random.default_rng(0)
    dense = rng.poisson(3.0, size=(4, 11)).astype(float)
    arguments = (dense, *draw_view(rng, 4, 11, 5), rng.dirichlet(np.ones(5)))
    whole = solve_documents(*arguments, 5)
    parts = solve_documents(*arguments, 2, start=solve_documents(*arguments, 3)[:2])
    # The same float64 operations, so rounding is all there is between them.
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-10)
    np.testing.assert_allclose(parts[1], whole[1], rtol=1e-10)


@given(seed=SEEDS)
def test_the_tangent_solves_its_equation_for_wild_rates(seed):
    rng = np.random.default_rng(seed)
    shape = rng.gamma(0.5, 10.0, size=6) + 1e-3
    rate = np.exp(rng.normal(0.0, 6.0, size=6))
    length = float(rng.integers(1, 1_000))
    shape[0] += length
    prior_total = shape.sum() - length
    for start in (prior_total / rate.max(), prior_total / rate.min()):
        xi = _tangent(
            length, prior_total, shape, rate, start, 1.001 * prior_total / rate.min(), 1e-13
        )
        assert (shape / (rate * xi + length)).sum() == pytest.approx(1.0, abs=1e-9)


@given(seed=SEEDS)
def test_dirichlet_terms(seed):
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.3, 10.0, size=(7, 5)) * (rng.random((7, 5)) < 0.7)
    out = np.empty(7)
    for first, last in ((0, 4), (4, 7)):
        kernels.dirichlet_terms(first, last, 0.05 + counts, 0.05, out)
    np.testing.assert_allclose(
        out, terms.dirichlet_terms(0.05 + counts, 0.05), rtol=1e-7, atol=1e-7
    )


@given(seed=SEEDS)
def test_fill_document_terms(seed):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.8, size=(7, 6)).astype(float)
    table, prior_shape, rate = draw_view(rng, 7, 6, 5)
    token_counts = rng.gamma(0.3, 10.0, size=rate.shape) * (rng.random(rate.shape) < 0.7)
    weight = np.where(token_counts > 0, rng.random(rate.shape), 0.0) + 1e-3
    arguments = (
        dense,
        table,
        prior_shape,
        rate,
        token_counts,
        rng.gamma(2.0, size=7) + 0.1,
        weight,
    )
    found = fill_document_terms(*arguments, size=4)
    expected = terms.fill_document_terms(*arguments)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


def test_topics_with_hardly_a_token_enter_by_an_expansion():
    rng = np.random.default_rng(0)
    n_documents, n_words, n_topics = 4, 6, 5
    eta, out = 0.05, np.empty(n_words)
    counts = eta * rng.uniform(2e-5, 9e-5, size=(n_words, n_topics))
    kernels.dirichlet_terms(0, n_words, eta + counts, eta, out)
    # What is left out is a share n / eta of it, at most 1e-4; and the twin's own rounding.
    expected = terms.dirichlet_terms(eta + counts, eta)
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-13)

    dense = rng.poisson(2.0, size=(n_documents, n_words)).astype(float)
    table, _, rate = draw_view(rng, n_documents, n_words, n_topics)
    prior_shape = rng.uniform(0.02, 0.1, size=n_topics)
    token_counts = prior_shape * rng.uniform(2e-5, 9e-5, size=rate.shape)
    weight = rng.random(rate.shape) + 1e-3
    xi = rng.gamma(2.0, size=n_documents) + 0.1
    arguments = (dense, table, prior_shape, rate, token_counts, xi, weight)
    words, _, proportions, sums = fill_document_terms(*arguments, size=n_documents)
    expected = terms.fill_document_terms(*arguments)
    # psi moves by up to 9e-5 / 0.02 a document; its second order is 1e-4 of that.
    np.testing.assert_allclose(sums, expected[3], rtol=0.0, atol=4e-6)
    np.testing.assert_allclose(words, expected[0], rtol=1e-9)
    np.testing.assert_allclose(proportions, expected[2], rtol=1e-9)


def test_digamma_and_log_gamma_to_rounding():
    for a in np.geomspace(2e-3, 1e6, 300):
        digamma, log_gamma = _both(a)
        assert digamma == pytest.approx(psi(a), rel=1e-12, abs=1e-12)
        assert log_gamma == pytest.approx(gammaln(a), rel=1e-11, abs=1e-11)


@njit
def _tangent(*arguments):
    return _solve_tangent(*arguments)


@njit
def _both(a):
    return digamma_and_log_gamma(a)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 4e-6), (np.float64, 1e-13)])
def test_fast_logarithm_and_exponential(dtype, tolerance):
    values = np.geomspace(1e-30, 1e30, 5_001).astype(dtype)
    out = elementwise(fast_log, values)
    np.testing.assert_allclose(out, np.log(values.astype(np.float64)), rtol=2e-7, atol=2e-7)
    values = np.linspace(-79.0, 79.0, 5_001).astype(dtype)
    out = elementwise(fast_exp, values)
    np.testing.assert_allclose(out, np.exp(values.astype(np.float64)), rtol=tolerance)


@given(seed=SEEDS)
def test_exp_product(seed):
    rng = np.random.default_rng(seed)
    matrix = csr_array(rng.normal(size=(9, 4)) * (rng.random((9, 4)) < 0.6))
    dense = rng.normal(size=(4, 5))
    np.testing.assert_allclose(
        kernels.exp_product(matrix, dense), np.exp(matrix @ dense), rtol=1e-10
    )
    far = kernels.exp_product(csr_array(np.array([[1e3], [-1e3]])), np.ones((1, 2)))
    np.testing.assert_allclose(np.log(far), [[60.0, 60.0], [-60.0, -60.0]])


@given(seed=SEEDS)
def test_word_table_and_counts(seed):
    rng = np.random.default_rng(seed)
    n_documents, n_words, n_topics = 6, 9, 4
    dirichlet = rng.gamma(1.0, size=(n_words, n_topics)) + 0.05
    table = np.empty_like(dirichlet)
    inverse_total = np.exp(-psi(dirichlet.sum(axis=0)))
    kernels.fill_word_table(0, n_words, dirichlet, inverse_total, table)
    np.testing.assert_allclose(table, topics.word_table(dirichlet), rtol=1e-10, atol=1e-20)

    dense = rng.poisson(0.8, size=(n_documents, n_words)).astype(float)
    counts = csr_array(dense)
    weight = rng.random((n_documents, n_topics))
    norm = weight @ table.T
    token_weight = (dense / norm)[dense > 0]
    order = csr_array(
        (np.arange(counts.nnz), counts.indices, counts.indptr), shape=counts.shape
    ).tocsc()
    out = np.zeros_like(table)
    kernels.add_word_counts(
        0, n_words, order.indptr, order.indices, order.data, token_weight, weight, table, out
    )
    np.testing.assert_allclose(out, topics.word_counts(dense, table, weight), rtol=1e-10)


def test_small_table_entries_are_exact_zeros():
    dirichlet = np.array([[0.01, 50.0]], dtype=np.float32)
    table = np.empty_like(dirichlet)
    kernels.fill_word_table(0, 1, dirichlet, np.ones(2, np.float32), table)
    assert table[0, 0] == 0.0
    assert table[0, 1] > 49.0


@given(seed=SEEDS)
def test_label_sweeps(seed):
    rng = np.random.default_rng(seed)
    n_documents, n_labels, n_topics = 12, 4, 3
    exposure = rng.gamma(1.0, size=(n_documents, n_topics))
    carried = (rng.random((n_documents, n_labels)) < 0.5).astype(float)
    by_label = csr_array(carried).tocsc()
    shape = rng.gamma(2.0, size=(n_topics, n_labels)) + 0.5
    rate = rng.gamma(2.0, size=(n_topics, n_labels)) + 0.5
    load = np.exp(carried @ np.log(shape / rate).T) * exposure
    ours = np.ascontiguousarray(rate.T)
    kernels.sweep_gamma_weights(
        by_label.indptr, by_label.indices, load, np.ascontiguousarray(shape.T), 0.7, ours
    )
    expected = scaling.sweep_gamma_weights(carried, exposure, shape, 0.7, rate)
    np.testing.assert_allclose(ours.T, expected, rtol=1e-9)

    numbers = carried * rng.normal(size=carried.shape)
    numbers[:, 0] = carried[:, 0]
    by_label = csr_array(numbers).tocsc()
    prior_shape = rng.gamma(1.0, size=n_topics)
    weights = rng.normal(size=(n_topics, n_labels))
    spread = rng.gamma(1.0, 0.5, size=(n_topics, n_labels))
    load = np.exp(numbers @ weights.T + numbers**2 @ spread.T / 2) * exposure
    ours, wide = np.ascontiguousarray(weights.T), np.ascontiguousarray(spread.T)
    kernels.sweep_normal_weights(
        by_label.indptr, by_label.indices, by_label.data, load, prior_shape, 0.8, ours, wide
    )
    expected, expected_spread = scaling.sweep_normal_weights(
        numbers, exposure, prior_shape, 0.8, weights, spread
    )
    np.testing.assert_allclose(ours.T, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(wide.T, expected_spread, rtol=1e-7)
    linear = numbers @ ours + numbers**2 @ wide / 2
    np.testing.assert_allclose(load, np.exp(linear) * exposure, rtol=1e-9)


@given(seed=SEEDS)
def test_factor_kernels(seed):
    rng = np.random.default_rng(seed)
    matrix = csr_array(rng.random((9, 7)) * (rng.random((9, 7)) < 0.6))
    dense = rng.normal(size=(7, 5))
    np.testing.assert_allclose(
        kernels.sparse_product(matrix, dense), matrix @ dense, rtol=1e-10, atol=1e-12
    )
    fixed = rng.random((7, 5))
    fixed[:, 2] = 0.0
    gram, target = fixed.T @ fixed, matrix @ fixed
    rows = rng.random((9, 5))
    expected = factors.descend_rows(gram, target, rows, 2)
    kernels.descend_rows(gram, rows @ gram - target, 2, rows)
    np.testing.assert_allclose(rows, expected, rtol=1e-8, atol=1e-12)


@given(seed=SEEDS)
def test_mixtures_of_words(seed):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.7, size=(6, 11)).astype(float)
    proportions, word_share = rng.dirichlet(np.ones(5), 6), rng.dirichlet(np.ones(11), 5).T
    arguments = (csr_array(dense), proportions, word_share)
    found = word_log_likelihood(*arguments)
    expected = likelihood.mixture_log_likelihood(dense, proportions, word_share)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    found, expected = (one(*arguments) for one in (share_tokens, softmax.share_tokens))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), dense.sum(axis=1), rtol=1e-9)


@given(seed=SEEDS)
def test_add_softmax_loss(seed):
    rng = np.random.default_rng(seed)
    dense = (rng.random((9, 4)) < 0.6) * rng.normal(size=(9, 4))
    design, weights = csr_array(dense), rng.normal(size=(4, 5)) * 3.0
    # Documents without tokens or labels are included.
    lengths = rng.poisson(2.0, size=9).astype(float)
    gradient = np.zeros((4, 5))
    arrays = (design.indptr, design.indices, design.data, lengths, weights, gradient)
    loss = sum(kernels.add_softmax_loss(first, first + 3, *arrays) for first in (0, 3, 6))
    expected, slope = softmax.softmax_loss(dense, lengths, weights)
    assert loss == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-9)


def test_the_softmax_loss_of_extreme_scores_is_finite():
    design, weights = csr_array([[1.0]]), np.array([[-1e4, 1e4, 0.0]], dtype=np.float32)
    arrays = (np.array([0, 1], np.int32), design.indices, np.ones(1, np.float32))
    gradient = np.zeros_like(weights)
    loss = kernels.add_softmax_loss(0, 1, *arrays, np.full(1, 2.0, np.float32), weights, gradient)
    assert loss == pytest.approx(2e4)
    np.testing.assert_allclose(gradient, [[0.0, 2.0, 0.0]], atol=1e-6)
