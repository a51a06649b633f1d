"""Real corpora for the benchmarks, read from a folder that is not part of the project.

Name it with ``--data FOLDER`` or the environment variable ``HDSP_DATA``. Each corpus is a Parquet
file with a `text` column and a `labels` column of lists of strings.
"""

import argparse
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

NAMES = ("medline_mesh", "rcv1_subset", "ohsumed23")
QUALITY = (*NAMES, "clothing_reviews")


@dataclass(frozen=True)
class Split:
    """Counts and 0/1 labels of training and test documents."""

    name: str
    counts: csr_array
    labels: csr_array
    test_counts: csr_array
    test_labels: csr_array
    words: np.ndarray


def parser(description: str) -> argparse.ArgumentParser:
    """A command line with the option every benchmark has."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--data", type=Path, default=os.environ.get("HDSP_DATA"))
    return result


def load(folder: Path | None, name: str, least_documents: int = 20) -> Split:
    """A corpus by the protocol of docs/quality.md: vocabulary, labels and test documents."""
    if folder is None:
        raise SystemExit("Name the folder of the corpora with --data or HDSP_DATA.")
    table = pq.read_table(Path(folder) / f"{name}.parquet", columns=["text", "labels"])
    vectorizer = CountVectorizer(
        stop_words="english", min_df=10, max_df=0.3, token_pattern="[a-zA-Z][a-zA-Z]{2,}"
    )
    counts = csr_array(vectorizer.fit_transform(table["text"].to_pylist()), dtype=np.float64)
    counts.sort_indices()
    carried = [sorted(set(row)) for row in table["labels"].to_pylist()]
    documents = Counter(label for row in carried for label in row)
    names = sorted(label for label, n in documents.items() if n >= least_documents)
    column = {label: j for j, label in enumerate(names)}
    kept = [[column[label] for label in row if label in column] for row in carried]
    labels = csr_array(
        (
            np.ones(sum(map(len, kept))),
            np.concatenate([np.array(row, dtype=np.int64) for row in kept]),
            np.cumsum([0, *map(len, kept)]),
        ),
        shape=(len(kept), len(names)),
    )
    test = np.random.default_rng(0).random(len(kept)) < 0.2
    return Split(
        name,
        counts[~test],
        labels[~test],
        counts[test],
        labels[test],
        vectorizer.get_feature_names_out(),
    )
