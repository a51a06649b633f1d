"""Scaling functions: what a document's labels do to its topics."""

from hdsp.scaling import functions
from hdsp.scaling.base import Design, DesignLimits, Parameters, ScalingFunction, take_topics
from hdsp.scaling.binding import bind_scaling, encode_labels, used_columns
from hdsp.scaling.by_label import mix_labels, move_labels, scale_labels
from hdsp.scaling.functions import *  # noqa: F403
from hdsp.scaling.functions import FUNCTIONS
from hdsp.scaling.product import Product

__all__ = [
    "FUNCTIONS",
    "Design",
    "DesignLimits",
    "Parameters",
    "Product",
    "ScalingFunction",
    "bind_scaling",
    "encode_labels",
    "mix_labels",
    "move_labels",
    "scale_labels",
    "take_topics",
    "used_columns",
]
__all__ += functions.__all__
