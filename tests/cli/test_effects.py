"""`hdsp effects` with refits, formulas and summaries."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP
from hdsp.cli import main
from tests.cli.test_commands import reviews
from tests.cli.test_outputs import pressed  # noqa: F401


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("effects")
    reviews().to_parquet(path / "reviews.parquet")
    options = ["--categories", "department", "--n-components", "4"]
    output = ["-o", str(path / "model.hdsp")]
    assert main(["fit", str(path / "reviews.parquet"), *options, *output]) == 0
    return path


def effects(folder, *options):
    return main(["effects", str(folder / "model.hdsp"), "--label", "department", *options])


def test_refits_of_the_documents_in_a_file(folder, capsys):
    file = str(folder / "reviews.parquet")
    assert effects(folder, "--refits", "3", file, "--random-state", "5", "--json") == 0
    found = json.loads(capsys.readouterr().out)["effects"]
    assert effects(folder, "--json") == 0
    alone = json.loads(capsys.readouterr().out)["effects"]
    assert len(found) == len(alone) > 0
    wider = [row["upper"] - row["lower"] for row in found]
    width = [row["upper"] - row["lower"] for row in alone]
    assert sum(a > b for a, b in zip(wider, width, strict=True)) > 0.9 * len(found)
    assert all(0.0 <= row["matched"] <= 1.0 for row in found)


def test_refits_need_documents_and_documents_refits(folder, capsys):
    assert effects(folder, "--refits", "3") == 2
    assert "--refits needs the training documents" in capsys.readouterr().err
    # The model's own documents are recognised.
    shown = []
    for documents in ([], [str(folder / "reviews.parquet")]):
        assert effects(folder, *documents) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_other_documents_are_refused(folder, tmp_path, capsys):
    reviews().iloc[::-1].to_parquet(tmp_path / "other.parquet")
    assert effects(folder, "--refits", "3", str(tmp_path / "other.parquet")) == 2
    assert "must be the documents that the model was fitted to" in capsys.readouterr().err


def test_one_refit_is_refused(folder, capsys):
    assert effects(folder, "--refits", "1", str(folder / "reviews.parquet")) == 2
    assert "must be an integer >= 2. Got 1." in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_refits(folder, pressed, capsys, jobs):  # noqa: F811
    file = str(folder / "reviews.parquet")
    options = ["--refits", "50", file, "--n-jobs", jobs]
    assert effects(folder, *options) == 130
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1] == "hdsp: interrupted."
    assert shown.out == ""
    # Refits that were running end with their pass, and no others begin: 50 take 200 passes or more.
    assert len(pressed) < 100


def test_an_interrupt_ends_refits_in_python(folder, pressed):  # noqa: F811
    from hdsp.corpus.readers import read_table

    model = HDSP.load(folder / "model.hdsp")
    corpus = read_table(folder / "reviews.parquet", categories=["department"], like=model)
    with pytest.raises(KeyboardInterrupt):
        model.label_effects(refits=50, corpus=corpus)
    assert len(pressed) < 100


def test_topics_that_fall_are_shown(folder, capsys):
    assert effects(folder, "--n-topics", "2") == 0
    blocks = capsys.readouterr().out.strip().split("\n\n")
    model = HDSP.load(folder / "model.hdsp")
    table = model.label_effects("department")
    assert len(blocks) == table["label"].nunique()
    for block in blocks:
        title, header, *rows = block.splitlines()
        assert header.split() == ["topic", "effect", "90%", "interval", "q", "words"]
        own = table[table["label"] == title.split(" (")[0]].set_index("topic")
        for row, place in zip(rows, (own["effect"].idxmax(), own["effect"].idxmin()), strict=True):
            topic, effect, _, lower, _, upper, q, *words = row.split()
            assert int(topic) == place
            numbers = [f"{100 * own[name][place]:+.1f}" for name in ("effect", "lower", "upper")]
            assert [effect, lower, upper] == numbers
            assert q == ("<0.001" if own["q"][place] < 0.001 else f"{own['q'][place]:.3f}")
            assert " ".join(words) == own["words"][place]


def test_the_summary_of_the_regression(folder, capsys):
    model = HDSP.load(folder / "model.hdsp")
    assert main(["effects", str(folder / "model.hdsp"), "--summary"]) == 0
    assert capsys.readouterr().out == f"{model.estimate_effects().summary()}\n"
    assert main(["effects", str(folder / "model.hdsp"), "--summary", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary == model.estimate_effects().summary()
    assert effects(folder, "--summary") == 2
    assert "--summary excludes --label" in capsys.readouterr().err


def test_effects_of_labels_that_the_fit_did_not_have(folder, tmp_path, capsys):
    table = reviews()
    rng = np.random.default_rng(0)
    table["day"] = pd.date_range("2020-01-01", periods=len(table)).strftime("%Y-%m-%d")
    table["side"] = rng.choice(["left", "right"], len(table))
    table["blog"] = [f"blog {n % 12}" for n in range(len(table))]
    table.to_csv(tmp_path / "posts.csv", index=False)
    file = [str(tmp_path / "posts.csv")]
    model = str(folder / "model.hdsp")
    formula = ["--formula", "side + s(day)", "--groups", "blog"]
    assert main(["effects", model, *file, *formula, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["effects"]
    assert {row["label"] for row in rows} == {"left", "right", "day"}
    assert all(0.0 <= row["p"] <= row["q"] <= 1.0 for row in rows)
    assert main(["effects", model, *file, *formula, "--summary"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Formula: ~ side + s(day)")
    assert "clustered in 12 groups" in shown
    assert main(["effects", model, *file, *formula, "--label", "day"]) == 0
    assert re.match(r"day \(20[\d.]+ - 20[\d.]+; \d+ documents\)", capsys.readouterr().out)
    years = ["--label", "day", "--contrast", "2020-01-05", "2031"]
    assert main(["effects", model, *file, *formula, *years]) == 0
    said = capsys.readouterr().err.splitlines()
    wanted = "hdsp: warning: --contrast goes to '2031', and 'day' runs from 2020 to 202"
    assert sum(line.startswith(wanted) for line in said) == 1
    assert main(["effects", model, *formula]) == 2
    assert "there are 'department'" in capsys.readouterr().err
    assert main(["effects", model, *file, "--formula", "~ siide"]) == 2
    assert "siide" in capsys.readouterr().err
    # Checks of the model's own labels, and of others.
    assert main(["check", model, *file]) == 0
    shown = capsys.readouterr().out
    assert "department" in shown
    assert shown.rstrip().endswith((".", "expected."))
    assert main(["check", model, *file, *formula, "--time", "order", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"order", "side", "day"} <= {row["label"] for row in answer["cells"]}
    assert answer["summary"].endswith(".")
    assert main(["check", model, *file, "--time", "day", "-o", str(tmp_path / "cells.csv")]) == 0
    assert set(pd.read_csv(tmp_path / "cells.csv")["label"]) >= {"day", "department × day"}
    assert main(["check", model, *file, "--time", "none"]) == 2
    assert "'none'" in capsys.readouterr().err
