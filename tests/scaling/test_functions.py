"""Functions that are not log-linear: their derivatives, one's own, and what they refuse."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp import Categorical, Custom, LogLinear, Monotone, Power, Softplus
from hdsp.scaling.functions import Product, ScalingFunction
from hdsp.testing import check_scaling, make_case
from tests.problems import bind, failures


def line(labels, weights):
    return -sum(weights[j] * labels[j] for j in range(len(labels)))


def line_gradient(labels, weights):
    return [-labels[j] for j in range(len(labels))]


def levelling(labels, weights):
    return weights[0] * np.tanh(labels[0] * np.exp(weights[1]))


CUSTOM = {
    "line, gradient given": Custom(log_scale=line, gradient=line_gradient, variance=0.4),
    "levelling": Custom(log_scale=levelling, n_weights=2),
    "not 0 at 0": Custom(log_scale=lambda r, w: w[0] * np.exp(r[0] * (1.0 + 0.2 * np.tanh(w[1])))),
    "product": Product(Custom(log_scale=line), LogLinear(), split=[[1, 3], [2, 0]]),
}


@pytest.mark.parametrize("name", CUSTOM)
def test_own_functions_keep_the_contract(name):
    assert failures(check_scaling(CUSTOM[name])) == {}


@pytest.mark.parametrize(
    "function", [Softplus(), Power(), Monotone("x"), CUSTOM["line, gradient given"]], ids=str
)
def test_gradients_are_those_of_differences(function):
    case, rng = make_case(function), np.random.default_rng(1)
    weights = rng.normal(size=(4, 4))
    given = function.log_scale_gradient(weights, case.design)
    differences = ScalingFunction.log_scale_gradient(function, weights, case.design)
    assert np.abs(given).max() > 0.1
    # Central differences of step 6e-6 have errors of about 1e-10.
    np.testing.assert_allclose(given, differences, atol=1e-8)


def test_gradients_by_jax():
    jax = pytest.importorskip("jax", reason="gradients by JAX need the extra 'jax'")

    def function(labels, weights):
        return weights[0] * jax.numpy.tanh(labels[0] * jax.numpy.exp(weights[1]))

    derived = Custom(log_scale=function, gradient="jax", n_weights=2)
    plain = CUSTOM["levelling"]
    weights, design = np.random.default_rng(1).normal(size=(4, 4)), make_case(plain).design
    gradients = [one.log_scale_gradient(weights, design) for one in (derived, plain)]
    np.testing.assert_allclose(*gradients, atol=1e-8)
    assert failures(check_scaling(derived)) == {}


def test_a_line_of_ones_own_ends_where_its_gradient_is_zero():
    own, case = Custom(log_scale=line), make_case(LogLinear())
    given = case.design, case.prior_shape, case.exposure
    parameters = own.initial(4, 4)
    for _ in range(60):
        parameters = own.update(parameters, *given)
    best = parameters["weight"]
    for step in 1e-5 * np.eye(4):
        ahead, behind = (own.objective({"weight": best + d}, *given) for d in (step, -step))
        np.testing.assert_allclose((ahead - behind) / 2e-5, 0.0, atol=1e-4)


def test_scales_are_what_they_are_said_to_be():
    design = csr_array(np.array([[1.0], [-2.0], [0.0]]))
    weight = np.array([[0.7], [-3.0]])
    score = design.toarray() * weight.T
    np.testing.assert_allclose(
        np.exp(Softplus().log_scale(weight, design)), np.log2(1.0 + np.exp(score))
    )
    half = score / 2.0
    np.testing.assert_allclose(
        np.exp(Power().log_scale(weight, design)), (half + np.sqrt(1.0 + half**2)) ** 2
    )
    # Far below, the softplus is the exponential: the logarithm of 0 is not taken.
    far = Softplus().log_scale(np.array([[-1e4]]), csr_array([[1.0]]))
    np.testing.assert_allclose(far, -1e4 - np.log(np.log(2.0)))


def test_a_monotone_scale_rises_or_falls_throughout():
    values = np.sort(np.random.default_rng(0).lognormal(size=200))
    space, values = bind({"price": values}, Monotone("price", n_knots=5))
    assert isinstance(space.scaling, Product)
    (function,) = space.scaling.factors
    design = space.design(values)
    rng = np.random.default_rng(1)
    weights = rng.normal(0.0, 2.0, size=(20, space.n_columns))
    steps = np.diff(function.log_scale(weights, design), axis=0)
    assert (steps * np.sign(weights[:, 0]) > -1e-9).all()
    # Without bends it is the line of the number.
    weights[:, 1:] = 0.0
    straight = design.toarray()[:, :1] * weights[:, 0]
    np.testing.assert_allclose(function.log_scale(weights, design), straight, atol=1e-9)


def test_weights_beyond_the_columns_of_labels_have_columns_of_their_own():
    scaling = Custom("price", log_scale=levelling, n_weights=2) * Categorical("shop")
    space, values = bind({"price": [1.0, 2.0, 4.0], "shop": ["a", "b", "a"]}, scaling)
    assert isinstance(space.scaling, Product)
    function, columns = space.scaling.factors[0], space.scaling.split[0]
    assert [space.names[c] for c in columns] == ["price", "price (weight 2)"]
    design = space.design(values)[:, columns]
    weights = np.array([[2.0, 0.3]])
    price = design.toarray()[:, 0]
    expected = 2.0 * np.tanh(price * np.exp(0.3))
    np.testing.assert_allclose(function.log_scale(weights, design)[:, 0], expected)


def test_functions_are_told_apart():
    assert repr(Custom("x", log_scale=line, gradient=line_gradient)) == (
        "Custom('x', log_scale=line, gradient=line_gradient)"
    )
    assert Custom("x", log_scale=line) == Custom("x", log_scale=line)
    assert Custom("x", log_scale=line) != Custom("x", log_scale=levelling)
    assert Custom("x", log_scale=lambda r, w: w[0]) != Custom("x", log_scale=lambda r, w: w[0])
    assert len({Custom(log_scale=line), Custom(log_scale=line)}) == 1
