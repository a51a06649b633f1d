"""Runs the Python blocks of README.md and docs/*.md, so that the documentation cannot drift.

The blocks of one file share a namespace and run in order, in an empty folder. A block of `>>>`
lines is a doctest: its output is compared. A fence inside an HTML comment runs too, unseen by
the reader, for set-up.
"""

import doctest
import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]
OTHERS = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "studies/README", "reproduction/README")]
LANGUAGES = {"python", "pycon"}
DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    source: str
    line: int  # of the first line of source in its page, from 1


def python_blocks(text: str) -> list[Block]:
    """The fenced Python blocks of a Markdown text; a fence left open is an error."""
    blocks: list[Block] = []
    fence, language, start = "", "", 0
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if not fence and stripped.startswith(("```", "~~~")):
            fence = stripped[: len(stripped) - len(stripped.lstrip(stripped[0]))]
            words = stripped[len(fence) :].split()
            language, start = (words[0].lower() if words else ""), number
        elif fence and stripped.startswith(fence) and not stripped.strip(fence[0]):
            if language in LANGUAGES:
                source = textwrap.dedent("\n".join(lines[start : number - 1])) + "\n"
                blocks.append(Block(source, start + 1))
            fence = ""
    if fence:
        raise ValueError(f"The code fence opened at line {start} is never closed.")
    return blocks


def run_block(block: Block, namespace: dict[str, Any], page: str) -> None:
    """Run one block; tracebacks and failures name the page and its own line numbers."""
    if not block.source.lstrip().startswith(">>>"):
        padding = "\n" * (block.line - 1)
        exec(compile(padding + block.source, page, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(block.source, namespace, page, page, block.line - 1)
    # The parser copies the namespace; later blocks must see what this one defines.
    test.globs = namespace
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS)
    if runner.run(test, out=report.append, clear_globs=False).failed:
        pytest.fail("".join(report), pytrace=False)


def run_page(text: str, page: str) -> None:
    namespace: dict[str, Any] = {"__name__": "__documentation__"}
    for block in python_blocks(text):
        run_block(block, namespace, page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run_page(text, page.name)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.parent.name + page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        name, _, anchor = link.partition("#")
        if "://" in name:
            continue
        target = (page.parent / name) if name else page
        if target.parent.name == "gallery":  # written by `make docs`
            target = ROOT / "examples" / f"{target.stem}.py"
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_python_blocks_are_found_in_lists_and_comments() -> None:
    text = "a\n```python\nx = 1\n```\n```sh\nmake test\n```\n~~~~pycon\n>>> x\n1\n~~~~\n"
    assert python_blocks(text) == [Block("x = 1\n", 3), Block(">>> x\n1\n", 9)]
    text = "- item\n  ```python\n  if x:\n      y\n  ```\n<!--\n```python\nz\n```\n-->\n"
    assert python_blocks(text) == [Block("if x:\n    y\n", 3), Block("z\n", 8)]
    with pytest.raises(ValueError, match="line 2 is never closed"):
        python_blocks("a\n```python\nx = 1\n")


def test_a_failure_names_its_line() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("```pycon\n>>> x = 1\n```\n```python\nx / 0\n```\n", "page.md")
    last = caught.traceback[-1]
    assert (Path(str(last.path)).name, last.lineno + 1) == ("page.md", 5)
    with pytest.raises(pytest.fail.Exception, match=r'"page.md", line 5'):
        run_page("```python\nx = 1\n```\n```pycon\n>>> x + 1\n3\n```\n", "page.md")
