"""`hdsp prepare`, and commands that work on what it has written."""

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hdsp as package
from hdsp import HDSP, TextSettings, read_folder, read_table
from hdsp.corpus import preparing
from hdsp.corpus import stored as stored_corpus
from tests.cli.commands import check_refused, hdsp
from tests.cli.test_commands import read_output
from tests.corpus.corpora import check_same

LABELS = "--tags tags --categories kind --numeric year"
FIT = "--n-components 3 --tol 0.01 -q"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three tables in the working directory, all of them in one, and parts of twenty documents."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preparing, "PART_SIZE", 20)
    monkeypatch.setattr(stored_corpus, "PART_SIZE", 20)
    rng = np.random.default_rng(0)
    subjects, tags = [["cat", "dog"], ["tax", "law"], ["sun", "sea"]], [["pets"], ["news"], []]
    lines = []
    for number in range(90):
        k = int(rng.integers(3))
        row = {
            "id": f"t{number}",
            "text": " ".join(rng.choice(subjects[k], 8)),
            "tags": tags[k],
            "kind": rng.choice(["x", "y"]),
            "year": float(rng.integers(1990, 2000)),
        }
        lines.append(json.dumps(row) + "\n")
    for number in range(3):
        Path(f"{number}.jsonl").write_text("".join(lines[30 * number : 30 * number + 30]))
    Path("all.jsonl").write_text("".join(lines))
    return "0.jsonl 1.jsonl 2.jsonl"


def test_a_prepared_corpus_is_that_of_the_files(files):
    assert hdsp(f"prepare {files} {LABELS} -o corpus/").out == (
        "corpus/: 90 documents, 6 words, 720 tokens, 5 labels. "
        "Fit them: hdsp fit corpus/ -o model.hdsp\n"
    )
    stored = package.open_corpus("corpus")
    assert len(stored.shards) == 5
    labels = {"tags": "tags", "categories": "kind", "numeric": "year"}
    check_same(stored[:], read_table("all.jsonl", **labels, ids="id"))
    counted = {"documents": 90, "words": 6, "tokens": 720.0, "labels": 5, "parts": 5}
    found = hdsp(f"prepare {files} {LABELS} -o again --json").json
    assert found == {"corpus": "again", **counted}


def test_a_fit_of_a_folder_is_that_of_its_files(files):
    """One file is fitted in memory, by exact sweeps over labels: with the same words and labels."""
    hdsp(f"prepare {files} {LABELS} -o corpus")
    for name, documents in (
        ("folder", "corpus"),
        ("files", f"{files} {LABELS}"),
        ("all", f"all.jsonl {LABELS}"),
    ):
        hdsp(f"fit {documents} -o {name}.hdsp {FIT}")
    expected, of_folder = HDSP.load("all.hdsp"), HDSP.load("folder.hdsp")
    for name in ("folder", "files"):
        model = HDSP.load(f"{name}.hdsp")
        for attribute in ("words_", "label_names_", "text_settings_"):
            assert getattr(model, attribute) == getattr(expected, attribute)
        np.testing.assert_array_equal(model.components_, of_folder.components_)
    # What many files were prepared to is gone.
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_a_stored_corpus_is_answered_in_pieces(files):
    hdsp(f"fit all.jsonl {LABELS} -o m.hdsp {FIT}")
    hdsp(f"prepare {files} {LABELS} --like m.hdsp -o corpus -q")
    for suffix in ("csv", "tsv", "jsonl", "parquet"):
        for command in ("transform", "predict --target kind", "predict --target tags"):
            hdsp(f"{command} m.hdsp corpus -o pieces.{suffix} -q")
            hdsp(f"{command} m.hdsp all.jsonl -o whole.{suffix} -q")
            pieces, whole = read_output(f"pieces.{suffix}"), read_output(f"whole.{suffix}")
            pd.testing.assert_frame_equal(pieces, whole, rtol=1e-9)
            assert len(pieces) == 90
    found = [hdsp(f"evaluate m.hdsp {file} --json").json for file in ("corpus", "all.jsonl")]
    assert found[0]["documents"] == 90
    pieces, whole = (pd.DataFrame(answer["perplexity"]) for answer in found)
    pd.testing.assert_frame_equal(pieces, whole)
    hdsp("topics m.hdsp --documents corpus")
    hdsp("report m.hdsp corpus -o report.html -q")
    assert "<html" in Path("report.html").read_text()


def test_unknown_labels_of_a_folder_are_told_once(files):
    hdsp(f"fit all.jsonl --numeric year --tags tags -o m.hdsp {FIT}")
    table = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    for number, row in enumerate(table):
        row["tags"] = [f"new {number % 7}"] if number % 3 == 0 else row["tags"]
    Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    hdsp(f"prepare new.jsonl {LABELS} --like m.hdsp -o corpus -q")
    told = [hdsp(f"transform m.hdsp {file} -o t.csv -q").err for file in ("corpus", "new.jsonl")]
    assert told[1].startswith("hdsp: warning: 7 labels unknown to the model were ignored (in 30 ")
    # The folder has one more column, whose two levels the model does not know either.
    assert told[0].startswith("hdsp: warning: 9 labels unknown to the model were ignored (in 90 ")
    assert told[0].count("\n") == 1


def test_standard_input_is_prepared(files, monkeypatch):
    class Stream:
        buffer = io.BytesIO(Path("all.jsonl").read_bytes())

    monkeypatch.setattr(sys, "stdin", Stream())
    hdsp("prepare - --format jsonl -o corpus")
    check_same(package.open_corpus("corpus")[:], read_table("all.jsonl"))
    check_refused("prepare - -o corpus", "pass --format, one of")


def test_words_and_settings_are_those_of_the_options(files):
    Path("words.txt").write_text("tax\ncat\n")
    hdsp(f"prepare {files} --words words.txt -o corpus")
    assert package.open_corpus("corpus").words == ("tax", "cat")
    hdsp(f"prepare {files} --max-features 3 --ngrams 2 --min-df 2 -o corpus")
    settings = TextSettings(max_features=3, ngrams=2, min_df=2)
    expected = read_table("all.jsonl", text_settings=settings, ids="id")
    check_same(package.open_corpus("corpus")[:], expected)


def test_other_formats_are_read_as_a_whole(files):
    os.mkdir("letters")
    for number in range(4):
        Path(f"letters/{number}.txt").write_text("the cat and the dog")
    hdsp("prepare letters -o corpus --min-df 1 --max-df 1.0")
    settings = TextSettings(min_df=1, max_df=1.0)
    check_same(package.open_corpus("corpus")[:], read_folder("letters", text_settings=settings))
    hdsp(f"fit all.jsonl -o m.hdsp {FIT}")
    hdsp("prepare letters --like m.hdsp -o corpus")
    assert package.open_corpus("corpus").words == HDSP.load("m.hdsp").words_


def test_the_model_remembers_the_groups_of_a_table(files):
    hdsp(f"fit all.jsonl {LABELS} --groups year {FIT} -o grouped.hdsp")
    assert HDSP.load("grouped.hdsp").reading_.groups == "year"
    hdsp("effects grouped.hdsp --refits 2 all.jsonl -q")
