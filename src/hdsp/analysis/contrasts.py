"""Contrasts of labels: what is compared, by names, and the values of labels on both sides."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hdsp.checks import quoted
from hdsp.corpus import LabelSchema
from hdsp.corpus.columns import level_name, parse_number
from hdsp.corpus.schema import BlockSchema
from hdsp.numerics import FloatArray

if TYPE_CHECKING:
    from hdsp.analysis.effects import TopicRegression

# In standard deviations; beyond it, single precision overflows.
_FARTHEST = 1e30
# Numeric labels are compared between these percentiles.
PERCENTILES = (10.0, 90.0)


class Setting(NamedTuple):
    """A label at a value that all documents get: 1 for levels and tags, 0 for no tag.

    Numbers are in standard units; `alone` takes the column's other tags away.
    """

    label: int
    value: float = 1.0
    alone: bool = False


@dataclass(frozen=True)
class Contrast:
    """One comparison of two settings of a label column; `first` None is its other levels."""

    label: str
    description: str
    block: str
    second: Setting
    first: Setting | None

    @property
    def labels(self) -> list[int]:
        """The positions of the labels that are compared."""
        return sorted({self.second.label, (self.first or self.second).label})


def make_contrasts(
    regression: "TopicRegression", labels: Any, contrast: Any, owner: str
) -> list[Contrast]:
    """The contrasts of named labels that have effects, in the order of the schema.

    Numbers are compared between percentiles; of exclusive columns, documents have exactly one
    label.
    """
    schema, used = regression._space.schema, regression._used
    ends, names = regression._ends, schema.names
    chosen = _choose_labels(schema, labels, owner)
    if chosen and not used[chosen].any():
        raise ValueError(
            f"`labels` of {owner}: {quoted(names[j] for j in chosen[:5])} has no effects: "
            "it is not in the formula, it names groups of documents, or no document has it."
        )
    if contrast is not None:
        return [_make_pair(schema, chosen, contrast, owner)]
    contrasts = []
    for block in schema.blocks:
        for place, j in enumerate(range(*schema.slices()[block.name].indices(schema.n_labels))):
            if not used[j] or (chosen is not None and j not in chosen):
                continue
            first: Setting | None = Setting(j, 0.0)
            second, description = Setting(j), "with - without"
            if block.kind == "number":
                first, second = (Setting(j, float(end)) for end in ends[j])
                values = ends[j][::-1] * block.scale[place] + block.mean[place]
                description = " - ".join(f"{value:.6g}" for value in values)
            elif block.name in regression._design.exclusive:
                first, second = None, Setting(j, alone=True)
                description = f"{block.columns[place]} - other {block.name}"
            contrasts.append(Contrast(names[j], description, block.name, second, first))
    return contrasts


def _choose_labels(schema: LabelSchema, labels: Any, owner: str) -> list[int] | None:
    """Positions of labels by their names, or those of their columns; None is all."""
    if labels is None:
        return None
    slices = schema.slices()
    columns = [name for block in schema.blocks for name in block.columns]
    known: dict[Any, Iterable[int]] = {}
    for names in (columns, schema.names):
        known |= {name: [j] for j, name in enumerate(names)}
    known |= {name: range(own.start, own.stop) for name, own in slices.items()}
    wanted = labels if isinstance(labels, Iterable) and not isinstance(labels, str) else [labels]
    positions: set[int] = set()
    for name in wanted:
        if not isinstance(name, str):
            raise TypeError(f"`labels` of {owner} must be None, a name or a list of names.")
        if name not in known:
            near = difflib.get_close_matches(name, list(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ValueError(
                f"`labels` of {owner}: the model has no label {name!r}{hint} It has the columns "
                f"{quoted(slices)}."
            )
        positions.update(known[name])
    return sorted(positions)


def _make_pair(
    schema: LabelSchema, chosen: list[int] | None, contrast: Any, owner: str
) -> Contrast:
    """The contrast between two levels of a category, or two values of a numeric label."""
    try:
        first, second = contrast
    except (TypeError, ValueError):
        raise ValueError(
            f"`contrast` of {owner} must be two levels of a category, or two values of a "
            f"numeric label, got {contrast!r}."
        ) from None
    slices = schema.slices()
    whole = {tuple(range(own.start, own.stop)): name for name, own in slices.items()}
    name = whole.get(tuple(chosen or ()), "")
    if not name or schema.kind(name) == "tags" or len(schema.block(name).mean) > 1:
        raise ValueError(
            f"`contrast` of {owner} needs `labels` to name one category or one numeric label."
        )
    block, start = schema.block(name), slices[name].start
    low, high = (_setting_of(block, start, value, owner) for value in (first, second))
    return Contrast(name, f"{second} - {first}", name, high, low)


def _setting_of(block: BlockSchema, start: int, value: Any, owner: str) -> Setting:
    """A level of a category, or a number or date in the standard units of a numeric label."""
    if block.kind != "number":
        if level_name(value) not in block.columns:
            raise ValueError(
                f"`contrast` of {owner}: {block.name!r} has no level {value!r}. "
                f"Its levels are {quoted(block.columns)}."
            )
        return Setting(start + block.columns.index(str(level_name(value))), alone=True)
    number = parse_number(value)
    if number is None or not abs(number) <= _FARTHEST * block.scale[0]:
        raise ValueError(
            f"`contrast` of {owner} must be two finite numbers or dates, since {block.name!r} is "
            f"numeric, got {value!r}."
        )
    return Setting(start, float((number - block.mean[0]) / block.scale[0]))


def contrast_matrix(
    schema: LabelSchema, contrasts: Sequence[Contrast], carriers: FloatArray
) -> tuple[list[Setting], FloatArray]:
    """The settings that contrasts of one column compare, and their weights [C, S].

    Other levels are weighted by `carriers` [n_labels]; rows without other levels are NaN.
    """
    sides = (side for row in contrasts for side in (row.second, row.first) if side is not None)
    settings = dict.fromkeys(sides)
    if any(row.first is None for row in contrasts):
        columns = schema.slices()[contrasts[0].block]
        levels = range(columns.start, columns.stop)
        settings |= dict.fromkeys(Setting(j, alone=True) for j in levels if carriers[j] > 0)
    place = {setting: number for number, setting in enumerate(settings)}
    frequency = carriers[[setting.label for setting in settings]]
    weights = np.zeros((len(contrasts), len(settings)))
    for row, contrast in zip(weights, contrasts, strict=True):
        if contrast.first is None:
            others = np.where(np.arange(len(row)) == place[contrast.second], 0.0, frequency)
            row -= others / (others.sum() or np.nan)
        else:
            row[place[contrast.first]] -= 1.0
        row[place[contrast.second]] += 1.0
    return list(settings), weights


def set_label(values: csr_array, schema: LabelSchema, setting: Setting) -> csr_array:
    """Values of labels [M, n_labels] in which all documents have a setting."""
    label, value, alone = setting
    name, columns = next(
        (name, own) for name, own in schema.slices().items() if own.start <= label < own.stop
    )
    kind, entries = schema.kind(name), values.tocoo()
    if not (alone or kind == "category"):
        columns = slice(label, label + 1)
    kept = (entries.col < columns.start) | (entries.col >= columns.stop)
    rows = np.arange(0 if kind == "tags" and value == 0.0 else values.shape[0])
    data = np.concatenate([entries.data[kept], np.full(len(rows), value)])
    place = (
        np.concatenate([entries.row[kept], rows]),
        np.concatenate([entries.col[kept], np.full(len(rows), label)]),
    )
    return csr_array((data, place), shape=values.shape)


def column_numbers(values: csr_array, column: int) -> FloatArray:
    """The stored values of a column, NaN for others, [M]."""
    stored = csr_array(values[:, [column]]).tocoo()
    numbers = np.full(values.shape[0], np.nan)
    numbers[stored.row] = stored.data
    return numbers


def percentile_ends(values: csr_array, schema: LabelSchema) -> dict[int, FloatArray]:
    """The 10th and 90th percentiles of numeric labels, or lowest and highest if these are equal.

    In standard units, by position; labels without values are left out.
    """
    ends: dict[int, FloatArray] = {}
    by_label = values.tocsc()
    for name, columns in schema.slices().items():
        for j in range(columns.start, columns.stop) if schema.kind(name) == "number" else ():
            known = by_label.data[by_label.indptr[j] : by_label.indptr[j + 1]]
            if len(known):
                ends[j] = np.percentile(known, PERCENTILES, method="inverted_cdf")
                if ends[j][0] == ends[j][1]:
                    ends[j] = np.array([known.min(), known.max()])
    return ends
