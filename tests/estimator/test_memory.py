"""Fits that keep their documents, and fits that do not."""

import gc
import tracemalloc
import warnings

import numpy as np
from scipy.sparse import csr_array

from hdsp import HDSP


def peak(**settings):
    """Bytes that a fit of 100,000 documents of three words with 64 topics holds at most."""
    rng, n = np.random.default_rng(0), 100_000
    words, starts = rng.integers(0, 50, size=3 * n), np.arange(0, 3 * n + 1, 3)
    counts = csr_array((np.ones(3 * n), words, starts), shape=(n, 50))
    labels = rng.normal(size=(n, 1))
    model = HDSP(**{"init": "random", "random_state": 0, "n_jobs": 1} | settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="HDSP stopped after")
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
    kept = peak(n_components=64, max_iter=2)
    # Beside it: the corpus, blocks of 8,192 documents, and working arrays of 32 topics.
    assert kept < 2.9 * array
    # A search puts its best start aside, and moves look at responsibilities as well.
    assert peak(max_components=64, tol=1e-2, max_iter=6) < 1.5 * kept
