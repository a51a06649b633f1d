"""Scaling functions: what a document's labels do to its topics."""

from hdsp.scaling.base import Design, DesignBounds, Parameters, ScalingFunction, take_topics
from hdsp.scaling.binding import bind_scaling, used_columns
from hdsp.scaling.categorical import Categorical
from hdsp.scaling.constant import Constant
from hdsp.scaling.loglinear import LogLinear
from hdsp.scaling.product import Product

__all__ = [
    "Categorical",
    "Constant",
    "Design",
    "DesignBounds",
    "LogLinear",
    "Parameters",
    "Product",
    "ScalingFunction",
    "bind_scaling",
    "take_topics",
    "used_columns",
]
