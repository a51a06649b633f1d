"""How the defaults were checked: one setting changed at a time, completion and NPMI beside it.

    python benchmarks/defaults.py --data FOLDER

Writes benchmarks/results/defaults.csv.
"""

import csv
from pathlib import Path

from corpora import NAMES, load, parser

from hdsp import HDSP
from hdsp.metrics import npmi, topic_top_words

CHANGES = (
    {},
    {"topic_prior": 0.01},
    {"topic_prior": 0.1},
    {"topic_prior": 0.25},
    {"document_concentration": 5.0},
    {"document_concentration": 50.0},
    {"tol": 1e-4},
    {"keep_documents": False},
    {"init": "lda"},
    {"init": "random"},
)
# Where documents are short, the start of the document concentration matters most.
SHORT = ("clothing_reviews", "amazon_4domains")
SHORT_CHANGES = tuple(
    c for c in CHANGES if not c or "document_concentration" in c or "keep_documents" in c
)


def main():
    chosen = parser(__doc__).parse_args()
    out = Path(__file__).parent / "results" / "defaults.csv"
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["corpus", "change", "labels", "completion", "npmi", "bound", "passes"])
        cases = [(name, CHANGES) for name in NAMES] + [(name, SHORT_CHANGES) for name in SHORT]
        for name, changes in cases:
            split = load(chosen.data, name)
            for change in changes:
                model = HDSP(100, fixed_number=True, random_state=0, **change)
                model.fit(split.counts, labels=split.labels)
                test = {"X": split.test_counts, "labels": split.test_labels}
                row = [
                    name,
                    " ".join(f"{k}={v}" for k, v in change.items()) or "defaults",
                    f"{model.perplexity(**test):.1f}",
                    f"{model.perplexity(**test, given='completion'):.1f}",
                    f"{npmi(topic_top_words(model.components_), split.counts).mean():.3f}",
                    f"{model.history_[-1]['bound']:.0f}",
                    model.n_iter_,
                ]
                writer.writerow(row)
                file.flush()
                print(*row, flush=True)


if __name__ == "__main__":
    main()
