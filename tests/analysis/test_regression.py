"""The linear regression: against statsmodels, and against definitions by dense matrices."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.sparse import csr_array
from statsmodels.stats.multitest import multipletests

from hdsp.analysis.regression import LinearRegression, adjust_p
from tests.reference.regression import bias_reduced, moulton

M, T = 120, 3
ALL = np.eye(4)
PARTS = ("value", "robust", "classical", "degrees")
weighted = pytest.mark.parametrize("weighted", [False, True])


def documents(seed=0, weighted=True, n_groups=15):
    """A design of an intercept, a tag and two numbers, proportions, weights and groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=M)
    tag = rng.random(M) < 0.2
    design = np.column_stack([np.ones(M), tag, rng.normal(size=(M, 2))])
    design[:, 3] += groups % 4
    shared = 0.5 * rng.normal(size=(n_groups, T))[groups]
    noise = rng.normal(size=(M, T)) * (1.0 + tag[:, None]) + shared
    proportions = design @ rng.normal(size=(4, T)) + noise
    return design, proportions, rng.gamma(2.0, size=M) if weighted else None, groups


@pytest.fixture
def unadjusted(monkeypatch):
    """Leaves out the leverage adjustment, with which CR2 is CR0."""
    monkeypatch.setattr(LinearRegression, "_adjust", staticmethod(lambda own, weight: weight))


def fits(design, proportions, weights=None):
    weights = np.ones(len(design)) if weights is None else weights
    return [sm.WLS(y, design, weights) for y in proportions.T]


@weighted
def test_coefficients_and_standard_errors_agree_with_statsmodels(weighted):
    design, proportions, weights, _ = documents(weighted=weighted)
    found = LinearRegression(design, proportions, weights)
    estimates, covariances = found.estimate(ALL), found.covariance(ALL)
    for k, model in enumerate(fits(design, proportions, weights)):
        plain, hc2 = model.fit(), model.fit(cov_type="HC2")
        np.testing.assert_allclose(found.coefficients[:, k], plain.params, rtol=1e-8)
        np.testing.assert_allclose(estimates.value[:, k], plain.params, rtol=1e-8)
        errors = estimates.robust, estimates.classical
        for fit, covariance, error in zip((hc2, plain), covariances, errors, strict=True):
            np.testing.assert_allclose(covariance[k], fit.cov_params(), rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(error[:, k], fit.bse, rtol=1e-8)
    assert estimates.classical_degrees == M - 4


@weighted
@pytest.mark.usefixtures("unadjusted")
def test_clustered_standard_errors_agree_with_statsmodels(weighted):
    design, proportions, weights, groups = documents(weighted=weighted)
    found = LinearRegression(design, proportions, weights, groups)
    estimates, (robust, _) = found.estimate(ALL), found.covariance(ALL)
    options = {"groups": groups, "use_correction": False}
    for k, model in enumerate(fits(design, proportions, weights)):
        clustered = model.fit(cov_type="cluster", cov_kwds=options)
        np.testing.assert_allclose(robust[k], clustered.cov_params(), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(estimates.robust[:, k], clustered.bse, rtol=1e-8)


@weighted
def test_bias_reduced_variances_agree_with_their_definition(weighted):
    design, proportions, weights, groups = documents(1, weighted)
    contrasts = np.random.default_rng(0).normal(size=(5, 4))
    found = LinearRegression(design, proportions, weights, groups)
    estimates, (robust, _) = found.estimate(contrasts), found.covariance(contrasts)
    assert found.degrees == 14
    for number, contrast in enumerate(contrasts):
        variance, degrees = bias_reduced(design, proportions, groups, contrast, weights)
        np.testing.assert_allclose(estimates.robust[number] ** 2, variance, rtol=1e-8)
        np.testing.assert_allclose(robust[:, number, number], variance, rtol=1e-8)
        np.testing.assert_allclose(estimates.degrees[number], degrees, rtol=1e-8)
        own, (_, classical) = estimates.classical[number] ** 2, found.covariance(contrast[None])
        np.testing.assert_allclose(own, classical[:, 0, 0], rtol=1e-8)
        if not weighted:
            residuals = proportions - design @ found.coefficients
            by_pairs = moulton(design, residuals, groups, contrast)
            # Groups never make an interval narrower than independent documents.
            alone = LinearRegression(design, proportions).estimate(contrast[None]).classical[0]
            np.testing.assert_allclose(own, np.maximum(by_pairs, alone**2), rtol=1e-8)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_wider_interval_counts(grouped):
    design, proportions, _, groups = documents()
    estimates = LinearRegression(design, proportions, None, groups if grouped else None)
    estimates = estimates.estimate(ALL)
    half, error = estimates.half_width(0.9), estimates.error(0.9)
    # An interval excludes 0 exactly if p is below one minus its level.
    np.testing.assert_array_equal(estimates.p < 0.1, np.abs(estimates.value) > half)
    assert ((error == estimates.robust) | (error == estimates.classical)).all()
    assert (half >= 1.64 * error).all()


def test_wald_tests_agree_with_statsmodels(unadjusted):
    design, proportions, _, groups = documents()
    contrasts = np.array([[0, 1, 0, 0], [0, 0, 1, -1], [0, 1, 1, -1.0]])
    plain = LinearRegression(design, proportions).test(contrasts)
    grouped = LinearRegression(design, proportions, None, groups).test(contrasts)
    options = {"groups": groups, "use_correction": False}
    # The third contrast is the sum of the others.
    assert plain[0] == grouped[0] == 2
    for k, model in enumerate(fits(design, proportions)):
        tests = [model.fit(), model.fit(cov_type="HC2", use_t=True)]
        worst = max((fit.f_test(contrasts[:2]) for fit in tests), key=lambda test: test.pvalue)
        assert plain[1][k] == pytest.approx(float(worst.fvalue), rel=1e-8)
        assert plain[2][k] == pytest.approx(float(worst.pvalue), rel=1e-6)
        fit = model.fit(cov_type="cluster", cov_kwds=options, use_t=True)
        assert grouped[2][k] >= (1 - 1e-6) * float(fit.f_test(contrasts[:2]).pvalue)


def test_wald_tests_with_groups_do_not_depend_on_how_contrasts_are_written():
    design, proportions, _, groups = documents()
    change = np.array([[2.0, 1.0, 0.0], [0.0, 0.3, 5.0], [1.0, 0.0, 1.0]])
    turned = design.copy()
    turned[:, 1:] = design[:, 1:] @ np.linalg.inv(change)
    one, two = (
        LinearRegression(own, proportions, None, groups).test(ALL[1:]) for own in (design, turned)
    )
    np.testing.assert_allclose(one[1], two[1], rtol=1e-7)


def test_q_values_agree_with_statsmodels():
    p = np.random.default_rng(0).random((4, 5)) ** 2
    p[1, 2] = np.nan
    found, known = adjust_p(p), ~np.isnan(p)
    wanted = multipletests(p[known], method="fdr_bh")[1]
    np.testing.assert_allclose(found[known], wanted, rtol=1e-12)
    assert np.isnan(found[1, 2])
    assert adjust_p(np.empty((0, 3))).shape == (0, 3)


@weighted
def test_an_added_column_has_the_coefficient_of_the_joint_regression(weighted):
    """Frisch and Waugh."""
    design, proportions, weights, _ = documents(weighted=weighted)
    found = LinearRegression(design[:, :3], proportions, weights)
    columns = np.column_stack([design[:, 3], np.arange(M) < 4, design[:, 2]])
    added = found.estimate_added(csr_array(columns))
    for number, column in enumerate(columns.T[:2]):
        joint = LinearRegression(np.column_stack([design[:, :3], column]), proportions, weights)
        wanted = joint.estimate(ALL[3:])
        for name in PARTS:
            one, other = getattr(added, name)[number], getattr(wanted, name)[0]
            # Robust errors of many labels are in single precision.
            np.testing.assert_allclose(one, other, rtol=1e-5, err_msg=name)
        assert added.classical_degrees == wanted.classical_degrees
    # A column of the design has nothing of its own.
    assert np.isnan(added.value[2]).all()


def test_an_added_column_with_groups():
    design, proportions, _, groups = documents()
    base = LinearRegression(design[:, :3], proportions, None, groups)
    column = (groups < 4).astype(float)[:, None]
    added = base.estimate_added(csr_array(column))
    # Exactly the clustered regression of residuals on what the design leaves of the column ...
    left = column - design[:, :3] @ np.linalg.lstsq(design[:, :3], column, rcond=None)[0]
    residuals = proportions - design[:, :3] @ base.coefficients
    variance, degrees = bias_reduced(left, residuals, groups, np.ones(1))
    np.testing.assert_allclose(added.robust[0] ** 2, variance, rtol=1e-5)
    np.testing.assert_allclose(added.degrees[0], degrees, rtol=1e-5)
    # ... which differs from the joint regression by the leverage of the other columns.
    joint = LinearRegression(np.column_stack([design[:, :3], column]), proportions, None, groups)
    wanted = joint.estimate(ALL[3:])
    np.testing.assert_allclose(added.value, wanted.value, rtol=1e-8)
    for name in ("robust", "classical"):
        np.testing.assert_allclose(getattr(added, name), getattr(wanted, name), rtol=0.1)


def test_collinear_columns_are_dropped():
    design, proportions, _, _ = documents()
    both = np.column_stack([design[:, :3], design[:, 1] - 2 * design[:, 2], design[:, 3]])
    both = np.column_stack([both, np.zeros(M)])
    found, wanted = LinearRegression(both, proportions), LinearRegression(design, proportions)
    assert found.dropped.tolist() == [3, 5]
    np.testing.assert_allclose(found.coefficients[found.kept], wanted.coefficients, rtol=1e-8)
    np.testing.assert_array_equal(found.is_estimable(np.eye(6)), [1, 0, 0, 0, 1, 0])
    # b1 + b3 and b2 - 2 b3 can be told.
    contrasts = np.array([[0, 1, 0, 1, 0, 0], [0, 0, 1, -2, 0, 0], [0, 0, 0, 1, 0, 0.0]])
    np.testing.assert_array_equal(found.is_estimable(contrasts), [True, True, False])
    estimates = found.estimate(contrasts)
    np.testing.assert_allclose(estimates.value[:2], wanted.coefficients[1:3], rtol=1e-8)
    assert np.isnan([estimates.value[2], estimates.p[2]]).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_contrasts_are_estimated_in_parts_of_any_size(monkeypatch, grouped):
    design, proportions, weights, groups = documents()
    found = LinearRegression(design, proportions, weights, groups if grouped else None)
    contrasts = np.random.default_rng(0).normal(size=(7, 4))
    whole = found.estimate(contrasts)
    monkeypatch.setattr("hdsp.analysis.regression._CHUNK", 2)
    monkeypatch.setattr("hdsp.analysis.regression._MOST_NUMBERS", 200)
    part = found.estimate(contrasts)
    for name in PARTS:
        np.testing.assert_allclose(getattr(part, name), getattr(whole, name), rtol=1e-10)
