"""A summary of the labels that a model was trained with."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import LabelSchema
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import FloatArray

# Effects are averages over at most this many documents.
_MOST_DOCUMENTS = 1_000
# A number with more values than this is summarised by as many groups.
_MOST_VALUES = 50


@dataclass(frozen=True, eq=False)
class TrainingLabels:
    """A sample of the training documents' labels, and how often each occurred.

    Attributes
    ----------
    sample : sparse array of shape [S, n_labels]
        Values of labels in randomly chosen documents, in the order of training.
    carriers : float array of shape [n_labels]
        How many documents have each label.
    n_documents : int
        The number of training documents.
    values : mapping of int to float array of shape [2, n]
        For each label that is a number, its values in order, in standard units, and how many
        documents have each.
    """

    sample: csr_array
    carriers: FloatArray
    n_documents: int
    values: Mapping[int, FloatArray]

    @classmethod
    def of(cls, schema: LabelSchema, labels: csr_array) -> "TrainingLabels":
        """Summarise the values of labels [M, n_labels] in training."""
        n_documents = labels.shape[0]
        chosen = sample_rows(n_documents, _MOST_DOCUMENTS)
        by_label = labels.tocsc()
        values: dict[int, FloatArray] = {}
        for name, columns in schema.slices().items():
            if schema.kind(name) == "number":
                for j in range(columns.start, columns.stop):
                    stored = by_label.data[by_label.indptr[j] : by_label.indptr[j + 1]]
                    values[j] = _frequencies(stored.astype(np.float64))
        return cls(
            csr_array(labels[chosen], dtype=np.float64),
            np.diff(by_label.indptr).astype(np.float64),
            n_documents,
            values,
        )


def _frequencies(values: FloatArray) -> FloatArray:
    """The different values and their frequencies, [2, n]; n is at most `_MOST_VALUES`.

    More values are grouped by equal quantiles, equal ones together, and each group has its mean.
    """
    found, counts = np.unique(values, return_counts=True)
    if len(found) > _MOST_VALUES:
        edges = np.unique(np.quantile(values, np.arange(1, _MOST_VALUES) / _MOST_VALUES))
        group = np.searchsorted(edges, found)
        sizes = np.bincount(group, weights=counts)
        sums = np.bincount(group, weights=counts * found)
        found, counts = sums[sizes > 0] / sizes[sizes > 0], sizes[sizes > 0]
    return np.array([found, counts], dtype=np.float64)
