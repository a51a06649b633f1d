"""The hierarchical Dirichlet scaling process: topic models that labels drive.

Names are imported when they are first used, so that ``import hdsp`` and the command line start at
once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hdsp import datasets, metrics, testing
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

# The modules of the names that are not in `hdsp.corpus`; a submodule is its own.
_MODULES = {
    "HDSP": "estimator",
    "Categorical": "scaling",
    "Constant": "scaling",
    "LogLinear": "scaling",
    "ModelFileError": "persistence",
    "ScalingFunction": "scaling",
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
