"""`hdsp prepare`, and commands that work on what it has written."""

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hdsp
from hdsp.cli import main
from hdsp.corpus import preparing
from hdsp.corpus import stored as stored_corpus
from tests.corpus.corpora import check_same

LABELS = ["--tags", "tags", "--categories", "kind", "--numeric", "year"]


def write_tables(folder, n_tables=3):
    rng = np.random.default_rng(0)
    subjects = [["cat", "dog"], ["tax", "law"], ["sun", "sea"]]
    for number in range(n_tables):
        rows = []
        for _ in range(30):
            k = int(rng.integers(3))
            rows.append(
                {
                    "id": f"t{number} {len(rows)}",
                    "text": " ".join(rng.choice(subjects[k], 8)),
                    "tags": [["pets"], ["news"], []][k],
                    "kind": rng.choice(["x", "y"]),
                    "year": float(rng.integers(1990, 2000)),
                }
            )
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"table{number}.jsonl").write_text(lines)
    tables = [(folder / f"table{number}.jsonl").read_text() for number in range(n_tables)]
    (folder / "whole.jsonl").write_text("".join(tables))
    return [f"table{number}.jsonl" for number in range(n_tables)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three tables in the working directory, and parts of twenty documents."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preparing, "PART_SIZE", 20)
    monkeypatch.setattr(stored_corpus, "PART_SIZE", 20)
    return write_tables(tmp_path)


def run(*arguments):
    assert main(list(arguments)) == 0


def fails(capsys, *arguments):
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


FIT = ["--n-components", "3", "--tol", "0.01", "-q"]


def test_a_prepared_corpus_is_that_of_the_files(files, capsys):
    run("prepare", *files, *LABELS, "-o", "corpus/")
    said = capsys.readouterr().out
    assert said == (
        "corpus/: 90 documents, 6 words, 720 tokens, 5 labels. "
        "Fit them: hdsp fit corpus/ -o model.hdsp\n"
    )
    stored = hdsp.open_corpus("corpus")
    assert len(stored.shards) == 5
    expected = hdsp.read_table(
        "whole.jsonl", tags="tags", categories="kind", numeric="year", ids="id"
    )
    check_same(stored[:], expected)
    run("prepare", *files, *LABELS, "-o", "again", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "corpus": "again",
        "documents": 90,
        "words": 6,
        "tokens": 720.0,
        "labels": 5,
        "parts": 5,
    }


def test_a_fit_of_a_folder_is_that_of_its_files(files):
    """One file is fitted in memory, by exact sweeps over labels: with the same words and labels."""
    run("prepare", *files, *LABELS, "-o", "corpus")
    run("fit", "corpus", "-o", "folder.hdsp", *FIT)
    run("fit", *files, *LABELS, "-o", "files.hdsp", *FIT)
    run("fit", "whole.jsonl", *LABELS, "-o", "whole.hdsp", *FIT)
    expected = hdsp.HDSP.load("whole.hdsp")
    folder = hdsp.HDSP.load("folder.hdsp")
    for name in ("folder.hdsp", "files.hdsp"):
        model = hdsp.HDSP.load(name)
        assert model.words_ == expected.words_
        assert model.label_names_ == expected.label_names_
        assert model.text_settings_ == expected.text_settings_
        np.testing.assert_array_equal(model.components_, folder.components_)
    # What many files were prepared to is gone.
    assert not [name for name in os.listdir() if name.startswith(".")]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_are_written_in_pieces(files, suffix):
    run("fit", "whole.jsonl", *LABELS, "-o", "m.hdsp", *FIT)
    run("prepare", *files, *LABELS, "--like", "m.hdsp", "-o", "corpus", "-q")
    for command in (
        ["transform"],
        ["predict", "--target", "kind"],
        ["predict", "--target", "tags"],
    ):
        name, *options = command
        run(name, "m.hdsp", "corpus", *options, "-o", f"pieces.{suffix}", "-q")
        run(name, "m.hdsp", "whole.jsonl", *options, "-o", f"all.{suffix}", "-q")
        pieces, whole = read(f"pieces.{suffix}"), read(f"all.{suffix}")
        pd.testing.assert_frame_equal(pieces, whole, rtol=1e-9)
        assert len(pieces) == 90


def read(name):
    if name.endswith(("csv", "tsv")):
        return pd.read_csv(name, sep="\t" if name.endswith("tsv") else ",")
    if name.endswith("jsonl"):
        return pd.read_json(name, lines=True)
    return pd.read_parquet(name) if name.endswith("parquet") else pd.read_feather(name)


def test_an_evaluation_of_a_folder_is_that_of_the_table(files, capsys):
    run("fit", "whole.jsonl", *LABELS, "-o", "m.hdsp", *FIT)
    run("prepare", *files, *LABELS, "--like", "m.hdsp", "-o", "corpus", "-q")
    found = []
    for file in ("corpus", "whole.jsonl"):
        capsys.readouterr()
        run("evaluate", "m.hdsp", file, "--json")
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["documents"] == 90
    for given in ("labels", "completion"):
        values = [
            [row["perplexity"] for row in one["perplexity"] if row["given"] == given]
            for one in found
        ]
        assert values[0] == pytest.approx(values[1])
    run("topics", "m.hdsp", "--documents", "corpus")
    run("report", "m.hdsp", "corpus", "-o", "report.html", "-q")
    assert "<html" in Path("report.html").read_text()


def test_unknown_labels_of_a_folder_are_told_once(files, capsys):
    run("fit", "whole.jsonl", "--numeric", "year", "--tags", "tags", "-o", "m.hdsp", *FIT)
    table = [json.loads(line) for line in Path("whole.jsonl").read_text().splitlines()]
    for number, row in enumerate(table):
        row["tags"] = [f"new {number % 7}"] if number % 3 == 0 else row["tags"]
    Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    run("prepare", "new.jsonl", *LABELS, "--like", "m.hdsp", "-o", "corpus", "-q")
    said = []
    for file in ("corpus", "new.jsonl"):
        capsys.readouterr()
        run("transform", "m.hdsp", file, "-o", "t.csv", "-q")
        said.append(capsys.readouterr().err)
    assert said[1].startswith("hdsp: warning: 7 labels unknown to the model were ignored (in 30 ")
    # The folder has one more column, whose two levels the model does not know either.
    assert said[0].startswith("hdsp: warning: 9 labels unknown to the model were ignored (in 90 ")
    assert said[0].count("\n") == 1


def test_standard_input_is_prepared(files, monkeypatch, capsys):
    class Stream:
        buffer = io.BytesIO(Path("whole.jsonl").read_bytes())

    monkeypatch.setattr(sys, "stdin", Stream())
    run("prepare", "-", "--format", "jsonl", "-o", "corpus")
    check_same(hdsp.open_corpus("corpus")[:], hdsp.read_table("whole.jsonl"))
    message = fails(capsys, "prepare", "-", "-o", "corpus")
    assert "pass --format, one of" in message


def test_words_and_settings_are_those_of_the_options(files):
    Path("words.txt").write_text("tax\ncat\n")
    run("prepare", *files, "--words", "words.txt", "-o", "corpus")
    assert hdsp.open_corpus("corpus").words == ("tax", "cat")
    run("prepare", *files, "--max-features", "3", "--ngrams", "2", "--min-df", "2", "-o", "corpus")
    stored = hdsp.open_corpus("corpus")
    settings = hdsp.TextSettings(max_features=3, ngrams=2, min_df=2)
    check_same(stored[:], hdsp.read_table("whole.jsonl", text_settings=settings, ids="id"))


def test_other_formats_are_read_as_a_whole(files):
    os.mkdir("letters")
    for number in range(4):
        Path(f"letters/{number}.txt").write_text("the cat and the dog")
    run("fit", "whole.jsonl", "-o", "m.hdsp", *FIT)
    run("prepare", "letters", "--like", "m.hdsp", "-o", "corpus")
    assert hdsp.open_corpus("corpus").words == hdsp.HDSP.load("m.hdsp").words_
    run("prepare", "letters", "-o", "corpus", "--min-df", "1", "--max-df", "1.0")
    settings = hdsp.TextSettings(min_df=1, max_df=1.0)
    check_same(hdsp.open_corpus("corpus")[:], hdsp.read_folder("letters", text_settings=settings))


def test_what_cannot_be_prepared_is_told(files, capsys):
    run("fit", "whole.jsonl", "-o", "m.hdsp", *FIT)
    run("prepare", *files, "--max-features", "3", "-o", "corpus")
    os.mkdir("letters")
    Path("letters/a.txt").write_text("a cat")
    cases = {
        ("prepare", "letters", *files, "-o", "c"): "Several files must be tables, and letters is",
        ("prepare", *files, "-o", "no/c"): "(No such file or directory): create it",
        ("prepare", *files, "-o", "letters"): "is a folder with 'a.txt' in it: choose another",
        (
            "prepare",
            *files,
            "--metadata",
            "x.csv",
            "-o",
            "c",
        ): "--metadata does not apply to several files",
        ("prepare", "corpus", "--stem", "en", "-o", "c"): "--stem does not apply to corpus",
        ("prepare", "nothing.csv", "-o", "c"): "there is no such file",
        ("fit", "corpus", "--tags", "tags", "-o", "n.hdsp"): "--tags does not apply to corpus",
        (
            "fit",
            "corpus",
            "--max-features",
            "9",
            "-o",
            "n.hdsp",
        ): "--max-features does not apply to corpus",
        ("transform", "m.hdsp", "corpus"): "Use hdsp prepare --like MODEL",
    }
    for arguments, message in cases.items():
        assert message in fails(capsys, *arguments), arguments
    assert not os.path.exists("c")


def test_groups_go_with_one_table(files, capsys):
    run("fit", "whole.jsonl", *LABELS, "--groups", "year", *FIT, "-o", "grouped.hdsp")
    refits = ["--refits", "2", "whole.jsonl"]
    # The model remembers the column of the groups.
    run("effects", "grouped.hdsp", *refits, "-q")
    said = fails(capsys, "fit", *files, "--groups", "kind", "-o", "several.hdsp")
    assert "hdsp: --groups does not apply to several files" in said
    assert "there is no column 'author'" in fails(
        capsys, "fit", "whole.jsonl", "--groups", "author", "-o", "none.hdsp"
    )
