"""Every study runs end to end with small settings and writes its files."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, simulate
from hdsp.reproduction import STUDIES, Source, claims_table, run_study
from hdsp.reproduction.corpora import indicators
from hdsp.reproduction.embedding import unfold
from hdsp.reproduction.models import FitSettings, fit_fixed, make_model
from hdsp.reproduction.results import (
    default_config,
    fingerprint,
    finished_rows,
    read_rows,
    read_settings,
    write_rows,
)
from hdsp.reproduction.studies.figure_9 import thinned

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[2]
DATA = os.environ.get("HDSP_DATA")
FILES = {"config.toml", "results.csv", "figure.png", "figure.svg", "README.md"}
VERDICTS = {"holds", "holds in part", "does not hold here", "not yet run"}


@pytest.mark.parametrize("name", STUDIES)
def test_a_quick_run_writes_its_files(name, tmp_path):
    study = STUDIES[name]
    if study.needs_corpora and DATA is None:
        pytest.skip("reads real corpora: name their folder with HDSP_DATA")
    source = Source(None if DATA is None else Path(DATA), 1)
    measured = run_study(study, tmp_path, source, quick=True)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    rows = read_rows(tmp_path / "results.csv")
    assert {row["run"] for row in rows} == {"quick"}
    assert measured == len(study.units(read_settings(default_config(study), quick=True)))
    assert {found.verdict for found in study.judge(rows)} <= VERDICTS
    readme = (tmp_path / "README.md").read_text()
    assert "**Quick run.**" in readme
    assert "![" in readme
    # Nothing is left to measure: the figure is drawn again.
    assert run_study(study, tmp_path, source, quick=True) == 0
    assert read_rows(tmp_path / "results.csv") == rows


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    study = STUDIES["figure-3"]
    measure = type(study).measure
    seen = []

    def interrupted(self, unit, settings, source):
        seen.append(unit)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return measure(self, unit, settings, source)

    monkeypatch.setattr(type(study), "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path, Source(n_jobs=1), quick=True)
    assert len(read_rows(tmp_path / "results.csv")) == 1
    assert run_study(study, tmp_path, Source(n_jobs=1), quick=True) == 2
    sides = [row["side"] for row in read_rows(tmp_path / "results.csv")]
    assert sides == read_settings(default_config(study), quick=True)["sides"]


def test_other_settings_measure_afresh(tmp_path):
    study = STUDIES["figure-3"]
    config = "[full]\ndocuments = {}\nsides = [{}]\nseeds = [0]\n"
    (tmp_path / "config.toml").write_text(config.format(60, "1"))
    assert run_study(study, tmp_path, Source(n_jobs=1)) == 1
    # A side that joins leaves the first as it is; another number of documents does not.
    (tmp_path / "config.toml").write_text(config.format(60, "1, 2"))
    assert run_study(study, tmp_path, Source(n_jobs=1)) == 1
    (tmp_path / "config.toml").write_text(config.format(70, "1, 2"))
    assert run_study(study, tmp_path, Source(n_jobs=1)) == 2
    assert run_study(study, tmp_path, Source(n_jobs=1), again=True) == 2


@pytest.mark.parametrize("name", STUDIES)
def test_without_results_claims_are_not_yet_run(name):
    assert {found.verdict for found in STUDIES[name].judge([])} == {"not yet run"}


@pytest.mark.parametrize("name", STUDIES)
def test_committed_results_come_from_the_committed_config(name):
    folder = ROOT / "reproduction" / name
    if not (folder / "README.md").is_file():
        pytest.skip("has no results yet")
    assert (folder / "config.toml").read_text() == default_config(STUDIES[name])
    assert {path.name for path in folder.iterdir()} >= FILES


def test_the_page_of_results_is_made_from_the_files():
    page = (ROOT / "docs" / "results.md").read_text()
    assert claims_table(STUDIES, ROOT / "reproduction", "../reproduction") in page


def test_rows_come_back_as_they_were(tmp_path):
    rows = [
        {"name": "a, b", "number": 3, "value": 0.25, "settings": "1234e567"},
        {"name": "c", "number": 4, "value": np.float64(1.0), "settings": "00000001"},
    ]
    write_rows(tmp_path / "results.csv", rows)
    assert read_rows(tmp_path / "results.csv") == rows


def test_words_and_labels_are_chosen_by_training_documents(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    held_out = np.random.default_rng(0).random(100) < 0.2
    texts = ["alpha beta" if i % 4 else "alpha gamma" for i in range(100)]
    texts = [text + " secret" if out else text for text, out in zip(texts, held_out, strict=True)]
    labels = [["test only"] if out else ["common"] for out in held_out]
    table = pa.table({"text": texts, "labels": labels})
    pyarrow.parquet.write_table(table, tmp_path / "small.parquet")
    split = Source(tmp_path).load("small", largest_share=1.0)
    assert split.words == ("alpha", "beta", "gamma")
    assert split.label_names == ("common",)
    assert split.counts.shape == (100 - held_out.sum(), 3)
    assert split.test_counts.shape == (held_out.sum(), 3)
    assert split.test_labels.nnz == 0


def test_a_corpus_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no missing\.parquet"):
        Source(tmp_path).load("missing")
    with pytest.raises(ValueError, match="--data or HDSP_DATA"):
        Source().load("missing")


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match=r"no model 'LSA'.*HDSP, wHDSP, HDP"):
        make_model("LSA", FitSettings(0.1, 5, 0))


def test_a_kept_start_is_that_of_the_estimator():
    corpus, _ = simulate([["a"], ["b"]] * 30, n_topics=3, n_words=20, random_state=0)
    labels = csr_array(np.tile(np.eye(2), (30, 1)))
    settings = FitSettings(0.1, 4, seed=3, n_jobs=1)
    first, second = (
        fit_fixed(Categorical(), settings, corpus.counts, labels).components_ for _ in range(2)
    )
    plain = HDSP(
        4,
        fixed_number=True,
        scaling=Categorical(),
        topic_prior=0.1,
        init="lda",
        n_jobs=1,
        random_state=3,
    ).fit(corpus.counts, labels=labels)
    np.testing.assert_array_equal(first, plain.components_)
    np.testing.assert_array_equal(second, plain.components_)


def test_half_a_corpus_is_not_judged(tmp_path):
    study = STUDIES["figure-4"]
    settings = read_settings(default_config(study), quick=False)
    mark = fingerprint(study, settings)
    rows = [
        {**unit, "perplexity": 100.0, "calibrated": 90.0, "run": "full", "settings": mark}
        for unit in study.units(settings)
    ]
    first = settings["corpora"][0]
    done = [row for row in rows if row["corpus"] == first]
    assert finished_rows(study, settings, [*done, *rows[len(done) : len(done) + 2]]) == done
    assert finished_rows(study, settings, done[:-1]) == []


def test_fewer_labels_are_part_of_more():
    labels = csr_array(np.ones((40, 5)))
    few, many = thinned(labels, 0.2, seed=1), thinned(labels, 0.6, seed=1)
    assert 0 < few.nnz < many.nnz < labels.nnz
    assert few.multiply(many).sum() == few.nnz


def test_indicators_leave_out_unknown_labels():
    found = indicators([["a", "x"], [], ["b", "a"]], ["a", "b"])
    assert found.toarray().tolist() == [[1, 0], [0, 0], [1, 1]]


def test_unfolding_finds_places_with_these_distances():
    rng = np.random.default_rng(3)
    places, others = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    wanted = np.linalg.norm(places[:, None] - others[None], axis=2)
    rows, columns, stress = unfold(wanted, rng)
    found = np.linalg.norm(rows[:, None] - columns[None], axis=2)
    assert stress < 0.02
    np.testing.assert_allclose(found, wanted, atol=0.1)
