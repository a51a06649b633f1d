import re

import pytest

from hdsp.cli import main
from hdsp_studies.reproduction import STUDIES
from studies.tests.reproduction.stand_ins import write_corpora


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """The folder of corpora that stand in for the real ones."""
    return write_corpora(tmp_path_factory.mktemp("corpora"))


def test_a_figure_is_made_where_it_is_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "figure-2", "--quick", "--n-jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "holds" in out
    assert (tmp_path / "reproduction" / "quick" / "figure-2" / "figure.svg").is_file()


def test_measurements_are_counted(tmp_path, capsys, every_line):
    arguments = ["--quick", "--n-jobs", "1", "--output", str(tmp_path)]
    assert main(["reproduce", "figure-2", *arguments]) == 0
    err = capsys.readouterr().err
    assert re.search(r"^Reproducing figure-2: 2 of 2 done, last seed 0, fit converged, ", err, re.M)


def test_seeds_are_added_to_what_is_there(tmp_path, capsys):
    arguments = ["reproduce", "figure-2", "--quick", "--n-jobs", "1", "--output", str(tmp_path)]
    assert main(arguments) == 0
    assert "(1 seed): The relative" in capsys.readouterr().out
    before = (tmp_path / "figure-2" / "results.csv").read_text()
    assert main([*arguments, "--n-seeds", "2"]) == 0
    capsys.readouterr()
    both = (tmp_path / "figure-2" / "results.csv").read_text()
    assert both.startswith(before)
    assert {line.partition(",")[0] for line in both.splitlines()[1:]} == {"0", "1"}
    # Without the option the seeds that are there still count.
    assert main(arguments) == 0
    assert re.search(r"2 seeds\)?: The relative", capsys.readouterr().out)
    assert (tmp_path / "figure-2" / "results.csv").read_text() == both


def test_there_is_at_least_one_seed(capsys):
    assert main(["reproduce", "figure-2", "--n-seeds", "0"]) == 2
    assert "--n-seeds: must be an integer >= 1, got '0'" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_found_first(capsys):
    assert main(["reproduce", "figure-2", "--output", "/proc/results"]) == 2
    assert "folder '/proc' cannot be written to" in capsys.readouterr().err


def test_what_needs_corpora_says_so_and_the_rest_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("HDSP_DATA", raising=False)
    arguments = ["--quick", "--n-jobs", "1", "--output", str(tmp_path)]
    assert main(["reproduce", "figure-4", "figure-2", *arguments]) == 2
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "figure-4 needs corpora" in err
    assert "figure-2" in out
    assert main(["reproduce", "figure-4", *arguments]) == 2
    assert "--data or HDSP_DATA" in capsys.readouterr().err


def test_names_are_listed_and_unknown_ones_refused(tmp_path, capsys):
    assert main(["reproduce", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(STUDIES)
    assert main(["reproduce", "figure-1"]) == 2
    assert "no 'figure-1' to reproduce" in capsys.readouterr().err
    assert main(["reproduce", "figure-4", "--data", str(tmp_path / "none")]) == 2
    assert "to read corpora from" in capsys.readouterr().err


def test_corpora_are_read_from_the_folder_that_is_named(corpora, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HDSP_DATA", str(corpora))
    arguments = ["reproduce", "figure-9", "--quick", "--n-jobs", "1", "--output", str(tmp_path)]
    assert main([*arguments, "--minutes", "0"]) == 0
    assert "not yet run: For both scaling functions" in capsys.readouterr().out
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "rcv1_subset HDSP" in out
    assert "(quick run)" in out
    assert "not yet run" not in out


def test_a_missing_corpus_is_named_with_where_to_obtain_it(tmp_path, capsys):
    data, output = tmp_path / "data", tmp_path / "output"
    data.mkdir()
    arguments = ["--quick", "--data", str(data), "--output", str(output)]
    assert main(["reproduce", "appendix-b", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "has no rcv1_subset.parquet. It can be made from RCV1-v2" in line
    assert not output.exists()
