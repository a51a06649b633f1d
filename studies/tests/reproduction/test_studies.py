"""Every study runs end to end with small settings and writes its files."""

import re
from pathlib import Path

import pytest

from hdsp_studies.comparison import ORIGINS, CorpusFolder
from hdsp_studies.reproduction import STUDIES, claims_by_study, run_study
from hdsp_studies.reproduction.page import in_short
from hdsp_studies.reproduction.results import hash_settings, read_rows, read_settings, units_of

ROOT = Path(__file__).parents[3]
FILES = {"results.csv", "README.md"}
FIGURES = {name: {"figure.svg"} for name in STUDIES} | {"tables-1-2": set()}
VERDICTS = {"holds", "holds in part", "does not hold here", "not yet run"}
COMMIT = re.compile(r"Commit: [0-9a-f]{10}\.$", re.M)


@pytest.mark.parametrize("name", STUDIES)
def test_a_quick_run_writes_its_files(name, corpora, tmp_path):
    study, source = STUDIES[name], CorpusFolder(corpora)
    units = units_of(study, read_settings(study, quick=True))
    assert run_study(study, tmp_path, source, quick=True) == len(units)
    assert {path.name for path in tmp_path.iterdir()} == FILES | FIGURES[name]
    rows = read_rows(tmp_path / "results.csv")
    assert {row["run"] for row in rows} == {"quick"}
    for fit in {row["fit"] for row in rows} - {""}:
        found = study.findings(rows, fit)
        assert {finding.verdict for finding in found} <= VERDICTS
        # Quick settings and stand-in corpora are enough for most claims to be tested.
        assert any(finding.verdict != "not yet run" for finding in found)
    # Our fits say how they went.
    if name != "tables-1-2":
        ours = [row for row in rows if row["fit"]]
        assert {row["converged"] for row in ours} <= {0, 1}
        assert all(row["passes"] >= 1 for row in ours)
    readme = (tmp_path / "README.md").read_text()
    assert "**Quick run.**" in readme
    assert "**Unfinished.**" not in readme
    # The verdicts come first, then the picture, then the numbers, folded away.
    shown = ["| The paper |", *(["!["] if FIGURES[name] else []), "<details>", "</details>"]
    places = [readme.index(part) for part in shown]
    assert places == sorted(places)
    assert COMMIT.search(readme)
    # Nothing is left to measure: the figure is drawn again.
    assert run_study(study, tmp_path, source, quick=True) == 0
    assert read_rows(tmp_path / "results.csv") == rows


def test_two_processes_measure_what_one_does(corpora, tmp_path):
    study = STUDIES["figure-9"]
    for n_jobs in (1, 2):
        run_study(study, tmp_path / str(n_jobs), CorpusFolder(corpora), quick=True, n_jobs=n_jobs)
    one, two = (read_rows(tmp_path / name / "results.csv") for name in "12")
    for row in (*one, *two):
        assert row.pop("seconds") >= 0
    assert one == two


@pytest.mark.parametrize("name", STUDIES)
def test_without_results_claims_are_not_yet_run(name):
    assert {found.verdict for found in STUDIES[name].findings([])} == {"not yet run"}


@pytest.mark.parametrize("name", STUDIES)
def test_every_corpus_can_be_obtained_and_has_a_stand_in(name, corpora):
    for quick in (True, False):
        settings = read_settings(STUDIES[name], quick)
        named = {*settings.get("corpora", []), *settings.get("reviews", [])}
        assert named <= set(ORIGINS)
        assert named <= {path.stem for path in corpora.iterdir()}


@pytest.mark.parametrize("name", STUDIES)
def test_committed_results_come_from_the_settings_of_the_package(name):
    folder, study = ROOT / "reproduction" / name, STUDIES[name]
    if not (folder / "README.md").is_file():
        pytest.skip("has no results yet")
    assert {path.name for path in folder.iterdir()} == FILES | FIGURES[name]
    rows = read_rows(folder / "results.csv")
    expected = hash_settings(study, read_settings(study, quick=False))
    assert {row["settings"] for row in rows} == {expected}


def test_the_page_of_results_is_made_from_the_files():
    page, folder = (ROOT / "docs" / "published.md").read_text(), ROOT / "reproduction"
    assert claims_by_study(STUDIES, folder, "../reproduction") in page
    assert in_short(STUDIES, folder) in page
