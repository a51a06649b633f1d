"""What every test finds, whoever started the tests and on whatever machine."""

import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
# Settings of shells and of people, which change what is printed, drawn or computed.
INHERITED = (
    "DASK_",
    "FORCE_COLOR",
    "HDSP_DATA",
    "JOBLIB_",
    "LOKY_",
    "NO_COLOR",
    "PYTHONIOENCODING",
    "PYTHONSAFEPATH",
    "PYTHONWARNINGS",
    "SCIPY_ARRAY_API",
    "SKLEARN_",
    "TTY_",
)

for name in list(os.environ):
    if name.startswith(INHERITED):
        del os.environ[name]
os.environ |= {
    "COLUMNS": "80",
    "LINES": "24",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm",
    "TZ": "UTC",
    # Processes that tests start import the same files, from whatever folder.
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "studies" / "src"), str(ROOT)]),
    "PYTHONUTF8": "1",
}
time.tzset()
os.umask(0o022)
# A shell ignores Ctrl-C for what it runs in the background, and processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the first call of a compiled function includes its compilation.
settings.register_profile(
    "quick", deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("quick"), derandomize=True)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=500)

settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick")
)

# Folders whose tests share a cluster or a browser.
TOGETHER = ("execution", "report")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of a file, and those of some folders, run in one process and share their fixtures."""
    for item in items:
        place = item.path.parent if item.path.parent.name in TOGETHER else item.path
        item.add_marker(pytest.mark.xdist_group(str(place.relative_to(ROOT))))
