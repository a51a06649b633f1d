"""Scaling functions as plain data."""

from collections.abc import Mapping
from typing import Any

from hdsp.persistence.settings import plain
from hdsp.scaling import FUNCTIONS, Constant, Product, ScalingFunction
from hdsp.storage import WrongContents


def encode_scaling(scaling: ScalingFunction) -> dict[str, Any]:
    """A scaling function of the package by name, with its columns, settings and split."""
    if type(scaling) is Product:
        split = scaling.split
        return {
            "function": "Product",
            "factors": [encode_scaling(factor) for factor in scaling.factors],
            "split": None if split is None else [columns.tolist() for columns in split],
            "n_labels": scaling.n_labels,
        }
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
        "settings": plain(scaling.settings()),
    }


def decode_scaling(data: Mapping[str, Any]) -> ScalingFunction:
    """The scaling function that `encode_scaling` wrote."""
    if data["function"] == "Product":
        factors = [decode_scaling(factor) for factor in data["factors"]]
        split = data["split"]
        if split is not None and len(split) != len(factors):
            raise WrongContents("the factors of its scaling function have other columns")
        return Product(*factors, split=split, n_labels=data["n_labels"])
    return FUNCTIONS[data["function"]](*data["columns"], **data["settings"])


def check_bound(scaling: ScalingFunction, n_labels: int) -> None:
    """Raise unless a scaling function is bound to different columns of a design [M, J]."""
    if isinstance(scaling, Constant):
        return
    if not isinstance(scaling, Product) or scaling.split is None:
        raise WrongContents("its scaling function is not bound to labels")
    columns = [int(column) for part in scaling.split for column in part]
    if not set(columns) <= set(range(n_labels)) or len(set(columns)) < len(columns):
        raise WrongContents("its scaling function takes labels that it does not have")
    if scaling.n_labels != n_labels:
        raise WrongContents("its scaling function has another number of labels")
