"""Cost of a pass and peak memory against documents, topics, words and labels; threads.

    python benchmarks/cost.py --data FOLDER

Writes benchmarks/results/cost.csv: seconds of the start with the first pass, of a later pass
(median), of what comes after the last, and of the whole fit of six passes. Larger corpora are the
medline_mesh training documents, repeated; with `times` as many words, every word has as many
names, by document; other numbers of labels are six tags a document, one by Zipf's law and the
others in turn. Every row is a process of its own, so that its peak memory is its own.
"""

import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from common import load, parser, write
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus, Labels

PASSES = 6
# Documents, topics, threads, times as many words, other labels.
CASES = [
    *[(m, 100, 2, 1, 0) for m in (1_000, 5_000, 20_000, 50_000, 1_000_000)],
    *[(20_000, t, 2, 1, 0) for t in (50, 200, 1_000)],
    *[(20_000, 100, 2, times, 0) for times in (4, 18)],
    *[(20_000, 100, 2, 1, labels) for labels in (1_000, 10_000, 100_000)],
    (20_000, 100, 1, 1, 0),
]


def peak():
    """Megabytes of resident memory, at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def larger(train, n_documents, times, n_labels):
    """Training documents repeated, with more words and other labels."""
    corpus = train[np.arange(n_documents) % len(train)]
    counts, words, labels = corpus.counts, corpus.words, corpus.labels
    if times > 1:
        rows = np.repeat(np.arange(n_documents), np.diff(counts.indptr))
        columns = counts.indices + (rows // len(train) + rows) % times * len(words)
        shape = (n_documents, times * len(words))
        counts = csr_array((counts.data, (rows, columns)), shape=shape)
        words = [f"{word}{n}" for n in range(times) for word in words]
    if n_labels:
        rng = np.random.default_rng(0)
        chance = 1.0 / np.arange(1, n_labels + 1)
        common = rng.choice(n_labels, size=(n_documents, 1), p=chance / chance.sum())
        in_turn = np.arange(5 * n_documents).reshape(-1, 5) % n_labels
        drawn = np.hstack([common, in_turn])
        labels = Labels.from_tags([sorted({f"tag {j}" for j in row}) for row in drawn.tolist()])
    return Corpus(counts, words, labels)


def measure(data, n_documents, n_topics, n_jobs, times, n_labels):
    """One fit of a few passes; prints a JSON row."""
    warnings.simplefilter("ignore")
    train, _ = load(data, "medline_mesh")
    HDSP(4, max_iter=2, random_state=0, n_jobs=1).fit(train[:50])
    corpus = larger(train, n_documents, times, n_labels)
    before = peak()
    start = time.perf_counter()
    model = HDSP(n_topics, max_iter=PASSES, tol=0.0, random_state=0, n_jobs=n_jobs)
    model.fit(corpus)
    fit = time.perf_counter() - start
    seconds = [row["seconds"] for row in model.history_]
    row = {
        "documents": n_documents,
        "topics": n_topics,
        "words": len(corpus.words),
        "labels": len(model.label_names_),
        "threads": n_jobs,
        "nonzeros": corpus.counts.nnz,
        "start": f"{seconds[0]:.2f}",
        "pass": f"{np.median(np.diff(seconds)):.3f}",
        "after": f"{fit - seconds[-1]:.2f}",
        "fit": f"{fit:.2f}",
        "data MB": f"{before:.0f}",
        "peak MB": f"{peak():.0f}",
    }
    print(json.dumps(row))


def rows(data):
    for case in CASES:
        finished = subprocess.run(
            [sys.executable, __file__, "--data", data, "--case", *map(str, case)],
            capture_output=True,
            text=True,
            check=True,
        )
        yield json.loads(finished.stdout)


def main():
    options = parser(__doc__)
    options.add_argument("--case", type=int, nargs=5)
    chosen = options.parse_args()
    if chosen.case:
        measure(chosen.data, *chosen.case)
    else:
        write("cost", rows(chosen.data))


if __name__ == "__main__":
    main()
