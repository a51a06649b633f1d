"""Expected topics at values of labels: levels and curves with intervals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.design import Setting, column_numbers, set_label
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


class LabelValue(NamedTuple):
    """A level, a tag or a number in original units, and the documents nearest to it."""

    settings: tuple[Setting, ...]
    name: Any
    rows: IntArray


def shown_values(
    regression: "TopicRegression", block: BlockSchema, n: int | None = None
) -> list[LabelValue]:
    """Values of a label column at which topics are shown: levels or tags that documents have.

    Numbers are an ordered label's values, a grid of `n`, or without `n` the values or quantiles.
    """
    space, design = regression._space, regression._design
    values, start = regression._reading.values, space.schema.slices()[block.name].start
    if block.kind != "number":
        alone, by_label = block.name in design.exclusive, values.tocsc()
        return [
            LabelValue((Setting(j, alone=alone),), name, by_label[:, [j]].indices)
            for j, name in enumerate(block.columns, start)
            if design.carriers[j]
        ]
    numbers = column_numbers(values, start)
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        raise ValueError(f"Every value of {block.name!r} is missing.")
    points = space.single_values(block.name)
    if points is None:
        points = np.unique(known)
        if n is not None:
            points = np.linspace(points[0], points[-1], n)
        elif len(points) > _MOST_VALUES:
            points = np.unique(np.quantile(known, _QUANTILES, method="inverted_cdf"))
    nearest = np.searchsorted((points[1:] + points[:-1]) / 2.0, numbers)
    nearest[np.isnan(numbers)] = -1
    shown = points * block.scale[0] + block.mean[0]
    return [
        LabelValue((Setting(start, point),), round(value, 9) + 0.0, np.flatnonzero(nearest == n))
        for n, (point, value) in enumerate(zip(points.tolist(), shown.tolist(), strict=True))
    ]


def level_columns(regression: "TopicRegression", label: str, level: float) -> Columns:
    """The columns of `TopicRegression.levels`."""
    block = _check_label(regression, label, level, "TopicRegression.levels")
    return _columns(regression, block, None, None, level)


def curve_columns(
    regression: "TopicRegression",
    label: str,
    by: str | None = None,
    n: int = 50,
    level: float = 0.9,
) -> Columns:
    """The columns of `TopicRegression.curve`."""
    owner = "TopicRegression.curve"
    check_whole(n, "n", 2)
    block, schema = _check_label(regression, label, level, owner), regression._space.schema
    if block.kind != "number":
        raise ValueError(
            f"`label` of {owner} must be numeric. {label!r} is of kind {block.kind}: use `levels`."
        )
    if by is not None:
        categories = [own.name for own in schema.blocks if own.kind == "category"]
        check_known(by, categories, "by", owner, "a category of the formula")
    return _columns(regression, block, None if by is None else schema.block(by), n, level)


def observed_means(
    regression: "TopicRegression", label: str, by: str | None, n: int
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Mean values [B] and proportions [B, T] of documents in bins of a number, by level."""
    space = regression._space
    block, start = space.schema.block(label), space.schema.slices()[label].start
    numbers = column_numbers(regression._reading.values, start) * block.scale[0] + block.mean[0]
    known = np.flatnonzero(~np.isnan(numbers))
    groups = {"": known}
    if by is not None:
        shown = shown_values(regression, space.schema.block(by))
        groups = {own.name: np.intersect1d(known, own.rows) for own in shown}
    means = {}
    for name, rows in groups.items():
        order = rows[np.argsort(numbers[rows], kind="stable")]
        bins = np.array_split(order, min(n, len(order)))
        if space.single_values(label) is not None:
            bins = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
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
    penalty = softmax.ridge / max(length, 1.0)
    proportions = reading.proportions[design.rows].astype(np.float64)
    documents = csr_array(space.regressors(design.values)), proportions, weights
    clusters = regression._clusters
    estimates = mean_expected(softmax, *documents, penalty, clusters, parts, topics)
    return estimates._replace(value=value)


def rows_by_topic(
    regression: "TopicRegression", rows: Columns, values: Mapping[str, FloatArray | IntArray]
) -> Columns:
    """A table with a row for each row of an answer and topic; values are [R, T] or [R, 1]."""
    (n_rows,) = {len(own) for own in rows.values()}
    n_topics = len(regression._model.groups)
    table = {name: [value for value in own for _ in range(n_topics)] for name, own in rows.items()}
    table |= topic_part(regression._model, list(range(n_topics)) * n_rows)
    shape = n_rows, n_topics
    return table | {
        name: np.broadcast_to(own, shape).ravel().tolist() for name, own in values.items()
    }


def _columns(
    regression: "TopicRegression",
    block: BlockSchema,
    by: BlockSchema | None,
    n: int | None,
    level: float,
) -> Columns:
    """Expected proportions at values of a label, for all documents or each level of another."""
    groups = [LabelValue((), "", np.arange(len(regression._reading)))]
    if by is not None:
        groups = shown_values(regression, by)
    values = shown_values(regression, block, n)
    pairs = [(value, group) for group in groups for value in values]
    rows: Columns = {"label": [block.name] * len(pairs)}
    if by is not None:
        rows[by.name] = [group.name for _, group in pairs]
    rows["value"] = [value.name for value, _ in pairs]
    places = [(*value.settings, *group.settings) for value, group in pairs]
    members = [np.intersect1d(value.rows, group.rows) for value, group in pairs]
    estimates = expected_at(regression, places)
    half = estimates.half_width(level)
    numbers = {
        "expected": estimates.value,
        "lower": np.clip(estimates.value - half, 0.0, 1.0),
        "upper": np.clip(estimates.value + half, 0.0, 1.0),
        "observed": np.array([_mean_proportions(regression, own) for own in members]),
        "n_documents": np.array([[len(own)] for own in members]),
    }
    return rows_by_topic(regression, rows, numbers)


def _mean_proportions(regression: "TopicRegression", rows: IntArray) -> FloatArray:
    """The mean proportions of some documents, [T]; NaN without documents."""
    reading, topics = regression._reading, regression._model.groups
    share = np.where(reading.read[rows], reading.document_weights(regression.weight)[rows], 0.0)
    if not share.sum():
        return np.full(len(topics), np.nan)
    proportions = np.nan_to_num(reading.proportions[rows].astype(np.float64))
    return topics.sum(np.asarray(share / share.sum() @ proportions))


def _check_label(
    regression: "TopicRegression", label: str, level: float, owner: str
) -> BlockSchema:
    """A label column of the formula; numbers of several columns have no levels."""
    check_share(level, "level", owner)
    schema, used = regression._space.schema, regression._space.used_labels
    known = {
        block.name: block
        for block in schema.blocks
        if used[schema.slices()[block.name]].any()
        and (block.kind != "number" or len(block.columns) == 1)
    }
    check_known(label, known, "label", owner, "a column of labels of the formula")
    return known[label]
