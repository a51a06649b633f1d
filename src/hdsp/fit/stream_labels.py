"""Labels of further documents: those that join a stream, and those that do not fit what it saw."""

from dataclasses import replace
from typing import Any

import numpy as np

from hdsp.corpus import Labels, LabelSchema, as_labels
from hdsp.corpus.frames import is_frame
from hdsp.corpus.schema import BlockSchema

# Numbers may be so many times their scale, or their mean, from those seen before.
_FARTHEST = 1e9


def read_further_labels(schema: LabelSchema, labels: Any, n_documents: int, owner: str) -> Labels:
    """Labels of further documents: known columns as training read them, new ones by their type."""
    known = schema.read(labels, n_documents, owner)
    if isinstance(labels, Labels) or not is_frame(labels):
        return known
    names = {block.name for block in schema.blocks}
    found = as_labels(labels, n_documents, owner).blocks
    grown = {block.name: block.columns for block in grown_schema(schema, known).blocks}
    for block in found:
        if block.kind == "number" and block.name in names:
            before = schema.block(block.name)
            if before.kind != "number" and len(grown[block.name]) > len(before.columns):
                raise ValueError(
                    f"`labels` of {owner} must be of the kinds that earlier calls saw. Got numbers "
                    f"in {block.name!r}, which was of kind {before.kind}. Convert the column to "
                    "its levels, or give it another name."
                )
    return Labels((*known.blocks, *(b for b in found if b.name not in names)), n_documents)


def check_numbers(schema: LabelSchema, labels: Labels) -> None:
    """Raise if a number is so far from those seen that no scale would fit both."""
    standards = {
        (block.name, name): (mean, scale)
        for block in schema.blocks
        for name, mean, scale in zip(block.columns, block.mean, block.scale, strict=False)
    }
    for block in labels.blocks:
        for j, name in enumerate(block.columns):
            if (block.name, name) not in standards:
                continue
            mean, scale = standards[block.name, name]
            numbers = block.values.data[block.values.indices == j]
            far = np.abs(numbers - mean) > _FARTHEST * max(scale, abs(mean))
            if far.any():
                raise ValueError(
                    f"Numbers of HDSP.partial_fit must be within {_FARTHEST:,.0f} times those seen "
                    f"before. Got {numbers[far][0]:g} in {name!r}, where the mean was {mean:g} and "
                    f"the standard deviation {scale:g}. Correct it, or leave it missing."
                )


def grown_schema(schema: LabelSchema, labels: Labels) -> LabelSchema:
    """A schema with the tags, levels and columns of `labels` that it does not have yet.

    Numbers keep the mean and scale that they have.
    """
    new = {block.name: block for block in labels.blocks if block.columns}
    blocks = []
    for block in schema.blocks:
        found = new.pop(block.name, None)
        if found is not None and block.kind != "number":
            carried = np.bincount(found.values.indices, minlength=len(found.columns)) > 0
            known = set(block.columns)
            further = [
                name
                for name, seen in zip(found.columns, carried, strict=True)
                if seen and name not in known
            ]
            block = replace(block, columns=(*block.columns, *further))
        blocks.append(block)
    return LabelSchema((*blocks, *(BlockSchema.of(block) for block in new.values())))
