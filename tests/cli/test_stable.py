"""`hdsp stability`, and numbers of topics on the command line."""

import json

import pandas as pd
import pytest

from hdsp import HDSP
from hdsp.cli import main
from tests.cli.test_commands import reviews


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("stable")
    reviews().to_parquet(path / "reviews.parquet")
    options = [
        "--categories",
        "department",
        "--max-components",
        "6",
        "-o",
        str(path / "model.hdsp"),
    ]
    assert main(["fit", str(path / "reviews.parquet"), *options]) == 0
    return path


def stable(folder, *options):
    model, table = str(folder / "model.hdsp"), str(folder / "reviews.parquet")
    return main(["stability", model, table, "--n-fits", "2", *options])


def test_the_number_of_topics_is_found_and_can_be_fixed(folder, tmp_path, capsys):
    searched = HDSP.load(folder / "model.hdsp")
    assert 2 <= len(searched.topic_weight_) <= 6
    assert searched.search_
    output = str(tmp_path / "fixed.hdsp")
    options = ["--categories", "department", "--n-components", "6", "-o", output]
    assert main(["fit", str(folder / "reviews.parquet"), *options]) == 0
    assert len(HDSP.load(output).topic_weight_) == 6


def test_topics_that_come_back_are_printed_first(folder, capsys):
    assert stable(folder) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "with other seeds" in lines[0]
    assert lines[1].split()[:2] == ["topic", "share"]
    common = [float(line.split()[2]) for line in lines[2:]]
    assert common == sorted(common, reverse=True)
    assert all(line.split()[4] == "2" for line in lines[2:])


def test_stability_as_json_and_in_a_table(folder, tmp_path, capsys):
    assert stable(folder, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["topics_in_fits"]) == 2
    assert all(0 <= topic["found_in"] <= 2 for topic in found["topics"])
    assert stable(folder, "-o", str(tmp_path / "topics.csv")) == 0
    table = pd.read_csv(tmp_path / "topics.csv")
    assert {"similarity", "found_in", "words"} <= set(table.columns)


def test_no_fits_are_refused(folder, capsys):
    assert stable(folder, "--n-fits", "0") == 2
    assert "--n-fits: must be an integer >= 1" in capsys.readouterr().err
