"""Parameters and sums of a scaling function, label by label.

Steps on part of the documents move each label by its own rate, and new labels join a model that
has been fitted. Both need to know which entries of a scaling function's arrays belong to which
label: the last axis of an array is that of the function's own label columns.
"""

from collections.abc import Iterator

import numpy as np

from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.base import Parameters, ScalingFunction
from hdsp.scaling.product import Product


def scale_labels(scaling: ScalingFunction, sums: Parameters, factor: FloatArray) -> Parameters:
    """Sums of `ScalingFunction.statistics`, those of each label times its own `factor` [J]."""
    return {
        name: value * factor[columns] if value.shape[-1] else value
        for name, value, columns in _by_label(scaling, sums, len(factor))
    }


def mix_labels(
    scaling: ScalingFunction, old: Parameters, new: Parameters, rate: FloatArray
) -> Parameters:
    """(1 - rate_j) old + rate_j new, for rates of labels [J]."""
    return {
        name: value + rate[columns] * (new[name] - value) if value.shape[-1] else value
        for name, value, columns in _by_label(scaling, old, len(rate))
    }


def move_labels(
    old: ScalingFunction,
    parameters: Parameters,
    new: ScalingFunction,
    position: IntArray,
    n_topics: int,
    n_labels: int,
) -> Parameters:
    """Parameters of a function that is bound to more labels than before.

    Parameters
    ----------
    old : ScalingFunction
        The function as it was bound.
    parameters : mapping of str to array
        Its parameters.
    new : ScalingFunction
        The same function, bound to more labels.
    position : int array of shape [J]
        The new column of each of the J labels that there were.
    n_topics : int
        The number of topics.
    n_labels : int
        The number of labels there are now.

    Returns
    -------
    mapping of str to array
        New labels have the parameters of `ScalingFunction.initial`.
    """
    moved = dict(new.initial(n_topics, n_labels))
    at = {
        (name.split(":")[-1], int(position[j])): value[..., i]
        for name, value, columns in _by_label(old, parameters, len(position))
        for i, j in enumerate(columns)
        if value.shape[-1]
    }
    for name, value, columns in _by_label(new, dict(moved), n_labels):
        if value.shape[-1]:
            value = value.copy()
            for i, j in enumerate(columns):
                known = at.get((name.split(":")[-1], int(j)))
                if known is not None:
                    value[..., i] = known
            moved[name] = value
    return moved


def _by_label(
    scaling: ScalingFunction, arrays: Parameters, n_labels: int
) -> Iterator[tuple[str, FloatArray, IntArray]]:
    """Each array, and the design's columns along its last axis."""
    for name, value in arrays.items():
        columns = np.arange(n_labels)
        factor = scaling
        if isinstance(scaling, Product) and scaling.split is not None:
            number = int(name.split(":")[0])
            columns, factor = scaling.split[number], scaling.factors[number]
        if value.shape[-1] not in (0, len(columns)):
            raise ValueError(
                f"{type(factor).__name__} cannot be fitted by steps on part of the documents: the "
                f"last axis of {name!r} must be its {len(columns)} label columns. "
                f"Got {value.shape[-1]} entries."
            )
        yield name, value, columns
