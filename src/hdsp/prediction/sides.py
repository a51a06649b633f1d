"""Both sides of a contrast: documents' labels are set, and expected proportions averaged.

Proportions are ``theta_mk ~ exp(u_k + r_m . v_k)``, so that setting a label changes the scores
u + r . v by the change of the design times its coefficients. Where a label has only its plain term,
that is two products of matrices for all contrasts of the label column; otherwise, with splines and
interactions, the design of each side is made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from hdsp.labels import Number
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.sparse import csr_entries
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Regression, design_scores
from hdsp.scaling import Design, FunctionColumns, LabelSpace

# All documents with each of very many labels would take much memory.
_CONTRASTS_AT_ONCE = 5_000


@dataclass(frozen=True)
class Contrast:
    """One comparison of two values of a label.

    Attributes
    ----------
    label : str
        The label's name.
    description : str
        The two values, for display.
    block : str
        The label column.
    second : int
        The position of the level, tag or number among all labels.
    first : int or None, default=None
        The position of the level that it is compared with; None is the label's absence, or the
        category's other levels.
    start : float or None, default=None
        A number's first value, in standard units; None is each document's own value.
    stop : float, default=1.0
        A number's second value; what is added to each document's own value if `start` is None.
    """

    label: str
    description: str
    block: str
    second: int
    first: int | None = None
    start: float | None = None
    stop: float = 1.0


class Sides(Protocol):
    """Both sides of the contrasts of one label column.

    Called with the scores [S, T] of documents and the coefficients [n, T] of `columns`, it returns
    mean expected proportions [C, T] on the first and on the second side.
    """

    columns: IntArray

    def __call__(
        self, score: FloatArray, coefficients: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Both sides."""


def expected_sides(
    regression: Regression, space: LabelSpace, documents: csr_array, contrasts: Sequence[Contrast]
) -> tuple[FloatArray, FloatArray]:
    """Mean expected proportions [C, T] on the first and on the second side of each contrast.

    `documents` [S, n_labels] are the values of labels in the documents to average over.
    """
    score = regression.scores(space.design(documents))
    first, second = np.empty((2, len(contrasts), score.shape[1]))
    for start in range(0, len(contrasts), _CONTRASTS_AT_ONCE):
        part = contrasts[start : start + _CONTRASTS_AT_ONCE]
        for numbers, sides in make_sides(space, documents, part, regression.functions):
            found = sides(score, regression.coefficients[sides.columns])
            own = np.add(numbers, start)
            first[own], second[own] = found
    return first, second


def make_sides(
    space: LabelSpace,
    documents: csr_array,
    contrasts: Sequence[Contrast],
    functions: tuple[FunctionColumns, ...] = (),
) -> list[tuple[list[int], Sides]]:
    """For each label column the positions of its contrasts, and their sides.

    Parameters
    ----------
    space : LabelSpace
        The labels.
    documents : sparse array of shape [S, n_labels]
        Values of labels in the documents to average over.
    contrasts : sequence of Contrast
        The contrasts.
    functions : tuple of FunctionColumns, default=()
        Functions of the regression that are not log-linear.
    """
    by_block: dict[str, list[int]] = {}
    for number, contrast in enumerate(contrasts):
        by_block.setdefault(contrast.block, []).append(number)
    found: list[tuple[list[int], Sides]] = []
    for name, numbers in by_block.items():
        chosen = [contrasts[number] for number in numbers]
        found.append((numbers, _sides(space, documents, name, chosen, functions)))
    return found


def _sides(
    space: LabelSpace,
    documents: csr_array,
    name: str,
    contrasts: list[Contrast],
    functions: tuple[FunctionColumns, ...],
) -> Sides:
    terms, kind = space.depends(name), space.schema.kind(name)
    labels = space.schema.slices()[name]
    inside = any(np.isin(space.own[labels], part.columns).any() for part in functions)
    if len(terms) > 1 or inside or not isinstance(terms[0], Number):
        return _AnySides(space, documents, name, contrasts, functions if inside else ())
    if kind == "category":
        levels = _levels(documents[:, labels], labels.start, contrasts)
        return _LevelSides(csr_array(documents[:, levels]), space.own[levels], levels, contrasts)
    positions = np.array([contrast.second for contrast in contrasts])
    own = csr_array(documents[:, positions])
    if kind == "tags":
        return _TagSides(own, space.own[positions])
    return _NumberSides(own, space.own[positions], contrasts)


@dataclass(eq=False)
class _TagSides:
    """Without each tag, and with it; other labels unchanged."""

    carried: csr_array
    columns: IntArray

    def __call__(
        self, score: FloatArray, coefficients: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        share = normalised_exp(score)
        factor = _factors(coefficients)
        if self.carried.dtype != score.dtype:
            self.carried = self.carried.astype(score.dtype)
        rows, tags, by_tag = self.entries
        # Documents that lack the tag gain it: theta f / (theta . f). Those that carry it stay.
        weight = 1.0 / (share @ factor.T)
        weight[rows, tags] = 0.0
        held = self.carried.T @ share
        second = factor * (weight.T @ share) + held
        # Documents that carry the tag lose it: theta / f, normalised.
        without = share[rows] / factor[tags]
        without /= without.sum(axis=1, keepdims=True)
        first = share.sum(axis=0) - held + by_tag @ without
        return first / len(share), second / len(share)

    @cached_property
    def entries(self) -> tuple[IntArray, IntArray, csc_array]:
        """Document and tag of each entry carried, and the matrix that sums entries by tag."""
        rows, tags, _ = csr_entries(self.carried)
        shape = (len(self.columns), len(rows))
        return rows, tags, csc_array((np.ones(len(rows)), tags, np.arange(len(rows) + 1)), shape)


@dataclass(eq=False)
class _LevelSides:
    """All documents at another level, or at the others by frequency; and at the contrast's own."""

    own: Design
    columns: IntArray
    levels: IntArray
    contrasts: list[Contrast]

    def __call__(
        self, score: FloatArray, coefficients: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        own = csr_array(self.own, dtype=score.dtype)
        share = normalised_exp(score - own @ coefficients)
        factor = _factors(coefficients)
        at_level = factor * ((1.0 / (share @ factor.T)).T @ share) / len(share)
        return _compare_levels(at_level, share.mean(axis=0), own, self.levels, self.contrasts)


@dataclass(eq=False)
class _NumberSides:
    """Each number unchanged and moved, or at one value and at another."""

    own: csr_array
    columns: IntArray
    contrasts: list[Contrast]

    def __call__(
        self, score: FloatArray, coefficients: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        first, second = np.empty((2, len(self.contrasts), score.shape[1]))
        for number, contrast in enumerate(self.contrasts):
            slope = coefficients[number]
            before = score
            if contrast.start is not None:
                column = self.own[:, [number]].toarray().astype(score.dtype)
                before = score + (contrast.start - column) * slope
            first[number] = normalised_exp(before).mean(axis=0)
            moved = contrast.stop - (contrast.start or 0.0)
            second[number] = normalised_exp(before + moved * slope).mean(axis=0)
        return first, second


class _AnySides:
    """Labels set in the documents' values, whatever terms are made from them."""

    def __init__(
        self,
        space: LabelSpace,
        documents: csr_array,
        name: str,
        contrasts: list[Contrast],
        functions: tuple[FunctionColumns, ...] = (),
    ) -> None:
        self.contrasts = contrasts
        self.kind = space.schema.kind(name)
        terms = set(space.depends(name))
        self.columns = np.concatenate(
            [
                np.arange(part.start, part.stop)
                for term, part in zip(space.terms, space.slices, strict=True)
                if term in terms or functions
            ]
        )
        self.functions = functions
        labels = space.schema.slices()[name]
        self.start = labels.start
        self.own = csr_array(documents[:, labels])
        # Of functions, whole designs are compared, since changes do not add up.
        self.now = now = csr_array(space.design(documents)[:, self.columns])

        def change(block: csr_array) -> csr_array:
            parts = [documents[:, : labels.start], block, documents[:, labels.stop :]]
            values = csr_array(hstack(parts, format="csr"))
            changed = space.design(values)[:, self.columns]
            return csr_array(changed if functions else changed - now)

        n_documents, n_labels = self.own.shape
        if self.kind == "category":
            self.levels = _levels(self.own, self.start, contrasts)
            self.changes = [
                change(constant(n_documents, n_labels, level, 1.0))
                for level in self.levels - self.start
            ]
            self.own = csr_array(documents[:, self.levels])
        elif self.kind == "tags":
            self.changes = []
            for contrast in contrasts:
                one = constant(n_documents, n_labels, contrast.second - self.start, 1.0)
                others = self.own - self.own.multiply(one)
                self.changes += [change(csr_array(others)), change(csr_array(others + one))]
        else:
            self.changes = []
            for contrast in contrasts:
                place = contrast.second - self.start
                first, stop = self.own, self.own.toarray()
                if contrast.start is not None:
                    first = with_column(self.own, place, np.full(n_documents, contrast.start))
                    stop[:, place] = contrast.stop
                else:
                    stop[:, place] += contrast.stop
                second = with_column(self.own, place, stop[:, place])
                self.changes += [change(first), change(second)]
        touched = np.unique(np.concatenate([one.indices for one in self.changes]))
        if len(touched) and not functions:
            self.columns = self.columns[touched]
            self.changes = [csr_array(one[:, touched]) for one in self.changes]

    def __call__(
        self, score: FloatArray, coefficients: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        def added(design: csr_array) -> FloatArray:
            return design_scores(design.astype(score.dtype), coefficients, self.functions)

        before = score - added(self.now) if self.functions else score
        means = np.array(
            [normalised_exp(before + added(change)).mean(axis=0) for change in self.changes]
        )
        if self.kind != "category":
            return means[::2], means[1::2]
        overall = normalised_exp(score).mean(axis=0)
        return _compare_levels(means, overall, self.own, self.levels, self.contrasts)


def _levels(own: csr_array, start: int, contrasts: list[Contrast]) -> IntArray:
    """The positions of the levels that documents have or contrasts name: of many, a few."""
    named = [j for c in contrasts for j in (c.second, c.first) if j is not None]
    return np.unique(np.concatenate([csr_array(own).indices + start, named])).astype(np.int64)


def _compare_levels(
    at_level: FloatArray,
    overall: FloatArray,
    own: csr_array,
    levels: IntArray,
    contrasts: list[Contrast],
) -> tuple[FloatArray, FloatArray]:
    """Proportions at the levels that contrasts compare.

    Parameters
    ----------
    at_level : float array of shape [L, T]
        Mean proportions if all documents had a level.
    overall : float array of shape [T]
        Mean proportions to compare with where documents have no other level.
    own : sparse array of shape [S, L]
        The documents' levels.
    levels : int array of shape [L]
        The positions of the levels among all labels.
    contrasts : list of Contrast
        The contrasts.
    """
    frequency = np.asarray(own.sum(axis=0), dtype=np.float64)
    first, second = np.empty((2, len(contrasts), at_level.shape[1]))
    place = {int(level): i for i, level in enumerate(levels)}
    for number, contrast in enumerate(contrasts):
        second[number] = at_level[place[contrast.second]]
        if contrast.first is not None:
            first[number] = at_level[place[contrast.first]]
            continue
        others = frequency.copy()
        others[place[contrast.second]] = 0.0
        if others.sum() > 0:
            first[number] = (others / others.sum()) @ at_level
        else:
            first[number] = overall
    return first, second


def constant(n_documents: int, n_columns: int, column: int, value: float) -> csr_array:
    """A matrix with one entry per document, all in one column."""
    return csr_array(
        (np.full(n_documents, value), np.full(n_documents, column), np.arange(n_documents + 1)),
        shape=(n_documents, n_columns),
    )


def with_column(values: csr_array, column: int, numbers: FloatArray) -> csr_array:
    """Values of labels in which all documents have a number."""
    there = np.ones(values.shape[1])
    there[column] = 0.0
    n_documents, n_columns = values.shape
    one = constant(n_documents, n_columns, column, 1.0)
    one.data = np.asarray(numbers, dtype=np.float64)
    if values.shape[1] == 1:
        return one
    return csr_array(values.multiply(there) + one)


def _factors(coefficients: FloatArray) -> FloatArray:
    """exp(v), each row up to a constant factor, which cancels."""
    return np.asarray(np.exp(coefficients - coefficients.max(axis=1, keepdims=True)))
