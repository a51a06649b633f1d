"""The hierarchical Dirichlet scaling process: topic models that labels drive."""

from hdsp import datasets, scaling
from hdsp.corpus import (
    Corpus,
    Labels,
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
from hdsp.exceptions import (
    CheckpointWarning,
    MissingLabelsWarning,
    ModelFileError,
    ReadError,
    TokenizerNotSavedWarning,
    TopicLimitWarning,
    UnknownLabelWarning,
)
from hdsp.model import simulate
from hdsp.scaling import Categorical, Constant, LogLinear, ScalingFunction

__all__ = [
    "HDSP",
    "Categorical",
    "CheckpointWarning",
    "Constant",
    "Corpus",
    "Labels",
    "LogLinear",
    "MissingLabelsWarning",
    "ModelFileError",
    "ReadError",
    "ScalingFunction",
    "TextSettings",
    "TokenizerNotSavedWarning",
    "TopicLimitWarning",
    "UnknownLabelWarning",
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
