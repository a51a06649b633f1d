"""From what a user writes (`scaling=`) to a function bound to the columns of a label design."""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus.labels import Labels
from hdsp.corpus.schema import LabelSchema
from hdsp.numerics.types import BoolArray
from hdsp.scaling.base import Design, ScalingFunction
from hdsp.scaling.categorical import Categorical
from hdsp.scaling.constant import Constant
from hdsp.scaling.functions import FUNCTIONS
from hdsp.scaling.loglinear import LogLinear
from hdsp.scaling.product import Product


def bind_scaling(scaling: "str | ScalingFunction", schema: LabelSchema) -> ScalingFunction:
    """The scaling function with the columns of its factors chosen, for designs of a schema.

    Parameters
    ----------
    scaling : ScalingFunction or "auto"
        ``"auto"`` is `Categorical` on tags and categories times `LogLinear` on numbers.
    schema : LabelSchema
        The label columns and their kinds.

    Returns
    -------
    ScalingFunction
        A product with its `split`, or `Constant` where no label is left to scale topics.

    Notes
    -----
    Factors that name columns take those; then each factor without names, the one that takes fewer
    kinds first (`Categorical` before `LogLinear`), takes what is left of its kinds.
    """
    if isinstance(scaling, str):
        if scaling != "auto":
            raise ValueError(
                "`scaling` of HDSP must be 'auto' or a scaling function such as "
                f"Categorical('tags') * LogLinear('rating'). Got {scaling!r}."
            )
        factors: tuple[ScalingFunction, ...] = (Categorical(), LogLinear())
        required = False
    elif isinstance(scaling, ScalingFunction):
        factors = scaling.factors if isinstance(scaling, Product) else (scaling,)
        required = True
    else:
        raise TypeError(
            f"`scaling` of HDSP must be 'auto' or a scaling function. Got {type(scaling).__name__}."
        )
    slices, n_labels = schema.slices(), schema.n_labels
    taken = _take_columns(factors, schema, slices)
    chosen: list[ScalingFunction] = []
    split: list[list[int]] = []
    for factor, names in zip(factors, taken, strict=True):
        if names:
            chosen.append(factor)
            split.append([c for name in names for c in range(*slices[name].indices(n_labels))])
        elif factor.kinds and required and (len(factors) > 1 or schema.blocks):
            raise ValueError(
                f"`scaling` of HDSP has a factor {factor!r} that no label is left for. "
                f"The labels are: {_listing(schema)}. Name the columns of each factor, or "
                "leave this one out."
            )
    if not chosen:
        return Constant()
    return Product(*chosen, split=split, n_labels=n_labels)


def used_columns(scaling: ScalingFunction, n_labels: int) -> BoolArray:
    """Which of the design's columns a scaling function from `bind_scaling` takes, [J]."""
    used = np.zeros(n_labels, dtype=np.bool_)
    if isinstance(scaling, Product) and scaling.split is not None:
        used[np.concatenate(scaling.split)] = True
    return used


def encode_labels(
    schema: LabelSchema, scaling: ScalingFunction, labels: Labels, warn: bool = True
) -> Design:
    """The design [M, J] of labels, without the columns that the scaling function leaves out."""
    design = schema.encode(labels, warn)
    used = used_columns(scaling, design.shape[1])
    return design if used.all() else csr_array(design.multiply(used))


def _take_columns(
    factors: tuple[ScalingFunction, ...],
    schema: LabelSchema,
    slices: Mapping[str, slice],
) -> list[list[str]]:
    """The label columns of each factor."""
    taken: list[list[str]] = [list(factor.columns) for factor in factors]
    named: set[str] = set()
    for factor in factors:
        for name in factor.columns:
            if name not in slices:
                raise ValueError(
                    f"`scaling` of HDSP names the label column {name!r}, which the labels do not "
                    f"have. They have: {_listing(schema)}."
                )
            if name in named:
                raise ValueError(
                    f"`scaling` of HDSP names the label column {name!r} twice. Factors of a "
                    "product take different columns."
                )
            if (kind := schema.kind(name)) not in factor.kinds:
                others = [other for other in FUNCTIONS if kind in FUNCTIONS[other].kinds]
                raise ValueError(
                    f"{type(factor).__name__} does not take a {kind} column such as {name!r}. "
                    f"Use {' or '.join(f'{other}({name!r})' for other in others)} instead."
                )
            named.add(name)
    free = [name for name in slices if name not in named]
    # The function of fewer kinds chooses first: LogLinear() would leave Categorical() nothing.
    for number in sorted(range(len(factors)), key=lambda n: len(factors[n].kinds)):
        if not factors[number].columns:
            taken[number] = [name for name in free if schema.kind(name) in factors[number].kinds]
            free = [name for name in free if name not in taken[number]]
    return taken


def _listing(schema: LabelSchema) -> str:
    names = [repr(name) for name in schema.slices()]
    return ", ".join(names) if names else "none"
