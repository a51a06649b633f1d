"""The page's modules: linted and laid out by themselves, and linted as they run, in one scope."""

import subprocess
import sys
from pathlib import Path

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


def bundle_of(monkeypatch, **modules):
    monkeypatch.setattr(page, "read_asset", lambda name: modules[name.removesuffix(".js")])
    return bundle.__wrapped__()


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


def test_the_script_holds_every_module_once():
    for path in MODULES:
        assert bundle().count(path.read_text(encoding="utf-8").split("\n", 1)[0]) == 1


def test_modules_come_after_those_they_import(monkeypatch):
    text = bundle_of(
        monkeypatch,
        main='import { a } from "./a.js";\nimport {\n  b,\n} from "./b.js";\nrun(a, b);\n',
        a='import { b } from "./b.js";\nexport const a = b;\n',
        b="export let b = 1;\n",
    )
    assert text == '(() => {\n"use strict";\nlet b = 1;\n\nconst a = b;\n\nrun(a, b);\n})();\n'


def test_a_name_that_two_modules_have_is_a_fault(tmp_path, monkeypatch):
    text = bundle_of(
        monkeypatch,
        main='import { a } from "./a.js";\nfunction own() {}\nown(a);\n',
        a="function own() {}\nexport const a = own;\n",
    )
    assert lint_text(tmp_path, text).returncode == 1


def test_an_import_of_another_kind_is_a_fault(tmp_path, monkeypatch):
    text = bundle_of(monkeypatch, main='import * as a from "./a.js";\nconsole.log(a);\n')
    assert lint_text(tmp_path, text).returncode == 1


def test_the_script_is_small():
    assert len(bundle()) < 125_000
