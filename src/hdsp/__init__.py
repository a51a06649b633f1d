"""The hierarchical Dirichlet scaling process: topic models that labels drive."""

from hdsp import datasets, plots
from hdsp.corpus import (
    Corpus,
    Labels,
    ReadError,
    TextSettings,
    from_gensim,
    from_vectorizer,
    read_folder,
    read_ldac,
    read_mallet,
    read_matrix_market,
    read_svmlight,
    read_table,
    read_uci,
)
from hdsp.estimator import HDSP
from hdsp.model import simulate
from hdsp.persistence import ModelFileError
from hdsp.scaling import Categorical, Constant, LogLinear, ScalingFunction

__all__ = [
    "HDSP",
    "Categorical",
    "Constant",
    "Corpus",
    "Labels",
    "LogLinear",
    "ModelFileError",
    "ReadError",
    "ScalingFunction",
    "TextSettings",
    "datasets",
    "from_gensim",
    "from_vectorizer",
    "plots",
    "read_folder",
    "read_ldac",
    "read_mallet",
    "read_matrix_market",
    "read_svmlight",
    "read_table",
    "read_uci",
    "simulate",
]
