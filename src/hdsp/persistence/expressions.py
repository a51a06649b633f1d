"""Scaling functions, terms, the design of labels and settings as plain data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hdsp.corpus.schema import LabelSchema
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import Product, ScalingFunction
from hdsp.scaling.links import FUNCTIONS
from hdsp.scaling.terms import TERMS, Term
from hdsp.storage.codec import Decoder, encode, require


def encode_scaling(scaling: ScalingFunction) -> dict[str, Any]:
    """A scaling function of the package by name, with its columns, terms and settings."""
    if type(scaling) is Product:
        factors = [encode_scaling(factor) for factor in scaling.factors]
        return {"function": "Product", "factors": factors}
    data = _encode(scaling, FUNCTIONS, "function")
    return {**data, "terms": [_encode(term, TERMS, "term") for term in scaling.terms]}


def decode_scaling(data: Mapping[str, Any]) -> ScalingFunction:
    """The scaling function that `encode_scaling` wrote."""
    if data["function"] == "Product":
        return Product(*[decode_scaling(factor) for factor in data["factors"]])
    terms = [TERMS[own["term"]](*own["columns"], **own["settings"]) for own in data["terms"]]
    return FUNCTIONS[data["function"]](*data["columns"], *terms, **data["settings"])


def _encode(value: ScalingFunction | Term, known: Mapping[str, type], what: str) -> dict[str, Any]:
    """A function or a term by its name, if it is `known`, with its columns and settings."""
    name = type(value).__name__
    if known.get(name) is not type(value):
        label = "scaling function" if what == "function" else what
        raise ValueError(
            f"HDSP.save cannot store the {label} {name}, because a model file holds no code and "
            f"knows only {', '.join(known)}: use joblib.dump, and load where the {what} can be "
            "imported."
        )
    return {what: name, "columns": list(value.columns), "settings": plain(value.settings())}


def encode_design(design: LabelDesign) -> dict[str, Any]:
    """The labels, the scaling function, and what terms have learned, in the order of the design."""
    return {
        "schema": encode(design.schema, {}),
        "scaling": encode_scaling(design.scaling),
        "learned": [dict(term.fitted) for term in design.terms],
    }


def decode_design(data: Mapping[str, Any]) -> LabelDesign:
    """The design of labels that `encode_design` wrote."""
    reader = Decoder({})
    schema = reader.decode(LabelSchema, data["schema"], "schema")
    learned = reader.decode(list[dict[str, list[float]]], data["learned"], "learned")
    scaling = decode_scaling(data["scaling"])
    terms = LabelDesign.fit(scaling, schema).terms
    require(len(learned) == len(terms), "its terms have learned something else")
    return LabelDesign.fit(scaling, schema, learned=dict(zip(terms, learned, strict=True)))


def plain(value: Any) -> Any:
    """Convert a value to JSON types: NumPy scalars to numbers, sequences to lists.

    Examples
    --------
    >>> plain({"prior": (np.float64(1.0), 2), "name": "corpus"})
    {'prior': [1.0, 2], 'name': 'corpus'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"HDSP cannot store a setting of type {type(value).__name__}.")


def is_seed(random_state: Any) -> bool:
    """Whether a random state can be stored: an integer or None."""
    return random_state is None or isinstance(random_state, (int, np.integer))
