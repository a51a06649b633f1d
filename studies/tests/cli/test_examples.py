"""The examples of the help and of the documentation run."""

import re
from pathlib import Path

import pytest

from hdsp.cli.main import make_parser
from tests.cli.commands import hdsp

PAGES = ("README.md", "docs/commands.md", "docs/comparing.md", "docs/published.md")


def examples():
    """Every example with a command of this package, as users would type it."""
    (commands,) = [a for a in make_parser()._actions if a.dest == "command"]
    pages = [commands.choices[name].epilog for name in ("compare", "reproduce")]
    pages += [(Path(__file__).parents[3] / name).read_text() for name in PAGES]
    found = re.findall(r"^ {2,4}(hdsp (?:compare|reproduce) [^#\n]+)", "\n".join(pages), re.M)
    return sorted({example.strip() for example in found})


@pytest.mark.parametrize("example", examples())
def test_every_example_runs(here, example):
    if "--data" in example.split():
        pytest.skip("needs corpora that are not part of the project")
    more = "--quick" if "reproduce" in example else "--n-components 6 --n-seeds 1 --quick"
    hdsp(f"{example.removeprefix('hdsp ')} {more}")


def test_there_are_examples_for_every_command():
    shown = " ".join(examples())
    assert "hdsp compare " in shown
    assert "hdsp reproduce " in shown
