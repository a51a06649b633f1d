"""Expected topics at values of labels: levels and curves with intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.contrasts import Setting, set_label
from hdsp.analysis.regression import Estimates
from hdsp.analysis.softmax import MOST_COLUMNS, group_rows, mean_expected
from hdsp.analysis.topics import Columns, topic_part
from hdsp.checks import check_known, check_share, check_whole
from hdsp.corpus.schema import BlockSchema
from hdsp.numerics import FloatArray, IntArray

if TYPE_CHECKING:
    from hdsp.analysis.effects import TopicRegression

# A numeric label with more values is shown at these quantiles.
_MOST_VALUES, _QUANTILES = 10, (0.1, 0.25, 0.5, 0.75, 0.9)
# Bands of means over documents use so many of their different label sets at most.
_MOST_SETS = 200


@dataclass(frozen=True, eq=False)
class LabelValues:
    """Values of a label column at which topics are shown: its levels or tags, or numbers.

    Numbers are an ordered label's values, a grid of `n`, or without `n` the values or quantiles.
    """

    regression: "TopicRegression"
    block: BlockSchema
    n: int | None = None

    @property
    def _start(self) -> int:
        return int(self.regression._space.schema.slices()[self.block.name].start)

    @cached_property
    def numbers(self) -> FloatArray:
        """The documents' values of a numeric label, in standard units, [M]; NaN if missing."""
        values = csr_array(self.regression._reading.values[:, [self._start]]).tocoo()
        numbers = np.full(values.shape[0], np.nan)
        numbers[values.row] = values.data
        return numbers

    @cached_property
    def points(self) -> FloatArray:
        """The values in standard units, or the positions of levels or tags."""
        if self.block.kind != "number":
            columns = slice(self._start, self._start + len(self.block.columns))
            carried = np.flatnonzero(self.regression._design.carriers[columns])
            return np.asarray(self._start + carried, dtype=np.float64)
        known = self.numbers[~np.isnan(self.numbers)]
        if not len(known):
            raise ValueError(f"Every value of {self.block.name!r} is missing.")
        single, values = self.regression._space.single_values(self.block.name), np.unique(known)
        if single is not None:
            return single
        if self.n is not None:
            return np.linspace(values[0], values[-1], self.n)
        if len(values) > _MOST_VALUES:
            return np.unique(np.quantile(known, _QUANTILES, method="inverted_cdf"))
        return values

    @property
    def settings(self) -> list[Setting]:
        """The label at each value."""
        if self.block.kind == "number":
            return [Setting(self._start, float(point)) for point in self.points]
        alone = self.block.name in self.regression._design.exclusive
        return [Setting(int(point), alone=alone) for point in self.points]

    @property
    def names(self) -> list[Any]:
        """Levels or tags by name, or numbers in their original units."""
        if self.block.kind == "number":
            values = self.points * self.block.scale[0] + self.block.mean[0]
            return [round(float(value), 9) + 0.0 for value in values]
        return [self.block.columns[int(point) - self._start] for point in self.points]

    @property
    def members(self) -> list[IntArray]:
        """The documents at each value, or nearest to it."""
        if self.block.kind != "number":
            carried = self.regression._reading.values.tocsc()[:, self.points.astype(np.int64)]
            return list(np.split(carried.indices, carried.indptr[1:-1]))
        nearest = np.searchsorted((self.points[1:] + self.points[:-1]) / 2.0, self.numbers)
        nearest = np.where(np.isnan(self.numbers), -1, nearest)
        return [np.flatnonzero(nearest == place) for place in range(len(self.points))]


def level_columns(regression: "TopicRegression", label: str, level: float) -> Columns:
    """The columns of `TopicRegression.levels`."""
    owner = "TopicRegression.levels"
    check_share(level, "level", owner)
    block = _check_label(regression, label, owner)
    return _columns(regression, LabelValues(regression, block), None, level)


def curve_columns(
    regression: "TopicRegression",
    label: str,
    by: str | None = None,
    n: int = 50,
    level: float = 0.9,
) -> Columns:
    """The columns of `TopicRegression.curve`."""
    owner = "TopicRegression.curve"
    check_share(level, "level", owner)
    check_whole(n, "n", 2)
    block = _check_label(regression, label, owner)
    if block.kind != "number":
        raise ValueError(
            f"`label` of {owner} must be numeric. {label!r} is of kind {block.kind}: use `levels`."
        )
    groups = None
    if by is not None:
        blocks = regression._space.schema.blocks
        known = {other.name: other for other in blocks if other.kind == "category"}
        check_known(by, known, "by", owner, "a category of the formula")
        groups = LabelValues(regression, known[by])
    return _columns(regression, LabelValues(regression, block, n), groups, level)


def observed_means(
    regression: "TopicRegression", label: str, by: str | None, n: int
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Mean values [B] and proportions [B, T] of documents in bins of a number, by level."""
    block = _check_label(regression, label, "hdsp.plots.curve")
    numbers = LabelValues(regression, block).numbers * block.scale[0] + block.mean[0]
    groups: dict[str, IntArray] = {"": np.arange(len(numbers))}
    if by is not None:
        levels = LabelValues(regression, regression._space.schema.block(by))
        groups = dict(zip(levels.names, levels.members, strict=True))
    means = {}
    for name, rows in groups.items():
        rows = rows[~np.isnan(numbers[rows])]
        if regression._space.single_values(label) is not None:
            bins = [rows[numbers[rows] == value] for value in np.unique(numbers[rows])]
        else:
            order = rows[np.argsort(numbers[rows], kind="stable")]
            bins = [part for part in np.array_split(order, n) if len(part)]
        shares = np.array([_mean_proportions(regression, part) for part in bins])
        means[name] = np.array([numbers[part].mean() for part in bins]), shares
    return means


def expected_at(regression: "TopicRegression", places: Sequence[Sequence[Setting]]) -> Estimates:
    """Mean expected proportions of the documents in settings, one after another, [S, T]."""
    design, space, topics = regression._design, regression._space, regression._model.groups
    softmax, weights, reading = regression.softmax, design.weights, regression._reading
    spread = np.linspace(0, len(weights) - 1, min(len(weights), _MOST_SETS)).astype(np.int64)

    def rows_at(place: Sequence[Setting], rows: IntArray | slice) -> tuple[csr_array, FloatArray]:
        values = csr_array(design.values[rows])
        for setting in place:
            values = set_label(values, space.schema, setting)
        matrix = csr_array(space.regressors(values))
        first, group = group_rows(matrix)
        share = np.bincount(group, weights[rows])
        return csr_array(matrix[first]), share / max(float(share.sum()), 1e-300)

    means, parts = [], []
    for place in places:
        matrix, share = rows_at(place, slice(None))
        means.append(topics.sum(share @ softmax.proportions(matrix)))
        parts.append((matrix, share) if matrix.shape[0] <= _MOST_SETS else rows_at(place, spread))
    value = np.array(means)
    if space.n_columns > MOST_COLUMNS:
        unknown = np.full(value.shape, np.nan)
        return Estimates(value, unknown, unknown, unknown, classical_degrees=np.nan)
    length = float(weights @ reading.lengths[design.rows] / weights.sum())
    estimates = mean_expected(
        softmax,
        csr_array(space.regressors(design.values)),
        reading.proportions[design.rows].astype(np.float64),
        weights,
        softmax.ridge / max(length, 1.0),
        regression._clusters,
        parts,
        topics,
    )
    return replace(estimates, value=value)


def rows_by_topic(regression: "TopicRegression", columns: Columns) -> Columns:
    """Columns with one value per row of an answer, repeated for each topic, and the topics."""
    (n_rows,) = {len(values) for values in columns.values()}
    n_topics = len(regression._model.groups)
    repeated = {name: repeat_each(values, n_topics) for name, values in columns.items()}
    return repeated | topic_part(regression._model, list(range(n_topics)) * n_rows)


def repeat_each(values: Iterable[Any], times: int) -> list[Any]:
    """Each value several times."""
    return [value for value in values for _ in range(times)]


def _columns(
    regression: "TopicRegression", values: LabelValues, by: LabelValues | None, level: float
) -> Columns:
    """Expected proportions at values of a label, for all documents or each level of another."""
    every = np.arange(len(regression._reading))
    groups: list[tuple[Any, tuple[Setting, ...], IntArray]] = [("", (), every)]
    if by is not None:
        settings = [(setting,) for setting in by.settings]
        groups = list(zip(by.names, settings, by.members, strict=True))
    places = [(setting, *outer) for _, outer, _ in groups for setting in values.settings]
    rows = [np.intersect1d(own, inside) for _, _, inside in groups for own in values.members]
    columns: Columns = {"label": [values.block.name] * len(places)}
    if by is not None:
        columns[by.block.name] = repeat_each([name for name, _, _ in groups], len(values.points))
    columns["value"] = values.names * len(groups)
    columns = rows_by_topic(regression, columns)
    estimates = expected_at(regression, places)
    half = estimates.half_width(level)
    numbers = {
        "expected": estimates.value,
        "lower": np.clip(estimates.value - half, 0.0, 1.0),
        "upper": np.clip(estimates.value + half, 0.0, 1.0),
        "observed": np.array([_mean_proportions(regression, own) for own in rows]),
    }
    columns |= {name: numbers[name].ravel().tolist() for name in numbers}
    n_topics = half.shape[1]
    return columns | {"n_documents": repeat_each(map(len, rows), n_topics)}


def _mean_proportions(regression: "TopicRegression", rows: IntArray) -> FloatArray:
    """The mean proportions of some documents, [T]; NaN without documents."""
    reading, topics = regression._reading, regression._model.groups
    share = np.where(reading.read[rows], reading.document_weights(regression.weight)[rows], 0.0)
    if not share.sum():
        return np.full(len(topics), np.nan)
    proportions = np.nan_to_num(reading.proportions[rows].astype(np.float64))
    return topics.sum(np.asarray(share / share.sum() @ proportions))


def _check_label(regression: "TopicRegression", label: str, owner: str) -> BlockSchema:
    """A label column of the formula; numbers of several columns have no levels."""
    schema, used = regression._space.schema, regression._space.used_labels
    known = {
        block.name: block
        for block in schema.blocks
        if used[schema.slices()[block.name]].any()
        and (block.kind != "number" or len(block.columns) == 1)
    }
    check_known(label, known, "label", owner, "a column of labels of the formula")
    return known[label]
