import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hdsp import Corpus
from hdsp.metrics import c_v, windows
from tests.reference import measures as reference

N_WORDS = 6


@st.composite
def topics_and_documents(draw):
    document = st.lists(st.integers(-1, N_WORDS), max_size=15)
    documents = draw(st.lists(document, min_size=1, max_size=6))
    n = draw(st.integers(2, 4))
    topics = draw(st.lists(st.permutations(range(N_WORDS)), min_size=1, max_size=3))
    return np.array([topic[:n] for topic in topics]), documents


@given(topics_and_documents(), st.integers(2, 16), st.sampled_from([1e-12, 1e-3, 0.0]))
def test_c_v_equals_its_plain_twin(case, window, eps):
    top_words, documents = case
    np.testing.assert_allclose(
        c_v(top_words, documents, window=window, eps=eps),
        reference.c_v(top_words, documents, window=window, eps=eps),
        atol=1e-9,
    )


@given(
    st.lists(st.lists(st.integers(-1, 4), max_size=15), min_size=1, max_size=6), st.integers(2, 16)
)
def test_windows_with_both_words_are_counted_exactly(documents, window):
    tokens = [np.array(document, dtype=int) for document in documents]
    spans = windows._spans(tokens, np.arange(4), window)
    held = [
        set(document[start : start + window])
        for document in documents
        for start in range(max(len(document) - window + 1, 1))
    ]
    assert spans.n_windows == len(held)
    np.testing.assert_array_equal(
        windows._co_windows(spans, np.array([2, 0, 3])),
        [[sum({i, j} <= words for words in held) for j in (2, 0, 3)] for i in (2, 0, 3)],
    )


@given(topics_and_documents(), st.integers(2, 16), st.randoms(use_true_random=False))
def test_c_v_ignores_orders_that_say_nothing_and_names(case, window, random):
    top_words, documents = case
    value = c_v(top_words, documents, window=window)
    names = np.array([*random.sample(range(N_WORDS), N_WORDS), N_WORDS, -1])
    renamed = [names[document].tolist() for document in documents]
    random.shuffle(renamed)
    np.testing.assert_allclose(
        c_v(names[top_words][:, ::-1], renamed, window=window), value, atol=1e-9
    )
    np.testing.assert_allclose(
        c_v(top_words[::-1], documents, window=window), value[::-1], atol=1e-9
    )
    backwards = [document[::-1] for document in documents]
    np.testing.assert_allclose(c_v(top_words, backwards, window=window), value, atol=1e-9)
    np.testing.assert_allclose(c_v(top_words, 3 * documents, window=window), value, atol=1e-9)


@given(topics_and_documents(), st.integers(1, 12))
def test_c_v_does_not_depend_on_blocks_or_containers(case, tokens_per_block):
    top_words, documents = case
    value = c_v(top_words, documents, window=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "TOKENS_PER_BLOCK", tokens_per_block)
        np.testing.assert_allclose(c_v(top_words, documents, window=4), value, atol=1e-12)
    arrays = (np.array(document, dtype=np.int32) for document in documents)
    np.testing.assert_array_equal(c_v(top_words, arrays, window=4), value)


def test_c_v_of_a_document_that_fits_the_window_is_by_document():
    documents = [[0, 1], [1, -1, 0], [0], [1, 1], [-1, -1]]
    a = np.log((2 / 5) / (3 / 5) ** 2) / -np.log(2 / 5)
    expected = (1 + a) / np.sqrt(2 * (1 + a**2))
    assert c_v(np.array([[0, 1]]), documents) == pytest.approx(expected)
    assert c_v(np.array([[0, 1]]), documents, window=3) == pytest.approx(expected)
    assert c_v(np.array([[0, 1]]), documents, window=2) != pytest.approx(expected)


def test_c_v_counts_an_empty_document_as_a_window():
    top_words = np.array([[0, 1]])
    assert c_v(top_words, [[0, 1], [0], []]) == pytest.approx(c_v(top_words, [[0, 1], [0], [-1]]))
    assert c_v(top_words, [[0, 1], [0], []]) != pytest.approx(c_v(top_words, [[0, 1], [0]]))


def test_a_word_stays_in_the_window_while_any_of_its_tokens_does():
    # Windows of two: (0 0), (0 1), (1 9). Word 0 is in two of them, once with word 1.
    a = np.log((1 / 3) / (2 / 3) ** 2) / -np.log(1 / 3)
    assert c_v(np.array([[0, 1]]), [[0, 0, 1, 9]], window=2) == pytest.approx(
        (1 + a) / np.sqrt(2 * (1 + a**2))
    )


def test_words_that_always_come_together_score_one():
    documents = [[0, 1, 2], [2, 0, 1], [-1], [-1]]
    assert c_v(np.array([[0, 1, 2]]), documents) == pytest.approx(1)


def test_words_in_every_window_or_independent_ones_have_nothing_in_common():
    assert c_v(np.array([[0, 1, 2, 3]]), [[0, 1, 2, 3], [3, 2, 1, 0]]) == pytest.approx(1 / 2)
    independent = [[0, 1], [0], [1], [-1]]
    assert c_v(np.array([[0, 1]]), independent) == pytest.approx(1 / np.sqrt(2))


def test_words_that_avoid_each_other_score_high():
    # The known fault of the measure, as the docstring states it.
    def avoiding(share):
        n_others = round(1 / share) - 10
        return c_v(np.arange(10)[np.newaxis], [[word] for word in range(10)] + n_others * [[-1]])

    assert avoiding(0.1) == pytest.approx(0.76, abs=0.005)
    assert avoiding(0.01) == pytest.approx(0.71, abs=0.005)
    assert avoiding(0.001) == pytest.approx(0.61, abs=0.005)
    in_every_window = c_v(np.arange(10)[np.newaxis], [list(range(10))])
    assert in_every_window == pytest.approx(0.32, abs=0.005)


def test_words_that_never_occur_count_nothing():
    assert c_v(np.array([[0, 1]]), [[-1, 7], []]) == 0
    np.testing.assert_allclose(c_v(np.array([[0, 1], [0, 5]]), [[0, 1], [-1]]), [1, 1 / 2])


def test_windows_have_110_tokens_unless_told():
    documents = np.random.default_rng(0).integers(0, 400, size=(20, 130)).tolist()
    top_words = np.arange(12).reshape(3, 4)
    value = c_v(top_words, documents)
    np.testing.assert_array_equal(c_v(top_words, documents, window=110, eps=1e-12), value)
    assert (c_v(top_words, documents, window=109) != value).all()


def test_c_v_of_no_topics_is_empty():
    assert c_v(np.empty((0, 5), dtype=int), [[1, 2]]).shape == (0,)


@pytest.mark.parametrize(
    ("top_words", "documents", "options", "message"),
    [
        ([[0]], [[0]], {}, r"`top_words` of c_v must have at least two words per topic"),
        ([[0, 1], [0, -1]], [[0]], {}, r"`top_words` of c_v must not be negative\. Got -1 in to"),
        ([[1, 1]], [[0]], {}, r"`top_words` of c_v must be distinct within a topic"),
        ([[0, 1]], [], {}, r"`documents` of c_v must hold at least one document\. Got none"),
        ([[0, 1]], [[0]], {"window": 1}, r"`window` of c_v must be at least 2.*Got 1\."),
        ([[0, 1]], [[0]], {"eps": -1.0}, r"`eps` of c_v must be a number, zero or more\. Got -1"),
    ],
)
def test_c_v_explains_what_it_refuses(top_words, documents, options, message):
    with pytest.raises(ValueError, match=message):
        c_v(np.array(top_words), documents, **options)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([[0, 1], ["cat", "dog"]], r"sequences of word indices\. Got <U3 values.* in document 1"),
        ([[0.0, 1.0]], r"Got float64 values of shape \(2,\) in document 0.*other words to -1"),
        ([[[0, 1]]], r"Got int64 values of shape \(1, 2\) in document 0"),
        (["cat"], r"Got <U3 values of shape \(\) in document 0"),
        (np.eye(2, dtype=int), r"`documents` of c_v must be sequences.*Got a matrix"),
        (sp.csr_array(np.eye(2, dtype=int)), r"Got a matrix, which looks like counts"),
        (Corpus(np.eye(2)), r"Got a matrix, which looks like counts"),
    ],
)
def test_c_v_refuses_documents_that_are_not_sequences_of_indices(documents, message):
    with pytest.raises(TypeError, match=message):
        c_v(np.array([[0, 1]]), documents)
