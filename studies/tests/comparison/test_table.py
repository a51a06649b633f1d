"""Means, intervals, dashes and figures from cells."""

import csv
import io
import json

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from hdsp_studies.comparison import Cell, as_csv, as_data, as_text, draw, summarise

VALUES = {0: 410.0, 1: 430.0, 2: 423.0}


def cells():
    found = []
    for seed, value in VALUES.items():
        full = {"given_labels": value, "completion": value - 30, "npmi": 0.1, "seconds": 1.0}
        found.append(Cell("hdsp", "reviews", seed, {}, full))
        partial = {"given_labels": None, "completion": None, "npmi": None, "seconds": 0.5}
        found.append(Cell("nb", "reviews", seed, {}, partial))
    found.append(Cell("dmr", "reviews", 0, {}, {}, "its process was ended by SIGSEGV"))
    return found


def test_means_and_intervals():
    (entry,) = [e for e in summarise(cells()) if (e.model, e.measure) == ("hdsp", "given_labels")]
    values = list(VALUES.values())
    assert entry.mean == pytest.approx(np.mean(values))
    limits = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert entry.mean - entry.margin == pytest.approx(limits.low)
    assert entry.n_seeds == 3


def test_text_has_dashes_and_failures():
    lines = as_text(cells()).splitlines()
    assert lines[0] == "reviews: means over 3 seeds, with 95% t intervals"
    assert lines[1].split("  ")[0] == "model"
    rows = {line.split()[0]: line for line in lines[2:5]}
    assert rows["hdsp"].split()[1:4] == ["421.0", "±", "25.2"]
    assert rows["nb"].split() == ["nb", "-", "-", "-", "0.50", "±", "0.00"]
    assert rows["dmr"].split() == ["dmr", "-", "-", "-", "-"]
    assert lines[-1] == "failed: dmr on reviews, seed 0: its process was ended by SIGSEGV"


def test_several_corpora():
    other = [Cell(c.model, "letters", c.seed, {}, c.measures, c.error) for c in cells()[:3]]
    failed = [Cell("nb", "cards", 0, {}, {}, "power cut")]
    blocks = [block.splitlines() for block in as_text([*cells(), *other, *failed]).split("\n\n")]
    assert [block[0] for block in blocks[:3]] == [
        "reviews: means over 3 seeds, with 95% t intervals",
        "letters: means over 1 to 2 seeds, with 95% t intervals",
        "cards: every cell failed",
    ]
    assert [[line.split()[0] for line in block[2:]] for block in blocks[:3]] == [
        ["hdsp", "nb", "dmr"],
        ["hdsp", "nb"],
        ["nb"],
    ]
    assert [line.split(",")[0] for line in blocks[3]] == [
        "failed: dmr on reviews",
        "failed: nb on cards",
    ]
    rows = as_data([*cells(), *other])["rows"]
    means = {row["corpus"]: row["given_labels"]["mean"] for row in rows if row["model"] == "hdsp"}
    assert means == {"reviews": 421.0, "letters": 420.0}


def test_one_seed_has_no_interval():
    text = as_text(cells()[:2])
    assert "one seed, so without intervals" in text
    assert "±" not in text


def test_csv_and_json_leave_out_what_cannot_be_done():
    rows = list(csv.DictReader(io.StringIO(as_csv(cells()))))
    assert {row["model"] for row in rows if row["measure"] == "completion"} == {"hdsp"}
    first = rows[0]
    assert float(first["lower"]) < float(first["mean"]) < float(first["upper"])
    data = json.loads(json.dumps(as_data(cells()), allow_nan=False))
    by_model = {row["model"]: row for row in data["rows"]}
    assert by_model["nb"]["completion"] is None
    assert by_model["hdsp"]["completion"]["n"] == 3
    assert data["failed"][0]["model"] == "dmr"
    assert data["interval"] == "95% t interval over seeds"


def test_figure(tmp_path):
    other = [Cell(c.model, "letters", c.seed, {}, c.measures, c.error) for c in cells()]
    files = draw([*cells(), *other], tmp_path / "figure")
    assert [file.name for file in files] == ["figure.png", "figure.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    first = files[1].read_bytes()
    # A part a corpus: perplexities of two on one axis would hide the differences of models.
    assert first.count(b"<!-- reviews -->") == first.count(b"<!-- letters -->") == 1
    assert first.count(b"<!-- NPMI (higher is better) -->") == 2
    draw([*cells(), *other], tmp_path / "figure")
    assert files[1].read_bytes() == first
    with pytest.raises(ValueError, match="nothing to draw"):
        draw(cells()[-1:], tmp_path / "figure")
