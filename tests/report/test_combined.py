"""Intervals of combined topics in the page, against a model whose topics are merged."""

import json

import numpy as np
import pytest

from tests.report.test_page import table_rows

SETS = ([1, 3], [0, 2, 5], [0, 1, 2, 3, 4, 6])


@pytest.fixture
def combined(open_page, model, tmp_path):
    """The page of the model with some topics combined."""

    def show(topics, fragment):
        names = tmp_path / "names.json"
        groups = [{"name": "", "topics": list(topics)}]
        names.write_text(json.dumps({"format": "hdsp-names-1", "combined": groups}))
        model.report(tmp_path / "report.html", names=names)
        return open_page(tmp_path / "report.html").show(fragment)

    return show


def merged_topic(model, topics):
    """A model with these topics merged, and their number in it."""
    merged = model.merge_topics(list(topics))
    return merged, merged.fitted_topics_.index(tuple(topics))


@pytest.mark.parametrize("topics", SETS)
def test_effects_on_combined_topics(combined, model, topics):
    page = combined(topics, f"#view=effects&side=topic&topic={topics[0]}")
    rows = {row[0]: [float(value) for value in row[2:]] for row in table_rows(page, "effects")}
    merged, number = merged_topic(model, topics)
    table = merged.label_effects()
    table = table[table["topic"] == number].set_index("label")
    assert rows.keys() == set(table.index)
    ratios = []
    for label, (effect, lower, upper) in rows.items():
        wanted = table.loc[label]
        assert effect == pytest.approx(wanted["effect"], abs=2e-4)
        ratios.append((upper - lower) / (wanted["upper"] - wanted["lower"]))
    # Robust variances of a sum follow from those of topics only roughly.
    assert np.median(ratios) == pytest.approx(1.0, abs=0.1)
    assert max(np.abs(np.log(ratios))) < 0.4


def test_curves_of_combined_topics(combined, model):
    label = model.label_schema_.names.index("rating")
    page = combined((0, 1), f"#view=effects&side=label&label={label}")
    rows = np.array([row[3:] for row in table_rows(page, "curve") if row[1] == "0+1"], dtype=float)
    merged, number = merged_topic(model, (0, 1))
    table = merged.estimate_effects().curve("rating", n=9)
    table = table[table["topic"] == number]
    np.testing.assert_allclose(rows[:, 0], table["expected"], atol=2e-4)
    inside = (table["upper"] < 1.0).to_numpy()
    half = (table["upper"] - table["expected"]).to_numpy()
    np.testing.assert_allclose((rows[:, 2] - rows[:, 0])[inside], half[inside], rtol=0.3)


def test_all_topics_together_do_not_change(combined, model):
    page = combined(range(8), "#view=effects&side=topic&topic=0")
    for row in table_rows(page, "effects"):
        np.testing.assert_allclose([float(value) for value in row[2:]], 0.0, atol=0.02)
