"""The hierarchical Dirichlet scaling process: topic models that labels drive."""

from hdsp import datasets, scaling
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
from hdsp.scaling import ScalingFunction
from hdsp.scaling.functions import *  # noqa: F403

__all__ = [
    "HDSP",
    "Corpus",
    "Labels",
    "ModelFileError",
    "ReadError",
    "ScalingFunction",
    "TextSettings",
    "datasets",
    "from_gensim",
    "from_vectorizer",
    "read_folder",
    "read_ldac",
    "read_mallet",
    "read_matrix_market",
    "read_svmlight",
    "read_table",
    "read_uci",
    "simulate",
]
__all__ += scaling.functions.__all__
