"""Expected proportions at values of labels, and sums of them, with intervals of their own.

An interval of a difference needs draws of coefficients alone. That of a level also needs the error
of the mean document: coefficients change how documents differ from it, so that columns of the
design count from their means.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration import Calibration, group_rows
from hdsp.prediction.effects import DRAWS, drawn_error, drawn_limits, draws_of, spread_documents
from hdsp.prediction.groups import TopicGroups
from hdsp.prediction.sides import Contrast, constant, with_column
from hdsp.scaling import Design, LabelSpace

# Takes values of labels [S, n_labels], and returns them with some labels set.
Setting = Callable[[csr_array], csr_array]


@dataclass(frozen=True, eq=False)
class Estimates:
    """Expected proportions, or sums of them, with limits and errors; all [Q, T]."""

    expected: FloatArray
    lower: FloatArray
    upper: FloatArray
    error: FloatArray


def label_setting(space: LabelSpace, position: int, value: float, added: bool = False) -> Setting:
    """The setting in which all documents have a label, or with 0 lack it.

    Parameters
    ----------
    space : LabelSpace
        The labels.
    position : int
        The position of a level, tag or number among all labels.
    value : float
        The value of a number, in standard units; 1 for a level or a tag, 0 for no tag.
    added : bool, default=False
        Whether a number's `value` is added to each document's own.
    """
    name, columns = next(
        (name, own)
        for name, own in space.schema.slices().items()
        if own.start <= position < own.stop
    )
    kind, place = space.schema.kind(name), position - columns.start

    def setting(values: csr_array) -> csr_array:
        own = csr_array(values[:, columns])
        n_documents, n_labels = own.shape
        if kind == "category":
            block = constant(n_documents, n_labels, place, 1.0)
        elif kind == "tags":
            one = constant(n_documents, n_labels, place, 1.0)
            block = csr_array(own - own.multiply(one) + value * one)
            block.eliminate_zeros()
        else:
            numbers = np.full(n_documents, value)
            if added:
                numbers += own[:, [place]].toarray()[:, 0]
            block = with_column(own, place, numbers)
        parts = [values[:, : columns.start], block, values[:, columns.stop :]]
        return csr_array(hstack(parts, format="csr"))

    return setting


def contrast_settings(
    space: LabelSpace, contrast: Contrast, carriers: FloatArray
) -> list[tuple[float, Setting]]:
    """The settings that a contrast compares, with their weights, which sum to 0.

    `carriers` [n_labels] say how many documents have each label.
    """
    kind = space.schema.kind(contrast.block)
    columns = space.schema.slices()[contrast.block]
    second = contrast.second
    if kind == "tags":
        return [(sign, label_setting(space, second, on)) for sign, on in ((1.0, 1.0), (-1.0, 0.0))]
    if kind == "number":
        if contrast.start is None:
            return [
                (1.0, label_setting(space, second, contrast.stop, added=True)),
                (-1.0, lambda values: values),
            ]
        return [
            (1.0, label_setting(space, second, contrast.stop)),
            (-1.0, label_setting(space, second, contrast.start)),
        ]
    if contrast.first is not None:
        return [
            (1.0, label_setting(space, second, 1.0)),
            (-1.0, label_setting(space, contrast.first, 1.0)),
        ]
    others = np.arange(columns.start, columns.stop)
    others = others[(others != second) & (carriers[others] > 0)]
    share = carriers[others] / max(carriers[others].sum(), 1e-300)
    return [
        (1.0, label_setting(space, second, 1.0)),
        *(
            (-float(f), label_setting(space, int(j), 1.0))
            for j, f in zip(others, share, strict=True)
        ),
    ]


def estimate_levels(
    calibration: Calibration,
    space: LabelSpace,
    documents: csr_array,
    settings: Sequence[Setting],
    level: float,
    groups: TopicGroups,
    weights: FloatArray | None = None,
    seed: int = 0,
) -> Estimates:
    """Mean expected proportions of documents in settings, or weighted sums of these.

    Parameters
    ----------
    calibration : Calibration
        The regression, with its uncertainty.
    space : LabelSpace
        The labels.
    documents : sparse array of shape [S, n_labels]
        Values of labels in the documents to average over.
    settings : sequence of callable
        The C settings.
    level : float
        The probability that an interval contains the number.
    groups : TopicGroups
        Topics that are sums of the regression's.
    weights : float array of shape [Q, C] or None, default=None
        The sums; None is each setting by itself.
    seed : int, default=0
        Equal seeds give equal intervals.
    """
    if weights is None:
        weights = np.eye(len(settings))
    fewer = spread_documents(documents)
    whole = space.design(documents)
    middle = np.asarray(whole.mean(axis=0))
    found = np.array([_mean(calibration, space.design(one(documents))) for one in settings])
    expected = weights @ groups.sum(found)
    points = [_Point.of(space.design(one(fewer)), middle) for one in settings]
    used = np.unique(np.concatenate([np.flatnonzero(middle), *(p.columns for p in points)]))
    if calibration.functions:
        used = np.arange(space.n_columns)
    stream = np.random.default_rng([seed, zlib.crc32(b"mean")])
    error = calibration.draw_mean(stream, DRAWS)
    drawn = np.empty((DRAWS, len(settings), calibration.coefficients.shape[1]))
    own, start = calibration.coefficients[used], 0
    typical = np.array([point.mean(calibration, 0.0) for point in points])
    for part in draws_of(calibration, space, seed)(used):
        stop = start + len(part)
        linear = part - own
        for _, columns in calibration.functions:
            linear[:, columns] = 0.0
        average = calibration.function_moves(whole, part).mean(axis=1, keepdims=True)
        for number, point in enumerate(points):
            moved = point.moved(used, linear) + error[start:stop, None]
            moved = moved + calibration.function_moves(point.rows, part) - average
            drawn[start:stop, number] = point.mean(calibration, moved) - typical[number]
        start = stop
    changes = np.einsum("qc,dck->dqk", weights, groups.sum(drawn))
    below, above = drawn_limits(changes, level)
    return Estimates(expected, expected + below, expected + above, drawn_error(changes))


def _mean(calibration: Calibration, design: Design) -> FloatArray:
    return np.asarray(calibration.proportions(design).mean(axis=0))


@dataclass(frozen=True, eq=False)
class _Point:
    """The different rows of a setting's design, their shares of documents, and the mean row."""

    rows: Design
    share: FloatArray
    columns: IntArray
    middle: FloatArray

    @classmethod
    def of(cls, design: Design, middle: FloatArray) -> "_Point":
        first, group = group_rows(design)
        rows = csr_array(design[first])
        share = np.bincount(group) / len(group)
        return cls(rows, share, np.unique(rows.indices), middle)

    def moved(self, used: IntArray, errors: FloatArray) -> FloatArray:
        """How errors [D, n, T] of the `used` columns' coefficients move scores, [D, U, T]."""
        away = self.rows[:, used].toarray() - self.middle[used]
        return np.asarray(np.einsum("un,dnk->duk", away, errors, optimize=True))

    def mean(self, calibration: Calibration, moved: FloatArray | float) -> FloatArray:
        """Mean proportions, [T] or [D, T]."""
        score = calibration.scores(self.rows) + moved
        shape = score.shape
        share = normalised_exp(score.reshape(-1, shape[-1])).reshape(shape)
        return np.asarray(np.einsum("u,...uk->...k", self.share, share))
