import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.metrics import inverted_rbo, topic_diversity
from tests.reference import measures as reference


def test_diversity_runs_from_one_to_one_over_the_number_of_topics():
    assert topic_diversity(np.arange(12).reshape(3, 4)) == 1
    assert topic_diversity(np.tile(np.arange(4), (3, 1))) == pytest.approx(1 / 3)
    assert topic_diversity(np.array([[0, 1, 2], [2, 3, 4]])) == pytest.approx(5 / 6)


@pytest.mark.parametrize("top_words", [np.arange(3), np.empty((0, 5), dtype=int)])
def test_diversity_explains_what_it_refuses(top_words):
    with pytest.raises(ValueError, match=r"`top_words` of topic_diversity must be a matrix"):
        topic_diversity(top_words)


ranked_topics = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.permutations(range(6)).map(lambda w: w[:n]), min_size=2, max_size=5)
).map(np.array)  # fmt: skip


@given(ranked_topics, st.floats(0.05, 0.95))
def test_inverted_rbo_equals_its_plain_twin(top_words, p):
    assert inverted_rbo(top_words, p) == pytest.approx(
        reference.inverted_rbo(top_words, p), abs=1e-12
    )


@given(ranked_topics, st.permutations(range(6)), st.randoms(use_true_random=False))
def test_inverted_rbo_ignores_the_order_of_topics_and_names_of_words(top_words, names, random):
    order = random.sample(range(len(top_words)), len(top_words))
    assert inverted_rbo(10 * np.array(names)[top_words[order]]) == pytest.approx(
        inverted_rbo(top_words), abs=1e-12
    )


@given(ranked_topics, st.floats(0.05, 0.95))
def test_inverted_rbo_lies_in_its_range(top_words, p):
    assert -1e-12 <= inverted_rbo(top_words, p) <= 1 + 1e-12


def test_inverted_rbo_of_equal_and_of_disjoint_topics():
    assert inverted_rbo(np.tile(np.arange(10), (3, 1))) == pytest.approx(0, abs=1e-12)
    assert inverted_rbo(np.arange(30).reshape(3, 10)) == 1
    assert inverted_rbo(np.array([[4], [4]])) == pytest.approx(0, abs=1e-12)
    # Two of three pairs disjoint, the third equal.
    assert inverted_rbo(np.array([[0, 1], [2, 3], [0, 1]])) == pytest.approx(2 / 3)


def test_inverted_rbo_of_two_lists_by_hand():
    # Common words by depth: 0, 2, 2. Half the weight on depth 1, a quarter on 2, the rest on 3.
    top_words = np.array([[0, 1, 2], [1, 0, 3]])
    overlap = 0.5 * 0 + 0.25 * 2 / 2 + 0.125 * 2 / 3 + 0.125 * 2 / 3
    assert inverted_rbo(top_words, p=0.5) == pytest.approx(1 - overlap)


def test_inverted_rbo_has_depth_weight_nine_tenths_unless_told():
    top_words = np.array([[0, 1, 2], [1, 0, 3]])
    assert inverted_rbo(top_words) == inverted_rbo(top_words, p=0.9)
    assert inverted_rbo(top_words) != inverted_rbo(top_words, p=0.89)


def test_inverted_rbo_minds_shared_first_words_more_than_shared_last_words():
    first, last = np.array([[0, 1, 2], [0, 3, 4]]), np.array([[1, 2, 0], [3, 4, 0]])
    assert inverted_rbo(first) < inverted_rbo(last)
    assert topic_diversity(first) == topic_diversity(last)


@pytest.mark.parametrize(
    ("top_words", "p", "message"),
    [
        ([[0, 1]], 0.9, r"`top_words` of inverted_rbo must have at least two topics.*Got 1\."),
        ([0, 1], 0.9, r"must have at least one word per topic, \[T, n\]\. Got shape \(2,\)"),
        ([[], []], 0.9, r"must have at least one word per topic.*Got shape \(2, 0\)"),
        ([[0, 1], [2, 2]], 0.9, r"`top_words` of inverted_rbo must be distinct.*in topic 1"),
        ([[0, 1], [2, -3]], 0.9, r"`top_words` of inverted_rbo must not be negative\. Got -3"),
        ([[0, 1], [2, 3]], 1.0, r"`p` of inverted_rbo must lie between 0 and 1.*Got 1\.0"),
        ([[0, 1], [2, 3]], 0.0, r"`p` of inverted_rbo must lie between 0 and 1.*Got 0\.0"),
    ],
)
def test_inverted_rbo_explains_what_it_refuses(top_words, p, message):
    with pytest.raises(ValueError, match=message):
        inverted_rbo(np.array(top_words), p)


def test_inverted_rbo_refuses_words_that_are_not_indices():
    with pytest.raises(TypeError, match=r"`top_words` of inverted_rbo must hold word indices"):
        inverted_rbo(np.array([["a"], ["b"]]))
