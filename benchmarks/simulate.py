"""Documents drawn from a fitted model: documents a second on one core.

    python benchmarks/simulate.py

The size of a corpus of abstracts: 72 words a document, 6 of 52 labels, 100 topics, 6,400 words.
Topics are of few words and of many. Writes benchmarks/results/simulate.csv.
"""

import resource
import time

import numpy as np
from common import write
from scipy.sparse import csr_array

import hdsp

N_TOPICS, N_WORDS, N_LABELS, CARRIED, LENGTH = 100, 6_400, 52, 6, 72.0


def draw_labels(n_documents, rng):
    """Six labels of 52 for every document."""
    order = rng.random((n_documents, N_LABELS)).argpartition(CARRIED, axis=1)[:, :CARRIED]
    indptr = np.arange(0, n_documents * CARRIED + 1, CARRIED)
    ones = np.ones(order.size)
    return csr_array((ones, np.sort(order, axis=1).ravel(), indptr), (n_documents, N_LABELS))


def rows():
    rng = np.random.default_rng(0)
    for topic_prior, n_documents in ((0.01, 10_000), (1.0, 10_000), (0.1, 1_000_000)):
        labels = draw_labels(n_documents, rng)
        start = time.process_time()
        corpus, _ = hdsp.simulate(
            labels,
            n_topics=N_TOPICS,
            n_words=N_WORDS,
            document_length=LENGTH,
            topic_prior=topic_prior,
            random_state=0,
        )
        seconds = time.process_time() - start
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        yield {
            "documents": f"{n_documents:,}",
            "topic prior": topic_prior,
            "words a document": f"{corpus.counts.nnz / n_documents:.1f}",
            "CPU seconds": f"{seconds:.1f}",
            "documents a second": f"{n_documents / seconds:,.0f}",
            "GB": f"{largest:.1f}",
        }


if __name__ == "__main__":
    write("simulate", rows())
