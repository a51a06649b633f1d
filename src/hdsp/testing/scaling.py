"""Conformance checks for scaling functions, those of the package and users' own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics import FloatArray
from hdsp.scaling.functions import (
    Design,
    DesignLimits,
    Parameters,
    Product,
    ScalingFunction,
    take_topics,
)

# Rounding of sums over a few dozen documents.
_ROUNDING = 1e-9
_DRAWS = 4_000


@dataclass(frozen=True, eq=False)
class ScalingCase:
    """A small problem for a scaling function: labels, and what the model passes to it.

    Attributes
    ----------
    design : sparse array of shape [M, J]
        Encoded labels.
    prior_shape : float array of shape [T]
        The products beta p_k.
    exposure : float array of shape [M, T]
        The expectations E[pi_mk].
    """

    design: Design
    prior_shape: FloatArray
    exposure: FloatArray


def make_case(
    scaling: ScalingFunction, n_labels: int = 4, n_documents: int = 40, seed: int = 0
) -> ScalingCase:
    """Random labels of the kinds a function takes, with unlabelled documents and an unused label.

    Parameters
    ----------
    scaling : ScalingFunction
        The function, which decides the kinds of labels.
    n_labels : int, default=4
        Label columns J.
    n_documents : int, default=40
        Documents M.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    ScalingCase
        A problem with four topics.
    """
    rng = np.random.default_rng(seed)
    carried = rng.random((n_documents, n_labels)) < 0.7
    carried[: n_documents // 5] = False
    if n_labels > 1:
        carried[:, -1] = False
    numbers = "number" in scaling.kinds
    values = rng.normal(size=carried.shape) if numbers else np.ones(carried.shape)
    n_topics = 4
    return ScalingCase(
        design=csr_array(np.where(carried, values, 0.0)),
        prior_shape=rng.gamma(2.0, 0.5, size=n_topics),
        exposure=rng.gamma(1.0, 1.0, size=(n_documents, n_topics)),
    )


def check_scaling(
    scaling: ScalingFunction, n_labels: int = 4
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named checks that a scaling function keeps the contract of `hdsp.ScalingFunction`.

    Parameters
    ----------
    scaling : ScalingFunction
        The function. A product needs its `split` of the `n_labels` columns.
    n_labels : int, default=4
        Label columns of the problems that it is tried on.

    Yields
    ------
    name : str
        What is checked.
    check : callable
        Takes no argument and raises AssertionError with what is wrong.

    Examples
    --------
    >>> from hdsp import Categorical
    >>> from hdsp.testing import check_scaling
    >>> for name, check in check_scaling(Categorical()):
    ...     check()
    """
    case = make_case(scaling, n_labels)
    factors = scaling.factors if isinstance(scaling, Product) else (scaling,)
    is_additive = all(type(one).statistics is not ScalingFunction.statistics for one in factors)
    for check in (
        _initial_rates_are_one,
        _parameters_start_with_topics,
        _shapes,
        _unlabelled_documents_have_rate_one,
        _documents_are_independent,
        _topics_are_independent,
        _totals_are_sums,
        _expectations_match_draws,
        _jensen,
        _scale_matches_draws,
        _update_never_lowers_the_objective,
        _update_converges,
        _update_leaves_its_arguments_alone,
        _prior_draws_have_shape,
        *(_CHECKS_OF_SUMS if is_additive else ()),
    ):
        name = check.__name__.strip("_").replace("_", " ")
        yield name, partial(check, scaling, case)


def _fitted(scaling: ScalingFunction, case: ScalingCase, n_updates: int = 2) -> Parameters:
    parameters = scaling.initial(len(case.prior_shape), case.design.shape[1])
    for _ in range(n_updates):
        parameters = _updated(scaling, case, parameters)
    return parameters


def _updated(scaling: ScalingFunction, case: ScalingCase, parameters: Parameters) -> Parameters:
    return scaling.update(parameters, case.design, case.prior_shape, case.exposure)


def _initial_rates_are_one(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case, n_updates=0)
    np.testing.assert_allclose(scaling.expected_rate(parameters, case.design), 1.0, atol=1e-12)


def _parameters_start_with_topics(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    assert parameters, "`initial` gives no array, so the number of topics is lost."
    for name, value in parameters.items():
        assert ":" not in name or isinstance(scaling, Product), f"{name!r} has a colon."
        assert len(value) == len(case.prior_shape), f"{name!r} does not have topics first."
        assert np.isfinite(value).all(), f"{name!r} is not finite after an update."


def _shapes(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    shape = case.exposure.shape
    for method in (scaling.expected_rate, scaling.expected_log_rate, scaling.expected_scale):
        assert method(parameters, case.design).shape == shape, method.__name__
    assert scaling.prior_terms(parameters).shape == shape[1:]
    assert scaling.log_rate_total(parameters, case.design).shape == shape[1:]


def _unlabelled_documents_have_rate_one(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    unlabelled = csr_array((5, case.design.shape[1]))
    np.testing.assert_allclose(scaling.expected_rate(parameters, unlabelled), 1.0)
    np.testing.assert_allclose(scaling.expected_log_rate(parameters, unlabelled), 0.0, atol=1e-12)


def _documents_are_independent(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    whole = scaling.expected_rate(parameters, case.design)
    order = np.arange(len(whole))[::-1]
    np.testing.assert_allclose(
        scaling.expected_rate(parameters, case.design[order]), whole[order], rtol=1e-12
    )


def _topics_are_independent(scaling: ScalingFunction, case: ScalingCase) -> None:
    start, chosen = _fitted(scaling, case, n_updates=0), [2, 0]
    exposure = np.ascontiguousarray(case.exposure[:, chosen])
    few = ScalingCase(case.design, case.prior_shape[chosen], exposure)
    part = _updated(scaling, few, take_topics(start, chosen))
    for name, value in take_topics(_updated(scaling, case, start), chosen).items():
        np.testing.assert_allclose(part[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


def _totals_are_sums(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    log_rate = scaling.expected_log_rate(parameters, case.design)
    total = scaling.log_rate_total(parameters, case.design)
    np.testing.assert_allclose(total, log_rate.sum(axis=0), rtol=1e-9, atol=1e-9)


def _draws(scaling: ScalingFunction, case: ScalingCase, parameters: Parameters) -> FloatArray:
    rng = np.random.default_rng(0)
    return np.array(
        [scaling.rate(scaling.draw_posterior(parameters, rng), case.design) for _ in range(_DRAWS)]
    )


def _assert_mean(draws: FloatArray, expected: FloatArray, what: str) -> None:
    # Six standard errors: by chance alone, the check fails once in millions of times.
    error = 6.0 * draws.std(axis=0) / np.sqrt(len(draws)) + 1e-9
    worst = np.abs(draws.mean(axis=0) - expected) - error
    assert (worst <= 0).all(), f"{what} is off by up to {worst.max():.3g} more than chance."


def _expectations_match_draws(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    draws = _draws(scaling, case, parameters)
    _assert_mean(draws, scaling.expected_rate(parameters, case.design), "expected_rate")
    log_rate = scaling.expected_log_rate(parameters, case.design)
    _assert_mean(np.log(draws), log_rate, "expected_log_rate")


def _jensen(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    rate = scaling.expected_rate(parameters, case.design)
    assert (scaling.expected_log_rate(parameters, case.design) <= np.log(rate) + 1e-9).all()


def _scale_matches_draws(scaling: ScalingFunction, case: ScalingCase) -> None:
    # Twenty times the data: with a narrower posterior the mean of 1 / rate has a variance.
    certain = ScalingCase(case.design, case.prior_shape * 20.0, case.exposure * 20.0)
    parameters = _fitted(scaling, certain)
    draws = 1.0 / _draws(scaling, certain, parameters)
    carried = np.asarray(abs(case.design).sum(axis=1)) > 0
    expected = scaling.expected_scale(parameters, case.design)
    _assert_mean(draws[:, carried], expected[carried], "expected_scale")


def _objective(scaling: ScalingFunction, case: ScalingCase, parameters: Parameters) -> FloatArray:
    return scaling.objective(parameters, case.design, case.prior_shape, case.exposure)


def _assert_never_lowers(
    scaling: ScalingFunction,
    case: ScalingCase,
    update: Callable[[Parameters], Parameters],
    n_updates: int,
) -> FloatArray:
    """Raise if an update lowers the objective; return the objective after the last one, [T]."""
    parameters = _fitted(scaling, case, n_updates=0)
    before = _objective(scaling, case, parameters)
    for step in range(n_updates):
        parameters = update(parameters)
        after = _objective(scaling, case, parameters)
        fall = before - after
        assert (fall <= _ROUNDING * (1.0 + np.abs(before))).all(), (
            f"update {step} lowers the objective by {fall.max():.3g}."
        )
        before = after
    return before


def _update_never_lowers_the_objective(scaling: ScalingFunction, case: ScalingCase) -> None:
    _assert_never_lowers(scaling, case, partial(_updated, scaling, case), n_updates=5)


def _update_converges(scaling: ScalingFunction, case: ScalingCase) -> None:
    own = _fitted(scaling, case, n_updates=30)
    slow = ScalingFunction.update(scaling, own, case.design, case.prior_shape, case.exposure)
    gain = _objective(scaling, case, slow) - _objective(scaling, case, own)
    assert (gain < 2e-5).all(), (
        f"after 30 updates the numerical maximum is still {gain.max():.3g} higher."
    )


def _update_leaves_its_arguments_alone(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case, n_updates=1)
    kept = {name: value.copy() for name, value in parameters.items()}
    exposure = case.exposure.copy()
    scaling.update(parameters, case.design, case.prior_shape, exposure)
    np.testing.assert_array_equal(exposure, case.exposure)
    for name, value in kept.items():
        np.testing.assert_array_equal(parameters[name], value, err_msg=name)


def _prior_draws_have_shape(scaling: ScalingFunction, case: ScalingCase) -> None:
    rng = np.random.default_rng(0)
    shape = (len(case.prior_shape), case.design.shape[1])
    weights = scaling.draw_prior(*shape, rng)
    drawn = scaling.draw_posterior(_fitted(scaling, case), rng)
    for name, value in (("draw_prior", weights), ("draw_posterior", drawn)):
        # A product lays its factors' weights side by side, so they need one column per label.
        assert value.shape in (shape, (shape[0], 0)), f"{name} does not give weights [T, J]."
    rate = scaling.rate(weights, case.design)
    assert rate.shape == case.exposure.shape
    assert (rate > 0).all()


def _statistics_add(scaling: ScalingFunction, case: ScalingCase) -> None:
    parameters = _fitted(scaling, case)
    whole = scaling.statistics(parameters, case.design, case.exposure)
    head = scaling.statistics(parameters, case.design[:17], case.exposure[:17])
    tail = scaling.statistics(parameters, case.design[17:], case.exposure[17:])
    for name, value in whole.items():
        np.testing.assert_allclose(head[name] + tail[name], value, rtol=1e-10, err_msg=name)


def _label_totals_are_enough(scaling: ScalingFunction, case: ScalingCase) -> None:
    """Fits that see documents once, or in shards, know the labels' totals alone."""
    parameters = _fitted(scaling, case)
    total = csr_array(np.asarray(case.design.sum(axis=0)).reshape(1, -1))
    np.testing.assert_allclose(
        scaling.log_rate_total(parameters, total),
        scaling.log_rate_total(parameters, case.design),
        rtol=1e-8,
        atol=1e-10,
        err_msg="E[ln rho] is not linear in the labels, as updates from sums need it.",
    )


def _additive_update_never_lowers_the_objective(
    scaling: ScalingFunction, case: ScalingCase
) -> None:
    limits = DesignLimits.of(case.design)

    def update(parameters: Parameters) -> Parameters:
        sums = scaling.statistics(parameters, case.design, case.exposure)
        return scaling.update_from_statistics(parameters, sums, case.prior_shape, limits)

    last = _assert_never_lowers(scaling, case, update, n_updates=20)
    first, best = (_objective(scaling, case, _fitted(scaling, case, n)) for n in (0, 30))
    assert (best - last <= 0.5 * (best - first) + 1e-6).all(), (
        "twenty additive updates do not cover half of the distance to the maximum."
    )


_CHECKS_OF_SUMS = (
    _statistics_add,
    _label_totals_are_enough,
    _additive_update_never_lowers_the_objective,
)
