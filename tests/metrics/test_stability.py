import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.metrics import match_topics, stability
from tests.reference import measures as reference


def random_topics(seed, n_topics, n_words=40):
    """Over so many words that no two pairings are equally good, as they often are over few."""
    return np.random.default_rng(seed).dirichlet(np.ones(n_words), size=n_topics)


sizes = st.lists(st.integers(1, 4), min_size=2, max_size=4)


@given(st.integers(0, 10**6), sizes)
def test_stability_equals_its_plain_twin(seed, sizes):
    runs = [random_topics(seed + run, n_topics) for run, n_topics in enumerate(sizes)]
    value = stability(runs)
    assert value.shape == (sizes[0],)
    np.testing.assert_allclose(value, reference.stability(runs), atol=1e-12)
    assert ((value >= -1e-12) & (value <= 1 + 1e-12)).all()


@given(st.integers(0, 10**6), st.randoms(use_true_random=False), st.floats(0.1, 100))
def test_permuting_the_first_run_permutes_and_permuting_others_changes_nothing(
    seed, random, factor
):
    first, second, third = (random_topics(seed + run, 4) for run in range(3))
    topics, words = random.sample(range(4), 4), random.sample(range(40), 40)
    value = stability([first, second, third])
    np.testing.assert_allclose(stability([first[topics], second, third]), value[topics])
    np.testing.assert_allclose(stability([first, factor * third, second[topics]]), value)
    np.testing.assert_allclose(stability([run[:, words] for run in (first, second, third)]), value)


@given(st.integers(0, 10**6))
def test_stability_over_two_runs_is_what_matched_topics_have_in_common(seed):
    first, second = random_topics(seed, 3), random_topics(seed + 1, 4)
    indices, distances = match_topics(first, second)
    np.testing.assert_allclose(stability([first, second]), 1 - distances)
    np.testing.assert_allclose(
        stability([first, second]), np.minimum(first, second[indices]).sum(axis=1)
    )


def test_stability_of_closed_cases():
    topics = np.eye(3)
    np.testing.assert_allclose(stability([topics, topics[::-1], 5 * topics]), 1)
    np.testing.assert_allclose(stability([topics[:1], topics[1:]]), 0)
    # A topic without a partner has nothing in common with that run: half of two runs.
    np.testing.assert_allclose(stability([topics, topics[:2], topics]), [1, 1, 0.5])


def test_stability_of_an_array_of_runs_or_a_generator():
    runs = np.stack([random_topics(seed, 3) for seed in range(3)])
    np.testing.assert_array_equal(stability(runs), stability(list(runs)))
    np.testing.assert_array_equal(stability(run for run in runs), stability(list(runs)))


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], r"`runs` of stability must hold at least two fits\. Got 0"),
        ([np.eye(2)], r"`runs` of stability must hold at least two fits\. Got 1"),
        (np.eye(2), r"`runs\[0\]` of stability must be a matrix, topics x words\. Got shape"),
        ([np.eye(2), np.eye(2), np.eye(3)], r"Got 2 words in runs\[0\] and 3 in runs\[2\]"),
        ([np.eye(2), -np.eye(2)], r"`runs\[1\]` of stability must be finite and not negative"),
        ([np.eye(2), np.zeros((1, 2))], r"`runs\[1\]` .* every topic some weight.*in topic 0"),
    ],
)
def test_stability_explains_what_it_refuses(runs, message):
    with pytest.raises(ValueError, match=message):
        stability(runs)
