"""Forms of counts and labels that mean the same, data at the edge, and arrays of callers."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from hdsp import HDSP, Corpus, Labels, simulate

N_DOCUMENTS, N_WORDS = 60, 12
TAGS = [["red"], ["blue", "red"], [], ["blue"]] * 15
MATRIX = np.array([["blue" in tags, "red" in tags] for tags in TAGS], dtype=float)


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
    fixed = {"n_components": 6, "max_iter": 15, "tol": 1e-2, "n_jobs": 1, "random_state": 0}
    return HDSP(**fixed | settings)


@cache
def tagged():
    return make().fit(counts(), labels=TAGS)


@cache
def plain():
    return make().fit(counts())


pytestmark = pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")


def check_same(model, X, labels, expected, expected_labels):
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_allclose(
        model.transform(X, labels=labels), expected.transform(counts(), labels=expected_labels)
    )


@pytest.mark.parametrize(
    "labels",
    [
        *(Labels.from_tags(TAGS), [tags or None for tags in TAGS], [tags * 2 for tags in TAGS]),
        *(MATRIX, MATRIX.astype(bool), MATRIX.tolist()),
        *(form(MATRIX) for form in (csr_array, csr_matrix, csc_array, coo_array)),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_that_mean_the_same_give_the_same_model(labels):
    assert not np.array_equal(tagged().components_, plain().components_)
    check_same(make().fit(counts(), labels=labels), counts(), labels, tagged(), TAGS)


@pytest.mark.filterwarnings("ignore:Every value of .rating. is missing")
def test_labels_that_are_all_missing_give_the_model_without_labels():
    for labels in (
        [[]] * N_DOCUMENTS,
        [None] * N_DOCUMENTS,
        pd.DataFrame({"kind": [None] * N_DOCUMENTS}),
        pd.DataFrame({"rating": np.full(N_DOCUMENTS, np.nan)}),
    ):
        check_same(make().fit(counts(), labels=labels), counts(), labels, plain(), None)


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


X_FORMS = {
    "csr_matrix": csr_matrix,
    "csc_array": csc_array,
    "uint8": lambda x: x.astype(np.uint8),
    "float32 csr": lambda x: csr_array(x.astype(np.float32)),
    "Fortran order": np.asfortranarray,
    "lists": lambda x: x.tolist(),
    "Corpus": lambda x: Corpus(x, labels=TAGS),
    "stored zeros": stored_zeros,
    "duplicate entries": duplicate_entries,
    "int64 indices": wide_indices,
}


@pytest.mark.parametrize("form", X_FORMS)
def test_every_form_of_counts_gives_the_same_model(form):
    X, labels = X_FORMS[form](counts()), None if form == "Corpus" else TAGS
    check_same(make().fit(X, labels=labels), X, labels, tagged(), TAGS)


def test_documents_without_words_have_the_proportions_of_their_labels():
    padded = np.vstack([counts(), np.zeros((4, N_WORDS))])
    labels = [*TAGS, ["red"], ["blue"], [], ["red", "blue"]]
    model = make().fit(padded, labels=labels)
    theta = model.transform(padded, labels=labels)
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


def test_an_init_is_where_a_fit_starts():
    array = np.full((6, N_WORDS), 0.01)
    array[np.arange(6), np.arange(6)] = 5.0
    bounds = {
        make(init=init, max_iter=1).fit(counts()).history_[0]["bound"]
        for init in (array, array.tolist(), "nmf", "words", "random", "lda")
    }
    assert len(bounds) == 5


def test_a_callers_data_is_not_modified(tmp_path):
    np.save(tmp_path / "counts.npy", counts())
    mapped = np.load(tmp_path / "counts.npy", mmap_mode="r")
    sparse = stored_zeros(counts())
    labels = np.column_stack([MATRIX, np.arange(60.0)])
    labels[4, 2] = np.nan
    init = np.random.default_rng(0).random((6, N_WORDS))
    for array in (sparse.data, sparse.indices, sparse.indptr, labels, init):
        array.flags.writeable = False
    table = pd.DataFrame({"tags": pd.Series(TAGS, dtype=object), "rating": np.arange(60.0)})
    kept = table.copy(deep=True)
    for X in (counts(), mapped, sparse):
        model = make(init=init, max_iter=3).fit(X, labels=labels)
        model.transform(X, labels=labels)
        model.perplexity(X, labels=labels, given="completion")
        model.fit(X, labels=table).score(X, labels=table)
        before = model.expected_topics(table)
        # What is returned may be written to.
        model.expected_topics(table)[:] = 7.0
        model.transform(X, labels=table)[:] = 7.0
        np.testing.assert_array_equal(model.expected_topics(table), before)
    pd.testing.assert_frame_equal(table, kept)
