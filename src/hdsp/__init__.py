"""The hierarchical Dirichlet scaling process: topic models that labels drive."""

from hdsp import datasets
from hdsp.corpus import Corpus, Labels
from hdsp.estimator import HDSP
from hdsp.model import simulate
from hdsp.scaling import Categorical, Constant, LogLinear, ScalingFunction

__all__ = [
    "HDSP",
    "Categorical",
    "Constant",
    "Corpus",
    "Labels",
    "LogLinear",
    "ScalingFunction",
    "datasets",
    "simulate",
]
