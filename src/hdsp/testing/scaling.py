"""Conformance checks for scaling functions, those of the package and users' own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics import FloatArray
from hdsp.scaling.functions import DesignLimits, Parameters, Product, ScalingFunction, take_topics

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

    design: csr_array
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
    values = rng.normal(size=carried.shape) if "number" in scaling.kinds else np.ones(carried.shape)
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
    for checks in (_Checks, _ChecksOfSums) if scaling.additive else (_Checks,):
        for name, check in vars(checks).items():
            if name.startswith("check_"):
                told = name.removeprefix("check_").replace("_", " ")
                yield told, partial(check, checks(scaling, case))


class _Trial:
    """A function on a problem."""

    def __init__(self, scaling: ScalingFunction, case: ScalingCase) -> None:
        self.scaling, self.case, self.design = scaling, case, case.design
        self.given = (case.design, case.prior_shape, case.exposure)
        self.n_topics = len(case.prior_shape)

    def fitted(self, n_updates: int = 2) -> Parameters:
        parameters = self.scaling.initial(self.n_topics, self.design.shape[1])
        for _ in range(n_updates):
            parameters = self.scaling.update(parameters, *self.given)
        return parameters

    def objective(self, parameters: Parameters) -> FloatArray:
        return self.scaling.objective(parameters, *self.given)

    def draws(self, parameters: Parameters) -> FloatArray:
        rng, function = np.random.default_rng(0), self.scaling
        weights = (function.draw_posterior(parameters, rng) for _ in range(_DRAWS))
        return np.array([function.rate(one, self.design) for one in weights])

    def assert_never_lowers(
        self, update: Callable[[Parameters], Parameters], n_updates: int
    ) -> FloatArray:
        """Raise if an update lowers the objective; return the last objective, [T]."""
        parameters = self.fitted(0)
        before = self.objective(parameters)
        for step in range(n_updates):
            parameters = update(parameters)
            after = self.objective(parameters)
            fall = before - after
            told = f"update {step} lowers the objective by {fall.max():.3g}."
            assert (fall <= _ROUNDING * (1.0 + np.abs(before))).all(), told
            before = after
        return before


def _assert_mean(draws: FloatArray, expected: FloatArray, what: str) -> None:
    # Six standard errors: by chance alone, the check fails once in millions of times.
    error = 6.0 * draws.std(axis=0) / np.sqrt(len(draws)) + 1e-9
    worst = np.abs(draws.mean(axis=0) - expected) - error
    assert (worst <= 0).all(), f"{what} is off by up to {worst.max():.3g} more than chance."


class _Checks(_Trial):
    def check_initial_rates_are_one(self) -> None:
        rate = self.scaling.expected_rate(self.fitted(0), self.design)
        np.testing.assert_allclose(rate, 1.0, atol=1e-12)

    def check_parameters_start_with_topics(self) -> None:
        parameters = self.fitted()
        assert parameters, "`initial` gives no array, so the number of topics is lost."
        for name, value in parameters.items():
            assert ":" not in name or isinstance(self.scaling, Product), f"{name!r} has a colon."
            assert len(value) == self.n_topics, f"{name!r} does not have topics first."
            assert np.isfinite(value).all(), f"{name!r} is not finite after an update."

    def check_shapes(self) -> None:
        function, parameters, shape = self.scaling, self.fitted(), self.case.exposure.shape
        for method in (function.expected_rate, function.expected_log_rate, function.expected_scale):
            assert method(parameters, self.design).shape == shape, method.__name__
        assert function.prior_terms(parameters).shape == shape[1:]
        assert function.log_rate_total(parameters, self.design).shape == shape[1:]

    def check_unlabelled_documents_have_rate_one(self) -> None:
        parameters, unlabelled = self.fitted(), csr_array((5, self.design.shape[1]))
        np.testing.assert_allclose(self.scaling.expected_rate(parameters, unlabelled), 1.0)
        log_rate = self.scaling.expected_log_rate(parameters, unlabelled)
        np.testing.assert_allclose(log_rate, 0.0, atol=1e-12)

    def check_documents_are_independent(self) -> None:
        parameters = self.fitted()
        whole = self.scaling.expected_rate(parameters, self.design)
        reverse = self.scaling.expected_rate(parameters, self.design[::-1])
        np.testing.assert_allclose(reverse, whole[::-1], rtol=1e-12)

    def check_topics_are_independent(self) -> None:
        start, chosen = self.fitted(0), [2, 0]
        exposure = np.ascontiguousarray(self.case.exposure[:, chosen])
        few = take_topics(start, chosen)
        part = self.scaling.update(few, self.design, self.case.prior_shape[chosen], exposure)
        for name, value in take_topics(self.scaling.update(start, *self.given), chosen).items():
            np.testing.assert_allclose(part[name], value, rtol=1e-4, atol=1e-6, err_msg=name)

    def check_totals_are_sums(self) -> None:
        parameters = self.fitted()
        log_rate = self.scaling.expected_log_rate(parameters, self.design)
        total = self.scaling.log_rate_total(parameters, self.design)
        np.testing.assert_allclose(total, log_rate.sum(axis=0), rtol=1e-9, atol=1e-9)
        prior_shape = self.case.prior_shape
        weighted = self.scaling.weighted_log_rate(parameters, self.design, prior_shape)
        np.testing.assert_allclose(weighted, log_rate @ prior_shape, rtol=1e-9, atol=1e-9)

    def check_expectations_match_draws(self) -> None:
        parameters = self.fitted()
        draws, rate = self.draws(parameters), self.scaling.expected_rate(parameters, self.design)
        log_rate = self.scaling.expected_log_rate(parameters, self.design)
        _assert_mean(draws, rate, "expected_rate")
        _assert_mean(np.log(draws), log_rate, "expected_log_rate")
        # Jensen's inequality.
        assert (log_rate <= np.log(rate) + 1e-9).all()

    def check_scale_matches_draws(self) -> None:
        # Twenty times the data: with a narrower posterior the mean of 1 / rate has a variance.
        case = self.case
        certain = ScalingCase(case.design, case.prior_shape * 20.0, case.exposure * 20.0)
        parameters = _Trial(self.scaling, certain).fitted()
        carried = np.asarray(abs(self.design).sum(axis=1)) > 0
        expected = self.scaling.expected_scale(parameters, self.design)
        _assert_mean(1.0 / self.draws(parameters)[:, carried], expected[carried], "expected_scale")

    def check_update_never_lowers_the_objective(self) -> None:
        self.assert_never_lowers(lambda start: self.scaling.update(start, *self.given), n_updates=5)

    def check_learned_priors_never_lower_the_objective(self) -> None:
        parameters = self.fitted()
        for _ in range(3):
            learned = self.scaling.learn_prior(parameters)
            gain = (self.objective(learned) - self.objective(parameters)).sum()
            assert gain >= -_ROUNDING, f"learning the prior lowers the objective by {-gain:.3g}."
            parameters = self.scaling.update(learned, *self.given)

    def check_update_converges(self) -> None:
        own = self.fitted(30)
        slow = ScalingFunction.update(self.scaling, own, *self.given)
        gain = (self.objective(slow) - self.objective(own)).max()
        assert gain < 2e-5, f"after 30 updates the numerical maximum is still {gain:.3g} higher."

    def check_update_leaves_its_arguments_alone(self) -> None:
        parameters = self.fitted(1)
        kept = {name: value.copy() for name, value in parameters.items()}
        exposure = self.case.exposure.copy()
        self.scaling.update(parameters, self.design, self.case.prior_shape, exposure)
        np.testing.assert_array_equal(exposure, self.case.exposure)
        for name, value in kept.items():
            np.testing.assert_array_equal(parameters[name], value, err_msg=name)

    def check_prior_draws_have_shape(self) -> None:
        rng, shape = np.random.default_rng(0), (self.n_topics, self.design.shape[1])
        weights = self.scaling.draw_prior(*shape, rng)
        drawn = self.scaling.draw_posterior(self.fitted(), rng)
        for name, value in (("draw_prior", weights), ("draw_posterior", drawn)):
            # A product lays its factors' weights side by side, so they need one column per label.
            assert value.shape in (shape, (shape[0], 0)), f"{name} does not give weights [T, J]."
        rate = self.scaling.rate(weights, self.design)
        assert rate.shape == self.case.exposure.shape
        assert (rate > 0).all()


class _ChecksOfSums(_Trial):
    def check_statistics_add(self) -> None:
        parameters, exposure = self.fitted(), self.case.exposure
        whole, head, tail = (
            self.scaling.statistics(parameters, self.design[rows], exposure[rows])
            for rows in (slice(None), slice(17), slice(17, None))
        )
        for name, value in whole.items():
            np.testing.assert_allclose(head[name] + tail[name], value, rtol=1e-10, err_msg=name)

    def check_label_totals_are_enough(self) -> None:
        """Fits that see documents once, or in shards, know the labels' totals alone."""
        parameters = self.fitted()
        total = csr_array(np.asarray(self.design.sum(axis=0)).reshape(1, -1))
        totals = [self.scaling.log_rate_total(parameters, own) for own in (total, self.design)]
        told = "E[ln rho] is not linear in the labels, as updates from sums need it."
        np.testing.assert_allclose(totals[0], totals[1], rtol=1e-8, atol=1e-10, err_msg=told)

    def check_additive_update_never_lowers_the_objective(self) -> None:
        limits, prior_shape = DesignLimits.of(self.design), self.case.prior_shape

        def update(parameters: Parameters) -> Parameters:
            sums = self.scaling.statistics(parameters, self.design, self.case.exposure)
            return self.scaling.update_from_statistics(parameters, sums, prior_shape, limits)

        last = self.assert_never_lowers(update, n_updates=20)
        first, best = (self.objective(self.fitted(n)) for n in (0, 30))
        told = "twenty additive updates do not cover half of the distance to the maximum."
        assert (best - last <= 0.5 * (best - first) + 1e-6).all(), told
