"""The hierarchical Dirichlet scaling process: topic models that labels drive.

Names are imported when they are first used, so that ``import hdsp`` and the command line start at
once. What users may import is here and in `hdsp.datasets`, `hdsp.metrics`, `hdsp.plots` and
`hdsp.testing`; other modules may change without notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__: str

if TYPE_CHECKING:
    from hdsp import datasets as datasets
    from hdsp import metrics as metrics
    from hdsp import plots as plots
    from hdsp import testing as testing
    from hdsp.analysis.effects import TopicRegression as TopicRegression
    from hdsp.corpus import Corpus as Corpus
    from hdsp.corpus import Labels as Labels
    from hdsp.corpus import TextSettings as TextSettings
    from hdsp.corpus import from_gensim as from_gensim
    from hdsp.corpus import from_vectorizer as from_vectorizer
    from hdsp.corpus import open_corpus as open_corpus
    from hdsp.corpus import prepare_corpus as prepare_corpus
    from hdsp.corpus import prepare_dask as prepare_dask
    from hdsp.corpus import read_folder as read_folder
    from hdsp.corpus import read_ldac as read_ldac
    from hdsp.corpus import read_mallet as read_mallet
    from hdsp.corpus import read_matrix_market as read_matrix_market
    from hdsp.corpus import read_svmlight as read_svmlight
    from hdsp.corpus import read_table as read_table
    from hdsp.corpus import read_uci as read_uci
    from hdsp.estimator import HDSP as HDSP
    from hdsp.exceptions import ClusterError as ClusterError
    from hdsp.exceptions import FitWarning as FitWarning
    from hdsp.exceptions import IntervalWarning as IntervalWarning
    from hdsp.exceptions import LabelDataWarning as LabelDataWarning
    from hdsp.exceptions import ModelFileError as ModelFileError
    from hdsp.exceptions import NotSavedWarning as NotSavedWarning
    from hdsp.exceptions import ReadError as ReadError
    from hdsp.exceptions import StreamWarning as StreamWarning
    from hdsp.exceptions import UnknownLabelWarning as UnknownLabelWarning
    from hdsp.exceptions import UnreliableTopicsWarning as UnreliableTopicsWarning
    from hdsp.labels import Factor as Factor
    from hdsp.labels import Interaction as Interaction
    from hdsp.labels import Ordered as Ordered
    from hdsp.labels import Pooled as Pooled
    from hdsp.labels import Spline as Spline
    from hdsp.labels import Term as Term
    from hdsp.model.simulate import simulate as simulate
    from hdsp.scaling import Categorical as Categorical
    from hdsp.scaling import Constant as Constant
    from hdsp.scaling import Custom as Custom
    from hdsp.scaling import LogLinear as LogLinear
    from hdsp.scaling import Monotone as Monotone
    from hdsp.scaling import Power as Power
    from hdsp.scaling import ScalingFunction as ScalingFunction
    from hdsp.scaling import Softplus as Softplus

# Where each public name is; a submodule is its own.
_HOMES = {
    "HDSP": "estimator",
    "Categorical": "scaling",
    "NotSavedWarning": "exceptions",
    "ClusterError": "exceptions",
    "Constant": "scaling",
    "Corpus": "corpus",
    "Custom": "scaling",
    "IntervalWarning": "exceptions",
    "LabelDataWarning": "exceptions",
    "Factor": "labels",
    "Interaction": "labels",
    "Labels": "corpus",
    "LogLinear": "scaling",
    "Monotone": "scaling",
    "FitWarning": "exceptions",
    "StreamWarning": "exceptions",
    "ModelFileError": "exceptions",
    "Ordered": "labels",
    "Pooled": "labels",
    "Power": "scaling",
    "ReadError": "exceptions",
    "ScalingFunction": "scaling",
    "UnreliableTopicsWarning": "exceptions",
    "Softplus": "scaling",
    "Spline": "labels",
    "Term": "labels",
    "TextSettings": "corpus",
    "TopicRegression": "analysis.effects",
    "UnknownLabelWarning": "exceptions",
    "datasets": "datasets",
    "from_gensim": "corpus",
    "from_vectorizer": "corpus",
    "metrics": "metrics",
    "open_corpus": "corpus",
    "plots": "plots",
    "prepare_corpus": "corpus",
    "prepare_dask": "corpus",
    "read_folder": "corpus",
    "read_ldac": "corpus",
    "read_mallet": "corpus",
    "read_matrix_market": "corpus",
    "read_svmlight": "corpus",
    "read_table": "corpus",
    "read_uci": "corpus",
    "simulate": "model.simulate",
    "testing": "testing",
}
__all__ = list(_HOMES)

# Type checkers would take any name for an attribute.
if not TYPE_CHECKING:

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{_HOMES[name]}")
        value = module if _HOMES[name] == name else getattr(module, name)
        # The next time Python finds it by itself.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
