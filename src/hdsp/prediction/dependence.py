"""Whether documents are alike for reasons that a label's effect should allow for."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import fdtrc

from hdsp.exceptions import DependentDocumentsWarning, FewGroupsWarning, OverlappingLabelsWarning
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.scaling import LabelSpace, describe_overlaps
from hdsp.validation import count_of

# A topic differs between levels if that were so by chance in less than this share of corpora; and
# a warning is given if more than this share of topics do.
_CHANCE, _TOPICS = 0.001, 0.25
# Fewer groups of documents than this say little of how groups differ.
_FEW_GROUPS = 10


@dataclass(frozen=True)
class Dependence:
    """A category whose levels lie within those of another, and whose documents are alike.

    Attributes
    ----------
    inner, outer : str
        The two categories.
    n_inner : int
        The number of levels of the inner one.
    share : float
        The share of topics that differ between the inner levels of an outer one.
    """

    inner: str
    outer: str
    n_inner: int
    share: float


def find_dependence(
    space: LabelSpace, labels: csr_array, proportions: FloatArray
) -> Dependence | None:
    """The category inside another that documents are most alike by; None if there is none.

    Parameters
    ----------
    space : LabelSpace
        The label columns; those that scale topics are looked at.
    labels : sparse array of shape [M, n_labels]
        Values of labels.
    proportions : float array of shape [M, T]
        Topics of the documents, judged by their words alone.
    """
    schema = space.schema
    levels = {
        name: _levels(csr_array(labels[:, columns]))
        for name, columns in schema.slices().items()
        if schema.kind(name) == "category" and space.used_labels[columns].all()
    }
    found: Dependence | None = None
    for inner, own in levels.items():
        for outer, other in levels.items():
            if inner == outer:
                continue
            known = (own >= 0) & (other >= 0)
            if not _is_inside(own[known], other[known]):
                continue
            chance = _chances(own[known], other[known], proportions[known])
            share = float((chance < _CHANCE).mean())
            if share > (_TOPICS if found is None else found.share):
                found = Dependence(inner, outer, len(np.unique(own[known])), share)
    return found


def warn_of_dependence(found: Dependence) -> None:
    """Say what the likeness of documents means for effects."""
    warnings.warn(
        f"Documents with the same {found.inner!r} are alike beyond what their {found.outer!r} "
        f"explains, in {found.share:.0%} of topics, so that effects of {found.outer!r} rest on "
        f"{found.n_inner} values of {found.inner!r} and not on single documents: pass these as "
        f"`groups` of HDSP.fit, and leave {found.inner!r} out of the labels.",
        DependentDocumentsWarning,
        stacklevel=6,
    )


def warn_few_groups(groups: IntArray, owner: str) -> None:
    """Warn where the groups of documents are few; -1 is a document of its own."""
    n_groups = len(np.unique(groups[groups >= 0])) + int((groups < 0).sum())
    if n_groups < _FEW_GROUPS:
        warnings.warn(
            f"The documents of {owner} come in {count_of(n_groups, 'group')}: with fewer than "
            f"{_FEW_GROUPS}, what a label does can hardly be told from what groups are like, and "
            "intervals of effects are wide and rough.",
            FewGroupsWarning,
            stacklevel=4,
        )


def warn_overlaps(space: LabelSpace, values: csr_array) -> None:
    """Warn of labels that determine each other."""
    if found := describe_overlaps(space, values):
        warnings.warn(
            f"Labels say the same of documents: {'; '.join(found)}.",
            OverlappingLabelsWarning,
            stacklevel=4,
        )


def _levels(block: csr_array) -> IntArray:
    """The level of each document, [M]; -1 where it is missing."""
    found = np.full(block.shape[0], -1, dtype=np.int64)
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    found[rows] = block.indices
    return found


def _is_inside(own: IntArray, other: IntArray) -> bool:
    """Whether each of a category's levels lies in one of another, and has documents to compare."""
    if len(own) == 0:
        return False
    n_own, n_other = len(np.unique(own)), len(np.unique(other))
    pairs = np.unique(np.column_stack([own, other]), axis=0)
    return bool(len(pairs) == n_own > n_other > 1 and len(own) >= 2 * n_own)


def _chances(own: IntArray, other: IntArray, values: FloatArray) -> FloatArray:
    """How often means [T] would differ as much between levels inside others by chance: F tests."""
    total = [_squares_within(group, values) for group in (own, other)]
    n_own, n_other = len(np.unique(own)), len(np.unique(other))
    free = len(own) - n_own
    between = (total[1] - total[0]) / (n_own - n_other)
    ratio = between / np.maximum(total[0] / free, 1e-300)
    return np.asarray(fdtrc(n_own - n_other, free, np.maximum(ratio, 0.0)))


def _squares_within(group: IntArray, values: FloatArray) -> FloatArray:
    """Sums of squared differences [T] from the means of groups."""
    _, number = np.unique(group, return_inverse=True)
    member = csr_array((np.ones(len(number)), (number, np.arange(len(number)))))
    means = (member @ values) / np.bincount(number)[:, None]
    return np.asarray(((values - means[number]) ** 2).sum(axis=0))
