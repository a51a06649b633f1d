"""The calibrated regression is the penalised maximum it claims to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hdsp.kernels import Threads
from hdsp.prediction import fit_calibration
from tests.reference.softmax import penalised_loss

THREADS = Threads()


@given(seed=st.integers(0, 2**32 - 1), ridge=st.sampled_from([1.0, 30.0]))
def test_against_a_general_optimiser(seed, ridge):
    rng = np.random.default_rng(seed)
    design = (rng.random((40, 3)) < 0.5).astype(float)
    design[:, 2] = rng.normal(size=40)
    targets = rng.gamma(0.5, 10.0, size=(40, 4)) + 0.01

    def loss(flat):
        table = flat.reshape(4, 4)
        return penalised_loss(design, targets, ridge, table[0], table[1:])

    best = minimize(loss, np.zeros(16), method="L-BFGS-B").fun
    found = fit_calibration(csr_array(design), targets, THREADS, ridge)
    ours = loss(np.vstack([found.intercept, found.coefficients]).ravel())
    nothing = loss(np.vstack([found.intercept, 0 * found.coefficients]).ravel())
    # Forty sweeps end within a percent of what labels can explain at all; never above nothing.
    assert ours - best <= 0.01 * (nothing - best) + 1e-3 * abs(best) ** 0.5
    assert ours <= nothing + 1e-6


def test_without_labels_it_is_the_share_of_tokens():
    targets = np.random.default_rng(0).gamma(1.0, size=(20, 3))
    found = fit_calibration(csr_array((20, 2)), targets, THREADS)
    share = targets.sum(axis=0) / targets.sum()
    np.testing.assert_allclose(found.proportions(csr_array((2, 2))), [share, share], rtol=1e-3)


def test_a_heavier_penalty_shrinks():
    rng = np.random.default_rng(0)
    design = csr_array((rng.random((60, 2)) < 0.5).astype(float))
    targets = rng.gamma(0.5, 10.0, size=(60, 3))
    size = [
        np.abs(fit_calibration(design, targets, THREADS, ridge).coefficients).sum()
        for ridge in (1.0, 30.0, 1e6)
    ]
    assert size[0] > size[1] > size[2]
    assert size[2] == pytest.approx(0.0, abs=1e-2)


def test_the_penalty_balances_the_residuals():
    rng = np.random.default_rng(0)
    design = np.eye(2)[rng.integers(0, 2, size=60)]
    targets = rng.gamma(0.5, 10.0, size=(60, 3)) * np.where(design[:, :1], [3.0, 1.0, 1.0], 1.0)
    sparse = csr_array(design)
    found = fit_calibration(sparse, targets, THREADS, ridge=500.0)
    lengths = targets.sum(axis=1, keepdims=True)
    residual = design.T @ (targets - lengths * found.proportions(sparse))
    # Forty sweeps in float32 with a penalty that lets them converge: thousandths are left.
    pull = 500.0 * found.coefficients
    np.testing.assert_allclose(pull, residual, atol=2e-3 * np.abs(pull).max())


def test_documents_with_the_same_labels_are_one_observation():
    rng = np.random.default_rng(0)
    design = np.column_stack([np.eye(3)[rng.integers(0, 3, 50)], rng.integers(0, 2, 50)])
    targets = rng.gamma(0.5, 10.0, size=(50, 4))
    apart = design.copy()
    # A label value that says next to nothing keeps every row apart from every other.
    apart[:, 3] += 1e-7 * np.arange(50)
    merged = fit_calibration(csr_array(design), targets, THREADS)
    single = fit_calibration(csr_array(apart), targets, THREADS)
    everywhere = csr_array(design)
    np.testing.assert_allclose(
        merged.proportions(everywhere), single.proportions(everywhere), atol=2e-3
    )


def test_a_document_without_words_changes_nothing():
    rng = np.random.default_rng(0)
    design = (rng.random((30, 3)) < 0.5).astype(float)
    design[0] = [1.0, 1.0, 0.37]
    targets = rng.gamma(0.5, 10.0, size=(30, 4))
    targets[0] = 0.0
    found = fit_calibration(csr_array(design), targets, THREADS)
    without = fit_calibration(csr_array(design[1:]), targets[1:], THREADS)
    np.testing.assert_allclose(found.coefficients, without.coefficients, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.intercept, without.intercept, rtol=1e-5)
