"""Labels that say the same of documents, and what their effects then mean."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels import Pooled
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling.space import LabelSpace

_MOST_DOCUMENTS = 20_000
# Numbers of more different values are no levels.
_MOST_VALUES = 50
# A label determines another if so few documents are exceptions, of those that would be by chance,
# of which there must be so many.
_EXCEPTIONS, _FEWEST_BY_CHANCE = 0.02, 10
_CORRELATED = 0.99


def describe_overlaps(space: LabelSpace, values: csr_array) -> list[str]:
    """What is to be said of labels that determine each other, one part of a sentence for each pair.

    Parameters
    ----------
    space : LabelSpace
        The labels, of which those that the scaling function takes are looked at.
    values : sparse array of shape [M, n_labels]
        The values of labels in training documents.
    """
    values = csr_array(values[sample_rows(values.shape[0], _MOST_DOCUMENTS)])
    mains = {term.columns[0]: term for term in space.terms if term.main}
    numbers: dict[str, FloatArray] = {}
    levels: dict[str, IntArray] = {}
    for block in space.schema.blocks:
        columns = space.schema.slices()[block.name]
        part = csr_array(values[:, columns])
        if not space.used_labels[columns].any() or block.kind == "tags":
            continue
        if block.kind == "category":
            levels[block.name] = _of_documents(part, part.indices)
        elif len(block.columns) == 1:
            different, places = np.unique(part.data, return_inverse=True)
            if len(different) <= _MOST_VALUES:
                levels[block.name] = _of_documents(part, places)
            numbers[block.name] = np.where(np.diff(part.indptr) > 0, part.sum(axis=1), np.nan)
    found = [
        f"{first!r} and {second!r} rise and fall together, and each has a part of one effect: "
        "leave one out"
        for first, second in combinations(numbers, 2)
        if _correlated(numbers[first], numbers[second])
    ]
    for first, second in combinations(levels, 2):
        if first in numbers and second in numbers:
            continue
        pair = [(first, second), (second, first)]
        pair = [(one, other) for one, other in pair if _determines(levels[one], levels[other])]
        if len(pair) == 2:
            found.append(
                f"{first!r} and {second!r} determine each other, and each has a part of one "
                "effect: leave one out"
            )
        elif pair and not isinstance(mains[pair[0][0]], Pooled):
            found.append(_nested(space, *pair[0]))
    for term in mains.values():
        if isinstance(term, Pooled) and {*term.learns_from} <= levels.keys():
            found += _crossed(space, term, levels)
    return found


def _nested(space: LabelSpace, child: str, parent: str) -> str:
    """What effects mean where one label determines the other."""
    remedy = "leave one out"
    if space.schema.kind(child) == space.schema.kind(parent) == "category":
        remedy += f", or write Categorical({child!r}, parents={parent!r})"
    return (
        f"{child!r} determines {parent!r}, so that the effect of {parent!r} is what all {child!r} "
        f"in it have in common and that of {child!r} how each differs from it: {remedy}"
    )


def _crossed(space: LabelSpace, term: Pooled, levels: Mapping[str, IntArray]) -> list[str]:
    """Whether levels of a nested label occur with several parents."""
    own, parents = (levels[name] for name in (term.columns[0], term.learns_from[-1]))
    both = (own >= 0) & (parents >= 0)
    pairs = np.unique(np.column_stack([own[both], parents[both]]), axis=0)
    several = np.flatnonzero(np.bincount(pairs[:, 0]) > 1)
    if term.parents is None or not len(several):
        return []
    child, parent, total = term.columns[0], term.parents, len(np.unique(pairs[:, 0]))
    first = space.schema.block(child).columns[several[0]]
    return [
        f"{len(several)} of {total} levels of {child!r} occur with several of {parent!r}, such as "
        f"{first!r}, and have one effect in all of them: where a document lacks {parent!r}, the "
        "most frequent one is taken"
    ]


def _of_documents(part: csr_array, positions: IntArray) -> IntArray:
    """The position of each document's level, or -1, [M]."""
    found = np.full(part.shape[0], -1, dtype=np.int64)
    found[np.diff(part.indptr) > 0] = positions
    return found


def _correlated(first: FloatArray, second: FloatArray) -> bool:
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < _FEWEST_BY_CHANCE or not (np.ptp(first[both]) and np.ptp(second[both])):
        return False
    return bool(abs(np.corrcoef(first[both], second[both])[0, 1]) >= _CORRELATED)


def _determines(first: IntArray, second: IntArray) -> bool:
    """Whether documents of one level of the first label have one level of the second."""
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    # A level of a single document determines everything.
    repeated = np.bincount(first, minlength=1)[first] > 1
    first, second = first[repeated], second[repeated]
    shuffled = np.random.default_rng(0).permutation(second)
    by_chance = _exceptions(first, shuffled)
    return by_chance >= _FEWEST_BY_CHANCE and _exceptions(first, second) <= _EXCEPTIONS * by_chance


def _exceptions(first: IntArray, second: IntArray) -> int:
    """Documents that do not have the most frequent level of those in the same first level."""
    if not len(first):
        return 0
    table = csr_array((np.ones(len(first)), (first, second)))
    table.sum_duplicates()
    return len(first) - int(table.max(axis=1).sum())
