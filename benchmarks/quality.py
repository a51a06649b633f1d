"""Held-out quality on real text: HDSP with its three kinds of expected topics, and the HDP.

    python benchmarks/quality.py --data FOLDER

Writes benchmarks/results/quality.csv: means over seeds.
"""

import csv
import time
from pathlib import Path

import numpy as np
from corpora import QUALITY, load, parser

from hdsp import HDSP
from hdsp.metrics import npmi, topic_top_words

COLUMNS = ("calibrated", "exact", "ratio", "completion", "npmi", "topics", "passes", "seconds")


def measure(split, labelled, n_topics, seed):
    """One fit and its numbers."""
    model = HDSP(n_topics, fixed_number=True, random_state=seed)
    train = split.labels if labelled else None
    test = split.test_labels if labelled else None
    start = time.perf_counter()
    model.fit(split.counts, labels=train)
    seconds = time.perf_counter() - start
    row = {
        method: model.perplexity(split.test_counts, labels=test, method=method)
        for method in ("calibrated", "exact", "ratio")
    }
    row["completion"] = model.perplexity(split.test_counts, labels=test, given="completion")
    row["npmi"] = npmi(topic_top_words(model.components_), split.counts).mean()
    row |= {"topics": model.n_topics_, "passes": model.n_iter_, "seconds": seconds}
    return row


def main():
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--topics", type=int, default=100)
    chosen = options.parse_args()
    out = Path(__file__).parent / "results" / "quality.csv"
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["corpus", "model", *COLUMNS])
        for name in QUALITY:
            split = load(chosen.data, name)
            for model, labelled in (("HDSP", True), ("HDP", False)):
                rows = [measure(split, labelled, chosen.topics, s) for s in range(chosen.seeds)]
                means = [float(np.mean([row[column] for row in rows])) for column in COLUMNS]
                writer.writerow([name, model, *[f"{value:.4g}" for value in means]])
                file.flush()
                shown = zip(COLUMNS, means, strict=True)
                print(name, model, "  ".join(f"{c} {v:.4g}" for c, v in shown), flush=True)


if __name__ == "__main__":
    main()
