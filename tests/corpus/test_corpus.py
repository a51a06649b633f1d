import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from hdsp.corpus import Corpus

COUNTS = np.array([[1, 0, 2], [0, 0, 0], [0, 0.5, 3]])


@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix, coo_array, np.ndarray.tolist])
def test_counts_in_every_form(form):
    corpus = Corpus(form(COUNTS), words=["a", "b", "c"], labels=["x", None, "y"])
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert isinstance(corpus.counts, csr_array)
    assert corpus.counts.dtype == np.float64
    assert corpus.counts.indices.dtype == np.int32
    assert len(corpus) == corpus.n_documents == 3
    assert corpus.n_words == 3
    assert corpus.shape == (3, 3)
    assert corpus.n_tokens == 6.5
    assert corpus.words == ("a", "b", "c")
    assert repr(corpus) == "Corpus(3 documents, 3 words, 6.5 tokens; labels: category 'label' 2)"


def test_defaults():
    corpus = Corpus(COUNTS)
    assert corpus.words == ("w0", "w1", "w2")
    assert corpus.labels.shape == (3, 0)


def test_counts_are_canonical():
    twice = csr_array((np.array([1, 2, 0, 1.0]), np.array([2, 0, 1, 2]), np.array([0, 4])), (1, 3))
    counts = Corpus(twice).counts
    assert counts.indices.tolist() == [0, 2]
    assert counts.data.tolist() == [2.0, 2.0]
    assert twice.nnz == 4


def test_a_corpus_is_immutable():
    mine = csr_array(COUNTS)
    corpus = Corpus(mine)
    mine.data[:] = 9
    assert corpus.n_tokens == 6.5
    with pytest.raises(ValueError, match="read-only"):
        corpus.counts.data[0] = 1
    with pytest.raises(AttributeError):
        corpus.words = ()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"counts": [1, 2]}, ValueError, "two dimensions, documents by columns. Got 1 dimension"),
        ({"counts": [[1], [1, 2]]}, ValueError, "must have rows of equal length. Got ragged rows."),
        ({"counts": [["a"]]}, TypeError, "real numbers. Got a matrix: its type is <U1."),
        ({"counts": [[0, -1]]}, ValueError, "must be non-negative. Got -1.0 at row 0, column 1."),
        (
            {"counts": [[0], [np.nan]]},
            ValueError,
            "must be numbers up to 1e+15. Got nan at row 1, column 0.",
        ),
        ({"counts": csr_array([[np.inf]])}, ValueError, "must be numbers up to 1e+15. Got inf at"),
        (
            {"counts": csr_array([[1e300]])},
            ValueError,
            "must be numbers up to 1e+15. Got 1e+300 at",
        ),
    ],
)
def test_wrong_counts(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        Corpus(**arguments)
    assert str(caught.value).startswith("`counts` of Corpus must")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ("abc", TypeError, "must be a sequence of words. Got one string. Pass a list."),
        (["a"], ValueError, "must name each of the 3 columns of the counts. Got 1 word."),
        (["a", "b", 3], TypeError, "must be strings. Got 3 at position 2."),
        (["a", "b", "a"], ValueError, "must have unique words. Got 'a' more than once."),
    ],
)
def test_wrong_words(words, error, message):
    with pytest.raises(error, match=re.escape(f"`words` of Corpus {message}")):
        Corpus(COUNTS, words=words)


def test_wrong_labels():
    message = "`labels` of Corpus must have one row for each of the 3 documents. Got 1 row."
    with pytest.raises(ValueError, match=re.escape(message)):
        Corpus(COUNTS, labels=["a"])


@given(st.integers(1, 30), st.data())
def test_documents_keep_their_labels_when_selected(n_documents, data):
    corpus = Corpus(np.eye(n_documents), labels=[f"{i:02}" for i in range(n_documents)])
    rows = data.draw(st.lists(st.integers(0, n_documents - 1), max_size=10))
    selected = corpus[rows]
    assert selected.counts.indices.tolist() == rows
    assert selected.labels.blocks[0].values.indices.tolist() == rows
    assert selected.words == corpus.words
    mask = np.isin(np.arange(n_documents), rows)
    assert corpus[mask, ...].counts.indices.tolist() == sorted(set(rows))


def test_split_follows_the_stated_draws():
    corpus = Corpus(np.eye(50), labels=[f"{i:02}" for i in range(50)])
    train, test = corpus.split(test_size=0.3, random_state=7)
    is_test = np.random.default_rng(7).random(50) < 0.3
    assert test.counts.indices.tolist() == np.flatnonzero(is_test).tolist()
    assert train.counts.indices.tolist() == np.flatnonzero(~is_test).tolist()
    assert test.labels.blocks[0].values.indices.tolist() == np.flatnonzero(is_test).tolist()


def test_wrong_splits():
    corpus = Corpus(np.eye(3))
    for size in (0, 1, -1, 1.5, float("nan")):
        message = f"`test_size` of Corpus.split must be between 0 and 1. Got {size}."
        with pytest.raises(ValueError, match=re.escape(message)):
            corpus.split(test_size=size)
    message = "must leave documents on both sides. Got 0 test documents out of 3. Change"
    with pytest.raises(ValueError, match=re.escape(message)):
        corpus.split(test_size=1e-9, random_state=0)


TEXTS = ["the cat sat on the mat", "the dog sat", "A cat and a dog"]


def test_texts_of_a_small_corpus_keep_every_word():
    corpus = Corpus.from_texts(TEXTS, labels=pd.DataFrame({"n": [1, 2, 3]}))
    assert corpus.words == ("cat", "dog", "mat", "sat")
    assert corpus.counts.toarray().tolist() == [[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0]]
    assert repr(corpus.labels) == "Labels(3 documents: number 'n')"


def test_texts_like_another_corpus():
    corpus = Corpus.from_texts(TEXTS, text_settings=CountVectorizer(), ids="abc")
    assert corpus.ids == ("a", "b", "c")
    more = Corpus.from_texts(["on the cat, a house"], like=corpus)
    assert more.words == corpus.words
    assert more.counts.toarray().tolist() == [[0, 1, 0, 0, 1, 0, 1]]
    fitted = CountVectorizer().fit(["dog cat"])
    assert Corpus.from_texts(TEXTS, text_settings=fitted).words == ("cat", "dog")
    assert Corpus.from_texts(TEXTS, text_settings=str.split).words[0] == "A"
    with pytest.raises(TypeError, match=r"`text_settings` of Corpus.from_texts must be TextSett"):
        Corpus.from_texts(TEXTS, text_settings="english")


def test_wrong_texts():
    message = "`texts` of Corpus.from_texts must be a sequence of strings. Got one string."
    with pytest.raises(TypeError, match=re.escape(message)):
        Corpus.from_texts("a text")
    message = "`texts` of Corpus.from_texts must be strings. Got 3 at position 1."
    with pytest.raises(TypeError, match=re.escape(message)):
        Corpus.from_texts(["a text", 3])
    message = "No word of 2 texts is left to count. Pass more texts, or"
    for texts in (["the", "and"], ["", ""]):
        with pytest.raises(ValueError, match=re.escape(message)):
            Corpus.from_texts(texts)
    message = "No word of 30 texts is left to count."
    with pytest.raises(ValueError, match=re.escape(message)):
        Corpus.from_texts(["same words"] * 30)
    message = "`labels` of Corpus.from_texts must have one row for each of the 3 documents."
    with pytest.raises(ValueError, match=re.escape(message)):
        Corpus.from_texts(TEXTS, labels=["a"])


@pytest.mark.parametrize("library", [pd, pl])
def test_texts_of_a_table_are_a_column_of_it(library):
    frame = library.DataFrame({"text": ["red hat", "blue hat"], "kind": ["a", "b"]})
    with pytest.raises(TypeError, match=r"must be texts, and not a table\. Got a DataFrame\. Pass"):
        Corpus.from_texts(frame)
    assert Corpus.from_texts(frame["text"]).words == ("blue", "hat", "red")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_text_that_is_missing_is_an_empty_document(missing):
    assert Corpus.from_texts(["red hat", missing]).counts.toarray().tolist() == [[1, 1], [0, 0]]
    assert Corpus.from_texts([["red"], missing]).counts.toarray().tolist() == [[1], [0]]
