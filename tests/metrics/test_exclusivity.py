import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.metrics import exclusivity, frex, topic_top_words
from tests.reference import measures as reference


def random_components(seed, n_topics, n_words):
    """Weights with zeros and repeated words, whose equal values must share a rank."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.3, size=(n_topics, n_words)) * (rng.random((n_topics, n_words)) < 0.7)
    weights[:, 0] = rng.gamma(1.0, size=n_topics)
    return weights[:, rng.integers(0, n_words, size=n_words) * (np.arange(n_words) > 0)]


cases = st.builds(
    random_components, st.integers(0, 10**6), n_topics=st.integers(1, 4), n_words=st.integers(1, 7)
)


@given(cases, st.integers(1, 8))
def test_exclusivity_equals_its_plain_twin(components, n):
    np.testing.assert_allclose(
        exclusivity(components, n), reference.exclusivity(components, n), atol=1e-12
    )


@given(cases, st.floats(0, 1))
def test_frex_equals_its_plain_twin(components, weight):
    np.testing.assert_allclose(
        frex(components, weight), reference.frex(components, weight), atol=1e-12
    )


@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_permuting_topics_or_words_permutes_the_answers(seed, random):
    components = np.random.default_rng(seed).gamma(0.5, size=(4, 9))
    topics, words = random.sample(range(4), 4), random.sample(range(9), 9)
    permuted = components[topics][:, words]
    np.testing.assert_allclose(exclusivity(permuted, 3), exclusivity(components, 3)[topics])
    np.testing.assert_allclose(frex(permuted), frex(components)[topics][:, words])


@given(cases, st.integers(0, 10**6), st.integers(1, 8))
def test_rescaling_topics_changes_nothing(components, seed, n):
    # Powers of two, so that equal values stay equal.
    factors = 2.0 ** np.random.default_rng(seed).integers(-5, 6, size=(len(components), 1))
    np.testing.assert_allclose(exclusivity(factors * components, n), exclusivity(components, n))
    np.testing.assert_allclose(frex(factors * components), frex(components))


@given(cases, st.integers(1, 8), st.floats(0, 1))
def test_values_lie_in_their_ranges(components, n, weight):
    value = exclusivity(components, n)
    assert ((value >= 0) & (value <= 1 + 1e-12)).all()
    scores = frex(components, weight)
    assert ((scores > 0) & (scores <= 1 + 1e-12)).all()


def test_exclusivity_runs_from_one_over_the_number_of_topics_to_one():
    np.testing.assert_allclose(exclusivity(np.eye(3), n=1), 1)
    np.testing.assert_allclose(exclusivity(np.ones((4, 6)), n=3), 1 / 4)
    np.testing.assert_allclose(exclusivity(np.array([[3.0, 1.0]])), 1)


def test_exclusivity_is_of_the_heaviest_words_of_normalised_topics():
    components = np.array([[6.0, 3.0, 1.0], [0.0, 1.0, 1.0]])
    # 0.6 / 0.6 and 0.3 / (0.3 + 0.5); then 0.5 / 0.8 and 0.5 / (0.1 + 0.5).
    np.testing.assert_allclose(
        exclusivity(components, n=2), [(1 + 0.375) / 2, (0.625 + 0.5 / 0.6) / 2]
    )


def test_ten_words_are_looked_at_unless_told():
    components = np.random.default_rng(0).gamma(0.5, size=(3, 20))
    np.testing.assert_array_equal(exclusivity(components), exclusivity(components, n=10))
    assert (exclusivity(components) != exclusivity(components, n=9)).all()


def test_words_without_weight_are_not_exclusive():
    np.testing.assert_allclose(exclusivity(np.array([[1.0, 0.0]]), n=2), 1 / 2)
    np.testing.assert_allclose(frex(np.array([[1.0, 0.0]])), [[1, 1 / 2]])


def test_frex_weighs_exclusivity_against_frequency():
    components = np.array([[0.5, 0.3, 0.2, 0.0], [0.5, 0.0, 0.1, 0.4]])
    # In the first topic: frequency ranks 4 3 2 1; exclusivity 1/2, 1, 2/3, 0 ranks 2 4 3 1.
    frequent, exclusive = np.array([4, 3, 2, 1]) / 4, np.array([2, 4, 3, 1]) / 4
    np.testing.assert_allclose(frex(components, weight=0.0)[0], frequent)
    np.testing.assert_allclose(frex(components, weight=1.0)[0], exclusive)
    np.testing.assert_allclose(
        frex(components, weight=0.7)[0], 1 / (0.7 / exclusive + 0.3 / frequent)
    )
    np.testing.assert_array_equal(topic_top_words(frex(components), 2), [[1, 0], [0, 3]])


def test_frex_of_one_topic_ranks_by_frequency():
    components = np.array([[0.1, 0.4, 0.2, 0.3]])
    np.testing.assert_array_equal(topic_top_words(frex(components), 4), [[1, 3, 2, 0]])


@pytest.mark.parametrize("measure", [exclusivity, frex])
@pytest.mark.parametrize(
    ("components", "message"),
    [
        (np.ones(2), r"must be a matrix, topics x words\. Got shape \(2,\)"),
        (-np.eye(2), r"must be finite and not negative\. Got -1\.0 at topic 0, word 0"),
        (np.array([[1.0, np.nan]]), r"must be finite and not negative\. Got nan at topic 0, word"),
        (np.array([[1.0, 0.0], [0.0, 0.0]]), r"must give every topic some weight.*in topic 1"),
    ],
)
def test_measures_explain_what_they_refuse(measure, components, message):
    with pytest.raises(ValueError, match=f"`components` of {measure.__name__} {message}"):
        measure(components)


def test_options_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"`n` of exclusivity must be at least 1\. Got 0"):
        exclusivity(np.eye(2), n=0)
    with pytest.raises(ValueError, match=r"`weight` of frex must lie in 0 \.\.\. 1\. Got 1\.5"):
        frex(np.eye(2), weight=1.5)
