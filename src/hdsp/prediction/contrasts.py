"""The contrasts that a user asks for, by the names of labels."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hdsp.corpus import LabelSchema
from hdsp.corpus.values import level_name, written_number
from hdsp.numerics.types import BoolArray
from hdsp.prediction.sides import Contrast
from hdsp.validation import quoted

_OWNER = "HDSP.label_effects"
# In standard deviations; beyond it, single precision overflows.
_FARTHEST = 1e30


def make_contrasts(
    schema: LabelSchema,
    used: BoolArray,
    labels: Any,
    contrast: Any,
    missing: BoolArray | None = None,
    owner: str = _OWNER,
) -> list[Contrast]:
    """The contrasts of the chosen labels, in the order of the label space.

    Parameters
    ----------
    schema : LabelSchema
        The labels of training.
    used : bool array of shape [J]
        Which labels the scaling function takes.
    labels : str, list of str or None
        Names of labels or of whole columns; None is all.
    contrast : pair or None
        Two levels of the category, or two values of the number, that `labels` names.
    missing : bool array of shape [J] or None, default=None
        Labels that no training document has: they are left out, or refused if they are named.
    owner : str, default="HDSP.label_effects"
        The method that was asked, for messages.
    """
    if missing is None:
        missing = np.zeros(len(used), dtype=np.bool_)
    chosen = _chosen_columns(schema, labels, owner)
    slices, names = schema.slices(), schema.names
    if chosen and missing[sorted(chosen)].all():
        raise ValueError(
            f"`labels` of {owner} must name labels that documents had in training. "
            f"{quoted(names[j] for j in sorted(chosen))} had no value in any of them."
        )
    if contrast is not None:
        return [_pair(schema, chosen, contrast, owner)]
    result = []
    for block in schema.blocks:
        start = slices[block.name].start
        for position, column in enumerate(block.columns):
            j = start + position
            if not used[j] or missing[j] or (chosen is not None and j not in chosen):
                continue
            if block.kind == "number":
                unit = f"per SD of {block.scale[position]:.4g}"
                result.append(Contrast(names[j], unit, block.name, j))
            elif block.kind == "tags":
                result.append(Contrast(names[j], "with - without", block.name, j))
            else:
                described = f"{column} - other {block.name}"
                result.append(Contrast(names[j], described, block.name, j))
    return result


def _chosen_columns(schema: LabelSchema, labels: Any, owner: str) -> set[int] | None:
    if labels is None:
        return None
    wanted = [labels] if isinstance(labels, str) else labels
    if not isinstance(wanted, Iterable) or not all(isinstance(name, str) for name in wanted):
        raise TypeError(f"`labels` of {owner} must be None, a name or a list of names.")
    slices = schema.slices()
    position = {name: j for j, name in enumerate(schema.names)}
    chosen: set[int] = set()
    for name in wanted:
        if name in slices:
            chosen.update(range(slices[name].start, slices[name].stop))
        elif name in position:
            chosen.add(position[name])
        else:
            raise ValueError(
                f"`labels` of {owner} names {name!r}, which the model does not know. It knows "
                f"{quoted((*slices, *position))}."
            )
    return chosen


def _pair(schema: LabelSchema, chosen: set[int] | None, contrast: Any, owner: str) -> Contrast:
    """The contrast between two levels of a category, or two values of a number."""
    try:
        first, second = contrast
    except (TypeError, ValueError):
        raise ValueError(
            f"`contrast` of {owner} must be two levels of a category, or two values of a "
            f"number. Got {contrast!r}."
        ) from None
    slices = schema.slices()
    whole = [
        block
        for block in schema.blocks
        if chosen and chosen == set(range(slices[block.name].start, slices[block.name].stop))
    ]
    if not whole or whole[0].kind == "tags" or len(whole[0].mean) > 1:
        raise ValueError(
            f"`contrast` of {owner} needs `labels` to name one category or one number."
        )
    (block,) = whole
    start = slices[block.name].start
    described = f"{second} - {first}"
    if block.kind == "number":
        numbers = [written_number(value) for value in (first, second)]
        if None in numbers:
            raise ValueError(
                f"`contrast` of {owner} must be two numbers or dates, since {block.name!r} is a "
                f"number. Got {contrast!r}."
            )
        low, high = ((x - block.mean[0]) / block.scale[0] for x in numbers if x is not None)
        if not max(abs(low), abs(high)) <= _FARTHEST:
            raise ValueError(
                f"`contrast` of {owner} must be two finite numbers of the size of those in "
                f"training. Got {contrast!r}."
            )
        return Contrast(block.name, described, block.name, start, start=low, stop=high)
    levels = [level_name(value) for value in (first, second)]
    for value, level in zip((first, second), levels, strict=True):
        if level not in block.columns:
            raise ValueError(
                f"`contrast` of {owner} names {value!r}, which is no level of {block.name!r}. "
                f"Its levels are {quoted(block.columns)}."
            )
    return Contrast(
        block.name,
        described,
        block.name,
        start + block.columns.index(str(levels[1])),
        first=start + block.columns.index(str(levels[0])),
    )
