"""Proportions of new documents: documents a second on two threads.

    python benchmarks/transform.py --data FOLDER        (needs tomotopy and topica)

Writes benchmarks/results/transform.csv.
"""

import csv
import time
import warnings
from pathlib import Path

from corpora import load, parser
from fits import N_TOPICS, label_lists, tokens

from hdsp import HDSP


def rates(split):
    """Rows of (program, documents a second)."""
    n = split.test_counts.shape[0]
    train, test = tokens(split.counts[:2000], split.words), tokens(split.test_counts, split.words)
    labels, test_labels = label_lists(split.labels[:2000]), label_lists(split.test_labels)

    model = HDSP(N_TOPICS, fixed_number=True, random_state=0).fit(split.counts, labels=split.labels)
    model.transform(split.test_counts[:10], labels=split.test_labels[:10])
    start = time.perf_counter()
    model.transform(split.test_counts, labels=split.test_labels)
    yield "hdsp transform", n / (time.perf_counter() - start)

    import tomotopy as tp

    dmr = tp.DMRModel(k=N_TOPICS, seed=0)
    for words, tags in zip(train, labels, strict=True):
        dmr.add_doc(words, multi_metadata=tags)
    dmr.train(50, workers=2, show_progress=False)
    # Words the smaller training set has never seen make documents empty.
    start = time.perf_counter()
    made = [dmr.make_doc(w, multi_metadata=t) for w, t in zip(test, test_labels, strict=True)]
    dmr.infer(made, iterations=100, workers=2)
    yield "tomotopy infer, 100 iterations", n / (time.perf_counter() - start)

    import topica

    other = topica.DMR(num_topics=N_TOPICS, sampler="cvb0", seed=0, num_threads=2)
    features = split.labels[:2000].toarray()
    other.fit(train, features=features, iters=20, progress=False, keep_theta_draws=False)
    start = time.perf_counter()
    other.transform(test, features=split.test_labels.toarray())
    yield "topica transform", n / (time.perf_counter() - start)


def main():
    chosen = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    out = Path(__file__).parent / "results" / "transform.csv"
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["program", "documents a second"])
        for name, rate in rates(load(chosen.data, "medline_mesh")):
            writer.writerow([name, f"{rate:,.0f}"])
            file.flush()
            print(name, f"{rate:,.0f}", flush=True)


if __name__ == "__main__":
    main()
