"""A nullable boolean column is a label that says yes, no, or nothing."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hdsp import HDSP, Corpus, Labels

N = 240
# Yes, no, unknown, in turn.
VALUES = [True, False, None] * (N // 3)


@cache
def counts():
    """Documents of two topics: yes has the one, no the other, unknown either."""
    rng = np.random.default_rng(0)
    likely = {True: 0.9, False: 0.1, None: 0.5}
    share = rng.random((N, 1)) < np.array([[likely[value]] for value in VALUES])
    words = np.where(share, [[1, 1, 1, 0, 0, 0]], [[0, 0, 0, 1, 1, 1]])
    return rng.poisson(8 * words + 0.3)


def frames():
    return {
        "pandas": pd.DataFrame({"sold": pd.array(VALUES, dtype="boolean")}),
        "pandas objects": pd.DataFrame({"sold": pd.Series(VALUES, dtype=object)}),
        "pandas arrow": pd.DataFrame({"sold": pd.array(VALUES, dtype="bool[pyarrow]")}),
        "polars": pl.DataFrame({"sold": VALUES}),
        "pyarrow": pa.table({"sold": VALUES}),
    }


def check_labels(labels):
    block = labels.block("sold")
    assert block.kind == "category"
    assert sorted(block.columns) == ["False", "True"]
    order = [block.columns.index(name) for name in ("True", "False")]
    expected = [[value is True, value is False] for value in VALUES]
    np.testing.assert_array_equal(block.values.toarray()[:, order], expected)


@pytest.mark.parametrize("library", frames())
def test_a_column_is_yes_no_or_unknown(library):
    frame = frames()[library]
    check_labels(Labels.from_frame(frame))
    check_labels(Corpus(counts(), labels=frame).labels)
    np.testing.assert_array_equal(fitted(library).components_, fitted().components_)


@cache
def fitted(library="pandas"):
    model = HDSP(2, random_state=0, n_jobs=1)
    return model.fit(counts(), labels=frames()[library])


def test_unknown_is_neither():
    model = fitted()
    yes, no, unknown = model.expected_topics(
        pd.DataFrame({"sold": pd.array([True, False, None], dtype="boolean")})
    )
    topic = yes.argmax()
    assert yes[topic] > 0.75
    assert no[topic] < 0.25
    assert 0.35 < unknown[topic] < 0.65


def test_effects_are_yes_against_no():
    model = fitted()
    table = model.label_effects(labels="sold", contrast=(False, True))
    assert (table["contrast"] == "True - False").all()
    topic = model.expected_topics(frames()["pandas"][:1])[0].argmax()
    assert table["lower"][topic] > 0.5
    # Of two levels, each against the others is each against the other.
    both = model.label_effects()
    assert both["contrast"].unique().tolist() == ["False - other sold", "True - other sold"]
    same = both[both["label"] == "True"]
    np.testing.assert_allclose(same["effect"], table["effect"], atol=1e-12)


def test_it_is_predicted_both_ways():
    model = fitted()
    found = model.predict_labels(counts(), "sold")
    assert sorted(found.columns) == ["False", "True"]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    known = np.array([value is not None for value in VALUES])
    right = (found["True"] > 0.5)[known] == np.array(VALUES)[known]
    assert right.mean() > 0.85
    chosen = model.predict_labels(counts(), "sold", values=[True, False])
    assert list(chosen.columns) == ["True", "False"]
