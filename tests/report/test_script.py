"""The page's modules: linted and laid out by themselves, and linted as they run, in one scope."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hdsp.report import page
from hdsp.report.page import bundle

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "src/hdsp/report/assets").glob("*.js"))


def run(program, *arguments):
    """The faults that a program finds; none are an empty text."""
    command = [Path(sys.executable).with_name(program), "-c", ROOT / f".{program}rc.json"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def lint(folder, text):
    (folder / "script.js").write_text(text, encoding="utf-8")
    return run("oxlint", folder / "script.js")


def test_modules_are_linted_and_laid_out(tmp_path):
    assert run("oxlint", *MODULES) == ""
    assert run("oxfmt", "--check", *MODULES) == "", "Run oxfmt on src/hdsp/report/assets/*.js."
    # The formatter breaks no text.
    lines = [line for path in MODULES for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if len(line) > 120] == []
    assert lint(tmp_path, bundle()) == ""
    assert lint(tmp_path, bundle() + "nowhere();")


def test_the_script_holds_every_module_once_after_those_it_imports():
    assert sorted(f"{name}.js" for name in page._MODULES) == [path.name for path in MODULES]
    for number, name in enumerate(page._MODULES):
        text = page.read_asset(f"{name}.js")
        imported = set(re.findall(r'from "\./([\w-]+)\.js"', text))
        assert imported <= set(page._MODULES[:number])
        assert bundle().count(text.split("\n", 1)[0]) == 1
    assert len(bundle()) < 110_000


@pytest.mark.parametrize(
    ("dom", "main"),
    [
        # A name at the top of two modules, one that is not imported, and an import of another kind.
        ("function own() {}\nexport const a = own;\n",
         'import { a } from "./dom.js";\nfunction own() {}\nown(a);\n'),
        ("export const a = 1;\n", "console.log(b);\n"),
        ("export const a = 1;\n", 'import * as a from "./dom.js";\nconsole.log(a);\n'),
    ],
)  # fmt: skip
def test_what_cannot_be_in_one_scope_is_a_fault(tmp_path, monkeypatch, dom, main):
    monkeypatch.setattr(page, "_MODULES", ("dom", "main"))
    monkeypatch.setattr(page, "read_asset", {"dom.js": dom, "main.js": main}.get)
    assert lint(tmp_path, bundle())
    # A name that a module does not export.
    (tmp_path / "dom.js").write_text(dom)
    assert lint(tmp_path, 'import { nowhere } from "./dom.js";\nconsole.log(nowhere);\n')
    assert lint(tmp_path, 'import { a } from "./dom.js";\nconsole.log(a);\n') == ""
