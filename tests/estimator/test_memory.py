"""Fits that keep their documents, and fits that do not."""

import gc
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, simulate


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="HDSP stopped after")
        yield


def corpus(n_documents=300):
    labels = [["a", "b"], ["a"], ["b", "c"], []] * (n_documents // 4)
    return simulate(
        labels, n_topics=5, n_words=60, document_length=40, topic_prior=0.05, random_state=0
    )[0]


def make(**settings):
    fixed = {"n_components": 8, "fixed_number": True, "random_state": 0, "n_jobs": 1}
    return HDSP(**fixed | {"init": "nmf"} | settings)


def test_the_first_pass_is_the_same():
    kept = make(max_iter=2, tol=0.0).fit(corpus())
    forgotten = make(max_iter=2, tol=0.0, keep_documents=False).fit(corpus())
    assert forgotten.history_[0]["bound"] == kept.history_[0]["bound"]
    assert forgotten.history_[1]["bound"] != kept.history_[1]["bound"]


def test_a_fit_without_kept_documents_is_as_good():
    train, test = corpus(600).split(test_size=0.3, random_state=0)
    kept = make(max_iter=60).fit(train)
    forgotten = make(max_iter=60, keep_documents=False).fit(train)
    assert forgotten.converged_
    bounds = [row["bound"] for row in forgotten.history_]
    assert bounds[-1] > bounds[0]
    assert bounds[-1] == pytest.approx(kept.history_[-1]["bound"], rel=0.01)
    # Predictions differ by little: the two end near the same optimum.
    for given in ("labels", "completion"):
        assert forgotten.perplexity(test, given=given) == pytest.approx(
            kept.perplexity(test, given=given), rel=0.02
        )


def test_without_labels_and_at_any_number_of_threads():
    counts = corpus().counts
    one = make(max_iter=3, keep_documents=False).fit(counts)
    two = make(max_iter=3, keep_documents=False, n_jobs=2).fit(counts)
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(
        one.expected_topics(csr_array((1, 0))), two.expected_topics(csr_array((1, 0)))
    )


def peak(labelled=True, **settings):
    """Bytes that a fit of 100,000 documents of three words with 64 topics holds at most."""
    rng = np.random.default_rng(0)
    n_documents = 100_000
    counts = csr_array(
        (
            np.ones(3 * n_documents),
            rng.integers(0, 50, size=3 * n_documents),
            np.arange(0, 3 * n_documents + 1, 3),
        ),
        shape=(n_documents, 50),
    )
    labels = rng.normal(size=(n_documents, 1 if labelled else 0))
    model = make(**{"n_components": 64, "init": "random", "max_iter": 2} | settings)
    # Compiled, imported and cached beforehand.
    model.fit(counts[:100], labels=labels[:100])
    gc.collect()
    tracemalloc.start()
    model.fit(counts, labels=labels)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held


def test_memory_has_room_for_one_array_of_documents_by_topics_or_none():
    array = 100_000 * 64 * 4
    kept, forgotten = peak(), peak(labelled=False, keep_documents=False)
    # Beside it: the corpus, blocks of 8,192 documents, and working arrays of 32 topics.
    assert kept < 2.8 * array
    assert forgotten < peak(labelled=False) - 0.9 * array
    # What labels say is weighed on ten thousand documents, however many there are.
    assert peak(keep_documents=False) < forgotten + 2.0 * array
    # A search puts its best start aside, and moves look at responsibilities as well.
    search = peak(fixed_number=False, tol=1e-2, max_iter=6)
    assert search < 1.5 * kept


@pytest.mark.parametrize("value", [1, "no", None])
def test_keep_documents_is_true_or_false(value):
    with pytest.raises(ValueError, match="`keep_documents` of HDSP must be True or False"):
        make(keep_documents=value).fit(corpus())
