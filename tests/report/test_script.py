"""The page's own script is linted as it runs: all files in one scope."""

import subprocess
import sys
from pathlib import Path

from hdsp.report.page import _script

ROOT = Path(__file__).parents[2]


def lint(path):
    oxlint = Path(sys.executable).with_name("oxlint")
    return subprocess.run(
        [oxlint, "-c", ROOT / ".oxlintrc.json", path], capture_output=True, text=True, check=False
    )


def test_the_script_has_no_fault_that_a_linter_sees(tmp_path):
    (tmp_path / "script.js").write_text(_script(), encoding="utf-8")
    found = lint(tmp_path / "script.js")
    assert found.returncode == 0, found.stdout


def test_the_linter_sees_a_name_that_is_nowhere(tmp_path):
    (tmp_path / "script.js").write_text(_script() + "nowhere();", encoding="utf-8")
    assert lint(tmp_path / "script.js").returncode == 1


def test_the_script_is_small():
    assert len(_script()) < 120_000
