"""A model of a folder of texts, and tables as people have them, on the command line."""

import json
import re

import pandas as pd
import pytest

from hdsp import HDSP
from hdsp.cli.main import main
from hdsp.cli.output import write_pieces

TEXTS = ["red silk skirt hem red", "tax vote budget law tax", "silk hem skirt", "vote law budget"]
LABELS = ["--metadata", "letters.csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folders")
    (path / "letters").mkdir()
    names = [f"{number:02d}" for number in range(40)]
    for number, name in enumerate(names):
        (path / "letters" / f"{name}.txt").write_text(TEXTS[number % 4] + " word" * (number % 3))
    table = pd.DataFrame({"id": names, "sender": ["Smith, John", "Roe; Jane"] * 20})
    table["year"] = [f"{number % 7},5" for number in range(40)]
    table["title"] = [f"Letter {name}" for name in names]
    table.assign(year=1.5).to_csv(path / "letters.csv", index=False)
    table["text"] = [TEXTS[number % 4] for number in range(40)]
    table.to_csv(path / "table.csv", index=False, sep=";")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        assert run(
            "fit",
            "letters",
            *LABELS,
            "--categories",
            "sender",
            "--max-components",
            "2",
            "-o",
            "m.hdsp",
        )
    return path


def run(*arguments):
    return main([*map(str, arguments), "-q"]) == 0


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_a_model_of_a_folder_is_used_with_folders(here, tmp_path, capsys):
    out = tmp_path / "a.csv"
    assert run("transform", "m.hdsp", "letters", *LABELS, "-o", out)
    assert pd.read_csv(out)["id"].tolist() == [f"{number:02d}.txt" for number in range(40)]
    assert run("predict", "m.hdsp", "letters", "--target", "sender", "-o", out)
    assert set(pd.read_csv(out)["predicted"]) == {"Smith, John", "Roe; Jane"}
    capsys.readouterr()
    assert run("stability", "m.hdsp", "letters", *LABELS, "--n-fits", "1", "--json")
    found = json.loads(capsys.readouterr().out)
    assert len(found["topics_in_fits"]) == 1
    assert run("topics", "m.hdsp", "--documents", "letters", *LABELS, "--json")
    documents = json.loads(capsys.readouterr().out)["documents"]
    assert all((here / "letters" / one["id"]).read_text() == one["text"] for one in documents)
    assert run("evaluate", "m.hdsp", "letters", *LABELS, "--json")
    assert json.loads(capsys.readouterr().out)["documents"] == 40
    for texts in (["letters", *LABELS], ["table.csv", "--delimiter", ";", "--texts", "title"]):
        assert run("report", "m.hdsp", *texts, "-o", tmp_path / "r.html")


def test_a_folder_without_its_table_says_how_to_name_it(here, capsys):
    assert run("transform", "m.hdsp", "letters")
    assert "all are missing: name their table with --metadata." in capsys.readouterr().err
    assert not run("effects", "m.hdsp", "letters", "--formula", "sender", "--groups", "x")
    assert "--groups does not apply to letters" in capsys.readouterr().err


def test_the_page_shows_the_texts_of_another_column(here, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(HDSP, "report", lambda *_, texts, **__: seen.extend(texts))
    table = ["table.csv", "--delimiter", ";"]
    assert run("report", "m.hdsp", *table, "--texts", "title", "-o", tmp_path / "r.html")
    assert seen == [f"Letter {number:02d}" for number in range(40)]


def test_numbers_with_a_decimal_comma(here, tmp_path, capsys):
    model = tmp_path / "n.hdsp"
    arguments = ["fit", "table.csv", "--delimiter", ";", "--numeric", "year", "-o", model]
    assert not run(*arguments, "--max-components", "2")
    told = capsys.readouterr().err
    assert told == (
        "hdsp: table.csv must hold numbers or dates in column 'year', but got '0,5' at row 0. "
        "Convert the column, read the file with --decimal, if that is ',', or make it a category.\n"
    )
    assert run(*arguments, "--max-components", "2", "--decimal", ",")
    assert HDSP.load(model).label_schema_.blocks[0].mean[0] == pytest.approx(3.4, abs=0.1)
    comma = ["table.csv", "--delimiter", ";", "--decimal", ","]
    assert run("transform", model, *comma, "-o", tmp_path / "p.csv")
    assert run("prepare", *comma, "--numeric", "year", "-o", tmp_path / "corpus")


def test_labels_with_commas_and_semicolons_are_told_apart(here, capsys):
    assert run("topics", "m.hdsp")
    assert re.search(r"Smith, John [+-]\d+\.\d", capsys.readouterr().out)
    write_pieces([{"tags": [["a", "b"], ["c;d", "e"], []]}], "-")
    assert capsys.readouterr().out == 'tags\na;b\n"[""c;d"", ""e""]"\n""\n'


def test_what_was_written_is_said(here, tmp_path, capsys):
    out = tmp_path / "p.csv"
    assert main(["predict", "m.hdsp", "letters", "--target", "sender", "-o", str(out)]) == 0
    assert f"hdsp: wrote {out}.\n" in capsys.readouterr().err
