import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from hdsp.corpus import Corpus, TextSettings

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


TEXTS = ["the cat sat on the mat", "the dog sat", "A cat and a dog"]
BAD_COUNTS = "`counts` of Corpus must "
BAD_WORDS = "`words` of Corpus must "
BAD_TEXTS = "`texts` of Corpus.from_texts must be "
BAD = [
    (lambda: Corpus([1, 2]), f"{BAD_COUNTS}be a matrix of real numbers: Expected 2D array"),
    (lambda: Corpus([[1], [1, 2]]), f"{BAD_COUNTS}be a matrix of real numbers: setting an array"),
    (lambda: Corpus([["a"]]), f"{BAD_COUNTS}be a matrix of real numbers: could not convert"),
    (lambda: Corpus([[0, -1]]), f"{BAD_COUNTS}be non-negative. Got -1.0 at row 0, column 1."),
    (lambda: Corpus([[0], [np.nan]]), f"{BAD_COUNTS}be numbers up to 1e+15. Got nan at row 1, col"),
    (lambda: Corpus(csr_array([[np.inf]])), f"{BAD_COUNTS}be numbers up to 1e+15. Got inf at"),
    (lambda: Corpus(csr_array([[1e300]])), f"{BAD_COUNTS}be numbers up to 1e+15. Got 1e+300 at"),
    (lambda: Corpus(COUNTS, "abc"), f"{BAD_WORDS}be a list of strings. Got 'abc'."),
    (lambda: Corpus(COUNTS, ["a"]), f"{BAD_WORDS}name each of the 3 columns of the counts. Got 1"),
    (lambda: Corpus(COUNTS, ["a", "b", 3]), f"{BAD_WORDS}be a list of strings. Got 3."),
    (lambda: Corpus(COUNTS, list("aba")), f"{BAD_WORDS}have unique words. Got 'a' more than once."),
    (
        lambda: Corpus(COUNTS, labels=["a"]),
        "`labels` of Corpus must have one row for each of the 3 documents. Got 1 row.",
    ),
    (lambda: Corpus([[1]], ids=["a", "b"]), "`ids` of Corpus must have one row for each"),
    (lambda: Corpus.from_texts("a text"), f"{BAD_TEXTS}a sequence of strings. Got one string."),
    (lambda: Corpus.from_texts(["a", 3]), f"{BAD_TEXTS}strings. Got 3 at position 1."),
    (lambda: Corpus.from_texts([["a", 3]]), "must be strings"),
    (
        lambda: Corpus.from_texts(["a text", ["words"]]),
        "all strings, or all lists of words. Got both",
    ),
    (
        lambda: Corpus.from_texts([["words"], "a text"]),
        "all strings, or all lists of words. Got both",
    ),
    (lambda: Corpus.from_texts(["the", "and"]), "No word of 2 texts is left to count. Pass more"),
    (lambda: Corpus.from_texts(["", ""]), "No word of 2 texts is left to count. Pass more texts"),
    (lambda: Corpus.from_texts(["same words"] * 30), "No word of 30 texts is left to count."),
    (
        lambda: Corpus.from_texts(TEXTS, labels=["a"]),
        "`labels` of Corpus.from_texts must have one row for each of the 3 documents.",
    ),
    (
        lambda: Corpus.from_texts(TEXTS, text_settings="english"),
        "`text_settings` of Corpus.from_texts must be TextSettings, a CountVectorizer or a func",
    ),
    *(
        (
            lambda size=size: Corpus(COUNTS).split(test_size=size),
            f"`test_size` of Corpus.split must be between 0 and 1. Got {size}.",
        )
        for size in (0, 1, -1, 1.5, float("nan"))
    ),
    (
        lambda: Corpus(COUNTS).split(test_size=1e-9, random_state=0),
        "must leave documents on both sides. Got 0 test documents out of 3. Change",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_inputs(call, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()


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


def test_a_corpus_keeps_its_settings_and_ids():
    settings = TextSettings(min_df=1)
    corpus = Corpus.from_texts(TEXTS * 10, text_settings=settings)
    assert corpus.text_settings is corpus[3].text_settings is settings
    for part in corpus.split(random_state=0):
        assert part.text_settings is settings
        assert part.words == corpus.words
    assert Corpus([[1]]).text_settings is None
    named = Corpus([[1], [2], [3]], ids=["a", "b", "c"])
    assert (named[[2, 0]].ids, named[1].ids) == (("c", "a"), ("b",))
    assert Corpus([[1]]).ids is None


def test_lists_of_words_are_counted_as_they_are():
    settings = TextSettings(min_df=1, max_df=1.0)
    split, whole = (
        Corpus.from_texts(texts, text_settings=settings)
        for texts in ([["cats", "chase"], ["cats"]], ["cats chase", "cats"])
    )
    assert split.words == whole.words
    assert (split.counts != whole.counts).nnz == 0
    odd = Corpus.from_texts([["New York", "x1", "the", "AI"], ("x1",)], text_settings=settings)
    assert odd.words == ("ai", "new york", "x1")
    assert odd.counts.toarray().tolist() == [[1, 1, 1], [0, 0, 1]]
    again = Corpus.from_texts([["x1", "X1", "other"]], like=odd)
    assert again.counts.toarray().tolist() == [[0, 0, 2]]
    pairs = TextSettings(language=None, ngrams=2, min_df=1)
    assert Corpus.from_texts([["a b", "c"]], text_settings=pairs).words == ("a b", "a b c", "c")
