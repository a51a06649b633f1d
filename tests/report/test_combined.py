"""Intervals of topics put together: in the page, by its twin in Python, and by joint draws."""

import json

import numpy as np
import pandas as pd
import pytest

from hdsp import simulate
from hdsp.numerics.softmax import normalised_exp
from hdsp.report.effects import effect_table, number_curve
from tests.reference.joint_limits import independent_reaches, joint_limits
from tests.report.corpora import fit
from tests.report.test_page import table_rows

SETS = ([1, 3], [0, 2, 5], [0, 1, 2, 3, 4, 6])


@pytest.fixture
def combined(open_page, model, tmp_path):
    """The page of the model with some topics put together."""

    def show(topics, fragment):
        names = tmp_path / "names.json"
        groups = [{"name": "", "topics": list(topics)}]
        names.write_text(json.dumps({"format": "hdsp-names-1", "combined": groups}))
        model.report(tmp_path / "report.html", names=names)
        return open_page(tmp_path / "report.html").show(fragment)

    return show


@pytest.fixture(scope="module")
def table(model):
    return effect_table(model)


def key_of(topics):
    return "+".join(map(str, topics))


@pytest.mark.parametrize("topics", SETS)
def test_the_page_has_the_limits_of_the_twin(combined, table, topics):
    page = combined(topics, f"#view=effects&side=topic&topic={topics[0]}")
    rows = {row[0]: [float(value) for value in row[2:]] for row in table_rows(page, "effects")}
    assert len(rows) == len(table.labels)
    for row, name in enumerate(page.evaluate(LABELS)):
        columns = (table.effect[row], table.lower[row], table.upper[row])
        lower, upper = joint_limits(*columns, table.expected[row], topics)
        effect, expected = table.effect[row, topics].sum(), table.expected[row, topics].sum()
        # Numbers are rounded to a 30,000th of a label's largest.
        wanted = [effect, lower, upper, expected]
        np.testing.assert_allclose(rows[name], wanted, rtol=0, atol=2e-4)


LABELS = """() => {
    const data = JSON.parse(document.getElementById('data').textContent);
    return data.effects.labels.map(label => data.labels.names[label]);
}"""


def test_curves_of_topics_put_together_have_bands(combined, model):
    label = model.label_schema_.names.index("rating")
    page = combined((1, 3), f"#view=effects&side=label&label={label}")
    rows = [row for row in table_rows(page, "curve") if row[1] == "1+3"]
    (middle,) = page.evaluate(CURVES)
    curve = number_curve(model, "rating", {"low": 1.0, "high": 5.0, "middle": middle})
    assert len(rows) == len(curve.values)
    for number, row in enumerate(rows):
        expected = curve.expected[number]
        wanted = joint_limits(expected, curve.lower[number], curve.upper[number], expected, [1, 3])
        np.testing.assert_allclose([float(value) for value in row[4:]], wanted, rtol=0, atol=2e-4)
        if curve.values[number] == middle:
            assert row[4] == row[5] == row[3]


CURVES = """() => JSON.parse(document.getElementById('data').textContent)
    .curves.map(curve => curve.reference)"""


@pytest.fixture(scope="module")
def simulated():
    """A model of documents that have most topics in common."""
    rng = np.random.default_rng(0)
    tags = [[tag for tag in "abc" if rng.random() < 0.4] for _ in range(300)]
    labels = pd.DataFrame({"tags": tags, "year": rng.normal(size=300)})
    corpus, _ = simulate(labels, n_topics=8, document_concentration=20.0, random_state=0)
    return fit(corpus)


@pytest.mark.parametrize("topics", SETS)
@pytest.mark.parametrize("label", ["a", "b", "year"])
def test_limits_agree_with_joint_draws(simulated, label, topics):
    """Draws of a label's coefficients, and the change that they make to all topics at once."""
    model, fitted = simulated, simulated._model
    column = model.label_schema_.names.index(label)
    drawn = fitted.calibration.draw(column, np.random.default_rng(column), 4_000)
    mean = fitted.calibration.coefficients[column]
    documents = fitted.training.sample.toarray()[:60]
    documents[:, column] = 0.0
    score = documents @ fitted.calibration.coefficients + fitted.calibration.intercept
    changed = np.array([normalised_exp(score + one).mean(axis=0) for one in drawn])
    share = normalised_exp(score + mean).mean(axis=0)
    lower, upper = np.quantile(changed, [0.05, 0.95], axis=0)
    found = joint_limits(share, lower, upper, share, topics)
    wanted = np.quantile(changed[:, topics].sum(axis=1), [0.05, 0.95])
    # To first order, and as if all documents were expected to have the same topics: wider than need
    # be where they share few, and hardly ever narrower.
    slack = 0.1 * np.ptp(wanted)
    assert found[0] <= wanted[0] + slack
    assert found[1] >= wanted[1] - slack
    assert np.ptp(found) < 2.0 * np.ptp(wanted)


def test_a_topic_alone_and_all_topics():
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(7))
    below, above = rng.random((2, 7)) * share**2
    down, up = independent_reaches(below, above, share)
    assert (down >= 0).all()
    assert (up >= 0).all()
    effect = np.zeros(7)
    for topic in range(7):
        limits = joint_limits(effect, -np.sqrt(below), np.sqrt(above), share, [topic])
        if down[topic] > 0 and up[topic] > 0:
            wanted = [-np.sqrt(below[topic]), np.sqrt(above[topic])]
            np.testing.assert_allclose(limits, wanted, rtol=1e-6)
    # All proportions together are 1, whatever the labels.
    limits = joint_limits(effect, -np.sqrt(below), np.sqrt(above), share, list(range(7)))
    np.testing.assert_allclose(limits, [0.0, 0.0], atol=1e-9)
