"""Expectations against quadrature, sticks against their inverse, the integral against draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import softmax
from scipy.stats import gamma

from hdsp.numerics import (
    expected_log_gamma,
    gamma_divergence,
    log_gamma_density,
    normalised_gamma_mean,
    sticks_from_weights,
    weights_from_sticks,
)

POSITIVE = st.floats(0.2, 20.0)


@given(shape=POSITIVE, rate=POSITIVE)
def test_expected_log_of_a_gamma_variable(shape, rate):
    density = gamma(shape, scale=1 / rate).pdf
    # Over u = ln x, where the integrand is smooth at zero too.
    u = np.linspace(-150.0, 12.0, 100_001)
    expected = np.trapezoid(u * density(np.exp(u)) * np.exp(u), u)
    assert expected_log_gamma(np.array(shape), np.array(rate)) == pytest.approx(expected, abs=1e-6)


@given(shape=POSITIVE, rate=POSITIVE, prior_shape=POSITIVE, prior_rate=POSITIVE)
def test_gamma_divergence(shape, rate, prior_shape, prior_rate):
    q, p = gamma(shape, scale=1 / rate), gamma(prior_shape, scale=1 / prior_rate)

    u = np.linspace(-80.0, 8.0, 50_001)
    x = np.exp(u)
    expected = np.trapezoid(q.pdf(x) * x * (p.logpdf(x) - q.logpdf(x)), u)
    ours = gamma_divergence(np.array(shape), np.array(rate), prior_shape, prior_rate)
    assert ours == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert ours <= 1e-9


def test_log_gamma_density():
    assert log_gamma_density(1.3, 2.0, 0.5) == pytest.approx(gamma.logpdf(1.3, 2.0, scale=2.0))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 30))
def test_sticks_and_weights(seed, n):
    weights = np.random.default_rng(seed).dirichlet(np.ones(n))
    again = weights_from_sticks(sticks_from_weights(weights))
    np.testing.assert_allclose(again, weights, rtol=1e-9, atol=1e-15)
    assert again.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("total", [0.2, 1.0, 20.0, 1000.0])
def test_normalised_gamma_mean_against_draws(total):
    rng = np.random.default_rng(0)
    shape = total * rng.dirichlet(np.ones(4))
    rate = np.exp(rng.normal(0.0, 1.5, size=(1, 4)))
    # Gamma(a) is Gamma(a + 1) U^(1/a), in logarithms: tiny shapes would all come out zero.
    log_draw = np.log1p(-rng.random((400_000, 4))) / shape - np.log(rate)
    log_draw += np.log(rng.gamma(shape + 1.0, size=(400_000, 4)))
    share = softmax(log_draw, axis=1)
    error = 5 * share.std(axis=0) / np.sqrt(len(share))
    found = normalised_gamma_mean(shape, rate)[0]
    np.testing.assert_array_less(np.abs(found - share.mean(axis=0)), error)


@pytest.mark.parametrize("total", [0.05, 1.0, 300.0])
def test_normalised_gamma_mean_of_two_by_quadrature(total):
    shape, rate = np.array([0.3, 0.7]) * total, np.array([[0.02, 5.0]])

    def integrand(u):
        t = np.exp(u)
        survival = np.exp(-(shape * np.log1p(t / rate[0])).sum())
        return shape[0] / (1.0 + rate[0, 0] / t) * survival

    expected, _ = quad(integrand, -60, min(30 / total + 10, 700), limit=2_000, epsabs=1e-12)
    assert normalised_gamma_mean(shape, rate)[0, 0] == pytest.approx(expected, abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), total=st.floats(0.05, 500.0))
def test_equal_rates_give_the_dirichlet_mean(seed, total):
    rng = np.random.default_rng(seed)
    weight = rng.dirichlet(np.ones(5)) + 1e-6
    rate = np.full((2, 5), np.exp(rng.normal(0, 5)))
    expected = weight / weight.sum()
    np.testing.assert_allclose(
        normalised_gamma_mean(total * weight, rate), [expected, expected], atol=1e-7
    )


def test_extreme_rates_stay_distributions():
    rate = np.array([[1e-20, 1.0, 1e20], [1e20, 1e20, 1e-20]])
    mean = normalised_gamma_mean(np.array([0.1, 2.0, 30.0]), rate)
    assert np.isfinite(mean).all()
    np.testing.assert_allclose(mean.sum(axis=1), 1.0)
    np.testing.assert_allclose(mean[1], [0.0, 0.0, 1.0], atol=1e-6)


def test_the_smaller_the_shapes_the_less_rates_matter():
    shape, rate = np.array([1.0, 3.0, 4.0]), np.array([[7.0, 7.0, 7.0], [0.1, 1.0, 10.0]])
    for smaller in (1e-3, 1e-9, 1e-30):
        found = normalised_gamma_mean(smaller * shape, rate)
        np.testing.assert_allclose(found[0], shape / 8.0, rtol=1e-8)
        np.testing.assert_allclose(found[1], shape / 8.0, atol=20 * smaller + 1e-8)
