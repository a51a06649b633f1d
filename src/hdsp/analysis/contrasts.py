"""Contrasts of labels: what is compared, by names, and the values of labels on both sides."""

import difflib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from hdsp.checks import quoted
from hdsp.corpus import LabelSchema
from hdsp.corpus.columns import level_name, parse_number
from hdsp.corpus.schema import BlockSchema
from hdsp.numerics import BoolArray, FloatArray

# In standard deviations; beyond it, single precision overflows.
_FARTHEST = 1e30
# Numeric labels are compared between these percentiles.
PERCENTILES = (10.0, 90.0)

# Takes values of labels [U, n_labels], and returns them with some labels set.
Setting = Callable[[csr_array], csr_array]


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
        column's other levels.
    start, stop : float
        Two values of a numeric label, in standard units.
    levels : bool, default=False
        Whether documents have exactly one of the column's labels.
    """

    label: str
    description: str
    block: str
    second: int
    first: int | None = None
    start: float = 0.0
    stop: float = 1.0
    levels: bool = False


def make_contrasts(
    schema: LabelSchema,
    used: BoolArray,
    labels: Any,
    contrast: Any,
    ends: dict[int, FloatArray],
    levels: Collection[str],
    owner: str,
) -> list[Contrast]:
    """The contrasts of the chosen labels, in the order of the label space.

    Parameters
    ----------
    schema : LabelSchema
        The labels.
    used : bool array of shape [n_labels]
        Which of them the formula has, and some document.
    labels : str, list of str or None
        Names of labels or of whole columns; None is all.
    contrast : pair or None
        Two levels of the category, or two values of the numeric label, that `labels` names.
    ends : dict of int to float array of shape [2]
        The values between which numeric labels are compared, in standard units.
    levels : collection of str
        Categories, and tags of which each document has exactly one.
    owner : str
        The method that was called, for messages.
    """
    chosen = choose_labels(schema, labels, owner)
    names = schema.names
    if chosen is not None and chosen and not used[sorted(chosen)].any():
        raise ValueError(
            f"`labels` of {owner}: {quoted(names[j] for j in sorted(chosen)[:5])} has no effects: "
            "it is not in the formula, it names groups of documents, or no document has it."
        )
    if contrast is not None:
        return [_make_pair(schema, chosen, contrast, owner)]
    result = []
    for block in schema.blocks:
        start = schema.slices()[block.name].start
        for j, column in enumerate(block.columns, start=start):
            if not used[j] or (chosen is not None and j not in chosen):
                continue
            if block.kind == "number":
                place = j - start
                low, high = ends[j]
                told = " - ".join(
                    f"{value * block.scale[place] + block.mean[place]:.6g}" for value in (high, low)
                )
                one = Contrast(names[j], told, block.name, j, start=float(low), stop=float(high))
            elif block.name not in levels:
                one = Contrast(names[j], "with - without", block.name, j)
            else:
                described = f"{column} - other {block.name}"
                one = Contrast(names[j], described, block.name, j, levels=True)
            result.append(one)
    return result


def choose_labels(schema: LabelSchema, labels: Any, owner: str) -> set[int] | None:
    """Positions of labels by their names, or those of their columns; None is all."""
    if labels is None:
        return None
    wanted = [labels] if isinstance(labels, str) else labels
    if not isinstance(wanted, Iterable) or not all(isinstance(name, str) for name in wanted):
        raise TypeError(f"`labels` of {owner} must be None, a name or a list of names.")
    slices = schema.slices()
    position = {name: j for j, name in enumerate(schema.names)}
    plain = {c: slices[b.name].start + i for b in schema.blocks for i, c in enumerate(b.columns)}
    chosen: set[int] = set()
    for name in wanted:
        if name in slices:
            chosen.update(range(slices[name].start, slices[name].stop))
        elif name in position or name in plain:
            chosen.add(position.get(name, plain.get(name, -1)))
        else:
            near = difflib.get_close_matches(name, [*slices, *position, *plain], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ValueError(
                f"`labels` of {owner}: the model has no label {name!r}{hint} It has the columns "
                f"{quoted(slices)}."
            )
    return chosen


def _make_pair(schema: LabelSchema, chosen: set[int] | None, contrast: Any, owner: str) -> Contrast:
    """The contrast between two levels of a category, or two values of a numeric label."""
    try:
        first, second = contrast
    except (TypeError, ValueError):
        raise ValueError(
            f"`contrast` of {owner} must be two levels of a category, or two values of a "
            f"numeric label, got {contrast!r}."
        ) from None
    slices = schema.slices()
    whole = [
        block
        for block in schema.blocks
        if chosen and chosen == set(range(slices[block.name].start, slices[block.name].stop))
    ]
    if not whole or whole[0].kind == "tags" or len(whole[0].mean) > 1:
        raise ValueError(
            f"`contrast` of {owner} needs `labels` to name one category or one numeric label."
        )
    (block,) = whole
    start = slices[block.name].start
    described = f"{second} - {first}"
    if block.kind == "number":
        low, high = (standard_value(block, value, owner) for value in (first, second))
        return Contrast(block.name, described, block.name, start, start=low, stop=high)
    levels = [level_name(value) for value in (first, second)]
    for value, level in zip((first, second), levels, strict=True):
        if level not in block.columns:
            raise ValueError(
                f"`contrast` of {owner}: {block.name!r} has no level {value!r}. "
                f"Its levels are {quoted(block.columns)}."
            )
    places = [start + block.columns.index(str(level)) for level in levels]
    return Contrast(block.name, described, block.name, places[1], first=places[0], levels=True)


def standard_value(block: BlockSchema, value: Any, owner: str) -> float:
    """A number or date in the standard units of a numeric label."""
    number = parse_number(value)
    if number is None:
        raise ValueError(
            f"`contrast` of {owner} must be two numbers or dates, since {block.name!r} is "
            f"numeric, got {value!r}."
        )
    found = (number - block.mean[0]) / block.scale[0]
    if not abs(found) <= _FARTHEST:
        raise ValueError(f"`contrast` of {owner} must be two finite numbers, got {value!r}.")
    return float(found)


def label_setting(schema: LabelSchema, position: int, value: float, only: bool = False) -> Setting:
    """The setting in which all documents have a label, or with 0 lack a tag.

    Parameters
    ----------
    schema : LabelSchema
        The labels.
    position : int
        The position of a level, tag or number among all labels.
    value : float
        The value of a number, in standard units; 1 for a level or a tag, 0 for no tag.
    only : bool, default=False
        Whether documents have no other tag of the column.
    """
    name, columns = next(
        (name, own) for name, own in schema.slices().items() if own.start <= position < own.stop
    )
    place = position - columns.start
    kind = "category" if only else schema.kind(name)

    def setting(values: csr_array) -> csr_array:
        own = csr_array(values[:, columns])
        n_rows, n_labels = own.shape
        if kind != "category":
            others = np.ones(n_labels)
            others[place] = 0.0
            own = csr_array(own.multiply(others))
            own.eliminate_zeros()
        block = csr_array(
            (np.full(n_rows, value), np.full(n_rows, place), np.arange(n_rows + 1)),
            shape=(n_rows, n_labels),
        )
        if kind == "tags" and value == 0.0:
            block = own
        elif kind != "category" and n_labels > 1:
            # Adding keeps a zero that is stored, as long as nothing else is added to it.
            block = csr_array(own + block)
        parts = [values[:, : columns.start], block, values[:, columns.stop :]]
        return csr_array(hstack(parts, format="csr"))

    return setting


def contrast_settings(
    schema: LabelSchema, contrast: Contrast, carriers: FloatArray
) -> list[tuple[float, Setting]]:
    """The settings that a contrast compares, with their weights, which sum to 0.

    `carriers` [n_labels] say how many documents have each label.
    """
    kind, second = schema.kind(contrast.block), contrast.second
    if not contrast.levels and kind == "tags":
        return [(sign, label_setting(schema, second, on)) for sign, on in ((1.0, 1.0), (-1.0, 0.0))]
    if kind == "number":
        ends = ((1.0, contrast.stop), (-1.0, contrast.start))
        return [(sign, label_setting(schema, second, value)) for sign, value in ends]
    if contrast.first is not None:
        pair = ((1.0, second), (-1.0, contrast.first))
        return [(sign, label_setting(schema, j, 1.0, only=True)) for sign, j in pair]
    columns = schema.slices()[contrast.block]
    others = np.arange(columns.start, columns.stop)
    others = others[(others != second) & (carriers[others] > 0)]
    share = carriers[others] / max(carriers[others].sum(), 1e-300)
    return [
        (1.0, label_setting(schema, second, 1.0, only=True)),
        *(
            (-float(f), label_setting(schema, int(j), 1.0, only=True))
            for j, f in zip(others, share, strict=True)
        ),
    ]


def compose(first: Setting, second: Setting) -> Setting:
    """Both settings, one after the other."""
    return lambda values: second(first(values))


def percentile_ends(values: csr_array, schema: LabelSchema) -> dict[int, FloatArray]:
    """The 10th and 90th percentiles of numeric labels, or lowest and highest if these are equal.

    In standard units, by position; labels without values are left out.
    """
    found: dict[int, FloatArray] = {}
    by_label = values.tocsc()
    for block in schema.blocks:
        columns = schema.slices()[block.name]
        for j in range(columns.start, columns.stop) if block.kind == "number" else ():
            own = by_label.data[by_label.indptr[j] : by_label.indptr[j + 1]]
            if len(own):
                ends = np.percentile(own, PERCENTILES, method="inverted_cdf")
                found[j] = ends if ends[0] < ends[1] else np.array([own.min(), own.max()])
    return found
