"""The hierarchical Dirichlet scaling process: topic models that labels drive.

Names are imported when they are first used, so that ``import hdsp`` and the command line start at
once; `__init__.pyi` lists them. What users may import is here and in `hdsp.datasets`,
`hdsp.metrics`, `hdsp.plots` and `hdsp.testing`; other modules may change without notice.
"""

from typing import Any

import lazy_loader

_import, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    return _import(name)
