from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.metrics import match_topics


def random_topics(seed, n_topics, n_words=5):
    return np.random.default_rng(seed).dirichlet(np.ones(n_words), size=n_topics)


@given(st.integers(0, 10**6), st.permutations(range(4)), st.floats(0.1, 100))
def test_permuted_and_rescaled_topics_are_found_exactly(seed, order, factor):
    truth = random_topics(seed, 4)
    indices, distances = match_topics(truth, factor * truth[order])
    np.testing.assert_array_equal(np.array(order)[indices], np.arange(4))
    np.testing.assert_allclose(distances, 0, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(3, 5))
def test_no_other_pairing_has_a_smaller_total(seed, n_true, n_found):
    truth, found = random_topics(seed, n_true), random_topics(seed + 1, n_found)
    indices, distances = match_topics(truth, found)
    totals = [
        sum(0.5 * np.abs(row - found[i]).sum() for row, i in zip(truth, pairing, strict=True))
        for pairing in permutations(range(n_found), n_true)
    ]
    assert distances.sum() == pytest.approx(min(totals))
    for row, i, distance in zip(truth, indices, distances, strict=True):
        assert distance == pytest.approx(0.5 * np.abs(row - found[i]).sum())


@given(st.integers(0, 10**6), st.permutations(range(5)))
def test_permuting_the_true_topics_permutes_the_answer(seed, order):
    truth, found = random_topics(seed, 5), random_topics(seed + 1, 6)
    indices, distances = match_topics(truth, found)
    permuted_indices, permuted_distances = match_topics(truth[order], found)
    # Two matchings can be equally good, so only their cost is determined.
    np.testing.assert_allclose(permuted_distances.sum(), distances.sum())
    for k, (index, distance) in enumerate(zip(permuted_indices, permuted_distances, strict=True)):
        pair = np.abs(
            truth[order][k] / truth[order][k].sum() - found[index] / found[index].sum()
        ).sum()
        assert distance == pytest.approx(pair / 2)
    assert len(indices) == len(permuted_indices)


def test_true_topics_without_a_partner_are_marked_and_cost_one():
    truth = np.eye(3)
    indices, distances = match_topics(truth, truth[[2]])
    np.testing.assert_array_equal(indices, [-1, -1, 0])
    np.testing.assert_array_equal(distances, [1, 1, 0])


def test_topics_without_common_words_are_at_distance_one():
    _, distances = match_topics(np.array([[1.0, 1.0, 0.0]]), np.array([[0.0, 0.0, 5.0]]))
    assert distances == pytest.approx(1)


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        (np.ones(2), np.eye(2), r"`truth` of match_topics must be a matrix.*Got shape \(2,\)"),
        (np.eye(2), np.eye(3), r"must share a vocabulary\. Got 2 and 3 words"),
        (np.eye(2), -np.eye(2), r"`found` .* not negative\. Got -1\.0 at topic 0, word 0"),
        (np.full((1, 2), np.nan), np.eye(2), r"must be finite.*Got nan at topic 0, word 0"),
        (np.array([[1.0, 0.0], [0.0, 0.0]]), np.eye(2), r"Got only zeros in topic 1"),
    ],
)
def test_matching_explains_what_it_refuses(truth, found, message):
    with pytest.raises(ValueError, match=message):
        match_topics(truth, found)
