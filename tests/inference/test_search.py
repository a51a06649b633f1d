"""The search for the number of topics, on curves that are known."""

import numpy as np
import pytest

from hdsp.inference.search import Outcome, peak_number, search_number


def curve(peak, cost=1.0):
    """A bound like those of real corpora, highest at `peak` topics."""
    gain = 2.0 * cost * peak**1.5
    return lambda n: -cost * n - gain / n**0.5


@pytest.mark.parametrize("peak", [3, 9, 24, 40, 70, 128, 190, 350, 900])
def test_the_peak_is_found_to_within_its_resolution(peak):
    bound = curve(peak)
    found = search_number(lambda n: Outcome(bound(n), n), 2_000)
    assert abs(np.log(found / peak)) <= 0.12 or abs(found - peak) <= 1


@pytest.mark.parametrize("peak", [24, 70, 128, 190])
def test_the_number_does_not_depend_on_the_ceiling(peak):
    bound = curve(peak)
    found = [search_number(lambda n: Outcome(bound(n), n), c) for c in (2 * peak, 400, 8 * peak)]
    assert np.ptp(np.log(found)) <= 0.15


@pytest.mark.parametrize("peak", [60, 128, 180])
def test_noise_in_the_bound_moves_the_number_little(peak):
    bound, noise = curve(peak), np.random.default_rng(0)
    size = 0.002 * (bound(peak) - bound(peak / 2))
    found = [
        search_number(lambda n: Outcome(bound(n) + noise.normal(0, size), n), 400)
        for _ in range(20)
    ]
    assert np.ptp(np.log(found)) <= 0.25


def test_the_ceiling_is_where_a_rising_bound_stops():
    assert search_number(lambda n: Outcome(float(n), n), 100) == 100
    assert search_number(lambda n: Outcome(float(n), n), 5) == 5
    assert search_number(lambda n: Outcome(float(n), n), 1) == 1


def test_no_number_is_tried_twice_and_few_are_tried():
    tried = []

    def attempt(number):
        tried.append(number)
        return Outcome(curve(130)(number), number)

    search_number(attempt, 400)
    assert len(tried) == len(set(tried)) <= 6
    assert max(tried) < 300


def test_a_fit_that_keeps_few_topics_is_followed_by_one_with_as_many():
    tried = []

    def attempt(number):
        tried.append(number)
        left = min(number, 7)
        return Outcome(-abs(number - 7.0), left)

    assert search_number(attempt, 400) == 7
    assert tried == [32, 7]


def test_an_interrupted_search_takes_the_best_so_far():
    outcomes = iter([Outcome(-10.0, 32), Outcome(-5.0, 64)])
    found = search_number(lambda n: next(outcomes, Outcome(-np.inf, n)), 400)
    assert found == 64


def test_the_peak_of_a_curve_through_three_points():
    bound = curve(90)
    assert peak_number({n: bound(n) for n in (32, 64, 128)}) == pytest.approx(90)
    assert peak_number({32: 0.0, 64: 1.0}) is None
    # A bound that falls without having risen has no peak.
    assert peak_number({32: 0.0, 64: -10.0, 128: -11.0}) is None
