"""Penalised multinomial regression of topics' tokens on labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import csr_arrays, sparse_product
from hdsp.numerics.sampling import sample_rows
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration.functions import Forms, design_scores, linear_part, sweep_functions
from hdsp.scaling import Design, FunctionColumns

_SWEEPS = 40
_CHUNK = 2_048
# Keeps the logarithm finite for a topic that holds nothing.
_SMALLEST_COUNT = 1e-3


@dataclass(frozen=True, eq=False)
class Regression:
    """Proportions theta_k proportional to exp(u_k + r . v_k).

    Attributes
    ----------
    intercept : float array of shape [T]
        The intercepts u_k.
    coefficients : float array of shape [J, T]
        The coefficients v_jk; in the columns of `functions`, their weights.
    functions : tuple of FunctionColumns, default=()
        Functions whose log scales stand in place of r . v for their columns.
    """

    intercept: FloatArray
    coefficients: FloatArray
    functions: tuple[FunctionColumns, ...] = field(default=(), kw_only=True)

    def scores(self, design: Design) -> FloatArray:
        """Log proportions up to a constant, [M, T]."""
        return design_scores(design, self.coefficients, self.functions) + self.intercept

    def function_moves(self, design: Design, drawn: FloatArray) -> FloatArray:
        """By how much drawn weights [D, J, T] of functions move scores, [D, M, T]; 0 if none."""
        found = np.zeros((len(drawn), 1, 1))
        for function, columns in self.functions:
            labels = design[:, columns]
            now = function.log_scale(self.coefficients[columns].T, labels)
            found = found + [function.log_scale(one[columns].T, labels) - now for one in drawn]
        return found

    def proportions(self, design: Design) -> FloatArray:
        """Expected proportions given labels, [M, T]; rows sum to 1."""
        return normalised_exp(self.scores(design))


@dataclass(frozen=True, eq=False)
class Observed:
    """What a regression takes from documents, or from groups of them: sums of their tokens.

    Attributes
    ----------
    lengths : float array of shape [G]
        Tokens of each row of the design.
    by_column : float array of shape [J, K]
        Tokens of topics by column of the design, sum_g r_gj n_gk.
    total : float array of shape [K]
        Tokens of topics.
    """

    lengths: FloatArray
    by_column: FloatArray
    total: FloatArray


def observe(design: Design, tokens: FloatArray, weight: FloatArray | None = None) -> Observed:
    """Sum tokens [G, K] of rows with a `design` [G, J], each times its `weight` [G]."""
    lengths = tokens.sum(axis=1, dtype=np.float64)
    by_label = csr_array(csr_array(design, dtype=np.float32).T)
    if weight is None:
        total = tokens.sum(axis=0, dtype=np.float64)
    else:
        # Unlike a product of matrices, it makes no copy in double precision.
        lengths, total = weight * lengths, np.einsum("g,gk->k", weight, tokens)
        by_label.data = by_label.data * weight.astype(np.float32)[by_label.indices]
    return Observed(lengths, sparse_product(by_label, tokens.astype(np.float32, copy=False)), total)


def regress(
    design: Design, tokens: FloatArray, ridge: float | FloatArray, n_sweeps: int = _SWEEPS
) -> Regression:
    """The maximum of sum_gk n_gk ln theta_gk - sum_jk ridge_jk v_jk^2 / 2, for tokens n [G, T].

    A single `ridge` is the penalty of all coefficients; otherwise it is [J, 1] or [J, T].
    """
    return next(regression_path(design, observe(design, tokens), (ridge,), (n_sweeps,)))


def regression_path(
    design: Design,
    observed: Observed,
    ridges: Iterable[float | FloatArray],
    n_sweeps: Sequence[int],
    room: FloatArray | None = None,
    start: Regression | None = None,
    forms: Forms | None = None,
) -> Iterator[Regression]:
    """`regress` for several penalties, each continued from the one before.

    Coordinate descent over labels, with so many sweeps for each penalty, from the coefficients of
    `start`. An array `room` [G, K] in single precision is used as working space. Functions that are
    not log-linear come with `forms`.
    """
    functions = () if forms is None else forms.functions
    observed_total = observed.total + _SMALLEST_COUNT
    intercept = np.log(observed_total / observed_total.sum())
    n_topics = len(observed_total)
    if design.nnz == 0:
        for _ in ridges:
            yield Regression(intercept, np.zeros((design.shape[1], n_topics)))
        return
    lengths = observed.lengths.astype(np.float32)
    # Documents without words carry no information, and have no proportions to scale.
    with_words = lengths > 0
    if not with_words.all():
        design, lengths = design[with_words], lengths[with_words]
        forms = forms and forms._replace(tokens=forms.tokens[with_words])
    if forms is not None and start is None:
        start = Regression(intercept, forms.weights, functions=functions)
    by_label = csr_array(csr_array(linear_part(design, functions), dtype=np.float32).T)
    share = np.exp(intercept).astype(np.float32)
    out = None if room is None else room[: len(lengths)]
    expected = np.multiply(lengths[:, None], share, out=out)
    coefficients = np.zeros((design.shape[1], n_topics), dtype=np.float32)
    if start is not None:
        coefficients += start.coefficients
        intercept = start.intercept.copy()
        for first in range(0, len(lengths), _CHUNK):
            part = slice(first, first + _CHUNK)
            expected[part] = lengths[part, None] * start.proportions(design[part])
    arrays = csr_arrays(by_label)
    for ridge, number in zip(ridges, n_sweeps, strict=True):
        penalty = np.ascontiguousarray(np.broadcast_to(ridge, coefficients.shape), dtype=np.float32)
        for _ in range(number):
            kernels.sweep_softmax_weights(
                *arrays, lengths, observed.by_column, penalty, expected, coefficients
            )
            if forms is not None:
                sweep_functions(forms, design, lengths, penalty, expected, coefficients)
            kernels.update_softmax_intercept(lengths, observed_total, expected, intercept)
        yield Regression(intercept.copy(), coefficients.astype(np.float64), functions=functions)


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


def label_sets(design: Design, most: int | None = None, together: bool = True) -> LabelSets:
    """Group documents [M, J] by their labels; a random `most` of the groups, if there are more.

    Not `together`, each document is a group.
    """
    n_documents = design.shape[0]
    first, group = group_rows(design)
    if not together or 2 * len(first) > n_documents:
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
