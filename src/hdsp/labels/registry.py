"""The registry of terms that users can name: model files find them here.

A new one is a module beside this one, an import and a name here.
"""

from hdsp.labels.interaction import Interaction
from hdsp.labels.spline import Spline
from hdsp.labels.term import Term

__all__ = ["Interaction", "Spline"]

TERMS: dict[str, type[Term]] = {name: globals()[name] for name in __all__}
