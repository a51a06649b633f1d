"""The candidates for a label that a user wants predicted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import LabelSchema
from hdsp.corpus.values import level_name, written_number
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.classify import Candidates, nearest_counts
from hdsp.prediction.fitted import FittedModel
from hdsp.prediction.label_regression import level_log_prior, tag_log_odds
from hdsp.validation import quoted

_OWNER = "HDSP.predict_labels"
# Standard deviations from the mean of training, beyond which a number's topics are no guess.
_FARTHEST = 1_000.0


def make_candidates(model: FittedModel, target: Any, values: Any, prior: bool) -> Candidates:
    """The candidates for the labels `target`: levels, values or tags."""
    schema = model.schema
    names = [block.name for block in schema.blocks if block.columns]
    if target not in names:
        raise ValueError(
            f"`target` of {_OWNER} must be labels that the model was trained with. Got "
            f"{target!r}. It has {quoted(names) or 'none'}."
        )
    if model.missing()[schema.slices()[target]].all():
        raise ValueError(
            f"`target` of {_OWNER} must be labels that documents had in training. {target!r} had "
            "no value in any of them."
        )
    chosen = None if values is None else _as_list(values)
    if schema.kind(target) == "number":
        return _number_candidates(model, target, chosen, prior)
    return _indicator_candidates(model, target, chosen, prior)


def without_target(schema: LabelSchema, target: str, labels: csr_array) -> csr_array:
    """The values of labels [M, n_labels] without the target's."""
    other = np.ones(schema.n_labels)
    other[schema.slices()[target]] = 0.0
    known = csr_array(labels.multiply(other))
    known.eliminate_zeros()
    return known


def _indicator_candidates(
    model: FittedModel, target: str, values: list[Any] | None, prior: bool
) -> Candidates:
    """Levels of a category, which are exclusive, or tags, which are independent."""
    schema = model.schema
    block = schema.block(target)
    names = block.columns if values is None else tuple(map(_level, values))
    position = {name: number for number, name in enumerate(block.columns)}
    unknown = [name for name in names if name not in position]
    if unknown:
        raise ValueError(
            f"`values` of {_OWNER} must be among those of {target!r} in training. Got "
            f"{quoted(map(str, unknown))}. There are {quoted(block.columns)}."
        )
    start = schema.slices()[target].start
    columns = np.array([start + position[name] for name in names])
    carriers = model.training.carriers[columns]
    exclusive = block.kind == "category"
    log_prior: FloatArray
    if not prior:
        log_prior = np.zeros(len(columns))
    elif exclusive:
        log_prior = level_log_prior(carriers)
    else:
        log_prior = tag_log_odds(carriers, model.training.n_documents)
    entries = _entries(columns, np.ones(len(columns)), schema.n_labels)
    return Candidates(target, tuple(names), columns - start, entries, log_prior, exclusive)


def _number_candidates(
    model: FittedModel, target: str, values: list[Any] | None, prior: bool
) -> Candidates:
    """Values of a number."""
    schema = model.schema
    block = schema.block(target)
    if len(block.columns) != 1:
        raise ValueError(
            f"`target` of {_OWNER} must be a single number. Got {target!r}, which has "
            f"{len(block.columns)} columns. Train with a table, a column for each."
        )
    column = schema.slices()[target].start
    observed = model.training.values[column]
    if values is None:
        numbers = block.mean[0] + block.scale[0] * observed[0]
        # Values were standardised in single precision, which keeps six digits.
        numbers = np.unique([float(f"{number:.6g}") for number in numbers])
    else:
        numbers = np.array([written_number(value) for value in values], dtype=np.float64)
    middle, unit = block.mean[0], block.scale[0]
    coded = (numbers - middle) / unit
    near = np.abs(coded) <= _FARTHEST
    if values is not None and not near.all():
        raise ValueError(
            f"`values` of {_OWNER} must be numbers near those of training, from "
            f"{middle - _FARTHEST * unit:.4g} to {middle + _FARTHEST * unit:.4g}. Got "
            f"{values[int(near.argmin())]!r}."
        )
    log_prior: FloatArray = np.zeros(len(coded))
    if prior:
        log_prior = level_log_prior(nearest_counts(coded, observed))
    columns = np.full(len(coded), column)
    return Candidates(
        target,
        tuple(f"{number:.10g}" for number in numbers),
        np.zeros(len(coded), dtype=np.int64),
        _entries(columns, coded, schema.n_labels),
        log_prior,
        exclusive=True,
    )


def _entries(columns: IntArray, values: FloatArray, n_labels: int) -> csr_array:
    """One row per candidate, with one entry."""
    return csr_array((values, columns, np.arange(len(columns) + 1)), shape=(len(columns), n_labels))


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
        raise TypeError(f"`values` of {_OWNER} must be a list. Got {type(values).__name__}.")
    result = list(values)
    if not result:
        raise ValueError(f"`values` of {_OWNER} is empty: name at least one, or leave it out.")
    if len(set(map(str, result))) < len(result):
        raise ValueError(f"`values` of {_OWNER} must be different from each other.")
    return result


def _level(value: Any) -> str:
    """The name of a level, which may be given as a boolean or a number."""
    name = level_name(value)
    return repr(value) if name is None else name
