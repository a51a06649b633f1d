"""The site has every public name, page and example."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from tests.test_docstrings import PUBLIC

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def listed_names() -> dict[str, set[str]]:
    """The names of the API page by module."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    blocks = re.findall(r"currentmodule:: (\S+)\n.*?:nosignatures:\n\n(.*?)```", page, re.S)
    found: dict[str, set[str]] = {module: set() for module in PUBLIC}
    for module, names in blocks:
        found[module] |= set(names.split())
    return found


@pytest.mark.parametrize("module", PUBLIC)
def test_the_reference_has_every_public_name(module: str) -> None:
    home = importlib.import_module(module)
    public = {name for name in home.__all__ if not inspect.ismodule(getattr(home, name))}
    assert listed_names()[module] == public


def test_every_page_is_in_a_table_of_contents() -> None:
    pages = {path.relative_to(DOCS) for path in [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]}
    listed = {Path("index.md")}
    for page in pages:
        for tree in re.findall(r"```{toctree}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.S):
            tree = re.sub(r"^.*<(.+)>$", r"\1", tree, flags=re.M)
            names = [line for line in tree.split("\n") if line and not line.startswith(":")]
            listed |= {page.parent / f"{name}.md" for name in names}
    assert pages == listed - {Path("gallery/index.md")}
