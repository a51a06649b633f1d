"""Each factor of a coefficient's variance is that of its plain twin, and so is the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hdsp.corpus import BlockSchema, LabelSchema
from hdsp.prediction.calibration import variance as variance_module
from hdsp.prediction.calibration.clusters import Clusters, clustered_dispersion, measure_leverage
from hdsp.prediction.calibration.learn import Documents, learn
from hdsp.prediction.calibration.regression import Regression, observe, regression_path
from hdsp.prediction.calibration.shrinkage import prior_deviations
from hdsp.prediction.calibration.variance import information, overdispersion, own_shares
from hdsp.scaling import bind_labels
from tests.prediction.test_calibration import flat, read_problem
from tests.reference import calibration as twin

SEEDS = st.integers(0, 2**32 - 1)


def documents(seed, n_documents=60):
    """Two tags that go together, two levels, a number; tokens of topics; a regression."""
    rng = np.random.default_rng(seed)
    tag, level = rng.random(n_documents) < 0.4, rng.random(n_documents) < 0.5
    other = np.where(rng.random(n_documents) < 0.8, tag, ~tag)
    design = np.column_stack([tag, other, level, ~level, rng.normal(size=n_documents)]).astype(
        float
    )
    tokens = rng.poisson(rng.gamma(0.5, 10.0, size=(n_documents, 4))).astype(float)
    tokens[:, 0] += 1.0
    regression = Regression(rng.normal(size=4), rng.normal(size=(5, 4)))
    return design, tokens, regression


def path_of(design, tokens, ridges, n_sweeps):
    return regression_path(design, observe(design, tokens), ridges, n_sweeps)


@given(seed=SEEDS)
def test_overdispersion(seed):
    design, tokens, regression = documents(seed)
    np.testing.assert_allclose(
        overdispersion(regression, csr_array(design), tokens),
        twin.overdispersion(regression, design, tokens),
        rtol=1e-10,
    )


@given(seed=SEEDS)
def test_information(seed):
    design, tokens, regression = documents(seed)
    found, expected = information(regression, csr_array(design), tokens.sum(axis=1))
    lengths = tokens.sum(axis=1)
    np.testing.assert_allclose(found, twin.information(regression, design, lengths), rtol=1e-10)
    whole = design.T @ (lengths[:, None] * twin.proportions(regression, design))
    np.testing.assert_allclose(expected, whole, rtol=1e-10)


@given(seed=SEEDS, ridge=st.sampled_from([1e-6, 5.0, 1e4]))
def test_shares_that_are_a_label_s_own(seed, ridge):
    design, tokens, _ = documents(seed)
    lengths, exclusive = tokens.sum(axis=1), np.array([False, False, True, True, False])
    *found, own = own_shares(csr_array(design), lengths, exclusive, ridge)
    expected = twin.own_shares(design, lengths, exclusive, ridge)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    left = own.of(csr_array(design))
    np.testing.assert_allclose(left[:, 2:4], design[:, 2:4], atol=1e-12)
    for j, others in ((0, [1, 4]), (1, [0, 4]), (4, [0, 1])):
        expected = twin.own_column(design, lengths, j, others, ridge)
        np.testing.assert_allclose(left[:, j], expected, rtol=1e-6, atol=1e-8)
    if ridge < 1.0:
        # Tags that go together leave each other less.
        assert (found[1][:2] < found[0][:2]).all()


@given(seed=SEEDS)
def test_the_dispersion_of_groups(seed):
    design, tokens, regression = documents(seed, 30)
    rng = np.random.default_rng(seed)
    groups = rng.integers(-3, 6, size=30)
    exclusive = np.array([False, False, True, True, False])
    own = own_shares(csr_array(design), tokens.sum(axis=1), exclusive, 1.0)[2]
    clusters = Clusters.of(csr_array(design), tokens, groups)
    leverage = measure_leverage(clusters, own)
    single = np.full(4, 1.5)
    found = clustered_dispersion(regression, clusters, own, leverage, single)
    # Documents without a group are each on their own.
    names = np.where(groups < 0, 100 + np.arange(30), groups)
    left = own.of(csr_array(design))
    expected = twin.clustered_dispersion(regression, design, tokens, names, left, single)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    lengths = tokens.sum(axis=1)
    np.testing.assert_allclose(leverage.degrees, twin.degrees(lengths, names, left), rtol=1e-8)


@given(seed=SEEDS, scale=st.sampled_from([0.1, 0.5, 2.0]))
def test_the_part_of_an_error_that_returns(seed, scale):
    """Documents are read by a rule that is known, in which parts differ by document and topic."""
    rng = np.random.default_rng(seed)
    problem, state = read_problem(np.full((3, 12), 1 / 12), n_documents=30)
    part = rng.uniform(0.0, scale, size=(30, 3))
    theta = np.exp(np.log(state.topic_weight) - np.log(state.topic_weight.sum()))
    shifts, changes = [], []

    def read(problem, state, shift):
        tokens = problem.lengths[:, None] * theta * part * shift
        shifts.append(shift)
        changes.append(tokens)
        return tokens

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variance_module, "read_with_shift", read)
        found = variance_module.feedback(problem, state, flat(state))
    # Up and down by turns.
    up = [one - other for one, other in zip(changes[::2], changes[1::2], strict=True)]
    design = problem.design.toarray().astype(float)
    lengths = problem.lengths.astype(float)
    expected = twin.returned_parts(design, np.tile(theta, (30, 1)), lengths, shifts[::2], up)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@given(seed=SEEDS, size=st.sampled_from([0.01, 0.3, 5.0]), error=st.sampled_from([1e-4, 0.1, 10.0]))
def test_spreads(seed, size, error):
    rng = np.random.default_rng(seed)
    squares = (size * rng.normal(size=(3, 8))) ** 2
    errors = error * rng.gamma(2.0, size=(3, 8))
    expected = [twin.spread(*rows) for rows in zip(squares, errors, strict=True)]
    np.testing.assert_allclose(prior_deviations(squares, errors, np.arange(3)), expected, rtol=1e-9)


@given(seed=SEEDS, returned=st.sampled_from([0.0, 0.3]))
def test_the_variance_has_all_factors(seed, returned):
    """Equations 23 and 24, and the penalties that they lead to."""
    design, tokens, _ = documents(seed)
    n_levels = np.array([0, 0, 2, 2, 0])
    parts = returned * np.random.default_rng(seed).random((5, 4))
    expected = twin.learn(design, tokens, n_levels, parts, path_of, csr_array)
    schema = LabelSchema(
        (
            BlockSchema("tags", "tags", ("a", "b")),
            BlockSchema("levels", "category", ("c", "d")),
            BlockSchema("x", "number", ("x",), (0.0,), (1.0,)),
        )
    )
    sparse, single = csr_array(design), tokens.astype(np.float32)
    found = learn(
        Documents(sparse, observe(sparse, single), np.empty_like(single), sparse, tokens),
        bind_labels("auto", schema),
        lambda _: parts,
    ).calibration
    # The regression is in single precision, and the penalties of one round decide the next.
    np.testing.assert_allclose(found.coefficients, expected[0].coefficients, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.variance, expected[1], rtol=1e-3)
