"""Scaling functions, terms and the space of labels as plain data."""

from collections.abc import Mapping
from typing import Any

from hdsp.corpus import LabelSchema
from hdsp.persistence.settings import plain
from hdsp.scaling.design import LabelDesign, bind_labels
from hdsp.scaling.functions import Product, ScalingFunction
from hdsp.scaling.links import FUNCTIONS
from hdsp.scaling.terms import TERMS, Term
from hdsp.storage import LARGEST, WrongContents


def encode_scaling(scaling: ScalingFunction) -> dict[str, Any]:
    """A scaling function of the package by name, with its columns, terms and settings."""
    if type(scaling) is Product:
        factors = [encode_scaling(factor) for factor in scaling.factors]
        return {"function": "Product", "factors": factors}
    name = type(scaling).__name__
    if FUNCTIONS.get(name) is not type(scaling):
        raise ValueError(
            f"HDSP.save cannot store the scaling function {name}, because a model file holds no "
            f"code and knows only {', '.join(FUNCTIONS)} and their products: use joblib.dump, "
            "and load where the function can be imported."
        )
    return {
        "function": name,
        "columns": list(scaling.columns),
        "terms": [encode_term(term) for term in scaling.terms],
        "settings": plain(scaling.settings()),
    }


def decode_scaling(data: Mapping[str, Any]) -> ScalingFunction:
    """The scaling function that `encode_scaling` wrote."""
    if data["function"] == "Product":
        return Product(*[decode_scaling(factor) for factor in data["factors"]])
    terms = map(decode_term, data["terms"])
    return FUNCTIONS[data["function"]](*data["columns"], *terms, **data["settings"])


def encode_term(term: Term) -> dict[str, Any]:
    """A term of the package by name, with its label columns and settings."""
    name = type(term).__name__
    if TERMS.get(name) is not type(term):
        raise ValueError(
            f"HDSP.save cannot store the term {name}, because a model file holds no code and knows "
            f"only {', '.join(TERMS)}: use joblib.dump, and load where the term can be imported."
        )
    return {"term": name, "columns": list(term.columns), "settings": plain(term.settings())}


def decode_term(data: Mapping[str, Any]) -> Term:
    """The term that `encode_term` wrote."""
    return TERMS[data["term"]](*data["columns"], **data["settings"])


def encode_space(space: LabelDesign) -> dict[str, Any]:
    """The scaling function, and what terms have learned, in the order of the design."""
    return {
        "scaling": encode_scaling(space.scaling),
        "learned": [dict(term.fitted) for term in space.terms],
    }


def decode_space(data: Mapping[str, Any], schema: LabelSchema) -> LabelDesign:
    """The space of labels that `encode_space` wrote."""
    scaling, learned = decode_scaling(data["scaling"]), data["learned"]
    terms = bind_labels(scaling, schema).terms
    if len(learned) != len(terms) or not all(map(_are_numbers, learned)):
        raise WrongContents("its terms have learned something else")
    return bind_labels(scaling, schema, learned=dict(zip(terms, learned, strict=True)))


def _are_numbers(learned: Any) -> bool:
    """Whether a term has learned lists of finite numbers."""
    return isinstance(learned, dict) and all(
        isinstance(values, list)
        and all(isinstance(x, (int, float)) and abs(x) <= LARGEST for x in values)
        for values in learned.values()
    )
