"""Limits of the perplexity, labels of topics, and the time that is left."""

import numpy as np
import pytest

from hdsp.prediction import associated_labels, bootstrap_interval


def test_limits_of_the_perplexity_are_those_of_a_mean():
    rng = np.random.default_rng(0)
    tokens = np.full(400, 10.0)
    log_likelihood = rng.normal(-50.0, 4.0, size=400)
    lower, upper = np.log(bootstrap_interval(log_likelihood, tokens, 0.9))
    # The mean log probability of a token has the standard error s / (10 sqrt 400); 1,000 draws.
    half_width = 1.645 * log_likelihood.std() / 10 / 20
    assert (lower + upper) / 2 == pytest.approx(
        -log_likelihood.sum() / 4000, abs=0.05 * half_width * 2
    )
    assert (upper - lower) / 2 == pytest.approx(half_width, rel=0.1)


def test_equal_documents_leave_no_doubt():
    lower, upper = bootstrap_interval(np.full(5, -20.0), np.full(5, 10.0), 0.9)
    assert lower == pytest.approx(np.exp(2.0))
    assert upper == pytest.approx(np.exp(2.0))


def test_labels_that_raise_and_lower_topics():
    effect = np.array([[0.3, -0.1], [0.1, 0.2], [-0.4, 0.0]])
    raised, lowered = associated_labels(effect, 2)
    assert [row.tolist() for row in raised] == [[0, 1], [1]]
    assert [row.tolist() for row in lowered] == [[2], [0]]
