"""Runs that stop, go on, and find that something is missing; and results on disk."""

import math
import shutil
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from hdsp import HDSP
from hdsp.fit.run import Run
from hdsp_studies.comparison import ORIGINS, CorpusFolder
from hdsp_studies.reproduction import STUDIES, run_study, runner
from hdsp_studies.reproduction.results import (
    finished_rows,
    hash_settings,
    read_rows,
    read_settings,
    units_of,
    with_seeds,
    write_rows,
)
from hdsp_studies.reproduction.study import Settings
from studies.tests.reproduction.fakes import CONFIG, Squares


def results(folder):
    """The rows, without how long they took."""
    rows = read_rows(folder / "results.csv")
    return [{name: row[name] for name in row if name != "seconds"} for row in rows]


@pytest.fixture
def folder(tmp_path):
    """The folder of a study of squares."""
    (tmp_path / "squares").mkdir()
    (tmp_path / "squares" / "config.toml").write_text(CONFIG)
    return tmp_path / "squares"


@pytest.fixture
def never_measured(monkeypatch):
    """Whoever measures fails."""

    def measure(self, unit, settings, corpora):
        pytest.fail("measured before what is missing was found")

    for study in STUDIES.values():
        monkeypatch.setattr(type(study), "measure", measure)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_run_goes_on(n_jobs, folder, tmp_path):
    def interrupt(number, total, unit):
        raise KeyboardInterrupt

    shutil.copytree(folder, tmp_path / "whole")
    assert run_study(Squares(), tmp_path / "whole", CorpusFolder()) == 6
    with pytest.raises(KeyboardInterrupt):
        run_study(Squares(), folder, CorpusFolder(), n_jobs=n_jobs, progress=interrupt)
    first = read_rows(folder / "results.csv")
    assert len({row["number"] for row in first}) == 1
    assert run_study(Squares(), folder, CorpusFolder(), n_jobs=n_jobs) == 5
    assert results(folder) == results(tmp_path / "whole")
    # What was there is not measured again.
    assert [row for row in read_rows(folder / "results.csv") if row in first] == first


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_was_measured_before_a_failure_stays(n_jobs, folder, tmp_path):
    stop = tmp_path / "6"
    stop.touch()
    options = {"corpora": CorpusFolder(tmp_path), "n_jobs": n_jobs}
    with pytest.raises(ArithmeticError, match="stopped at 6"):
        run_study(Squares(), folder, **options)
    left = {row["number"] for row in results(folder)}
    if n_jobs == 1:
        assert left == {1, 2, 3, 4, 5}
    else:
        # A group that fails in another process is lost whole, and with it those that are under way.
        assert left <= {1, 2, 3, 4}
    stop.unlink()
    assert run_study(Squares(), folder, **options) == 6 - len(left)
    assert [(row["number"], row["value"]) for row in results(folder)] == [
        (number, number**power) for number in range(1, 7) for power in range(3)
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_without_time_nothing_is_begun(n_jobs, folder):
    assert run_study(Squares(), folder, CorpusFolder(), n_jobs=n_jobs, most_seconds=0) == 0
    assert results(folder) == []
    assert run_study(Squares(), folder, CorpusFolder()) == 6
    before = results(folder)
    (folder / "config.toml").write_text(CONFIG.replace("6]", "6, 7, 8]"))
    assert run_study(Squares(), folder, CorpusFolder(), n_jobs=n_jobs, most_seconds=0) == 0
    assert results(folder) == before


def test_after_its_time_a_run_begins_no_other_unit(folder, monkeypatch):
    measure, now = Squares.measure, [0.0]

    def slow(self, unit, settings, corpora):
        now[0] += 10.0
        return measure(self, unit, settings, corpora)

    monkeypatch.setattr(Squares, "measure", slow)
    clock = SimpleNamespace(time=lambda: now[0], perf_counter=lambda: now[0])
    monkeypatch.setattr(runner, "time", clock)
    # The third unit is begun and finished; the fourth, of its group, is not begun.
    assert run_study(Squares(), folder, CorpusFolder(), most_seconds=25.0) == 3
    rows = read_rows(folder / "results.csv")
    assert {row["number"] for row in rows} == {1, 2, 3}
    assert {row["seconds"] for row in rows} == {10}
    page = (folder / "README.md").read_text()
    assert "**Unfinished.** 3 of 6 units are measured; still to come: 3." in page
    assert "in 30 seconds" in page
    assert run_study(Squares(), folder, CorpusFolder()) == 3
    assert "**Unfinished.**" not in (folder / "README.md").read_text()


def test_units_that_share_work_follow_one_another(folder):
    """Also where their numbers do not, and the rows come in the order of the config."""
    (folder / "config.toml").write_text(CONFIG.replace("1, 2, 3, 4, 5, 6", "1, 3, 2, 4"))
    order = []
    run_study(Squares(), folder, CorpusFolder(), progress=lambda *now: order.append(now))
    assert order == [(i, 4, {"number": n}) for i, n in enumerate((1, 2, 3, 4), 1)]
    assert list(dict.fromkeys(row["number"] for row in results(folder))) == [1, 3, 2, 4]


def test_results_of_other_settings_are_neither_used_nor_lost(folder):
    config = folder / "config.toml"
    assert run_study(Squares(), folder, CorpusFolder()) == 6
    # A number that joins leaves the others as they are; another power does not.
    config.write_text(CONFIG.replace("6]", "6, 7]"))
    assert run_study(Squares(), folder, CorpusFolder()) == 1
    config.write_text(CONFIG.replace("6]", "6, 7]").replace("power = 2", "power = 3"))
    stored = (folder / "results.csv").read_text()
    with pytest.raises(FileExistsError, match="results of other settings: name another folder"):
        run_study(Squares(), folder, CorpusFolder())
    with pytest.raises(FileExistsError, match="replace them with --again"):
        run_study(Squares(), folder, CorpusFolder(), quick=True, most_seconds=0)
    assert (folder / "results.csv").read_text() == stored
    assert run_study(Squares(), folder, CorpusFolder(), again=True) == 7


def test_units_that_the_config_has_no_longer_stay_in_the_results(folder):
    assert run_study(Squares(), folder, CorpusFolder()) == 6
    config, before = folder / "config.toml", read_rows(folder / "results.csv")
    config.write_text(CONFIG.replace("6]", "7]"))
    assert run_study(Squares(), folder, CorpusFolder()) == 1
    after = read_rows(folder / "results.csv")
    assert [row["number"] for row in after[::3]] == [1, 2, 3, 4, 5, 7, 6]
    assert all(row in after for row in before)
    config.write_text(CONFIG)
    assert run_study(Squares(), folder, CorpusFolder()) == 0


@pytest.mark.usefixtures("never_measured")
def test_a_missing_corpus_is_named_before_any_work(corpora, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    # The corpus that comes first is there, a later one is not.
    (data / "rcv1_subset.parquet").symlink_to(corpora / "rcv1_subset.parquet")
    with pytest.raises(FileNotFoundError) as caught:
        run_study(STUDIES["figure-4"], tmp_path / "run", CorpusFolder(data), quick=True)
    message = str(caught.value)
    assert f"{str(data)!r}, has no nips_fulltext_1987_1999.parquet. It can be made from" in message
    assert ORIGINS["nips_fulltext_1987_1999"] in message
    assert not (tmp_path / "run").exists()


def test_half_a_corpus_tests_no_claims():
    study = STUDIES["figure-4"]
    settings = read_settings(study, quick=False)
    mark = hash_settings(study, settings)
    settings = Settings({**settings, "seeds": [0]})
    rows = [
        {**unit, "perplexity": 100.0, "run": "full", "settings": mark}
        for unit in units_of(study, settings)
    ]
    first = settings["corpora"][0]
    done = [row for row in rows if row["corpus"] == first]
    assert finished_rows(study, settings, [*done, *rows[len(done) : len(done) + 2]]) == done
    assert finished_rows(study, settings, done[:-1]) == []
    # A second seed counts once it is whole, and leaves the first as it is.
    both = with_seeds(settings, 2)
    second = [{**row, "seed": 1} for row in done]
    assert len(second) > 10
    assert finished_rows(study, both, [*done, *second]) == [*done, *second]
    assert finished_rows(study, both, [*done, *second[:-1]]) == done


def test_rows_come_back_as_they_were(tmp_path):
    rows = [
        {"name": "a, b", "number": 3, "value": 0.25, "settings": "1234e567"},
        {"name": "c", "number": 4, "value": np.float64(1.0), "settings": "00000001"},
        {"name": "d", "number": -2, "value": math.inf, "settings": "00000001"},
    ]
    rows = [{**row, "run": "quick"} for row in rows]
    write_rows(tmp_path / "results.csv", rows)
    assert read_rows(tmp_path / "results.csv") == rows


def test_what_is_missing_and_what_is_no_number(tmp_path):
    rows = [{"value": v, "settings": "a", "run": "quick"} for v in (None, math.nan)]
    write_rows(tmp_path / "results.csv", rows)
    missing, no_number = (row["value"] for row in read_rows(tmp_path / "results.csv"))
    assert missing == ""
    assert math.isnan(no_number)


def test_a_config_that_lacks_a_setting_is_named(tmp_path):
    (tmp_path / "config.toml").write_text("[full]\nseeds = [0]\n")
    with pytest.raises(ValueError, match=r"config of figure-2 lacks 'documents'"):
        run_study(STUDIES["figure-2"], tmp_path, CorpusFolder())


@pytest.mark.parametrize("share", [0.5, 0.98])
def test_results_that_were_cut_are_not_taken_for_whole(folder, share):
    assert run_study(Squares(), folder, CorpusFolder()) == 6
    results = folder / "results.csv"
    text = results.read_text()
    # In the midst of a line: at the comma before a value.
    results.write_text(text[: text.rindex(",", 0, int(share * len(text)))])
    with pytest.raises(ValueError, match=r"results\.csv' is not whole: restore it"):
        run_study(Squares(), folder, CorpusFolder())


class Fits(Squares):
    """Every unit is a fit."""

    def measure(self, unit, settings, corpora):
        HDSP(2, random_state=0).fit(np.eye(4))
        return super().measure(unit, settings, corpora)


def test_ctrl_c_in_a_fit_ends_the_study(folder, monkeypatch):
    def interrupt(*_):
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(Run, "record", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_study(Fits(), folder, CorpusFolder())
    finally:
        signal.signal(signal.SIGINT, before)
    assert not (folder / "results.csv").exists()
