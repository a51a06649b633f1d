"""Scaling functions: what a document's labels do to its topics."""

from hdsp.scaling import functions
from hdsp.scaling.base import Design, DesignLimits, Parameters, ScalingFunction, take_topics
from hdsp.scaling.by_label import mix_labels, move_labels, scale_labels
from hdsp.scaling.content import content_columns
from hdsp.scaling.formula import is_formula, parse_formula
from hdsp.scaling.functions import *  # noqa: F403
from hdsp.scaling.functions import FUNCTIONS
from hdsp.scaling.loglinear import of_terms
from hdsp.scaling.point import PointFunction
from hdsp.scaling.product import Product
from hdsp.scaling.space import FunctionColumns, LabelSpace, Scaling, bind_labels

__all__ = [
    "FUNCTIONS",
    "Design",
    "DesignLimits",
    "FunctionColumns",
    "LabelSpace",
    "Parameters",
    "PointFunction",
    "Product",
    "Scaling",
    "ScalingFunction",
    "bind_labels",
    "content_columns",
    "is_formula",
    "mix_labels",
    "move_labels",
    "of_terms",
    "parse_formula",
    "scale_labels",
    "take_topics",
]
__all__ += functions.__all__
