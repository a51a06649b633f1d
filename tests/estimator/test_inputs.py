import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from hdsp import HDSP, Corpus, Labels, simulate

N_DOCUMENTS, N_WORDS = 60, 12
TAGS = [["red"], ["blue", "red"], [], ["blue"]] * 15
RATING = np.tile([1.0, 2.0, 4.0, 5.0, 3.0], 12)


@cache
def counts():
    """Counts [60, 12], as a read-only dense array."""
    corpus, _ = simulate(
        TAGS, n_topics=3, n_words=N_WORDS, document_length=30, topic_prior=0.2, random_state=2
    )
    dense = corpus.counts.toarray()
    dense.flags.writeable = False
    return dense


def make(**settings):
    return HDSP(
        **{"n_components": 6, "max_iter": 15, "tol": 1e-2, "n_jobs": 1, "random_state": 0}
        | settings
    )


@pytest.fixture(autouse=True)
def _quiet_about_the_fit():
    # Fifteen passes over sixty documents: whether the bound settles is beside the point here.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="HDSP stopped after max_iter")
        yield


def frame():
    return pd.DataFrame({"tags": pd.Series(TAGS, dtype=object), "rating": RATING})


def assert_same_model(one, other, exact=True):
    compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
    compare(one.components_, other.components_)
    assert one.label_names_ == other.label_names_
    assert one.history_[-1]["bound"] == pytest.approx(other.history_[-1]["bound"], rel=1e-12)


KINDS = ["a", "b", None] * 20
MATRIX = np.array([["blue" in tags, "red" in tags] for tags in TAGS], dtype=float)
MISSING = [None if value == 4 else value for value in RATING]
COLUMNS = {"tags": TAGS, "kind": KINDS, "rating": RATING.tolist()}
# Labels that mean the same.
SAME_LABELS = {
    "libraries": [
        pd.DataFrame({name: pd.Series(values) for name, values in COLUMNS.items()}),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
    ],
    "tags": [
        TAGS,
        Labels.from_tags(TAGS),
        [tags or None for tags in TAGS],
        [tags + tags for tags in TAGS],
    ],
    "matrices": [
        TAGS,
        MATRIX,
        MATRIX.astype(bool),
        MATRIX.tolist(),
        *(form(MATRIX) for form in (csr_array, csr_matrix, csc_array, coo_array)),
    ],
    "flat strings": [KINDS, np.array(KINDS), pd.Series(KINDS), pl.Series(KINDS), tuple(KINDS)],
    "missing numbers": [
        pd.DataFrame({"rating": np.array(MISSING, dtype=float)}),
        pd.DataFrame({"rating": pd.Series(MISSING, dtype=object)}),
        pl.DataFrame({"rating": MISSING}),
    ],
}


@pytest.mark.parametrize("case", SAME_LABELS)
def test_labels_that_mean_the_same_give_the_same_model(case):
    first, *others = SAME_LABELS[case]
    expected = make().fit(counts(), labels=first)
    assert not np.array_equal(expected.components_, make().fit(counts()).components_)
    for labels in others:
        model = make().fit(counts(), labels=labels)
        np.testing.assert_array_equal(model.components_, expected.components_)
        if case != "matrices":
            assert model.label_names_ == expected.label_names_
        theta = model.transform(counts(), labels=labels)
        np.testing.assert_array_equal(theta, expected.transform(counts(), labels=first))


@pytest.mark.filterwarnings("ignore:Every value of .rating. is missing")
def test_labels_that_are_all_missing_give_the_model_without_labels():
    plain = make().fit(counts())
    for labels in (
        [[]] * N_DOCUMENTS,
        [None] * N_DOCUMENTS,
        pd.DataFrame({"kind": [None] * N_DOCUMENTS}),
        pd.DataFrame({"rating": np.full(N_DOCUMENTS, np.nan)}),
    ):
        model = make().fit(counts(), labels=labels)
        np.testing.assert_array_equal(model.components_, plain.components_)
        np.testing.assert_allclose(
            model.transform(counts(), labels=labels), plain.transform(counts())
        )


def test_documents_without_words_have_the_proportions_of_their_labels():
    padded = np.vstack([counts(), np.zeros((4, N_WORDS))])
    labels = [*TAGS, ["red"], ["blue"], [], ["red", "blue"]]
    model = make().fit(padded, labels=labels)
    theta = model.transform(padded, labels=labels)
    assert np.isfinite(theta).all()
    np.testing.assert_allclose(theta.sum(axis=1), 1.0)
    # An unlabelled document without words is at its prior mean, the corpus weights.
    np.testing.assert_allclose(theta[-2], model.topic_weight_, atol=1e-5)
    assert not np.allclose(theta[-4], theta[-2], atol=1e-3)


def test_a_vocabulary_of_one_word():
    model = make(n_components=2).fit(np.array([[3.0], [1.0], [0.0], [5.0]]))
    np.testing.assert_allclose(model.transform(np.array([[2.0]])).sum(), 1.0)
    assert model.perplexity(np.array([[2.0], [1.0]])) == pytest.approx(1.0)
    assert model.top_words(5) == [["w0"], ["w0"]]
    assert len(model.topics()) == 2


@pytest.mark.parametrize("init", ["auto", "nmf", "words", "lda", "random"])
def test_more_topics_than_documents_and_words(init):
    model = make(n_components=30, init=init).fit(counts()[:5, :4])
    assert model.components_.shape == (30, 4)
    assert np.isfinite(model.components_).all()
    assert model.n_topics_ <= 5
    np.testing.assert_allclose(model.transform(counts()[:5, :4]).sum(axis=1), 1.0)


def test_fractional_counts():
    model = make().fit(counts() / 4, labels=TAGS)
    theta = model.transform(counts() / 4, labels=TAGS)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0)
    tokens = (model.components_ - model.topic_prior).sum()
    assert tokens == pytest.approx(counts().sum() / 4, rel=1e-4)
    assert np.isfinite(model.perplexity(counts() / 4, labels=TAGS, given="completion"))


def test_an_init_array_is_where_a_fit_starts():
    init = np.full((6, N_WORDS), 0.01)
    init[np.arange(6), np.arange(6)] = 5.0
    kept = init.copy()
    model = make(init=init, max_iter=1).fit(counts())
    np.testing.assert_array_equal(init, kept)
    by_list = make(init=init.tolist(), max_iter=1).fit(counts())
    np.testing.assert_array_equal(model.components_, by_list.components_)
    bounds = {
        make(init=name, max_iter=1).fit(counts()).history_[0]["bound"]
        for name in ("nmf", "words", "random", "lda")
    }
    assert len(bounds | {model.history_[0]["bound"]}) == 5


X_FORMS = {
    "csr_matrix": csr_matrix,
    "csc_array": csc_array,
    "uint8": lambda x: x.astype(np.uint8),
    "float32 csr": lambda x: csr_array(x.astype(np.float32)),
    "Fortran order": np.asfortranarray,
    "lists": lambda x: x.tolist(),
    "Corpus": Corpus,
    "stored zeros": lambda x: stored_zeros(x),
    "duplicate entries": lambda x: duplicate_entries(x),
    "int64 indices": lambda x: wide_indices(x),
}


def stored_zeros(x):
    columns = np.indices(x.shape)[1]
    return csr_array((x.ravel(), columns.ravel(), np.arange(0, x.size + 1, x.shape[1])), x.shape)


def duplicate_entries(x):
    half = coo_array(x / 2)
    rows, columns = half.coords
    return coo_array((np.tile(half.data, 2), (np.tile(rows, 2), np.tile(columns, 2))), x.shape)


def wide_indices(x):
    matrix = csr_array(x)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


@pytest.mark.parametrize("form", X_FORMS)
def test_every_form_of_counts_gives_the_same_model(form):
    expected = make().fit(counts(), labels=TAGS)
    X = X_FORMS[form](counts())
    if form == "Corpus":
        X = Corpus(counts(), labels=TAGS)
        model = make().fit(X)
        theta = model.transform(X)
    else:
        model = make().fit(X, labels=TAGS)
        theta = model.transform(X, labels=TAGS)
    assert_same_model(model, expected)
    np.testing.assert_allclose(theta, expected.transform(counts(), labels=TAGS), rtol=1e-6)


def test_a_callers_data_is_not_modified(tmp_path):
    np.save(tmp_path / "counts.npy", counts())
    mapped = np.load(tmp_path / "counts.npy", mmap_mode="r")
    sparse = stored_zeros(counts())
    labels = np.column_stack([MATRIX, RATING])
    labels[4, 2] = np.nan
    for array in (sparse.data, sparse.indices, sparse.indptr, labels):
        array.flags.writeable = False
    table, kept = frame(), frame()
    for X in (counts(), mapped, sparse):
        model = make().fit(X, labels=labels)
        model.transform(X, labels=labels)
        model.perplexity(X, labels=labels, given="completion")
        model.fit(X, labels=table).score(X, labels=table)
        before = model.expected_topics(table)
        # What is returned may be written to.
        model.expected_topics(table)[:] = 7.0
        model.transform(X, labels=table)[:] = 7.0
        np.testing.assert_array_equal(model.expected_topics(table), before)
    pd.testing.assert_frame_equal(table, kept)
