"""Effects of labels over refits of resampled documents."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from hdsp import HDSP
from hdsp.analysis import label_effects
from hdsp.analysis.label_effects import pool_refits
from hdsp.analysis.regression import Estimates
from hdsp.fit.start import initial_state
from hdsp.progress import Lines
from hdsp_studies.synthetic import LabelDesign, make_corpus


@pytest.fixture(scope="module")
def corpus():
    labels = LabelDesign(2, rare_tags=0, null_tags=1, null_numbers=0)
    return make_corpus(
        200, n_topics=4, n_words=100, document_length=50, labels=labels, random_state=0
    )[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(6, random_state=0, n_jobs=1).fit(corpus)


@pytest.fixture(scope="module")
def thorough(model, corpus):
    return model.label_effects(refits=5, corpus=corpus)


def test_the_table_is_the_same_with_wider_intervals(model, thorough):
    fast = model.label_effects()
    assert list(thorough.columns) == [*fast.columns, "matched"]
    same = ["label", "contrast", "topic", "words", "n_documents"]
    pd.testing.assert_frame_equal(thorough[same], fast[same])
    for table in (thorough, fast):
        assert table["effect"].between(table["lower"], table["upper"]).all()
    width, before = (table["upper"] - table["lower"] for table in (thorough, fast))
    assert (width > before).all()
    assert (thorough["standard_error"] > fast["standard_error"]).all()
    found = thorough["matched"] >= 0.8
    assert found.mean() > 0.6
    assert thorough["matched"].between(0.0, 1.0).all()
    # Topics that are found again have the same effects.
    assert np.corrcoef(thorough["effect"][found], fast["effect"][found])[0, 1] > 0.85


def test_threads_do_not_matter_and_seeds_do(model, corpus, thorough):
    model.set_params(n_jobs=2)
    again = model.label_effects(refits=5, corpus=corpus)
    model.set_params(n_jobs=1)
    pd.testing.assert_frame_equal(again, thorough, check_exact=True)
    other = model.label_effects(refits=5, corpus=corpus, random_state=1)
    assert not np.allclose(other["lower"], thorough["lower"], atol=1e-6)


def test_a_label_alone_is_as_among_others(model, corpus, thorough):
    alone = model.label_effects(labels="common_1", refits=5, corpus=corpus)
    among = thorough[thorough["label"] == "common_1"].reset_index(drop=True)
    # q values are adjusted over all rows of a table.
    pd.testing.assert_frame_equal(alone.drop(columns="q"), among.drop(columns="q"), atol=1e-6)
    assert (alone["p"] <= alone["q"]).all()
    assert (alone["q"] <= among["q"]).all()


def test_a_contrast_and_its_mirror_have_mirrored_limits(model, corpus):
    there, back = (
        model.label_effects(labels="category", contrast=levels, refits=3, corpus=corpus)
        for levels in (("level_0", "level_2"), ("level_2", "level_0"))
    )
    np.testing.assert_allclose(there["effect"], -back["effect"], atol=1e-12)
    np.testing.assert_allclose(there["lower"], -back["upper"], atol=1e-6)
    np.testing.assert_allclose(there["upper"], -back["lower"], atol=1e-6)


def test_refits_are_pooled_by_rubins_rules():
    """By the formulas of Rubin (1987) and of Barnard and Rubin (1999)."""
    own = Estimates(*(np.array([[x]]) for x in (0.11, 0.04, 0.03, 30.0)), classical_degrees=90.0)
    values = np.array([0.10, 0.16, 0.07, 0.13]).reshape(4, 1, 1)
    between = (0.015**2 + 0.045**2 + 0.045**2 + 0.015**2) / 3
    total = 0.04**2 + 1.25 * between
    share = 1.25 * between / total
    observed = 31 / 33 * 30 * (1 - share)
    degrees = 1 / (share**2 / 3 + 1 / observed)
    found = pool_refits(own, values, 0.9)
    assert found.value == pytest.approx(0.115)
    assert found.error() == pytest.approx(np.sqrt(total))
    assert found.half_width(0.9) == pytest.approx(student.ppf(0.95, degrees) * np.sqrt(total))
    assert found.p == pytest.approx(2 * student.sf(0.115 / np.sqrt(total), degrees))
    # Without differences between refits, intervals are those of the model.
    own = Estimates(*(np.array([[x]]) for x in (0.11, 0.03, 0.04, 30.0)), classical_degrees=1e6)
    found = pool_refits(own, np.full((5, 1, 1), 0.11), 0.9)
    np.testing.assert_allclose(found.half_width(0.9), own.half_width(0.9), rtol=1e-4)


def test_progress_is_shown(model, corpus, capsys, monkeypatch):
    monkeypatch.setattr(Lines, "seconds", 0.0)
    model.set_params(verbose=1)
    model.label_effects(refits=3, corpus=corpus)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("Fitting resampled documents: 3 of 3 done")
    model.stability(corpus, seeds=2)
    lines = capsys.readouterr().err.splitlines()
    inner = [line for line in lines if line.startswith("Fitting with other seeds: 1 of 2 done, ")]
    assert any("; Fitting topics: " in line for line in inner)
    assert lines[-1].startswith("Fitting with other seeds: 2 of 2 done, topics found ")
    model.set_params(verbose=0).label_effects(refits=2, corpus=corpus)
    assert capsys.readouterr().err == ""


def test_every_refit_starts_afresh(model, corpus, monkeypatch):
    started = []

    def spy(problem, n_topics, init, *rest):
        started.append((problem.n_documents, n_topics, init))
        return initial_state(problem, n_topics, init, *rest)

    monkeypatch.setattr(label_effects, "initial_state", spy)
    model.label_effects(refits=3, corpus=corpus)
    assert started == [(200, 6, model.init_)] * 3


def test_documents_are_at_hand_until_the_model_is_saved(model, corpus, thorough, tmp_path):
    pd.testing.assert_frame_equal(model.label_effects(refits=5), thorough)
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp").label_effects(refits=5, corpus=corpus)
    pd.testing.assert_frame_equal(again, thorough)
