"""The names of the package, which are imported when they are first used."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import hdsp


def test_every_name_is_what_it_says():
    for name in hdsp.__all__:
        value = getattr(hdsp, name)
        assert value.__name__ in (name, f"hdsp.{name}")
        assert name in dir(hdsp)


def test_both_distributions_have_the_version_of_one_place():
    assert version("hdsp") == version("hdsp-studies") == hdsp.__version__


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="No hdsp attribute LDA"):
        _ = hdsp.LDA
    with pytest.raises(ImportError):
        from hdsp import LDA  # noqa: F401


def test_importing_the_package_imports_no_library():
    program = (
        "import sys; before = set(sys.modules); import hdsp; "
        "print({name.partition('.')[0] for name in set(sys.modules) - before} "
        "- set(sys.stdlib_module_names))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert eval(found.stdout) == {"hdsp", "lazy_loader"}


def test_the_citation_has_the_version():
    text = (Path(__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {hdsp.__version__}\n" in text
