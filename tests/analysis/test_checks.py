"""Checks of labels' effects by cell: they find what is missed, and little else."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus
from hdsp.analysis.checks import Cell, check_sentence, make_cells, measure_misfit
from hdsp.scaling.design import LabelDesign
from tests.analysis.corpora import M, T, fitted, labelled


def verdicts(table):
    return set(table["verdict"]) - {""}


def regression(formula, **options):
    model, (_, frame) = fitted(("tags",), **options), labelled(**options)
    return model.estimate_effects(formula, frame[["side", "x"]])


def test_a_right_form_passes_and_a_wrong_one_does_not():
    table = regression("~ side + x", seed=5, interaction=True).check()
    assert verdicts(table) == {"interaction"}
    worst = table.iloc[0]
    assert worst["label"] == "side × x"
    limit = stats.norm.isf(0.05 / 2 / len(table))
    assert ((table["z"].abs() > limit) == (table["verdict"] != "")).all()
    assert abs(worst["z"]) == table["z"].abs().max()
    wanted = table["found"] - table["expected"]
    np.testing.assert_allclose(table["difference"], wanted, atol=1e-12)
    assert verdicts(regression("~ side * x", seed=5, interaction=True).check()) == set()


def test_a_bend_is_curvature():
    assert "curvature" in verdicts(regression("~ x", seed=6, bend=2.0).check())
    assert verdicts(regression("~ s(x)", seed=6, bend=2.0).check()) == set()


def test_an_effect_that_turns_round_is_drift():
    corpus, frame = labelled(seed=7, interaction=True)
    late = np.argsort(frame["side"] == "right", kind="stable")
    whole = Corpus(corpus.counts, corpus.words, corpus.labels.select(["x", "stars"]))[late]
    corpus = Corpus(whole.counts, whole.words, whole.labels.select(["x"]))
    model = HDSP(T, random_state=0, n_jobs=1).fit(corpus)
    found = model.check_labels(corpus, time="order")
    assert "drift" in verdicts(found)
    assert set(found.loc[found["verdict"] == "drift", "label"]) <= {"order", "x × order"}
    assert "drift" not in verdicts(model.check_labels(corpus))
    # A column of the corpus that is no label of the model, or dates.
    with pytest.warns(UserWarning, match="unknown to the model"):
        assert "stars" in set(model.check_labels(whole, time="stars")["label"])
    days = pd.date_range("2020-01-01", periods=M).to_pydatetime()
    assert "drift" in verdicts(model.check_labels(corpus, time=days))
    for time, message in (
        ("never", r"must be .*: 'x'\. Got 'nev"),
        (["long ago"] * M, "must name a"),
    ):
        with pytest.raises(ValueError, match=f"`time` of HDSP.check_labels {message}"):
            model.check_labels(corpus, time=time)
    with pytest.raises(TypeError, match=r"`corpus` of HDSP.check_labels must be a Corpus"):
        model.check_labels(corpus.counts)


def test_new_documents_differ_by_chance_alone():
    (_, frame), (other, _) = labelled(seed=22), labelled(seed=41)
    model = fitted(("side", "x"), seed=22)
    own = model.estimate_effects("~ side + x", frame[["side", "x"]]).check()
    table = model.estimate_effects("~ side + x", corpus=other).check()
    assert verdicts(own) == verdicts(table) == set()
    assert 0.5 < own["z"].std() < 1.3


def test_errors_of_means():
    rng = np.random.default_rng(0)
    expected, noise = np.full((60, 2), 0.5), rng.normal(size=60)
    # Elsewhere documents differ less: they add no variance of their own.
    noise[40:] *= 0.1

    def measured(errors, n_documents, groups=None):
        found = expected + np.outer(errors, [1.0, -1.0])
        cells = [Cell("a", "b", "level", np.arange(n_documents))]
        *_, error, z = measure_misfit(cells, found, expected, np.ones(60), groups)
        return error[0], z[0]

    error, z = measured(noise, 40)
    t = stats.ttest_1samp(noise[:40], 0.0)
    np.testing.assert_allclose(error, noise[:40].std(ddof=1) / np.sqrt(40))
    np.testing.assert_allclose(2 * stats.norm.sf(np.abs(z)), t.pvalue, rtol=1e-6)
    # Four documents that are the same are one.
    error, _ = measured(np.repeat(noise[:15], 4), 60, np.repeat(np.arange(15), 4))
    np.testing.assert_allclose(error, noise[:15].std(ddof=1) / np.sqrt(15))
    # A cell in which nothing differs has the variance of all documents.
    error, _ = measured(np.append(np.zeros(40), noise[:20]), 40)
    np.testing.assert_allclose(error**2, (noise[:20] ** 2).sum() / 60 / 40)


def test_cells_of_labels():
    frame = pd.DataFrame(
        {"side": np.repeat(["l", "r"], 50), "x": np.linspace(0, 1, 100), "n": np.arange(100) % 2}
    )
    corpus = Corpus(np.ones((100, 2)), labels=frame)
    values = csr_array(corpus.schema.encode(corpus.labels))
    space = LabelDesign.fit("auto", corpus.schema, values)
    cells = make_cells(space, values)
    named = {(cell.label, cell.cell): len(cell.rows) for cell in cells}
    assert named["side", "l"] == 50
    # Eight bins of twelve documents would be too small.
    assert [n for (label, _), n in named.items() if label == "x"] == [20] * 5
    assert named["n", "0"] == 50
    assert {cell.shows for cell in cells} <= {"level", "curvature", "interaction"}
    assert all(len(cell.rows) >= 20 for cell in cells)


def test_sentences():
    row = {"label": ["x"], "cell": ["0 to 1"], "topic": [3], "difference": [-0.15]}
    assert check_sentence({**row, "verdict": ["curvature"]}) == (
        "The line or curve of x misses a bend: for example topic 3 is 15.0 points below its "
        "expected share in documents with x 0 to 1."
    )
    assert check_sentence({**row, "verdict": [""]}) == (
        "No deviation is significant in 1 cells of labels, after adjusting for 1 comparisons."
    )
    assert check_sentence({name: [] for name in (*row, "verdict")}).startswith("There is no cell")
