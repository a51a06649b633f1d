import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hdsp.metrics import umass
from tests.reference import measures as reference

N_WORDS = 6


@st.composite
def topics_and_counts(draw):
    counts = draw(
        hnp.arrays(
            np.int64, st.tuples(st.integers(1, 12), st.just(N_WORDS)), elements=st.integers(0, 2)
        )
    )
    n = draw(st.integers(2, 4))
    topics = draw(st.lists(st.permutations(range(N_WORDS)), min_size=1, max_size=3))
    return np.array([topic[:n] for topic in topics]), counts


@given(topics_and_counts(), st.sampled_from([1.0, 0.01, 1e-9]))
def test_umass_equals_its_plain_twin(case, smoothing):
    top_words, counts = case
    np.testing.assert_allclose(
        umass(top_words, sp.csr_array(counts), smoothing=smoothing),
        reference.umass(top_words, counts, smoothing=smoothing),
        atol=1e-12,
    )


@given(topics_and_counts(), st.randoms(use_true_random=False))
def test_umass_ignores_the_order_of_documents_and_the_names_of_words(case, random):
    top_words, counts = case
    documents = random.sample(range(len(counts)), len(counts))
    words = np.array(random.sample(range(N_WORDS), N_WORDS))
    renamed = np.argsort(words)[top_words]
    value = umass(top_words, counts)
    np.testing.assert_allclose(umass(renamed, counts[documents][:, words]), value, atol=1e-12)
    np.testing.assert_allclose(umass(top_words[::-1], counts), value[::-1], atol=1e-12)
    np.testing.assert_array_equal(umass(top_words, 7 * counts), value)


def test_umass_of_closed_cases():
    # Word 0 in four documents, word 1 in two of those, word 2 in another, word 3 nowhere.
    counts = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
    assert umass(np.array([[0, 1]]), counts) == pytest.approx(np.log(3 / 4))
    assert umass(np.array([[0, 2]]), counts) == pytest.approx(np.log(1 / 4))
    assert umass(np.array([[0, 1, 2]]), counts) == pytest.approx(
        np.log(3 / 4) + np.log(1 / 4) + np.log(1 / 2)
    )


def test_umass_conditions_on_the_heavier_word():
    counts = np.array([[1, 1], [1, 1], [1, 0], [1, 0]])
    assert umass(np.array([[0, 1]]), counts) == pytest.approx(np.log(3 / 4))
    assert umass(np.array([[1, 0]]), counts) == pytest.approx(np.log(3 / 2))


def test_umass_gives_the_least_to_words_that_never_occur():
    counts = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]])
    assert umass(np.array([[2, 0]]), counts) == pytest.approx(np.log(1 / 3))
    assert umass(np.array([[0, 2]]), counts) == pytest.approx(np.log(1 / 3))
    assert umass(np.array([[1, 2]]), counts) == pytest.approx(np.log(1 / 1))


def test_umass_of_a_single_document():
    np.testing.assert_allclose(
        umass(np.array([[0, 1], [0, 2]]), np.array([[1, 1, 0]])), np.log([2, 1])
    )


def test_umass_leaves_its_arguments_alone():
    counts = sp.csc_array(np.array([[2.0, 3.0], [0.0, 1.0]]))
    umass(np.array([[0, 1]]), counts)
    np.testing.assert_array_equal(counts.toarray(), [[2, 3], [0, 1]])


@pytest.mark.parametrize(
    ("top_words", "counts", "smoothing", "message"),
    [
        ([[0]], np.eye(2), 1.0, r"`top_words` of umass must have at least two words per topic"),
        ([[0, 2]], np.eye(2), 1.0, r"must lie in 0 \.\.\. 1.*Got 2 in topic 0"),
        ([[0, 1], [1, 1]], np.eye(2), 1.0, r"`top_words` of umass must be distinct.*in topic 1"),
        ([[0, 1]], np.ones((0, 2)), 1.0, r"`counts` of umass must hold at least one document"),
        ([[0, 1]], np.eye(2), 0.0, r"`smoothing` of umass must be finite and more than 0\. Got 0"),
        ([[0, 1]], np.eye(2), np.inf, r"`smoothing` of umass must be finite.*Got inf"),
    ],
)
def test_umass_explains_what_it_refuses(top_words, counts, smoothing, message):
    with pytest.raises(ValueError, match=message):
        umass(np.array(top_words), counts, smoothing=smoothing)


def test_umass_refuses_words_that_are_not_indices():
    with pytest.raises(TypeError, match=r"`top_words` of umass must hold word indices\. Got float"):
        umass(np.array([[0.0, 1.0]]), np.eye(2))
