"""The registry of scaling functions: `hdsp` offers them, and a model file names them.

A new one is a module beside this one, an import and a name here.
"""

from hdsp.scaling.base import ScalingFunction
from hdsp.scaling.categorical import Categorical
from hdsp.scaling.constant import Constant
from hdsp.scaling.loglinear import LogLinear

__all__ = ["Categorical", "Constant", "LogLinear"]

FUNCTIONS: dict[str, type[ScalingFunction]] = {name: globals()[name] for name in __all__}
