"""Checks of labels' effects by cell: they find what is missed, and little else."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array

from hdsp import Corpus
from hdsp.answers.label_checks import check_sentence
from hdsp.prediction.checks import Cell, make_cells, measure_misfit
from hdsp.scaling import bind_labels
from tests.prediction.test_topic_regression import M, draw, fitted


def verdicts(table):
    return set(table["verdict"]) - {""}


def test_a_right_form_passes_and_a_wrong_one_does_not():
    corpus = draw(5, interaction=True)
    model = fitted(corpus)
    table = model.estimate_effects(corpus, "~ side + x").check()
    assert verdicts(table) == {"interaction"}
    worst = table.iloc[0]
    assert worst["label"] == "x × side"
    assert abs(worst["z"]) == table["z"].abs().max()
    np.testing.assert_allclose(worst["difference"], worst["found"] - worst["expected"])
    assert verdicts(model.estimate_effects(corpus, "~ side * x").check()) == set()


def test_a_bend_is_curvature():
    corpus = draw(6, bend=2.0)
    model = fitted(corpus)
    assert "curvature" in verdicts(model.estimate_effects(corpus, "~ x").check())
    assert verdicts(model.estimate_effects(corpus, "~ s(x)").check()) == set()


def test_an_effect_that_turns_round_is_drift():
    corpus = draw(7, interaction=True)
    late = np.argsort(
        [
            corpus.labels.block("side").columns[j]
            for j in corpus.labels.block("side").values.indices
        ],
        kind="stable",
    )
    corpus = corpus[late]
    model = fitted(corpus, ["x"])
    found = model.check_labels(corpus, time="order")
    assert "drift" in verdicts(found)
    drifting = found[found["verdict"] == "drift"]
    assert set(drifting["label"]) == {"order", "x × order"}
    assert "drift" not in verdicts(model.check_labels(corpus))
    # A column of the corpus that is no label of the model, or dates.
    days = pd.date_range("2020-01-01", periods=M).to_pydatetime()
    assert "drift" in verdicts(model.check_labels(corpus, time=days))
    regression = fitted(corpus).estimate_effects(corpus, "~ side")
    assert "x" in set(regression.check(time="x")["label"])


def test_new_documents_add_the_error_of_what_is_expected():
    corpus, other = draw(8), draw(9)
    labels = ["side", "x"]
    model = fitted(corpus, labels)
    for documents in (corpus, other):
        known = Corpus(documents.counts, corpus.words, documents.labels.select(labels))
        table = model.check_labels(known)
        assert verdicts(table) == set()
        assert 0.5 < table["z"].std() < 1.3


def test_errors_of_means():
    rng = np.random.default_rng(0)
    expected = np.full((60, 2), 0.5)
    # Elsewhere documents differ less: they add no variance of their own.
    noise = rng.normal(size=60)
    noise[40:] *= 0.1
    found = expected + np.column_stack([noise, -noise])
    cells = [Cell("a", "b", "level", np.arange(40))]
    one = measure_misfit(cells, found, expected, np.ones(60))
    t = stats.ttest_1samp(noise[:40], 0.0)
    np.testing.assert_allclose(one.error[0], noise[:40].std(ddof=1) / np.sqrt(40))
    np.testing.assert_allclose(2 * stats.norm.sf(np.abs(one.z[0])), t.pvalue, rtol=1e-6)
    np.testing.assert_allclose(one.limit, stats.norm.isf(0.05 / 2 / 2))
    # Four documents that are the same are one.
    groups = np.repeat(np.arange(15), 4)
    same = expected + np.repeat(noise[:15], 4)[:, None] * [1.0, -1.0]
    cells = [Cell("a", "b", "level", np.arange(60))]
    grouped = measure_misfit(cells, same, expected, np.ones(60), groups)
    np.testing.assert_allclose(grouped.error[0], noise[:15].std(ddof=1) / np.sqrt(15))
    more = measure_misfit(cells, same, expected, np.ones(60), groups, np.full((1, 2), 1.0))
    np.testing.assert_allclose(more.error**2, grouped.error**2 + 1.0)
    # A cell in which nothing differs has the variance of all documents.
    still = expected + np.append(np.zeros(40), noise[:20])[:, None]
    alone = measure_misfit([Cell("a", "b", "level", np.arange(40))], still, expected, np.ones(60))
    np.testing.assert_allclose(alone.error[0] ** 2, (noise[:20] ** 2).sum() / 60 / 40)


def test_cells_of_labels():
    frame = pd.DataFrame(
        {"side": np.repeat(["l", "r"], 50), "x": np.linspace(0, 1, 100), "n": np.arange(100) % 2}
    )
    corpus = Corpus(np.ones((100, 2)), labels=frame)
    values = csr_array(corpus.schema.encode(corpus.labels))
    space = bind_labels("auto", corpus.schema, values)
    cells = make_cells(space, values)
    named = {(cell.label, cell.cell): len(cell.rows) for cell in cells}
    assert named["side", "l"] == 50
    # Eight bins of twelve documents would be too small.
    assert [n for (label, _), n in named.items() if label == "x"] == [20] * 5
    assert named["n", "0"] == 50
    assert {cell.shows for cell in cells} <= {"level", "curvature", "interaction"}
    assert all(len(cell.rows) >= 20 for cell in cells)


def test_a_time_that_is_a_label_has_its_cells_once():
    corpus = draw(5, interaction=True)
    found = fitted(corpus).estimate_effects(corpus, "~ side + x")
    timed, plain = found.check(time="x"), found.check()
    rows = ["label", "cell", "topic"]
    assert not timed.duplicated(rows).any()
    pd.testing.assert_frame_equal(timed[[*rows, "z"]], plain[[*rows, "z"]])
    assert verdicts(plain) == {"interaction"}
    assert verdicts(timed) == {"drift"}


def test_refusals():
    corpus = draw(1)
    model = fitted(corpus, ["x"])
    with pytest.raises(ValueError, match=r"`time` of HDSP.check_labels must name a category or a"):
        model.check_labels(corpus, time="never")
    with pytest.raises(ValueError, match=r"`time` of HDSP.check_labels must name a number or date"):
        model.check_labels(corpus, time=["long ago"] * M)
    with pytest.raises(TypeError, match=r"`corpus` of HDSP.check_labels must be a Corpus"):
        model.check_labels(corpus.counts)


def test_sentences():
    row = {"label": ["x"], "cell": ["0 to 1"], "topic": [3], "found": [0.1], "expected": [0.25]}
    assert check_sentence({**row, "verdict": ["curvature"]}) == (
        "The line or curve of x misses a bend: for example topic 3 has 10.0% in documents with x "
        "0 to 1, where 25.0% is expected."
    )
    assert check_sentence({**row, "verdict": [""]}).startswith("In none of 1 cell")
    assert check_sentence({name: [] for name in (*row, "verdict")}).startswith("There is no cell")
