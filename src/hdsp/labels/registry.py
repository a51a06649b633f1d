"""The registry of terms that users can name: model files find them here.

A new one is a module beside this one, an import and a name here.
"""

from hdsp.labels.interaction import Interaction
from hdsp.labels.pooled import Pooled
from hdsp.labels.spline import Ramps, Spline
from hdsp.labels.term import Term
from hdsp.labels.values import Factor, Ordered

__all__ = ["Factor", "Interaction", "Ordered", "Pooled", "Ramps", "Spline"]

TERMS: dict[str, type[Term]] = {name: globals()[name] for name in __all__}
