"""The hierarchical Dirichlet scaling process: topic models that labels drive.

Names are imported when they are first used, so that ``import hdsp`` and the command line start at
once. What users may import is here and in `hdsp.datasets`, `hdsp.metrics` and `hdsp.testing`; other
modules may change without notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hdsp import datasets, metrics, testing
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
    "metrics",
    "read_folder",
    "read_ldac",
    "read_mallet",
    "read_matrix_market",
    "read_svmlight",
    "read_table",
    "read_uci",
    "simulate",
    "testing",
]

# Where names are that are not in `hdsp.corpus`; a submodule is its own.
_MODULES = {
    "HDSP": "estimator",
    "Categorical": "scaling",
    "CheckpointWarning": "exceptions",
    "Constant": "scaling",
    "LogLinear": "scaling",
    "MissingLabelsWarning": "exceptions",
    "ModelFileError": "exceptions",
    "ReadError": "exceptions",
    "ScalingFunction": "scaling",
    "TokenizerNotSavedWarning": "exceptions",
    "TopicLimitWarning": "exceptions",
    "UnknownLabelWarning": "exceptions",
    "simulate": "model",
}
_SUBMODULES = ("datasets", "metrics", "testing")

# Type checkers would take any name for an attribute.
if not TYPE_CHECKING:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name in _SUBMODULES:
            return import_module(f"{__name__}.{name}")
        value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'corpus')}"), name)
        # The next time Python finds it by itself.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
