"""`hdsp article`, from a model file and a table to a folder."""

import json

import pandas as pd
import pytest

from hdsp import HDSP, read_table
from hdsp.cli import main
from tests.cli.test_commands import reviews


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper")
    reviews(90).to_parquet(path / "reviews.parquet")
    corpus = read_table(path / "reviews.parquet", categories="department", group="reviewer")
    settings = {"init": "nmf", "max_iter": 8, "tol": 1e-2, "n_jobs": 1, "random_state": 0}
    HDSP(3, **settings).fit(corpus).save(path / "model.hdsp")
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("hdsp.article.folder._figure", lambda *given: b"%PDF")
    return folder


def test_a_model_and_its_documents_become_a_folder(here, capsys):
    arguments = ["reviews.parquet", "--groups", "reviewer", "--stability", "-o", "out/"]
    assert main(["article", "model.hdsp", *arguments]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Wrote out/: effects.csv, effects.pdf, effects.tex, methods.md, ")
    topics, frame = pd.read_csv(here / "out" / "topics.csv"), reviews(90)
    assert len(topics) == 3
    assert topics["typical_1"].isin(frame["text"]).all()
    model = HDSP.load(here / "model.hdsp")
    effects = pd.read_csv(here / "out" / "effects.csv")
    assert effects["effect"].tolist() == pytest.approx(model.label_effects()["effect"].tolist())
    refits = pd.read_csv(here / "out" / "stability.csv")
    assert refits[["number", "seed"]].drop_duplicates().values.tolist() == [
        [number, seed] for number in (2, 3, 4) for seed in (1, 2)
    ]
    told = (here / "out" / "methods.md").read_text()
    assert "to all documents with 2, 3 and 4 topics and the random seeds 1 and 2." in told
    # Of a smaller paper, the files that are left are its own.
    assert main(["article", "model.hdsp", "-o", "out"]) == 0
    assert not (here / "out" / "stability.csv").exists()
    record = json.loads((here / "out" / "provenance.json").read_text())
    assert {*record["files"], "provenance.json"} == {p.name for p in (here / "out").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stability"], "--stability needs the training documents"),
        (["--refits", "20"], "--refits needs the training documents, which a saved model does not"),
        (["-"], "Name a file: it is read twice"),
        (["-o", "no/where"], "(No such file or directory): create it"),
        (["-o", "."], "is another or was changed since: choose another folder, or"),
        (["-o", "model.hdsp"], "replaces only files that it wrote, and 'model.hdsp' is another"),
    ],
)
def test_what_is_refused(here, capsys, arguments, message):
    assert main(["article", "model.hdsp", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (here / "paper").exists()


def test_typical_documents_are_printed_with_their_texts(here, capsys):
    assert main(["topics", "model.hdsp", "--documents", "reviews.parquet"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split() == ["topic", "proportion", "document", "text"]
    texts = reviews(90)["text"]
    for row in rows[1:]:
        _, _, document, start = row.split(maxsplit=3)
        # Of a long text, the beginning.
        assert len(start) == min(len(texts[int(document)]), 100)
        assert texts[int(document)].startswith(start.removesuffix("…"))
