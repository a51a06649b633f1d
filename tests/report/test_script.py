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
    return subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def lint(*paths):
    return run("oxlint", "-c", ROOT / ".oxlintrc.json", *paths)


def lint_text(folder, text):
    (folder / "script.js").write_text(text, encoding="utf-8")
    return lint(folder / "script.js")


def test_no_module_has_a_fault_that_a_linter_sees():
    found = lint(*MODULES)
    assert found.returncode == 0, found.stdout


def test_modules_are_laid_out_by_the_formatter():
    found = run("oxfmt", "-c", ROOT / ".oxfmtrc.json", "--check", *MODULES)
    assert found.returncode == 0, f"{found.stdout}\nRun oxfmt on src/hdsp/report/assets/*.js."
    # The formatter breaks no text.
    lines = [line for path in MODULES for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if len(line) > 120] == []


def test_the_linter_sees_a_name_that_is_not_imported_and_one_that_is_not_exported(tmp_path):
    (tmp_path / "other.js").write_text("export const there = 1;\n", encoding="utf-8")
    assert (
        lint_text(tmp_path, 'import { there } from "./other.js";\nconsole.log(there);\n').returncode
        == 0
    )
    assert lint_text(tmp_path, "console.log(there);\n").returncode == 1
    absent = 'import { nowhere } from "./other.js";\nconsole.log(nowhere);\n'
    assert lint_text(tmp_path, absent).returncode == 1


def test_the_script_that_runs_has_no_fault_either(tmp_path):
    found = lint_text(tmp_path, bundle())
    assert found.returncode == 0, found.stdout
    assert lint_text(tmp_path, bundle() + "nowhere();").returncode == 1


def test_the_script_holds_every_module_once_after_those_it_imports():
    assert sorted(f"{name}.js" for name in page._MODULES) == [path.name for path in MODULES]
    for number, name in enumerate(page._MODULES):
        text = page.read_asset(f"{name}.js")
        imported = set(re.findall(r'from "\./([\w-]+)\.js"', text))
        assert imported <= set(page._MODULES[:number])
        assert bundle().count(text.split("\n", 1)[0]) == 1
    assert len(bundle()) < 110_000


@pytest.mark.parametrize(
    "texts",
    [
        # A name at the top of two modules, and an import of another kind.
        ("function own() {}\nexport const a = own;\n",
         'import { a } from "./dom.js";\nfunction own() {}\nown(a);\n'),
        ("export const a = 1;\n", 'import * as a from "./dom.js";\nconsole.log(a);\n'),
    ],
)  # fmt: skip
def test_what_cannot_be_in_one_scope_is_a_fault(tmp_path, monkeypatch, texts):
    monkeypatch.setattr(page, "_MODULES", ("dom", "main"))
    monkeypatch.setattr(page, "read_asset", lambda name: texts[name == "main.js"])
    assert lint_text(tmp_path, bundle.__wrapped__()).returncode == 1
