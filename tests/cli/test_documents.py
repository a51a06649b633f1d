"""Documents of a model: transform, predict, evaluate and article."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP
from hdsp.cli.output import write_pieces
from tests.cli.commands import PROGRAM, check_refused, hdsp


def test_standard_input_and_output(here):
    with open("new.jsonl") as given:
        line = "predict model.hdsp - --format jsonl -q --target department"
        command = [sys.executable, "-c", PROGRAM, *line.split()]
        found = subprocess.run(command, stdin=given, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    first, *lines = found.stdout.splitlines()
    assert first == "predicted,p(bags),p(dresses),p(shoes)"
    true = pd.read_json("new.jsonl", lines=True)["department"]
    assert np.mean([line.split(",")[0] for line in lines] == true) > 0.9


def test_predictions_with_labels_missing_from_the_file(here):
    lines = hdsp("predict model.hdsp new.csv --target rating").lines
    assert lines[0] == "predicted,p(1),p(5)"
    assert len(lines) == 21
    lines = hdsp("predict model.hdsp new.csv --target labels --values sale").lines
    assert lines[0] == "predicted,p(sale)"
    # The target's own values are not read.
    pd.read_csv("new.csv").assign(department="unknown").to_csv("other.csv", index=False)
    assert hdsp("predict model.hdsp other.csv --target department").err == ""


def test_probable_tags_are_written(here, tmp_path):
    hdsp(f"predict model.hdsp reviews.parquet --target labels -o {tmp_path}/out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert any("walking" in row["predicted"] for row in rows)
    for row in rows:
        probable = [name[2:-1] for name, p in row.items() if name.startswith("p(") and p >= 0.5]
        assert row["predicted"] == probable


@pytest.mark.parametrize(("options", "first"), [("", "review 0"), ("--ids key", 0)])
def test_documents_have_their_names(here, tmp_path, options, first):
    for command in ("transform", "predict --target department"):
        hdsp(f"{command} model.hdsp reviews.parquet {options} -o {tmp_path}/out.csv")
        found = pd.read_csv(tmp_path / "out.csv")
        assert found.columns[0] == "id"
        assert found["id"][0] == first


def test_evaluate(here, tmp_path):
    found = hdsp("evaluate model.hdsp test.parquet --json").json
    assert [row["given"] for row in found["perplexity"]] == ["labels", "completion"]
    assert all(row["lower"] <= row["perplexity"] <= row["upper"] for row in found["perplexity"])
    out = hdsp("evaluate model.hdsp test.parquet").out
    assert out.startswith("20 documents, 360 tokens")
    assert "all words, from the labels alone" in out
    hdsp(f"evaluate model.hdsp test.parquet -o {tmp_path}/e.csv")
    assert pd.read_csv(tmp_path / "e.csv").to_dict("records") == found["perplexity"]


def test_texts_are_no_formulas_of_a_spreadsheet(tmp_path, capsys):
    table = {"=name": ["=1+1", "-cmd", "@a", "+3.5", "plain"], "value": [-1.5, 2, None, -0.0, 1]}
    for suffix in ("csv", "tsv"):
        path = tmp_path / f"a.{suffix}"
        write_pieces([table], str(path))
        first, *rows = path.read_text().splitlines()
        assert first.startswith("'=name")
        assert [row[:4] for row in rows] == ["'=1+", "'-cm", "'@a" + first[6], "+3.5", "plai"]
        assert rows[0].endswith("-1.5")
        write_pieces([table], str(path), formulas=True)
        assert path.read_text().splitlines()[1].startswith("=1+1")
    write_pieces([{"tags": [["=x", "y"], []]}], "-")
    assert capsys.readouterr().out.splitlines() == ["tags", "'=x;y", '""']
    write_pieces([{"tags": [["a", "b"], ["c;d", "e"], []]}], "-")
    assert capsys.readouterr().out == 'tags\na;b\n"[""c;d"", ""e""]"\n""\n'
    write_pieces([table], str(tmp_path / "a.jsonl"))
    assert '"=1+1"' in (tmp_path / "a.jsonl").read_text()


@pytest.fixture
def article(here, monkeypatch):
    """An article of a small model with groups, whose figures are not drawn."""
    monkeypatch.setattr("hdsp.article.folder._figure", lambda *given: b"%PDF")
    if not (here / "art.hdsp").exists():
        labels = "--categories department --groups reviewer"
        hdsp(f"fit reviews.parquet {labels} --n-components 3 --init nmf --max-iter 8 -o art.hdsp")
    return here / "article-out"


def test_a_model_and_its_documents_become_an_article(article):
    ran = hdsp("article art.hdsp reviews.parquet --stability -o article-out/")
    assert ran.out.startswith(
        "Wrote article-out/: effects.csv, effects.pdf, effects.tex, methods.md, "
    )
    topics, frame = pd.read_csv(article / "topics.csv"), pd.read_parquet("reviews.parquet")
    assert len(topics) == 3
    assert topics["typical_1"].isin(frame["text"]).all()
    expected = HDSP.load("art.hdsp").label_effects()["effect"].tolist()
    assert pd.read_csv(article / "effects.csv")["effect"].tolist() == pytest.approx(expected)
    refits = pd.read_csv(article / "stability.csv")
    assert refits[["number", "seed"]].drop_duplicates().values.tolist() == [
        [number, seed] for number in (2, 3, 4) for seed in (1, 2)
    ]
    told = (article / "methods.md").read_text()
    assert "to all documents with 2, 3 and 4 topics and the random seeds 1 and 2." in told
    # Of a smaller article, the files that are left are its own.
    hdsp("article art.hdsp -o article-out")
    assert not (article / "stability.csv").exists()
    record = json.loads((article / "provenance.json").read_text())
    assert {*record["files"], "provenance.json"} == {path.name for path in article.iterdir()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--stability", "--stability needs the training documents"),
        ("--refits 20", "--refits needs the training documents, which a saved model does not"),
        ("-", "Name a file: it is read twice"),
        ("-o no/where", "directory): create it"),
        ("-o .", "is another or was changed since: choose another folder, or"),
        ("-o art.hdsp", "replaces only files that it wrote, and 'art.hdsp' is another"),
    ],
)
def test_articles_that_are_refused(article, options, message):
    before = os.listdir()
    check_refused(f"article art.hdsp {options}", message)
    assert os.listdir() == before
