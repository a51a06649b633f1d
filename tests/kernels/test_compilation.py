"""What a kernel computes depends on its arguments, not on how and when it was compiled."""

import json
import os
import subprocess
import sys


def run(what, cache):
    finished = subprocess.run(
        [sys.executable, "-m", "tests.kernels.fits", what],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_kernels_give_the_same_bits_compiled_or_loaded_and_after_others(tmp_path):
    compiled = run("everything", tmp_path / "cache")
    assert (compiled["compiled"], compiled["unused"]) == (compiled["kernels"], [])
    # A call to a function outside would be led to whichever copy of it the process has.
    left = {name: found for name, found in compiled["functions beside"].items() if found}
    assert left == {}
    loaded = run("everything", tmp_path / "cache")
    assert loaded["compiled"] == []
    assert loaded["bits"] == compiled["bits"]
    later = run("other types first", tmp_path / "another cache")
    assert later["compiled"] != []
    assert later["bits"].items() <= compiled["bits"].items()
