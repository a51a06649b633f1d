"""Seeds, names and merges of topics on the command line."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from hdsp import HDSP
from tests.cli.test_commands import reviews, run

SEEDS = {"cloth": ["silk"], "walk": ["sole"]}


def test_the_command_reads_seeds(tmp_path):
    reviews(120).to_parquet(tmp_path / "reviews.parquet")
    (tmp_path / "seeds.json").write_text(json.dumps(SEEDS))
    fit = ["fit", str(tmp_path / "reviews.parquet"), "-o", str(tmp_path / "m.hdsp")]
    run(tmp_path, *fit, "--n-components", "5", "--seeds", str(tmp_path / "seeds.json"))
    assert set(HDSP.load(tmp_path / "m.hdsp").topic_names_.values()) == set(SEEDS)
    for text, message in (
        ("{", "is not JSON"),
        ("[]", "must map topic names"),
        ("[" * 100_000, "is not JSON"),
        ('{"a": "b"}', "--seeds must map topic names to lists of words"),
    ):
        (tmp_path / "seeds.json").write_text(text)
        status, _, error = run(tmp_path, *fit, "--seeds", str(tmp_path / "seeds.json"))
        assert status == 2
        assert message in error


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("daily")
    frame = reviews(100)
    frame.to_parquet(path / "reviews.parquet")
    arguments = ["fit", "reviews.parquet", "--categories", "department", "--n-components", "6"]
    assert run(path, *arguments, "-o", "model.hdsp")[0] == 0
    write_names(path, {"1": "Shoes", "4": "Bags"})
    return path


@pytest.fixture
def copied(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


def write_names(folder, names):
    data = {"format": "hdsp-names-1", "names": names}
    (folder / "names.json").write_text(json.dumps(data))


def test_names_are_kept_in_the_model_file(copied):
    before = HDSP.load(copied / "model.hdsp").components_
    status, out, error = run(copied, "topics", "model.hdsp", "--names", "names.json")
    assert status == 0
    assert error == "hdsp: wrote model.hdsp.\n"
    assert "Shoes" in out
    loaded = HDSP.load(copied / "model.hdsp")
    assert loaded.topic_names_ == {1: "Shoes", 4: "Bags"}
    np.testing.assert_array_equal(loaded.components_, before)
    assert sorted(p.name for p in copied.iterdir()) == [
        "model.hdsp",
        "names.json",
        "reviews.parquet",
    ]
    rows = json.loads(run(copied, "topics", "model.hdsp", "--json")[1])["topics"]
    assert [row["name"] for row in rows] == ["", "Shoes", "", "", "Bags", ""]
    assert "Bags " in run(copied, "effects", "model.hdsp", "--all")[1]
    rows = json.loads(run(copied, "effects", "model.hdsp", "--json")[1])["effects"]
    assert {row["topic"]: row["name"] for row in rows}[4] == "Bags"
    for option in (["--find", "silk", "--all"], ["--documents", "reviews.parquet"]):
        assert "Shoes" in run(copied, "topics", "model.hdsp", *option)[1]
    status, out, _ = run(copied, "transform", "model.hdsp", "reviews.parquet")
    header = out.splitlines()[0].split(",")
    assert header == ["topic0", "topic1 Shoes", "topic2", "topic3", "topic4 Bags", "topic5"]


def test_names_and_merged_topics_make_a_new_model(copied):
    before = (copied / "model.hdsp").read_bytes()
    command = ["topics", "model.hdsp", "--names", "names.json", "--merge", "4,5"]
    status, out, error = run(copied, *command, "-o", "merged.hdsp")
    assert (status, error) == (0, "hdsp: wrote merged.hdsp.\n")
    assert re.search(r"Bags +4\+5 ", out)
    assert "nan" not in out
    assert (copied / "model.hdsp").read_bytes() == before
    merged = HDSP.load(copied / "merged.hdsp")
    named = {merged.fitted_topics_[k]: name for k, name in merged.topic_names_.items()}
    assert named == {(1,): "Shoes", (4, 5): "Bags"}
    assert sorted(merged.fitted_topics_) == [(0,), (1,), (2,), (3,), (4, 5)]
    said = json.loads(run(copied, *command, "-o", "other.hdsp", "--json")[1])
    expected = ["+".join(map(str, own)) for own in merged.fitted_topics_]
    assert [row["fitted_topics"] for row in said["topics"]] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--merge", "1,2"], "--merge makes a new model: name it with -o, such as merged.hdsp"),
        (["--merge", "1,2", "-o", "x.csv"], "--merge makes a new model"),
        (["-o", "x.hdsp"], "-o x.hdsp would only copy the model: add --names or --merge"),
        (["--merge", "1;2", "-o", "x.hdsp"], "invalid topic_list value: '1;2'"),
        (["--merge", "1,9", "-o", "x.hdsp"], "must name topics 0 to 5. Got 9"),
        (["--merge", "1", "-o", "x.hdsp"], "must name at least two topics"),
        (["--merge", "0,1", "--merge", "1,2", "-o", "x.hdsp"], "name each topic once"),
        (["--merge", "0,1", "-o", "none/x.hdsp"], "directory): create it"),
    ],
)
def test_merges_that_are_none_say_so(folder, arguments, message):
    status, out, error = run(folder, "topics", "model.hdsp", *arguments)
    assert (status, out) == (2, "")
    assert message in error
    assert "Traceback" not in error
    assert not (folder / "x.hdsp").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "hdsp-names-1", "names": {"0": null}}', "is not a file of topic names"),
        ('{"format": "hdsp-names-1", "names": {"0": 3}}', "is not a file of topic names"),
        ("[" * 100_000, "is not a file of topic names"),
    ],
)
def test_a_file_of_names_that_is_none_is_refused(folder, text, message):
    (folder / "wrong.json").write_text(text)
    status, _, error = run(folder, "topics", "model.hdsp", "--names", "wrong.json")
    assert status == 2
    assert message in error
    assert "Traceback" not in error
    status, _, error = run(folder, "topics", "model.hdsp", "--names", "missing.json")
    assert status == 2
    assert error == "hdsp: No such file or directory: 'missing.json'.\n"


def test_names_of_topics_that_are_not_there_change_nothing(copied):
    before = (copied / "model.hdsp").read_bytes()
    write_names(copied, {"9": "x"})
    status, _, error = run(copied, "topics", "model.hdsp", "--names", "names.json")
    assert status == 2
    assert "names topic 9, but the model's topics are 0 to 5" in error
    assert (copied / "model.hdsp").read_bytes() == before


def test_python_runs_the_package_as_the_command(folder):
    found = subprocess.run(
        [sys.executable, "-m", "hdsp", "--version"], capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("hdsp ")


def test_a_contrast_may_begin_with_any_negative_number(tmp_path):
    reviews(60).to_parquet(tmp_path / "reviews.parquet")
    fit = ["fit", "reviews.parquet", "--numeric", "rating", "--n-components", "3"]
    assert run(tmp_path, *fit, "-o", "m.hdsp")[0] == 0
    asked = ["effects", "m.hdsp", "--label", "rating", "--json", "--contrast"]
    for low in ("-1", "-1.5", "-1e0", "-.5E+0"):
        status, out, error = run(tmp_path, *asked, low, "1e0")
        assert status == 0
        assert error.startswith(
            f"hdsp: warning: --contrast goes to {low!r}, and 'rating' runs from"
        )
        assert json.loads(out)["effects"][0]["contrast"] == f"1e0 - {low}"
    status, _, error = run(tmp_path, *asked, "-1e300", "1e300")
    assert status == 2
    assert "--contrast must be two finite numbers" in error


def test_one_topic_is_no_topics(tmp_path):
    reviews(1).to_parquet(tmp_path / "one.parquet")
    status, out, _ = run(tmp_path, "fit", "one.parquet", "--min-df", "1", "-o", "m.hdsp")
    assert status == 0
    assert "1 topic in use, 0 labels" in out
