"""`hdsp compare`, from a file to a table and a figure."""

import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hdsp.cli import main
from hdsp.cli.main import make_parser
from hdsp.corpus import TextSettings
from hdsp_studies.cli.compare import MODELS
from hdsp_studies.comparison import worker
from hdsp_studies.comparison.isolation import CellResult
from hdsp_studies.peers import PEERS

FAKES = "studies.tests.comparison.fakes"
UNIGRAM = f"{FAKES}:Unigram"


def letters(n_documents=80, seed=0):
    rng = np.random.default_rng(seed)
    words = {"north": "snow ice wind frost coat", "south": "sun sand palm heat hat"}
    rows = []
    for number in range(n_documents):
        place = ["north", "south"][number % 2]
        text = " ".join(rng.choice((words[place] + " day town").split(), size=12))
        rows.append({"text": text, "place": place, "tags": ["new"] if number % 3 else []})
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "letters.parquet"
    letters().to_parquet(path)
    return path


@pytest.fixture(scope="module")
def other(file):
    path = file.with_name("cards.parquet")
    letters(50, seed=1).to_parquet(path)
    return path


@pytest.fixture
def jobs(monkeypatch):
    """The jobs that would have gone to child processes; they are done here, and not drawn."""
    done = []

    def run_here(job, most_seconds):
        done.append((job, most_seconds))
        return CellResult(worker.run(job), None)

    monkeypatch.setattr("hdsp_studies.comparison.run.run_isolated", run_here)
    monkeypatch.setattr("hdsp_studies.comparison.draw", lambda cells, path: [])
    return done


def arguments(file, folder, models, *more):
    files = map(str, file) if isinstance(file, tuple) else [str(file)]
    return [
        "compare", *files, "--categories", "place", "--tags", "tags", "--models", models,
        "--n-components", "4", "--quick", "--max-df", "1.0", "-o", str(folder), *more,
    ]  # fmt: skip


def test_table_figure_and_resuming(file, tmp_path, capsys, every_line):
    asked = arguments(file, tmp_path, "hdsp,nb", "--n-seeds", "1", "--target", "place")
    assert main(asked) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "letters: one seed, so without intervals"
    assert lines[3].split()[:4] == ["nb", "-", "-", "-"]
    assert "Comparing models: 0 of 2 done, now hdsp on letters, seed 0, " in err
    assert re.search(r"models: 2 of 2 done, last nb on letters, seed 0: [\d.]+ s, took", err)
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
    assert main(arguments(file, tmp_path, models, "--n-seeds", "1", "--json")) == 1
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["failed"][0]["error"] == "its process was ended by SIGSEGV"
    assert data["rows"][0]["completion"] is None
    assert data["rows"][1]["completion"]["mean"] > 1
    line = err.splitlines()[-1]
    assert line.startswith("hdsp: 1 of 2 cells failed, and the same command tries them again: ")


@pytest.mark.parametrize(
    ("models", "more", "message"),
    [
        ("lsa", [], "There is no model 'lsa'."),
        ("hdsp,", ["--n-seeds", "0"], "--n-seeds: must be an integer >= 1"),
        ("hdsp", ["--n-components", "1"], "--n-components must be at least 2"),
        ("hdsp", ["--test-size", "1"], "--test-size must lie between 0 and 1"),
        ("svm", [], "predicts one label column and nothing else: name a target"),
        ("svm", ["--target", "tags"], "choose a category or a number"),
        ("hdsp", ["--text", "body"], "body"),
        (",", [], "at least one model"),
        ("hdsp", ["--minutes", "0"], "--minutes must be positive. Got 0."),
        ("hdsp", ["--min-df", "90"], "No word is left"),
    ],
)
def test_bad_input_is_one_sentence(file, tmp_path, capsys, models, more, message):
    assert main(arguments(file, tmp_path, models, *more)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert message in line


def test_a_missing_library_says_what_to_install(file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("hdsp_studies.peers.base.importlib.util.find_spec", lambda name: None)
    assert main(arguments(file, tmp_path, "lda")) == 2
    expected = "hdsp: The model 'lda' needs tomotopy: pip install tomotopy.\n"
    assert capsys.readouterr().err == expected


def test_results_need_a_folder(file, capsys):
    assert main(arguments(file, file, "hdsp")) == 2
    assert "is a file, and the results need a folder" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_found_first(file, monkeypatch, capsys):
    monkeypatch.setattr("hdsp_studies.cli.compare.read_file", None)
    assert main(arguments(file, "/proc/results", "hdp")) == 2
    assert "folder '/proc' cannot be written to" in capsys.readouterr().err


def test_a_stored_corpus_has_chosen_its_words(file, tmp_path, capsys):
    corpus = str(tmp_path / "corpus")
    assert main(["prepare", str(file), "--categories", "place", "-o", corpus]) == 0
    assert main(["compare", corpus, "--models", "hdsp", "-o", str(tmp_path / "results")]) == 2
    assert "name the files it was prepared from" in capsys.readouterr().err


def test_several_corpora(file, other, tmp_path, capsys, every_line, jobs):
    asked = arguments((file, other), tmp_path, f"hdp,{UNIGRAM}", "--n-seeds", "2", "--minutes", "9")
    assert main(asked) == 0
    out, err = capsys.readouterr()
    # While a cell is done, the fits inside it write lines, too.
    cells = list(dict.fromkeys(re.findall(r"(\d) of 8 done,.*? now (.+?, seed \d)", err)))
    assert [cells[place] for place in (0, 3, 6)] == [
        ("0", "hdp on letters, seed 0"),
        ("3", f"{UNIGRAM} on letters, seed 1"),
        ("6", f"{UNIGRAM} on cards, seed 0"),
    ]
    assert {most_seconds for _, most_seconds in jobs} == {540.0}
    blocks = [block.splitlines() for block in out.split("\n\n")]
    assert [block[0].split(":")[0] for block in blocks] == ["letters", "cards"]
    assert [[line.split()[0] for line in block[2:]] for block in blocks] == [["hdp", UNIGRAM]] * 2
    assert blocks[0][1:] != blocks[1][1:]
    table = pd.read_csv(tmp_path / "table.csv")
    data = json.loads((tmp_path / "table.json").read_text())
    expected = [(c, m) for c in ("letters", "cards") for m in ("hdp", UNIGRAM)]
    assert [(row["corpus"], row["model"]) for row in data["rows"]] == expected
    for row in data["rows"]:
        of_row = (table["corpus"] == row["corpus"]) & (table["model"] == row["model"])
        mean = table[of_row & (table["measure"] == "completion")]["mean"]
        assert mean.to_list() == [row["completion"]["mean"]]


def test_the_help_names_every_model():
    assert list(MODELS) == list(PEERS)


def test_examples_of_the_page_are_understood():
    page = (Path(__file__).parents[3] / "docs" / "comparing.md").read_text()
    examples = re.findall(r"^ {4}hdsp (compare .+)$", page, re.M)
    assert examples
    for example in examples:
        options = make_parser().parse_args(shlex.split(example))
        assert set(options.models) <= set(PEERS)


def test_files_of_the_same_name(file, tmp_path, capsys):
    again = tmp_path / "letters.csv"
    assert main(arguments((file, again), tmp_path / "results", "hdsp")) == 2
    message = f"'{file}' and '{again}' would both be called 'letters' in the results: rename one"
    assert message in capsys.readouterr().err


def test_a_folder_is_called_by_its_name(tmp_path, monkeypatch, capsys, jobs):
    place = tmp_path / "notes"
    place.mkdir()
    for number, text in enumerate(letters()["text"]):
        (place / f"{number}.txt").write_text(text)
    monkeypatch.chdir(place)
    assert main(["compare", ".", "--models", UNIGRAM, "--n-seeds", "1", "-o", "../results"]) == 0
    assert capsys.readouterr().out.startswith("notes: one seed")


def test_words_are_chosen_by_training_documents(tmp_path, jobs):
    """In the file, a word is too frequent and another frequent enough; in training, neither."""
    frame = letters()
    in_test = np.random.default_rng(0).random(len(frame)) < 0.2
    frame.loc[in_test, "text"] += " zebra frost"
    file = tmp_path / "letters.parquet"
    frame.to_parquet(file)
    more = ["--n-seeds", "1", "--min-df", "2", "--max-df", "0.5", "--max-features", "9"]
    assert main(arguments(file, tmp_path / "results", UNIGRAM, *more)) == 0
    ((job, _),) = jobs
    settings = TextSettings(min_df=2, max_df=0.5, max_features=9)
    _, words = settings.count(frame["text"][~in_test])
    assert job.train.words == job.test.words == words
    assert "frost" in words
    assert "frost" not in settings.count(frame["text"])[1]
    (cell,) = (tmp_path / "results" / "cells").iterdir()
    recorded = json.loads(cell.read_text())["determined_by"]["split"]["text_settings"]
    assert recorded == json.loads(json.dumps(asdict(settings)))


def test_counts_have_no_words_to_choose(tmp_path, jobs, capsys):
    file = tmp_path / "counts.txt"
    file.write_text("0 1:2 2:1\n1 1:1 3:1\n" * 30)
    asked = ["compare", str(file), "--format", "svmlight", "--models", UNIGRAM, "--n-seeds", "1"]
    output = ["-o", str(tmp_path / "results")]
    assert main([*asked, *output, "--max-df", "1"]) == 2
    assert "--max-df does not apply to" in capsys.readouterr().err
    assert main([*asked, *output]) == 0
    assert len(jobs[0][0].train.words) == 3


def test_the_table_is_of_all_that_was_made_alike(file, tmp_path, capsys, jobs):
    assert main(arguments(file, tmp_path, "hdp", "--n-seeds", "2")) == 0
    capsys.readouterr()
    assert main(arguments(file, tmp_path, UNIGRAM, "--n-seeds", "1")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "letters: means over 1 to 2 seeds, with 95% t intervals"
    assert [line.split()[0] for line in lines[2:]] == [UNIGRAM, "hdp"]
    assert len(jobs) == 3
    # Other settings make another table, of what is not in the way of what is asked.
    assert main([*arguments(file, tmp_path, "whdsp", "--n-seeds", "1"), "--test-size", "0.3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["whdsp"]
