"""The versions of what results depend on."""

import platform
from importlib.metadata import version

_PACKAGES = ("hdsp", "numpy", "scipy", "scikit-learn", "numba")


def library_versions() -> dict[str, str]:
    """The versions of Python, of hdsp and of the libraries that compute, in this process."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
