"""Cost of a pass and peak memory against documents and topics; two threads against one.

    python benchmarks/cost.py --data FOLDER

Writes benchmarks/results/cost.csv: seconds of the start with the first pass, of a later pass
(median), of what comes after the last, and of the whole fit of six passes. Larger corpora are the
medline_mesh training documents, repeated; every row is a process of its own, so that its peak
memory is its own.
"""

import csv
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from corpora import load, parser
from scipy.sparse import csr_array, vstack

from hdsp import HDSP

COLUMNS = (
    *("documents", "topics", "threads", "kept", "nonzeros"),
    *("start", "pass", "after", "fit", "data MB", "peak MB"),
)
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


def measure(folder, n_documents, n_topics, n_jobs, kept):
    """One fit of a few passes; prints a JSON row."""
    warnings.simplefilter("ignore")
    split = load(folder, "medline_mesh")
    HDSP(4, fixed_number=True, max_iter=2, random_state=0, n_jobs=1).fit(
        split.counts[:50], labels=split.labels[:50]
    )
    times = -(-n_documents // split.counts.shape[0])
    counts = csr_array(vstack([split.counts] * times))[:n_documents]
    labels = csr_array(vstack([split.labels] * times))[:n_documents]
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
    model.fit(counts, labels=labels)
    fit = time.perf_counter() - start
    seconds = [row["seconds"] for row in model.history_]
    values = (
        n_documents,
        n_topics,
        n_jobs,
        "yes" if kept else "no",
        counts.nnz,
        f"{seconds[0]:.2f}",
        f"{np.median(np.diff(seconds)):.3f}",
        f"{fit - seconds[-1]:.2f}",
        f"{fit:.2f}",
        f"{before:.0f}",
        f"{peak():.0f}",
    )
    print(json.dumps(dict(zip(COLUMNS, values, strict=True))))


def main():
    options = parser(__doc__)
    options.add_argument("--case", type=int, nargs=4)
    chosen = options.parse_args()
    if chosen.case:
        measure(chosen.data, *chosen.case)
        return
    out = Path(__file__).parent / "results" / "cost.csv"
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for case in CASES:
            finished = subprocess.run(
                [sys.executable, __file__, "--data", chosen.data, "--case", *map(str, case)],
                capture_output=True,
                text=True,
                check=True,
            )
            row = json.loads(finished.stdout)
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
