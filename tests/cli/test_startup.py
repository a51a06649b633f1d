"""Help and completion start at once: they import none of the libraries that take seconds."""

import subprocess
import sys

import pytest

from hdsp import HDSP, simulate
from hdsp.cli.main import make_parser

SLOW = ("numba", "scipy", "pandas", "sklearn", "numpy", "pyarrow", "rich")
PROGRAM = f"""
import sys
from hdsp.cli import main
status = main()
print([name for name in {SLOW!r} if name in sys.modules], file=sys.stderr)
sys.exit(status)
"""


def commands():
    (action,) = [a for a in make_parser()._actions if a.dest == "command"]
    return list(action.choices)


def run(*arguments):
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True
    )
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("command", [None, *commands()])
def test_help_imports_no_slow_library(command):
    status, out, err = run(*([command] if command else []), "--help")
    assert (status, err) == (0, "[]\n")
    assert out.startswith(f"usage: hdsp {command or ''}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_imports_no_slow_library(shell):
    status, out, err = run("--print-completion", shell)
    assert (status, err) == (0, "[]\n")
    assert all(command in out for command in commands())


def test_the_check_sees_a_slow_library():
    status, _, err = run("report", "no-such-model.hdsp")
    assert status == 2
    assert "sklearn" in err.splitlines()[-1]


@pytest.mark.parametrize("command", ["topics", "effects", "words"])
def test_answers_of_the_model_alone_import_no_library_of_tables(command, tmp_path):
    corpus, _ = simulate([["a"], ["b"]] * 40, n_topics=3, random_state=0)
    model = HDSP(3, init="nmf", tol=1e-2, random_state=0).fit(corpus)
    model.save(tmp_path / "model.hdsp")
    status, out, err = run(command, str(tmp_path / "model.hdsp"))
    assert (status, err) == (0, "['scipy', 'numpy']\n")
    assert out
