import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hdsp.metrics import npmi, topic_top_words, umass
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


@given(topics_and_counts())
def test_npmi_equals_its_plain_twin(case):
    top_words, counts = case
    np.testing.assert_allclose(
        npmi(top_words, sp.csr_array(counts)), reference.npmi(top_words, counts), atol=1e-12
    )


@given(topics_and_counts(), st.randoms(use_true_random=False))
def test_npmi_ignores_the_order_of_documents_words_and_pairs(case, random):
    top_words, counts = case
    documents = random.sample(range(len(counts)), len(counts))
    words = np.array(random.sample(range(N_WORDS), N_WORDS))
    renamed = np.argsort(words)[top_words]
    np.testing.assert_allclose(
        npmi(renamed[:, ::-1], counts[documents][:, words]), npmi(top_words, counts), atol=1e-12
    )


@given(topics_and_counts())
def test_npmi_counts_documents_not_tokens_and_lies_in_its_range(case):
    top_words, counts = case
    value = npmi(top_words, counts)
    np.testing.assert_array_equal(npmi(top_words, 7 * counts), value)
    assert (value >= -1 - 1e-12).all()
    assert (value <= 1 + 1e-12).all()


def test_npmi_of_closed_cases():
    counts = np.array(
        # always the first, two that come together, two that are independent of each other, none
        [[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]
    )
    assert npmi(np.array([[1, 2]]), counts) == pytest.approx(1)
    assert npmi(np.array([[1, 3]]), counts) == pytest.approx(0)
    assert npmi(np.array([[0, 1]]), counts) == pytest.approx(0)
    assert npmi(np.array([[0, 5]]), counts) == -1
    # ln(1/4 / (1/2 · 1/2)) = 0 and ln(2) / ln(2) = 1: the mean over three pairs.
    assert npmi(np.array([[1, 2, 3]]), counts) == pytest.approx(1 / 3)


def test_npmi_of_words_in_every_document_is_zero():
    assert npmi(np.array([[0, 1]]), np.ones((3, 2))) == 0


def test_npmi_does_not_take_a_stored_zero_for_an_occurrence():
    counts = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]))
    counts.data[1] = 0.0
    assert npmi(np.array([[0, 1]]), counts) == pytest.approx(np.log(1.5) / np.log(3))
    assert counts.nnz == 4


@pytest.mark.parametrize("measure", [npmi, umass])
def test_arguments_stay_as_they_are(measure):
    counts = sp.csc_array(np.array([[2.0, 3.0], [0.0, 1.0]]))
    measure(np.array([[0, 1]]), counts)
    np.testing.assert_array_equal(counts.toarray(), [[2, 3], [0, 1]])


def test_npmi_with_eps_lifts_pairs_that_never_co_occur():
    counts = np.eye(2)
    expected = np.log(1e-12 / 0.25) / -np.log(1e-12)
    assert npmi(np.array([[0, 1]]), counts, eps=1e-12) == pytest.approx(expected)


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


@pytest.mark.parametrize("measure", [npmi, umass])
@pytest.mark.parametrize(
    ("top_words", "counts", "message"),
    [
        ([[0]], np.eye(2), r"at least two words per topic.*Got shape \(1, 1\)"),
        ([[0, 2]], np.eye(2), r"must lie in 0 \.\.\. 1.*Got 2 in topic 0"),
        ([[0, 1], [0, -1]], np.eye(2), r"Got -1 in topic 1"),
        ([[0, 1], [1, 1]], np.eye(2), r"must be distinct.*in topic 1"),
    ],
)
def test_top_words_that_are_refused(measure, top_words, counts, message):
    with pytest.raises(ValueError, match=f"`top_words` of {measure.__name__} .*{message}"):
        measure(np.array(top_words), counts)


@pytest.mark.parametrize("measure", [npmi, umass])
def test_other_arguments_that_are_refused(measure):
    with pytest.raises(TypeError, match=r"must hold word indices\. Got float64"):
        measure(np.array([[0.0, 1.0]]), np.eye(2))
    with pytest.raises(
        ValueError, match=f"`counts` of {measure.__name__} must hold at least one document"
    ):
        measure(np.array([[0, 1]]), np.ones((0, 2)))


def test_constants_that_are_refused():
    with pytest.raises(ValueError, match=r"`eps` of npmi must be a number, zero or more\. Got -1"):
        npmi(np.array([[0, 1]]), np.eye(2), eps=-1.0)
    for smoothing in (0.0, np.inf):
        message = f"`smoothing` of umass must be finite and more than 0. Got {smoothing}"
        with pytest.raises(ValueError, match=message):
            umass(np.array([[0, 1]]), np.eye(2), smoothing=smoothing)


@given(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(0, 10)),
    st.integers(1, 8),
)
def test_top_words_are_the_heaviest_in_order(components, n):
    top = topic_top_words(components, n)
    assert top.shape == (len(components), min(n, components.shape[1]))
    chosen = np.take_along_axis(components, top, axis=1)
    np.testing.assert_array_equal(chosen, -np.sort(-components, axis=1)[:, :n])


def test_top_words_break_ties_by_vocabulary():
    np.testing.assert_array_equal(
        topic_top_words(np.array([[1.0, 2.0, 1.0, 2.0]]), 4), [[1, 3, 0, 2]]
    )


def test_top_words_explain_what_they_refuse():
    with pytest.raises(ValueError, match=r"must be a matrix \[T, V\]\. Got 1 dimension"):
        topic_top_words(np.ones(3))
    with pytest.raises(ValueError, match=r"`n` of topic_top_words must be at least 1\. Got 0"):
        topic_top_words(np.ones((1, 3)), n=0)
