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
    from hdsp.corpus import open_corpus as open_corpus
    from hdsp.corpus import prepare_corpus as prepare_corpus
    from hdsp.corpus import read_counts as read_counts
    from hdsp.corpus import read_folder as read_folder
    from hdsp.corpus import read_table as read_table
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
    from hdsp.model.simulate import simulate as simulate
    from hdsp.scaling.functions import Categorical as Categorical
    from hdsp.scaling.functions import Constant as Constant
    from hdsp.scaling.functions import LogLinear as LogLinear
    from hdsp.scaling.functions import ScalingFunction as ScalingFunction
    from hdsp.scaling.links import Custom as Custom
    from hdsp.scaling.links import Monotone as Monotone
    from hdsp.scaling.links import Power as Power
    from hdsp.scaling.links import Softplus as Softplus
    from hdsp.scaling.terms import Factor as Factor
    from hdsp.scaling.terms import Interaction as Interaction
    from hdsp.scaling.terms import Ordered as Ordered
    from hdsp.scaling.terms import Pooled as Pooled
    from hdsp.scaling.terms import Spline as Spline
    from hdsp.scaling.terms import Term as Term

_MODULES = ["datasets", "metrics", "plots", "testing"]
# Where other public names are.
_HOMES = {
    "analysis.effects": ["TopicRegression"],
    "corpus": [
        "Corpus",
        "Labels",
        "TextSettings",
        "open_corpus",
        "prepare_corpus",
        "read_counts",
        "read_folder",
        "read_table",
    ],
    "estimator": ["HDSP"],
    "exceptions": [
        "ClusterError",
        "FitWarning",
        "IntervalWarning",
        "LabelDataWarning",
        "ModelFileError",
        "NotSavedWarning",
        "ReadError",
        "StreamWarning",
        "UnknownLabelWarning",
        "UnreliableTopicsWarning",
    ],
    "model.simulate": ["simulate"],
    "scaling.functions": ["Categorical", "Constant", "LogLinear", "ScalingFunction"],
    "scaling.links": ["Custom", "Monotone", "Power", "Softplus"],
    "scaling.terms": ["Factor", "Interaction", "Ordered", "Pooled", "Spline", "Term"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [*_MODULES, *_HOME_OF]

# Type checkers would take any name for an attribute.
if not TYPE_CHECKING:

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        # The next time Python finds it by itself.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
