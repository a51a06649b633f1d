"""Commands that other packages add, and that none of them can be in the way of hdsp's own."""

import importlib
import sys

import pytest

from hdsp.cli import main

MODULES = {
    "dance": """
        from hdsp.cli import options as opt

        @opt.command(opt.option("--steps", "N", "how many", int))
        def dance(options):
            "Dance a while."
            print("steps", options.steps)

        add_parser = dance.add_parser
    """,
    "raises": "raise RuntimeError('a\\nloss \\x1b[2J')",
    "exits": "import sys; sys.exit(0)",
    "empty": "",
    "twice": "def add_parser(commands): commands.add_parser('topics')",
    "topics": "raise RuntimeError('never asked')",
}


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """An installed package with a command by each of `MODULES`, and one without a module."""
    points = ["[hdsp.commands]", "missing = foreign_missing"]
    for name, source in MODULES.items():
        lines = [line.removeprefix(" " * 8) for line in source.splitlines()]
        (tmp_path / f"foreign_{name}.py").write_text("\n".join(lines))
        points.append(f"{name} = foreign_{name}")
    metadata = tmp_path / "foreign-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("\n".join(points))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    for name in MODULES:
        sys.modules.pop(f"foreign_{name}", None)


def imported():
    return [name for name in MODULES if f"foreign_{name}" in sys.modules]


def test_a_command_of_another_package_runs(capsys):
    assert main(["dance", "--steps", "3"]) == 0
    assert capsys.readouterr() == ("steps 3\n", "")
    assert imported() == ["dance"]
    assert main(["dance", "--steps", "many"]) == 2


def test_own_commands_import_no_other_package(tmp_path, capsys):
    assert main(["topics", str(tmp_path / "none.hdsp")]) == 2
    assert "none.hdsp" in capsys.readouterr().err
    assert main(["fit", "--help"]) == 0
    assert imported() == []


@pytest.mark.parametrize("arguments", [["--help"], ["--print-completion", "bash"]])
def test_what_cannot_be_loaded_is_left_out(capsys, arguments):
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "dance" in out
    assert "exits" not in out
    warnings = err.splitlines()
    broken = ["empty", "exits", "missing", "raises", "twice"]
    assert len(warnings) == len(broken)
    for name, warning in zip(broken, warnings, strict=True):
        assert warning.startswith(f"hdsp: warning: `hdsp {name}` cannot be loaded from foreign_")
        assert "\x1b" not in warning


@pytest.mark.parametrize("name", ["raises", "exits", "empty", "twice", "missing"])
def test_what_cannot_be_loaded_says_so(capsys, name):
    assert main([name, "--help"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"hdsp: `hdsp {name}` cannot be loaded from foreign_{name}: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["compare", "reproduce"])
def test_commands_of_studies_say_what_to_install(monkeypatch, capsys, name):
    module = importlib.import_module("hdsp.cli.main")
    monkeypatch.setattr(module, "entry_points", lambda group: [])
    message = (
        f"hdsp: `hdsp {name}` is in another package: install hdsp-studies (from a checkout: "
        "pip install ./studies).\n"
    )
    for arguments in ([name, "--help"], [name, "file.csv"]):
        assert main(arguments) == 2
        assert capsys.readouterr() == ("", message)
