"""All scaling functions keep the contract; a function that breaks it is caught."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize_scalar
from scipy.sparse import csr_array
from scipy.stats import gamma

import hdsp
from hdsp import Categorical, Constant, Custom, LogLinear, Monotone, ScalingFunction
from hdsp.corpus import Labels, LabelSchema
from hdsp.model.updates import stick_objective
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import FUNCTIONS, DesignLimits, Product
from hdsp.testing import check_scaling, make_case
from tests.problems import failures


class SlowLogLinear(LogLinear):
    """A user's function with nothing but the required methods: the defaults do the rest."""

    expected_scale = ScalingFunction.expected_scale
    update = ScalingFunction.update
    log_rate_total = ScalingFunction.log_rate_total
    statistics = ScalingFunction.statistics
    update_from_statistics = ScalingFunction.update_from_statistics


class SlowCategorical(Categorical):
    """The first function on the slow defaults."""

    update = ScalingFunction.update
    log_rate_total = ScalingFunction.log_rate_total


CASES = {
    **{name: function() for name, function in FUNCTIONS.items() if name != "Monotone"},
    "Monotone": Monotone("year"),
    "product": Product(Categorical(), Categorical(), split=[[0, 2, 3], [1]]),
    "mixed product": Product(LogLinear(), LogLinear(variance=3.0), split=[[1], [2, 3, 0]]),
    "slow loglinear": SlowLogLinear(),
    "slow categorical": SlowCategorical(),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_keep_the_contract(name):
    assert failures(check_scaling(CASES[name])) == {}


def test_every_function_of_the_package_is_registered_and_described():
    every = [ScalingFunction]
    for function in every:
        every += function.__subclasses__()
    ours = {c for c in every if c.__module__.startswith("hdsp.") and not inspect.isabstract(c)}
    assert ours == {*FUNCTIONS.values(), Custom, Product}
    assert {*FUNCTIONS, "Custom"} <= set(hdsp.__all__)
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert [name for name in (*FUNCTIONS, "Custom") if f"| `{name}(" not in page] == []


class OffByOnePercent(Categorical):
    """b' one per cent too large: no longer the maximum."""

    def update(self, parameters, design, prior_shape, exposure):
        right = super().update(parameters, design, prior_shape, exposure)
        return {**right, "rate": right["rate"] * 1.01}


class WrongExpectation(LogLinear):
    """E[ln rho] one per cent off."""

    def expected_log_rate(self, parameters, design):
        return 1.01 * super().expected_log_rate(parameters, design)


class Undamped(Categorical):
    """All labels at once, without damping: oscillates."""

    def update_from_statistics(self, parameters, statistics, prior_shape, limits):
        loose = DesignLimits(1, limits.largest)
        return super().update_from_statistics(parameters, statistics, prior_shape, loose)


@pytest.mark.parametrize("function", [OffByOnePercent(), WrongExpectation(), Undamped()])
def test_a_function_that_breaks_the_contract_is_caught(function):
    assert failures(check_scaling(function))


def test_gradient_of_the_sticks():
    rng = np.random.default_rng(0)
    log_total = rng.normal(-20.0, 5.0, size=6)
    sticks = rng.uniform(0.1, 0.9, size=5)

    def value(v):
        return stick_objective(v, log_total, 17, 2.5, 3.0)[0]

    gradient = stick_objective(sticks, log_total, 17, 2.5, 3.0)[1]
    np.testing.assert_allclose(approx_fprime(sticks, value, 1e-8), gradient, rtol=1e-4)


def test_one_label_per_document_is_closed_form():
    """With one label on every document, equation 15 is reached in a single sweep."""
    rng = np.random.default_rng(0)
    design = csr_array(np.eye(3)[rng.integers(0, 3, size=50)])
    exposure = rng.gamma(1.0, size=(50, 2))
    prior_shape = np.array([0.5, 2.0])
    scaling = Categorical(weight_shape=1.5, weight_rate=0.7)
    once = scaling.update(scaling.initial(2, 3), design, prior_shape, exposure)
    carriers = np.asarray(design.sum(axis=0))
    np.testing.assert_allclose(once["shape"], 1.5 + np.outer(prior_shape, carriers))
    np.testing.assert_allclose(once["rate"], 0.7 + (design.T @ exposure).T)


def test_the_scale_of_a_label_without_a_mean():
    parameters = {"shape": np.array([[0.5, 1.0, 3.0]]), "rate": np.array([[2.0, 3.0, 4.0]])}
    scale = Categorical().expected_scale(parameters, csr_array(np.eye(3)))
    # An inverse gamma has the mean b / (a - 1) if a > 1; else 1 over the expected rate stands in.
    np.testing.assert_allclose(scale[:, 0], [2.0 / 0.5, 3.0 / 1.0, 4.0 / 2.0], rtol=1e-12)


def test_learned_hyperparameters_are_those_of_maximum_likelihood():
    rng = np.random.default_rng(0)
    rates = rng.gamma(3.0, 1.0 / 0.5, size=(40, 30))
    # A posterior that is certain of every weight: the gamma's maximum likelihood in SciPy.
    certain = 1e9 * np.ones(rates.shape)
    start = {"shape": certain, "rate": certain / rates, "prior": np.ones((40, 2))}
    shape, _, scale = gamma.fit(rates, floc=0)
    learned = Categorical().learn_prior(start)["prior"]
    np.testing.assert_allclose(learned, np.tile([shape, 1.0 / scale], (40, 1)), rtol=1e-5)
    half = Categorical(weight_rate=0.5).learn_prior(start)["prior"][0]
    assert half == pytest.approx([3.0, 0.5], rel=0.05)
    assert Categorical(weight_shape=2.0).learn_prior(start)["prior"][0, 0] == 2.0
    fixed = Categorical(weight_shape=2.0, weight_rate=1.0)
    assert fixed.learn_prior(start) is start
    weights = {"weight": rng.normal(size=(40, 30)), "spread": np.full((40, 30), 0.2)}
    learned = LogLinear().learn_prior({**weights, "prior": np.ones((40, 1))})["prior"]
    np.testing.assert_allclose(learned, (weights["weight"] ** 2).mean() + 0.2)


@pytest.mark.parametrize(
    "scaling", [Categorical(weight_shape=3.0, weight_rate=0.5), LogLinear(variance=0.2)], ids=repr
)
def test_additive_updates_end_where_the_updates_end(scaling):
    case = make_case(scaling)
    arguments = (case.design, case.prior_shape, case.exposure)
    own = additive = scaling.initial(4, 4)
    for _ in range(100):
        own = scaling.update(own, *arguments)
    limits = DesignLimits.of(case.design)
    for _ in range(400):
        sums = scaling.statistics(additive, case.design, case.exposure)
        additive = scaling.update_from_statistics(additive, sums, case.prior_shape, limits)
    # Both have converged to rounding on forty documents; a prior off by a per cent gives 1e-4.
    for name, value in own.items():
        np.testing.assert_allclose(additive[name], value, rtol=1e-6, atol=1e-7, err_msg=name)


def test_an_additive_step_is_the_maximum_of_its_bound():
    scaling, case = LogLinear(variance=0.7), make_case(LogLinear())
    rng = np.random.default_rng(2)
    start = {
        "weight": rng.normal(size=(4, 4)),
        "spread": rng.gamma(1.0, 0.1, size=(4, 4)),
        "prior": np.full((4, 1), 0.7),
    }
    limits = DesignLimits.of(case.design)
    n_labels = limits.labels_per_document
    load = scaling.expected_rate(start, case.design) * case.exposure
    sums = scaling.statistics(start, case.design, case.exposure)
    new = scaling.update_from_statistics(start, sums, case.prior_shape, limits)
    for (k, j), w in np.ndenumerate(start["weight"][:, :3]):
        r, v = case.design[:, [j]].toarray().ravel(), start["spread"][k, j]
        reach = 0.5 / (n_labels * np.abs(r).max())

        def above(x, k=k):
            """Where |x| <= 1/2 for the mean and the spread alike: (x + y)^2 <= 2 x^2 + 2 y^2."""
            return (load[:, k] * (x + 2.0 * (np.e - 2.0) * x**2)).sum() / n_labels

        def loss(d, k=k, w=w, r=r):
            given = case.prior_shape[k] * r.sum() * d
            return above(n_labels * r * d) - given + (w + d) ** 2 / 1.4

        bend = (load[:, k] * r**2).sum()

        def wide(e, r=r, v=v, bend=bend):
            # r^4 is at most r^2 times the square of the largest.
            second = (np.e - 2.0) * n_labels * bend * np.abs(r).max() ** 2 / 2.0
            return bend * e / 2.0 + second * e**2 + (v + e) / 1.4 - np.log(v + e) / 2.0

        best = minimize_scalar(loss, bounds=(-reach, reach), options={"xatol": 1e-9}).x
        # A search by values alone finds a minimum to about the root of rounding.
        assert new["weight"][k, j] - w == pytest.approx(best, abs=1e-6)
        most = 2.0 * reach / np.abs(r).max()
        ends = (max(-most, 1e-12 - v), most)
        best = minimize_scalar(wide, bounds=ends, options={"xatol": 1e-9}).x
        assert new["spread"][k, j] - v == pytest.approx(best, abs=1e-6)


def test_prior_draws_have_the_priors_moments():
    rng = np.random.default_rng(0)
    scales = Categorical(weight_shape=3.0, weight_rate=0.5).draw_prior(200, 100, rng)
    weights = LogLinear(variance=0.2).draw_prior(200, 100, rng)
    # 20,000 draws: standard errors of 0.024, 0.003 and 0.002; five of them.
    assert (1.0 / scales).mean() == pytest.approx(6.0, abs=0.13)
    assert weights.mean() == pytest.approx(0.0, abs=0.016)
    assert weights.var() == pytest.approx(0.2, abs=0.01)


def test_a_factor_sees_the_new_rates_of_the_factors_before_it():
    first, second = LogLinear(), LogLinear(variance=3.0)
    case = make_case(first)
    product = Product(first, second, split=[[0], [1, 2, 3]])
    once = product.update(product.initial(4, 4), case.design, case.prior_shape, case.exposure)
    one, two = case.design[:, [0]], case.design[:, [1, 2, 3]]
    left = first.update(first.initial(4, 1), one, case.prior_shape, case.exposure)
    exposure = case.exposure * first.expected_rate(left, one)
    right = second.update(second.initial(4, 3), two, case.prior_shape, exposure)
    # Each factor starts with rates that are 1 up to rounding.
    np.testing.assert_allclose(once["0:weight"], left["weight"], rtol=1e-9)
    np.testing.assert_allclose(once["1:weight"], right["weight"], rtol=1e-9)


def test_products_flatten_and_print():
    product = Categorical("a") * (LogLinear("b") * LogLinear("c"))
    assert [type(factor) for factor in product.factors] == [Categorical, LogLinear, LogLinear]
    assert product.columns == ("a", "b", "c")
    assert repr(product) == repr(Categorical("a") * LogLinear("b") * LogLinear("c"))
    assert Categorical("a") == Categorical("a")
    assert Categorical("a") != Categorical("a", weight_shape=2.0)


def test_a_function_without_additive_statistics_says_so():
    scaling, case = SlowLogLinear(), make_case(SlowLogLinear())
    parameters = scaling.initial(4, 4)
    with pytest.raises(NotImplementedError, match="no additive update"):
        scaling.statistics(parameters, case.design, case.exposure)
    with pytest.raises(NotImplementedError, match="no additive update"):
        scaling.update_from_statistics(parameters, {}, case.prior_shape, None)


SCHEMA = LabelSchema.of(
    Labels.from_frame(
        pd.DataFrame({"tags": [["x", "y"], ["x"]], "kind": ["a", "b"], "rating": [1.0, 2.0]})
    )
)


def split_of(scaling):
    bound = LabelDesign.fit(scaling, SCHEMA).scaling
    return {type(f).__name__: s.tolist() for f, s in zip(bound.factors, bound.split, strict=True)}


def test_binding():
    assert split_of("auto") == {"Categorical": [0, 1, 2, 3], "LogLinear": [4]}
    assert split_of(Categorical()) == {"Categorical": [0, 1, 2, 3]}
    assert split_of(LogLinear()) == {"LogLinear": [0, 1, 2, 3, 4]}
    assert split_of(LogLinear() * Categorical()) == {"LogLinear": [4], "Categorical": [0, 1, 2, 3]}
    own = split_of(Categorical("kind") * LogLinear())
    assert own == {"Categorical": [2, 3], "LogLinear": [0, 1, 4]}
    assert isinstance(LabelDesign.fit("auto", LabelSchema.of(Labels.empty(3))).scaling, Constant)
    assert isinstance(LabelDesign.fit(Constant(), SCHEMA).scaling, Constant)
    nothing = LabelSchema.of(Labels.empty(2))
    assert isinstance(LabelDesign.fit(Categorical(), nothing).scaling, Constant)
    used = LabelDesign.fit(LogLinear("rating"), SCHEMA).used
    assert used.tolist() == [False, False, False, False, True]


def test_weights_of_columns_nobody_takes_are_nan():
    scaling = LabelDesign.fit(LogLinear("rating"), SCHEMA).scaling
    weights = scaling.draw_prior(3, 5, np.random.default_rng(0))
    assert weights.shape == (3, 5)
    assert np.isnan(weights[:, :4]).all()
    design = csr_array(np.ones((2, 5)))
    np.testing.assert_allclose(scaling.rate(weights, design), np.exp(weights[:, [4, 4]].T))


def test_numbers_of_numpy_are_plain_numbers():
    assert repr(Categorical(weight_shape=np.float32(2.0))) == repr(Categorical(weight_shape=2.0))
