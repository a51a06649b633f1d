"""Tables of expected topics at values of a label: levels, curves, differences of effects."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.answers.topic_tables import Columns, name_column, top_words
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
from hdsp.validation import check_share, check_whole, quoted

# Words of a topic in tables.
_WORDS = 5
# A number with more values is shown at these quantiles.
_MOST_VALUES, _QUANTILES = 10, (0.1, 0.25, 0.5, 0.75, 0.9)


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
    block = _block(fitted, label, owner)
    positions, values = _values(fitted, block, None)
    settings = _settings(fitted, block, positions, values)
    found = _estimates(fitted, settings, level, weight)
    n_topics = len(fitted.groups)
    columns: Columns = {"label": [label] * (len(settings) * n_topics)}
    columns["value"] = _repeated(_shown(fitted, block, positions, values), n_topics)
    columns |= _topic_columns(fitted, len(settings))
    columns |= _estimate_columns(found)
    if documents is not None:
        columns |= _observed_columns(fitted, documents, weight, block, positions, values)
    return columns


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
    positions, values = _values(fitted, block, n)
    along = _settings(fitted, block, positions, values)
    groups: list[tuple[str, Setting | None, IntArray | None]] = [("", None, None)]
    if by is not None:
        groups = _levels_of(fitted, documents, by, owner)
    settings: list[Setting] = []
    for _, group, _ in groups:
        settings += along if group is None else [_both(one, group) for one in along]
    found = _estimates(fitted, settings, level, weight)
    n_topics, n_groups = len(fitted.groups), len(groups)
    columns: Columns = {"label": [label] * (len(settings) * n_topics)}
    if by is not None:
        columns[by] = _repeated([name for name, _, _ in groups for _ in along], n_topics)
    columns["value"] = _repeated(_shown(fitted, block, positions, values), n_topics) * n_groups
    columns |= _topic_columns(fitted, len(settings))
    columns |= _estimate_columns(found)
    if documents is not None:
        parts = [
            _observed_columns(fitted, documents, weight, block, positions, values, rows)
            for _, _, rows in groups
        ]
        columns |= {name: [x for part in parts for x in part[name]] for name in parts[0]}
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
    settings: list[Setting] = []
    weights: list[dict[int, float]] = []
    pairs = [(one, other) for one in first for other in second]
    carriers = fitted.training.carriers
    for one, other in pairs:
        own: dict[int, float] = {}
        for w, inner in contrast_settings(fitted.space, one, carriers):
            for v, outer in contrast_settings(fitted.space, other, carriers):
                own[len(settings)] = w * v
                settings.append(_both(inner, outer))
        weights.append(own)
    table = np.zeros((len(pairs), len(settings)))
    for row, own in enumerate(weights):
        table[row, list(own)] = list(own.values())
    found = _estimates(fitted, settings, level, weight, table)
    n_topics = len(fitted.groups)
    columns: Columns = {
        "label": _repeated([one.label for one, _ in pairs], n_topics),
        "contrast": _repeated([one.description for one, _ in pairs], n_topics),
        "by": _repeated([other.description for _, other in pairs], n_topics),
    }
    columns |= _topic_columns(fitted, len(pairs))
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
    parts: list[tuple[str, Setting | None, IntArray | None]] = [("", None, None)]
    if by is not None:
        parts = _levels_of(fitted, documents, by, owner)
    found = {}
    for name, _, rows in parts:
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
    known = [
        block
        for block in fitted.schema.blocks
        if fitted.used[fitted.schema.slices()[block.name]].any()
    ]
    for block in known:
        if block.name == label and (block.kind != "number" or len(block.columns) == 1):
            return block
    raise ValueError(
        f"`label` of {owner} must be a column of labels that has effects: "
        f"{quoted(block.name for block in known) or 'there is none'}. Got {label!r}."
    )


def _values(fitted: FittedModel, block: BlockSchema, n: int | None) -> tuple[IntArray, FloatArray]:
    """The positions of labels and their values, in standard units: levels, or a grid."""
    start = fitted.schema.slices()[block.name].start
    if block.kind != "number":
        carried = fitted.training.carriers[start : start + len(block.columns)] > 0
        positions = start + np.flatnonzero(carried)
        return positions, np.ones(len(positions))
    different, counts = fitted.training.values[start]
    if not len(different):
        raise ValueError(f"Every value of {block.name!r} is missing.")
    single = fitted.space.single_values(block.name)
    if single is not None:
        values = single
    elif n is not None:
        values = np.linspace(different[0], different[-1], n)
    elif len(different) <= _MOST_VALUES:
        values = different
    else:
        place = np.searchsorted(np.cumsum(counts) / counts.sum(), _QUANTILES)
        values = np.unique(different[place])
    return np.full(len(values), start), values


def _settings(
    fitted: FittedModel, block: BlockSchema, positions: IntArray, values: FloatArray
) -> list[Setting]:
    return [
        label_setting(fitted.space, int(j), float(value))
        for j, value in zip(positions, values, strict=True)
    ]


def _both(first: Setting, second: Setting) -> Setting:
    return lambda values: second(first(values))


def _levels_of(
    fitted: FittedModel, documents: ReadDocuments | None, by: str, owner: str
) -> list[tuple[str, Setting | None, IntArray | None]]:
    """The levels of a category: name, setting, and documents at the level."""
    block = next((one for one in fitted.schema.blocks if one.name == by), None)
    if block is None or block.kind != "category":
        known = quoted(one.name for one in fitted.schema.blocks if one.kind == "category")
        raise ValueError(
            f"`by` of {owner} must be a category of the formula: {known or 'there is none'}. "
            f"Got {by!r}."
        )
    positions, values = _values(fitted, block, None)
    settings = _settings(fitted, block, positions, values)
    found: list[tuple[str, Setting | None, IntArray | None]] = []
    start = fitted.schema.slices()[by].start
    for j, setting in zip(positions, settings, strict=True):
        rows = None
        if documents is not None:
            rows = np.flatnonzero(documents.values[:, [int(j)]].toarray()[:, 0])
        found.append((block.columns[j - start], setting, rows))
    return found


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


def _shown(
    fitted: FittedModel, block: BlockSchema, positions: IntArray, values: FloatArray
) -> list[Any]:
    start = fitted.schema.slices()[block.name].start
    if block.kind == "number":
        return [float(value * block.scale[0] + block.mean[0]) for value in values]
    return [block.columns[j] for j in positions - start]


def _repeated(values: Iterable[Any], times: int) -> list[Any]:
    return [value for value in values for _ in range(times)]


def _topic_columns(fitted: FittedModel, n_rows: int) -> Columns:
    """The columns `topic`, `name` if topics have names, and `words`."""
    columns: Columns = {"topic": list(range(len(fitted.groups))) * n_rows}
    columns |= name_column(fitted, columns["topic"])
    columns["words"] = [" ".join(own) for own in top_words(fitted, _WORDS)] * n_rows
    return columns


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


def _observed_columns(
    fitted: FittedModel,
    documents: ReadDocuments,
    weight: Weight,
    block: BlockSchema,
    positions: IntArray,
    values: FloatArray,
    among: IntArray | None = None,
) -> Columns:
    """Mean proportions of documents at each value, or nearest to it, and their number."""
    n_documents = documents.values.shape[0]
    chosen = np.ones(n_documents, dtype=np.bool_)
    if among is not None:
        chosen = np.isin(np.arange(n_documents), among)
    if block.kind == "number":
        number = (_numbers(fitted, documents, block) - block.mean[0]) / block.scale[0]
        nearest = np.searchsorted((values[1:] + values[:-1]) / 2.0, number)
        nearest = np.where(np.isnan(number), -1, nearest)
        members = [np.flatnonzero(chosen & (nearest == one)) for one in range(len(values))]
    else:
        carried = documents.values.tocsc()[:, positions]
        members = [rows[chosen[rows]] for rows in np.split(carried.indices, carried.indptr[1:-1])]
    means = [_mean_found(fitted, documents, weight, rows) for rows in members]
    n_topics = len(fitted.groups)
    return {
        "observed": np.array(means).ravel().tolist(),
        "n_documents": _repeated([len(rows) for rows in members], n_topics),
    }


def _mean_found(
    fitted: FittedModel, documents: ReadDocuments, weight: Weight, rows: IntArray
) -> FloatArray:
    """The mean proportions of some documents, [T]; NaN without documents."""
    lengths = documents.lengths[rows]
    share = lengths if weight == "tokens" else (lengths > 0).astype(np.float64)
    if not share.sum():
        return np.full(len(fitted.groups), np.nan)
    return fitted.groups.sum(share / share.sum() @ documents.proportions[rows])
