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
    fixed = {"n_components": 8, "random_state": 0, "n_jobs": 1}
    return HDSP(**fixed | {"init": "nmf"} | settings)


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
    kept = peak()
    # Beside it: the corpus, blocks of 8,192 documents, and working arrays of 32 topics.
    assert kept < 2.8 * array
    # A search puts its best start aside, and moves look at responsibilities as well.
    search = peak(n_components="auto", max_components=64, tol=1e-2, max_iter=6)
    assert search < 1.5 * kept
