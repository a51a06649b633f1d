"""`hdsp compare`, from a file to a table and a figure."""

import json

import numpy as np
import pandas as pd
import pytest

from hdsp.cli import main

FAKES = "tests.comparison.fakes"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    words = {"north": "snow ice wind frost coat", "south": "sun sand palm heat hat"}
    rows = []
    for number in range(80):
        place = ["north", "south"][number % 2]
        text = " ".join(rng.choice((words[place] + " day town").split(), size=12))
        rows.append({"text": text, "place": place, "tags": ["new"] if number % 3 else []})
    path = tmp_path_factory.mktemp("compare") / "letters.parquet"
    pd.DataFrame(rows).to_parquet(path)
    return path


def arguments(file, folder, models, *more):
    return [
        "compare", str(file), "--category", "place", "--tags", "tags", "--models", models,
        "--topics", "4", "--quick", "--max-df", "1.0", "-o", str(folder), *more,
    ]  # fmt: skip


def test_table_figure_and_resuming(file, tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures are drawn by matplotlib")
    asked = arguments(file, tmp_path, "hdsp,nb", "--seeds", "1", "--target", "place")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(asked) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "letters: one seed, so without intervals"
    assert lines[3].split()[:4] == ["nb", "-", "-", "-"]
    assert "[1/2] hdsp, seed 0 ... " in err
    assert {path.name for path in tmp_path.iterdir()} == {
        "cells", "figure.png", "figure.svg", "table.csv", "table.json", "table.txt",
    }  # fmt: skip
    assert (tmp_path / "table.txt").read_text() == out
    assert main([*asked, "--json"]) == 0
    again, err = capsys.readouterr()
    assert err == ""
    data = json.loads(again)
    assert data == json.loads((tmp_path / "table.json").read_text())
    hdsp, bayes = data["rows"]
    assert hdsp["accuracy"]["mean"] > 0.9
    assert bayes["accuracy"]["mean"] > 0.9
    assert hdsp["given_labels"]["mean"] < 12
    assert bayes["completion"] is None


def test_a_crash_is_told_and_the_rest_is_shown(file, tmp_path, capsys):
    models = f"{FAKES}:Crashes,{FAKES}:Unigram"
    assert main(arguments(file, tmp_path, models, "--seeds", "1", "--json")) == 1
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["failed"][0]["error"] == "its process was ended by SIGSEGV"
    assert data["rows"][0]["completion"] is None
    assert data["rows"][1]["completion"]["mean"] > 1
    # Before it may come a warning that matplotlib is missing.
    line = err.splitlines()[-1]
    assert line.startswith("hdsp: 1 of 2 cells failed, and the same command tries them again: ")


@pytest.mark.parametrize(
    ("models", "more", "message"),
    [
        ("lsa", [], "There is no model 'lsa'."),
        ("hdsp,", ["--seeds", "0"], "--seeds must be at least 1"),
        ("hdsp", ["--topics", "1"], "--topics must be at least 2"),
        ("hdsp", ["--test-size", "1"], "--test-size must lie between 0 and 1"),
        ("svm", [], "predicts one label column and nothing else: name a target"),
        ("svm", ["--target", "tags"], "choose a category or a number"),
        ("hdsp", ["--text", "body"], "body"),
        (",", [], "at least one model"),
    ],
)
def test_bad_input_is_one_sentence(file, tmp_path, capsys, models, more, message):
    assert main(arguments(file, tmp_path, models, *more)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert message in line


def test_a_missing_library_says_what_to_install(file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("hdsp.peers.base.importlib.util.find_spec", lambda name: None)
    assert main(arguments(file, tmp_path, "lda")) == 2
    expected = "hdsp: The model 'lda' needs tomotopy: pip install 'hdsp[compare]'.\n"
    assert capsys.readouterr().err == expected


def test_results_need_a_folder(file, capsys):
    assert main(arguments(file, file, "hdsp")) == 2
    assert "is a file, and the results need a folder" in capsys.readouterr().err
