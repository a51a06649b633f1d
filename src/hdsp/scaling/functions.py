"""The registry of scaling functions: `hdsp` offers them, and a model file names them.

A new one is a module beside this one, an import and a name here.
"""

from hdsp.scaling.base import ScalingFunction
from hdsp.scaling.categorical import Categorical
from hdsp.scaling.constant import Constant
from hdsp.scaling.custom import Custom
from hdsp.scaling.links import Monotone, Power, Softplus
from hdsp.scaling.loglinear import LogLinear

__all__ = ["Categorical", "Constant", "Custom", "LogLinear", "Monotone", "Power", "Softplus"]

# A file holds no code, and so no function of a user's own.
FUNCTIONS: dict[str, type[ScalingFunction]] = {
    name: globals()[name] for name in __all__ if name != "Custom"
}
