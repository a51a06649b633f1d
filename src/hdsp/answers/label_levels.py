"""Tables of expected topics at values of a label: levels, curves, differences of effects."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hdsp.answers.topic_tables import Columns, topic_part
from hdsp.corpus.schema import BlockSchema
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction import (
    Calibration,
    Estimates,
    FittedModel,
    ReadDocuments,
    Setting,
    Weight,
    contrast_settings,
    estimate_levels,
    label_setting,
    make_contrasts,
)
from hdsp.validation import check_known, check_share, check_whole

# A number with more values is shown at these quantiles.
_MOST_VALUES, _QUANTILES = 10, (0.1, 0.25, 0.5, 0.75, 0.9)


class _Values(NamedTuple):
    """Values of a label column: positions of labels, and their values in standard units."""

    fitted: FittedModel
    block: BlockSchema
    positions: IntArray
    values: FloatArray

    @property
    def settings(self) -> list[Setting]:
        """What changes documents to each value."""
        return [
            label_setting(self.fitted.space, int(j), float(value))
            for j, value in zip(self.positions, self.values, strict=True)
        ]

    @property
    def shown(self) -> list[Any]:
        """The names of levels, or numbers in their own units."""
        block = self.block
        if block.kind == "number":
            return [float(value * block.scale[0] + block.mean[0]) for value in self.values]
        start = self.fitted.schema.slices()[block.name].start
        return [block.columns[j - start] for j in self.positions]

    def members(self, documents: ReadDocuments) -> list[IntArray]:
        """The documents at each value, or nearest to it."""
        if self.block.kind != "number":
            carried = documents.values.tocsc()[:, self.positions]
            return np.split(carried.indices, carried.indptr[1:-1])
        number = _numbers(self.fitted, documents, self.block)
        number = (number - self.block.mean[0]) / self.block.scale[0]
        nearest = np.searchsorted((self.values[1:] + self.values[:-1]) / 2.0, number)
        nearest = np.where(np.isnan(number), -1, nearest)
        return [np.flatnonzero(nearest == one) for one in range(len(self.values))]


class _Group(NamedTuple):
    """A level of a category, what changes documents to it, and the documents at it."""

    name: str
    setting: Setting
    rows: IntArray | None


# Documents as they are.
_ALL = [_Group("", lambda values: values, None)]


def level_columns(
    fitted: FittedModel,
    documents: ReadDocuments | None,
    label: str,
    level: float,
    weight: Weight,
    owner: str,
) -> Columns:
    """Expected proportions at the values of a label column, of `TopicRegression.levels`."""
    check_share(level, "level", owner)
    found = _values(fitted, _block(fitted, label, owner), None)
    return _columns(found, documents, None, _ALL, level, weight)


def curve_columns(
    fitted: FittedModel,
    documents: ReadDocuments | None,
    label: str,
    by: str | None,
    n: int,
    level: float,
    weight: Weight,
    owner: str,
) -> Columns:
    """Expected proportions along a number, of `TopicRegression.curve`."""
    check_share(level, "level", owner)
    check_whole(n, "n", 2)
    block = _block(fitted, label, owner)
    if block.kind != "number":
        raise ValueError(
            f"`label` of {owner} must be a number. {label!r} is of kind {block.kind}: its levels "
            "are in `levels`."
        )
    groups = _groups(fitted, documents, by, owner)
    return _columns(_values(fitted, block, n), documents, by, groups, level, weight)


def _columns(
    along: _Values,
    documents: ReadDocuments | None,
    by: str | None,
    groups: list[_Group],
    level: float,
    weight: Weight,
) -> Columns:
    """Expected proportions at values of a label, for each group of documents."""
    fitted, shown = along.fitted, along.shown
    settings = [_both(one, group.setting) for group in groups for one in along.settings]
    found = _estimates(fitted, settings, level, weight)
    n_topics = len(fitted.groups)
    columns: Columns = {"label": [along.block.name] * (len(settings) * n_topics)}
    if by is not None:
        columns[by] = _repeated([group.name for group in groups for _ in shown], n_topics)
    columns["value"] = _repeated(shown * len(groups), n_topics)
    columns |= topic_part(fitted, list(range(n_topics)) * len(settings))
    columns |= _estimate_columns(found)
    if documents is not None:
        members = [
            rows if group.rows is None else np.intersect1d(rows, group.rows)
            for group in groups
            for rows in along.members(documents)
        ]
        means = [_mean_found(fitted, documents, weight, rows) for rows in members]
        columns["observed"] = np.array(means).ravel().tolist()
        columns["n_documents"] = _repeated([len(rows) for rows in members], n_topics)
    return columns


def difference_columns(
    fitted: FittedModel, label: str, by: str, level: float, weight: Weight, owner: str
) -> Columns:
    """How the effects of a label differ between values of another, with intervals."""
    check_share(level, "level", owner)
    used, missing = fitted.used, fitted.missing()
    first, second = (
        make_contrasts(fitted.schema, used, name, None, missing, owner) for name in (label, by)
    )
    if {one.block for one in first} & {one.block for one in second}:
        raise ValueError(f"`by` of {owner} must be another label than `label`. Got {by!r}.")
    pairs = [(one, other) for one in first for other in second]
    carriers = fitted.training.carriers
    parts = [
        (row, w * v, _both(inner, outer))
        for row, (one, other) in enumerate(pairs)
        for w, inner in contrast_settings(fitted.space, one, carriers)
        for v, outer in contrast_settings(fitted.space, other, carriers)
    ]
    rows, weights, settings = zip(*parts, strict=True)
    table = np.zeros((len(pairs), len(settings)))
    table[rows, range(len(settings))] = weights
    found = _estimates(fitted, settings, level, weight, table)
    n_topics = len(fitted.groups)
    columns: Columns = {
        "label": _repeated([one.label for one, _ in pairs], n_topics),
        "contrast": _repeated([one.description for one, _ in pairs], n_topics),
        "by": _repeated([other.description for _, other in pairs], n_topics),
    }
    columns |= topic_part(fitted, list(range(n_topics)) * len(pairs))
    columns |= _estimate_columns(found, "difference")
    return columns


def observed_means(
    fitted: FittedModel,
    documents: ReadDocuments,
    label: str,
    by: str | None,
    n: int,
    weight: Weight,
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Mean values [B] and proportions [B, T] of documents in bins of a number, by level of `by`."""
    owner = "hdsp.plots.curve"
    number = _numbers(fitted, documents, _block(fitted, label, owner))
    found = {}
    for name, _, rows in _groups(fitted, documents, by, owner):
        own = np.arange(len(number)) if rows is None else rows
        own = own[~np.isnan(number[own])]
        if fitted.space.single_values(label) is not None:
            bins = [own[number[own] == value] for value in np.unique(number[own])]
        else:
            # Bins of as many documents.
            bins = np.array_split(own[np.argsort(number[own], kind="stable")], n)
            bins = [one for one in bins if len(one)]
        means = [_mean_found(fitted, documents, weight, one) for one in bins]
        found[name] = np.array([number[one].mean() for one in bins]), np.array(means)
    return found


def _block(fitted: FittedModel, label: str, owner: str) -> BlockSchema:
    known = {
        block.name: block
        for block in fitted.schema.blocks
        if fitted.used[fitted.schema.slices()[block.name]].any()
        and (block.kind != "number" or len(block.columns) == 1)
    }
    check_known(label, known, "label", owner, "a column of labels that has effects")
    return known[label]


def _values(fitted: FittedModel, block: BlockSchema, n: int | None) -> _Values:
    """The levels of a label column; of a number its values, some quantiles, or a grid of n."""
    start = fitted.schema.slices()[block.name].start
    if block.kind != "number":
        carried = fitted.training.carriers[start : start + len(block.columns)] > 0
        positions = start + np.flatnonzero(carried)
        return _Values(fitted, block, positions, np.ones(len(positions)))
    values, counts = fitted.training.values[start]
    if not len(values):
        raise ValueError(f"Every value of {block.name!r} is missing.")
    single = fitted.space.single_values(block.name)
    if single is not None:
        values = single
    elif n is not None:
        values = np.linspace(values[0], values[-1], n)
    elif len(values) > _MOST_VALUES:
        place = np.searchsorted(np.cumsum(counts) / counts.sum(), _QUANTILES)
        values = np.unique(values[place])
    return _Values(fitted, block, np.full(len(values), start), values)


def _both(first: Setting, second: Setting) -> Setting:
    return lambda values: second(first(values))


def _groups(
    fitted: FittedModel, documents: ReadDocuments | None, by: str | None, owner: str
) -> list[_Group]:
    """The levels of a category; all documents without one."""
    if by is None:
        return _ALL
    known = {one.name: one for one in fitted.schema.blocks if one.kind == "category"}
    check_known(by, known, "by", owner, "a category of the formula")
    levels = _values(fitted, known[by], None)
    rows = [None] * len(levels.values) if documents is None else levels.members(documents)
    return [_Group(*one) for one in zip(levels.shown, levels.settings, rows, strict=True)]


def _estimates(
    fitted: FittedModel,
    settings: Sequence[Setting],
    level: float,
    weight: Weight,
    weights: FloatArray | None = None,
) -> Estimates:
    calibration: Calibration = getattr(fitted.calibrations, weight)
    sample, groups = fitted.training.sample, fitted.groups
    return estimate_levels(calibration, fitted.space, sample, settings, level, groups, weights)


def _repeated(values: Iterable[Any], times: int) -> list[Any]:
    return [value for value in values for _ in range(times)]


def _estimate_columns(found: Estimates, name: str = "expected") -> Columns:
    lower, upper = found.lower, found.upper
    if name == "expected":
        lower, upper = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
    return {
        name: found.expected.ravel().tolist(),
        "lower": lower.ravel().tolist(),
        "upper": upper.ravel().tolist(),
    }


def _numbers(fitted: FittedModel, documents: ReadDocuments, block: BlockSchema) -> FloatArray:
    """The documents' values of a number, in its own units, [M]; NaN where it is missing."""
    start = fitted.schema.slices()[block.name].start
    own = csr_array(documents.values[:, [start]])
    number = np.full(own.shape[0], np.nan)
    rows = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
    number[rows] = own.data * block.scale[0] + block.mean[0]
    return number


def _mean_found(
    fitted: FittedModel, documents: ReadDocuments, weight: Weight, rows: IntArray
) -> FloatArray:
    """The mean proportions of some documents, [T]; NaN without documents."""
    lengths = documents.lengths[rows]
    share = lengths if weight == "tokens" else (lengths > 0).astype(np.float64)
    if not share.sum():
        return np.full(len(fitted.groups), np.nan)
    return fitted.groups.sum(share / share.sum() @ documents.proportions[rows])
