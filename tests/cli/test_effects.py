"""`hdsp effects` and `hdsp check`: strongest first, refits, formulas and summaries."""

import re

import pandas as pd
import pytest

from hdsp import HDSP, read_table
from hdsp.cli import main
from tests.cli.commands import hdsp, reviews

FORMULA = "--formula 'ideology + s(day)' --groups blog"


def printed_effects(line=""):
    """The largest effect of each label that is printed, and the last line."""
    text = hdsp(f"effects model.hdsp {line}").out
    blocks = [block for block in text.split("\n\n") if "interval" in block]
    found = [[float(x) for x in re.findall(r"^\d+ +([+-][\d.]+) points", b, re.M)] for b in blocks]
    return [max(map(abs, effects)) for effects in found], text.splitlines()[-1]


def test_the_strongest_labels_are_printed_first_and_a_screenful(here):
    shown, last = printed_effects()
    assert len(shown) == 4
    assert shown == sorted(shown, reverse=True)
    assert last.startswith("4 of 16 labels, those with the strongest effects. Use --all to")
    everything, last = printed_effects("--all")
    assert everything[:4] == shown
    assert len(everything) == 16
    assert "strongest" not in last
    assert len(printed_effects("--n-labels 6")[0]) == 6
    assert len(printed_effects("--label labels")[0]) == 12
    assert len(printed_effects("--label labels --n-labels 2")[0]) == 2
    # Intervals are those among all labels.
    blocks = [hdsp(f"effects model.hdsp {more}").out.split("\n\n") for more in ("", "--all")]
    assert blocks[0][:4] == blocks[1][:4]


def test_effects_are_shown_and_written(here, tmp_path):
    out = hdsp("effects model.hdsp --label rating --contrast 1 5").out
    assert out.startswith("rating (5 - 1; 150 documents)")
    assert "90% interval" in out
    rows = hdsp("effects model.hdsp --json --label shoes").json["effects"]
    assert {row["label"] for row in rows} == {"shoes"}
    hdsp(f"effects model.hdsp -o {tmp_path}/effects.csv")
    assert len(pd.read_csv(tmp_path / "effects.csv")) == 16 * 8
    table = HDSP.load("model.hdsp").label_effects("department")
    blocks = hdsp("effects model.hdsp --label department --n-topics 2").out.strip().split("\n\n")
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


def test_the_models_own_documents_are_recognised(here):
    alone = hdsp("effects model.hdsp --label department").out
    assert hdsp("effects model.hdsp reviews.parquet --label department").out == alone
    # Documents may come after options.
    refits = "effects model.hdsp --label department --refits 3 reviews.parquet --random-state 5"
    found = hdsp(f"{refits} --json").json["effects"]
    alone = hdsp("effects model.hdsp --label department --json").json["effects"]
    assert len(found) == len(alone) > 0
    wider = [row["upper"] - row["lower"] for row in found]
    width = [row["upper"] - row["lower"] for row in alone]
    assert sum(a > b for a, b in zip(wider, width, strict=True)) > 0.9 * len(found)
    assert all(0.0 <= row["matched"] <= 1.0 for row in found)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_refits(here, pressed, capsys, jobs):
    line = f"effects model.hdsp --refits 50 reviews.parquet --n-jobs {jobs}"
    assert main(line.split()) == 130
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1] == "hdsp: interrupted."
    assert shown.out == ""
    # Refits that were running end with their pass, and no others begin: 50 take 200 passes or more.
    assert len(pressed) < 100


def test_an_interrupt_ends_refits_in_python(here, pressed):
    model = HDSP.load("model.hdsp")
    corpus = read_table("reviews.parquet", like=model)
    with pytest.raises(KeyboardInterrupt):
        model.label_effects(refits=50, corpus=corpus)
    assert len(pressed) < 100


def test_the_summary_of_the_regression(here):
    expected = HDSP.load("model.hdsp").estimate_effects().summary()
    assert hdsp("effects model.hdsp --summary").out == f"{expected}\n"
    assert hdsp("effects model.hdsp --summary --json").json["summary"] == str(expected)


def test_effects_of_labels_that_the_fit_did_not_have(here):
    line = f"effects sides.hdsp posts.csv {FORMULA}"
    rows = hdsp(f"{line} --json").json["effects"]
    assert {row["label"] for row in rows} == {"left", "right", "day"}
    assert all(0.0 <= row["p"] <= row["q"] + 1e-12 <= 1.0 + 1e-9 for row in rows)
    shown = hdsp(f"{line} --summary").out
    assert shown.startswith("Formula: ~ ideology + s(day)")
    assert "clustered in 12 groups" in shown
    assert re.match(r"day \(20[\d.]+ - 20[\d.]+; \d+ documents\)", hdsp(f"{line} --label day").out)
    said = hdsp(f"{line} --label day --contrast 2020-01-05 2031").err.splitlines()
    wanted = "hdsp: warning: --contrast goes to '2031', and 'day' runs from 2020 to 202"
    assert sum(line.startswith(wanted) for line in said) == 1


def test_checks_of_the_models_labels_and_of_others(here, tmp_path):
    shown = hdsp("check model.hdsp reviews.parquet").out
    assert "department" in shown
    assert shown.rstrip().endswith((".", "expected."))
    answer = hdsp(f"check model.hdsp posts.csv {FORMULA} --time order --json").json
    assert {"order", "ideology", "day"} <= {row["label"] for row in answer["cells"]}
    assert answer["summary"].endswith(".")
    hdsp(f"check model.hdsp posts.csv --time day -o {tmp_path}/cells.csv")
    assert set(pd.read_csv(tmp_path / "cells.csv")["label"]) >= {"day", "department × day"}


def test_a_contrast_may_begin_with_any_negative_number(here):
    for low in ("-1", "-1.5", "-1e0", "-.5E+0"):
        ran = hdsp(f"effects model.hdsp --label rating --json --contrast {low} 1e0")
        said = f"hdsp: warning: --contrast goes to {low!r}, and 'rating' runs from"
        assert ran.err.startswith(said)
        assert ran.json["effects"][0]["contrast"] == f"1e0 - {low}"


def test_a_label_outside_of_the_formula_is_not_called_missing(here, tmp_path):
    labels = "--tags labels --categories department --scaling department --n-components 4"
    hdsp(f"fit reviews.parquet {labels} -o {tmp_path}/part.hdsp")
    told = hdsp(f"effects {tmp_path}/part.hdsp --label walking", status=2).err
    assert told.startswith("hdsp: --label: 'walking' has no effects: it is not in the formula")
    assert "name a file and pass it in --formula" in told


def test_one_topic_is_no_topics(tmp_path):
    reviews(1).to_parquet(tmp_path / "one.parquet")
    out = hdsp(f"fit {tmp_path}/one.parquet --min-df 1 -o {tmp_path}/m.hdsp").out
    assert "1 topic in use, 0 labels" in out
