"""Documents grouped by their labels."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import IntArray
from hdsp.scaling import Design


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Documents grouped by their labels.

    Documents with the same labels have the same expected proportions, so nothing is lost by adding
    up their tokens; with categories alone there are few groups.

    Attributes
    ----------
    design : sparse array of shape [G, J]
        The labels of each group.
    member : sparse array of shape [G, M]
        Ones where a document belongs to a group.
    """

    design: Design
    member: csr_array


def label_sets(design: Design, most: int | None = None) -> LabelSets:
    """Group documents [M, J] by their labels; a random `most` of the groups, if there are more."""
    n_documents = design.shape[0]
    first, group = group_rows(design)
    if 2 * len(first) > n_documents:
        # Grouping saves little, so each document is its own group, which needs no copy.
        first = group = np.arange(n_documents)
    member = csr_array(
        (
            np.ones(n_documents, dtype=np.float32),
            np.argsort(group, kind="stable").astype(np.int32),
            np.concatenate([[0], np.cumsum(np.bincount(group))]),
        ),
        shape=(len(first), n_documents),
    )
    if most is None or len(first) <= most:
        return LabelSets(design[first], member)
    chosen = sample_rows(len(first), most)
    return LabelSets(design[first[chosen]], member[chosen])


def group_rows(design: Design) -> tuple[IntArray, IntArray]:
    """Group equal rows: the first row of each group [G], in order, and each row's group [M]."""
    # Equal rows have equal random projections, and different rows differ in one of the two. NumPy
    # sorts complex numbers by both parts, and much faster than rows.
    directions = np.random.default_rng(1).normal(size=(design.shape[1], 2))
    projected = csr_array(design, dtype=np.float64) @ directions
    keys = projected[:, 0] + 1j * projected[:, 1]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.sort(first), rank[group]
