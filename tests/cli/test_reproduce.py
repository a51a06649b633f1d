import builtins

import pytest

from hdsp.cli import main
from hdsp.reproduction import STUDIES


def test_a_figure_is_made_where_it_is_asked_for(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "figure-2", "--quick", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "holds" in out
    assert (tmp_path / "reproduction" / "quick" / "figure-2" / "figure.png").is_file()


def test_what_needs_corpora_says_so_and_the_rest_runs(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("HDSP_DATA", raising=False)
    arguments = ["--quick", "--jobs", "1", "--output", str(tmp_path)]
    assert main(["reproduce", "figure-4", "figure-2", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "figure-4 needs corpora" in err
    assert "figure-2" in out
    assert main(["reproduce", "figure-4", *arguments]) == 2
    assert "--data or HDSP_DATA" in capsys.readouterr().err


def test_names_are_listed_and_unknown_ones_refused(tmp_path, capsys):
    assert main(["reproduce", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(STUDIES)
    assert main(["reproduce", "figure-1"]) == 2
    assert "no 'figure-1' to reproduce" in capsys.readouterr().err
    assert main(["reproduce", "figure-4", "--data", str(tmp_path / "none")]) == 2
    assert "to read corpora from" in capsys.readouterr().err


def test_a_missing_matplotlib_says_what_to_install(tmp_path, capsys, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["reproduce", "figure-2", "--quick", "--output", str(tmp_path)]) == 2
    assert "pip install 'hdsp[compare]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
