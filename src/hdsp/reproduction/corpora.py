"""Real corpora, from a folder that is not part of the project.

Each is a Parquet file with a column of texts and columns of lists of strings, the labels.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from hdsp.numerics.types import BoolArray

# The protocol of docs/quality.md.
_LEAST_DOCUMENTS_OF_A_WORD = 10
_WORDS = "[a-zA-Z][a-zA-Z]{2,}"


@dataclass(frozen=True, eq=False)
class Split:
    """Counts and 0/1 labels of training and test documents.

    Attributes
    ----------
    counts, labels : [M, V] and [M, J] of training documents
    test_counts, test_labels : the same of test documents, which nothing else here has seen
    words : the V words
    label_names : the J labels
    """

    counts: csr_array
    labels: csr_array
    test_counts: csr_array
    test_labels: csr_array
    words: tuple[str, ...]
    label_names: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """The folder of the corpora; None where there is none.

    Attributes
    ----------
    folder : of the Parquet files
    n_jobs : threads to fit with
    """

    folder: Path | None = None
    n_jobs: int | None = None

    def load(
        self,
        name: str,
        *,
        text: str = "text",
        labels: str = "labels",
        largest_share: float = 0.3,
        least_documents: int = 20,
        test_share: float = 0.2,
        most_documents: int | None = None,
    ) -> Split:
        """A corpus, split.

        Words and labels are chosen by the training documents alone: a word or label that only
        test documents have is dropped from them.

        Parameters
        ----------
        name : of the file, without its suffix
        text, labels : columns
        largest_share : of the training documents that a word may be in; more is too common
        least_documents : the fewest training documents that a label is kept for
        test_share : of the documents, drawn at random
        most_documents : a random part of the corpus, for quick runs
        """
        if self.folder is None:
            raise ValueError("Name the folder of the corpora with --data or HDSP_DATA.")
        return _load(
            self.folder,
            name,
            text,
            labels,
            largest_share,
            least_documents,
            test_share,
            most_documents,
        )


@lru_cache(maxsize=1)
def _load(
    folder: Path,
    name: str,
    text: str,
    labels: str,
    largest_share: float,
    least_documents: int,
    test_share: float,
    most_documents: int | None,
) -> Split:
    import pyarrow.parquet

    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise FileNotFoundError(f"The folder of the corpora, {str(folder)!r}, has no {path.name}.")
    table = pyarrow.parquet.read_table(path, columns=[text, labels])
    if most_documents is not None and most_documents < len(table):
        chosen = np.random.default_rng(0).choice(len(table), most_documents, replace=False)
        table = table.take(np.sort(chosen))
    texts = np.array(table[text].to_pylist(), dtype=object)
    carried = [sorted(set(row or ())) for row in table[labels].to_pylist()]
    test: BoolArray = np.random.default_rng(0).random(len(carried)) < test_share
    vectorizer = CountVectorizer(
        stop_words="english",
        min_df=_LEAST_DOCUMENTS_OF_A_WORD,
        max_df=largest_share,
        token_pattern=_WORDS,
    )
    counts = _counts(vectorizer.fit_transform(texts[~test]))
    test_counts = _counts(vectorizer.transform(texts[test])) if test.any() else counts[:0]
    training = [row for row, held_out in zip(carried, test, strict=True) if not held_out]
    held_out = [row for row, out in zip(carried, test, strict=True) if out]
    documents = Counter(label for row in training for label in row)
    names = tuple(sorted(label for label, n in documents.items() if n >= least_documents))
    return Split(
        counts,
        indicators(training, names),
        test_counts,
        indicators(held_out, names),
        tuple(vectorizer.get_feature_names_out()),
        names,
    )


def indicators(carried: Sequence[Sequence[str]], names: Sequence[str]) -> csr_array:
    """Labels as 0 and 1, [M, J]; others than `names` are left out."""
    column = {label: j for j, label in enumerate(names)}
    kept = [[column[label] for label in row if label in column] for row in carried]
    return csr_array(
        (
            np.ones(sum(map(len, kept))),
            np.array([j for row in kept for j in row], dtype=np.int64),
            np.cumsum([0, *map(len, kept)]),
        ),
        shape=(len(kept), len(names)),
    )


def _counts(matrix: Any) -> csr_array:
    counts = csr_array(matrix, dtype=np.float64)
    counts.sort_indices()
    return counts
