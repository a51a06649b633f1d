import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.metrics import effective_topics
from tests.reference import measures as reference

positive = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=8
).filter(any)  # fmt: skip


@given(positive)
def test_effective_topics_equal_their_plain_twin(weights):
    assert effective_topics(np.array(weights)) == pytest.approx(reference.effective_topics(weights))


@given(positive, st.randoms(use_true_random=False), st.floats(1e-3, 1e3))
def test_order_scale_and_empty_topics_do_not_matter(weights, random, factor):
    value = effective_topics(np.array(weights))
    changed = [factor * weight for weight in weights] + [0.0]
    random.shuffle(changed)
    assert effective_topics(np.array(changed)) == pytest.approx(value)
    assert 1 - 1e-12 <= value <= np.count_nonzero(weights) + 1e-9


@given(positive)
def test_splitting_every_topic_in_two_doubles_their_number(weights):
    doubled = effective_topics(np.repeat(weights, 2))
    assert doubled == pytest.approx(2 * effective_topics(np.array(weights)))


def test_effective_topics_are_the_hill_number_of_order_one():
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    above, below = (reference.hill_number(shares, order) for order in (1 - 1e-6, 1 + 1e-6))
    assert below < effective_topics(shares) < above
    assert effective_topics(shares) == pytest.approx((above + below) / 2, rel=1e-9)


def test_effective_topics_of_closed_cases():
    assert effective_topics(np.array([7.0])) == 1
    assert effective_topics(np.full(5, 0.2)) == pytest.approx(5)
    assert effective_topics(np.array([1, 1, 0, 0])) == pytest.approx(2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 2)), r"must be a vector \[T\]\. Got shape \(3, 2\).*mean\(axis=0\)"),
        ([0.5, -0.5], r"must be finite and not negative\. Got -0\.5 at topic 1"),
        ([0.5, np.nan], r"must be finite and not negative\. Got nan at topic 1"),
        ([0.0, 0.0], r"must have some weight\. Got only zeros for 2 topic"),
        ([], r"must have some weight\. Got only zeros for 0 topic"),
    ],
)
def test_effective_topics_explain_what_they_refuse(weights, message):
    with pytest.raises(ValueError, match=r"`weights` of effective_topics " + message):
        effective_topics(np.array(weights))
