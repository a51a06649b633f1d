"""Cost of a pass and peak memory against documents and topics; two threads against one.

    python benchmarks/cost.py --data FOLDER

Writes benchmarks/results/cost.csv: seconds of the start with the first pass, of a later pass
(median), of what comes after the last, and of the whole fit of six passes. Larger corpora are the
medline_mesh training documents, repeated; every row is a process of its own, so that its peak
memory is its own.
"""

import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from common import load, parser, write

from hdsp import HDSP

PASSES = 6
CASES = [
    *[(m, 100, 2, 1) for m in (1_000, 5_000, 20_000, 50_000, 100_000, 200_000)],
    *[(20_000, t, 2, 1) for t in (50, 200, 400)],
    *[(20_000, 100, 1, 1), (200_000, 100, 1, 1)],
    *[(m, 100, 2, 0) for m in (20_000, 200_000)],
]


def peak():
    """Megabytes of resident memory, at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(data, n_documents, n_topics, n_jobs, kept):
    """One fit of a few passes; prints a JSON row."""
    warnings.simplefilter("ignore")
    train, _ = load(data, "medline_mesh")
    HDSP(4, fixed_number=True, max_iter=2, random_state=0, n_jobs=1).fit(train[:50])
    corpus = train[np.arange(n_documents) % len(train)]
    before = peak()
    start = time.perf_counter()
    model = HDSP(
        n_topics,
        fixed_number=True,
        max_iter=PASSES,
        tol=0.0,
        random_state=0,
        n_jobs=n_jobs,
        keep_documents=bool(kept),
    )
    model.fit(corpus)
    fit = time.perf_counter() - start
    seconds = [row["seconds"] for row in model.history_]
    row = {
        "documents": n_documents,
        "topics": n_topics,
        "threads": n_jobs,
        "kept": "yes" if kept else "no",
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
    options.add_argument("--case", type=int, nargs=4)
    chosen = options.parse_args()
    if chosen.case:
        measure(chosen.data, *chosen.case)
    else:
        write("cost", rows(chosen.data))


if __name__ == "__main__":
    main()
