"""What commands print first, and what they write of each document."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import hdsp
from hdsp import HDSP
from hdsp.cli import main
from tests.cli.test_commands import reviews


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    frame = reviews(120)
    extra = [[f"tag{n % 10}"] if n % 10 < 9 else [] for n in range(len(frame))]
    # A tag that depends on the words.
    shoes = frame["department"] == "shoes"
    extra = [[*own, "walking"] if shoes[n] and n % 8 else own for n, own in enumerate(extra)]
    frame["labels"] = [[*tags, *own] for tags, own in zip(frame["labels"], extra, strict=True)]
    frame["id"] = [f"review {n}" for n in range(len(frame))]
    frame["key"] = range(len(frame))
    frame.to_parquet(folder / "reviews.parquet")
    labels = ["--tags", "labels", "--categories", "department"]
    options = ["--n-components", "4", "-o", str(folder / "model.hdsp")]
    assert main(["fit", str(folder / "reviews.parquet"), *labels, *options]) == 0
    return folder


def printed_effects(files, capsys, *options):
    """The largest effect of each label that is printed, and the last line."""
    capsys.readouterr()
    assert main(["effects", str(files / "model.hdsp"), *options]) == 0
    text = capsys.readouterr().out
    blocks = [block for block in text.split("\n\n") if "interval" in block]
    found = [[float(x) for x in re.findall(r"^\d+ +([+-][\d.]+) points", b, re.M)] for b in blocks]
    return [max(map(abs, effects)) for effects in found], text.splitlines()[-1]


def test_intervals_of_the_strongest_labels_are_those_among_all(files, capsys):
    capsys.readouterr()
    texts = []
    for options in ((), ("--all",)):
        assert main(["effects", str(files / "model.hdsp"), *options]) == 0
        texts.append(capsys.readouterr().out.split("\n\n"))
    strongest, everything = texts
    assert strongest[:4] == everything[:4]


def test_the_strongest_labels_are_printed_first_and_a_screenful(files, capsys):
    shown, last = printed_effects(files, capsys)
    assert len(shown) == 4
    assert shown == sorted(shown, reverse=True)
    assert last.startswith("4 of 15 labels, those with the strongest effects. Use --all to")
    everything, last = printed_effects(files, capsys, "--all")
    assert everything[:4] == shown
    assert len(everything) == 15
    assert "strongest" not in last
    assert len(printed_effects(files, capsys, "--n-labels", "6")[0]) == 6
    assert len(printed_effects(files, capsys, "--label", "labels")[0]) == 12
    assert len(printed_effects(files, capsys, "--label", "labels", "--n-labels", "2")[0]) == 2
    assert main(["effects", str(files / "model.hdsp"), "--n-labels", "0"]) == 2


def test_all_effects_are_in_tables_and_json(files, tmp_path, capsys):
    output = tmp_path / "effects.csv"
    assert main(["effects", str(files / "model.hdsp"), "-o", str(output)]) == 0
    assert pd.read_csv(output)["contrast"].nunique() >= 4
    assert len(pd.read_csv(output)) == 15 * 4


@pytest.mark.parametrize(("options", "first"), [([], "review 0"), (["--ids", "key"], 0)])
def test_documents_have_their_names(files, tmp_path, options, first):
    model, table, output = files / "model.hdsp", files / "reviews.parquet", tmp_path / "out.csv"
    for command in (["transform"], ["predict", "--target", "department"]):
        name, *more = command
        assert main([name, str(model), str(table), *more, *options, "-o", str(output)]) == 0
        found = pd.read_csv(output)
        assert found.columns[0] == "id"
        assert found["id"][0] == first


def test_probable_tags_are_written(files, tmp_path):
    arguments = [str(files / "model.hdsp"), str(files / "reviews.parquet"), "--target", "labels"]
    output = tmp_path / "out.jsonl"
    assert main(["predict", *arguments, "-o", str(output)]) == 0
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert any("walking" in row["predicted"] for row in rows)
    for row in rows:
        probable = [name[2:-1] for name, p in row.items() if name.startswith("p(") and p >= 0.5]
        assert row["predicted"] == probable


def test_topics_show_the_strongest_effects_of_both_signs(files, capsys):
    assert main(["topics", str(files / "model.hdsp")]) == 0
    header, *rows, _, note = capsys.readouterr().out.splitlines()
    assert header.endswith("strongest effects (points)")
    assert note.endswith(f"See all: hdsp effects {files / 'model.hdsp'}")
    table = HDSP.load(files / "model.hdsp").label_effects()
    sure = table[(table["lower"] > 0) | (table["upper"] < 0)]
    signs = set()
    for topic, row in enumerate(rows):
        own = sure[sure["topic"] == topic]
        own = own.loc[own["effect"].abs().sort_values(ascending=False, kind="stable").index[:3]]
        shown = [f"{n} {100 * e:+.1f}" for n, e in zip(own["label"], own["effect"], strict=True)]
        assert row[header.index("strongest") :] == "; ".join(shown)
        signs |= set(np.sign(own["effect"]))
    assert signs == {-1.0, 1.0}


def test_topics_of_a_word_are_found(files, capsys):
    model = str(files / "model.hdsp")
    assert main(["topics", model, "--find", "silk"]) == 0
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["topic", "share", "words"]
    assert "silk" in first
    assert main(["topics", model, "--find", "silk", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["topics"]) == 4
    assert main(["topics", model, "--find", "silkk"]) == 2
    assert "Did you mean 'silk'" in capsys.readouterr().err


def test_a_model_tells_what_it_was_made_with(files, capsys):
    model = str(files / "model.hdsp")
    assert main(["topics", model, "--about"]) == 0
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert main(["topics", model, "--about", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == HDSP.load(model).provenance_
    assert printed["hdsp"] == record["versions"]["hdsp"] == hdsp.__version__
    assert printed["random_state"] == str(record["random_state"])
    assert printed["fingerprint"] == record["fingerprint"]
    assert len(record["fingerprint"]) == 64


def test_correlations_of_topics_are_printed_and_written(files, tmp_path, capsys):
    model, output = str(files / "model.hdsp"), tmp_path / "correlations.csv"
    assert main(["topics", model, "--correlations"]) == 0
    first, *pairs = capsys.readouterr().out.splitlines()
    assert main(["topics", model, "--correlations", "-o", str(output)]) == 0
    table = pd.read_csv(output)
    sure = table[(table["lower"] > 0) | (table["upper"] < 0)]
    assert first.startswith(f"{len(sure)} of {len(table)} topic pairs are correlated")
    if pairs:
        assert pairs.pop(0).split() == ["correlation", "interval", "raw", "topic", "other"]
    assert len(pairs) == len(sure)
    assert [f"{value:+.2f}" for value in sorted(sure["correlation"], reverse=True)] == [
        pair.split()[0] for pair in pairs
    ]


def test_typical_documents_of_topics_are_printed_and_written(files, tmp_path, capsys):
    arguments = ["topics", str(files / "model.hdsp"), "--documents", str(files / "reviews.parquet")]
    assert main(arguments) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["topic", "proportion", "id", "text"]
    assert len(rows) == 3 * len({row.split()[0] for row in rows})
    assert all("review " in row for row in rows)
    assert main([*arguments, "-o", str(tmp_path / "documents.csv")]) == 0
    written, texts = pd.read_csv(tmp_path / "documents.csv"), pd.read_parquet(arguments[-1])["text"]
    assert len(written) == len(rows)
    assert written["text"].tolist() == texts[written["document"]].tolist()
    assert all(text[:60] in row for text, row in zip(written["text"], rows, strict=True))


def test_a_label_outside_of_the_formula_is_not_called_missing(files, tmp_path, capsys):
    model = str(tmp_path / "part.hdsp")
    labels = ["--tags", "labels", "--categories", "department", "--scaling", "department"]
    options = ["--n-components", "4", "-o", model]
    assert main(["fit", str(files / "reviews.parquet"), *labels, *options]) == 0
    capsys.readouterr()
    assert main(["effects", model, "--label", "walking"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("hdsp: --label: 'walking' has no effects: it is not in the formula")
    assert "name a file and pass it in --formula" in told
