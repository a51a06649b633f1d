"""A nullable boolean column is a label that says yes, no, or nothing."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hdsp import HDSP, Labels

N = 240
# Yes, no, unknown, in turn.
VALUES = [True, False, None] * (N // 3)
FRAMES = {
    "pandas": pd.DataFrame({"sold": pd.array(VALUES, dtype="boolean")}),
    "pandas objects": pd.DataFrame({"sold": pd.Series(VALUES, dtype=object)}),
    "pandas arrow": pd.DataFrame({"sold": pd.array(VALUES, dtype="bool[pyarrow]")}),
    "polars": pl.DataFrame({"sold": VALUES}),
    "pyarrow": pa.table({"sold": VALUES}),
}


@cache
def counts():
    """Documents of two topics: yes has the one, no the other, unknown either."""
    rng = np.random.default_rng(0)
    likely = {True: 0.9, False: 0.1, None: 0.5}
    share = rng.random((N, 1)) < np.array([[likely[value]] for value in VALUES])
    return rng.poisson(8 * np.where(share, [[1, 1, 1, 0, 0, 0]], [[0, 0, 0, 1, 1, 1]]) + 0.3)


@cache
def fitted():
    return HDSP(2, random_state=0, n_jobs=1).fit(counts(), labels=FRAMES["pandas"])


@pytest.mark.parametrize("library", FRAMES)
def test_a_column_is_yes_no_or_unknown(library):
    (block,) = Labels.from_frame(FRAMES[library]).blocks
    assert (block.kind, block.columns) == ("category", ("False", "True"))
    expected = [[value is False, value is True] for value in VALUES]
    np.testing.assert_array_equal(block.values.toarray(), expected)


def test_unknown_is_neither():
    yes, no, unknown = fitted().expected_topics(FRAMES["pandas"][:3])
    topic = yes.argmax()
    assert yes[topic] > 0.75
    assert no[topic] < 0.25
    assert 0.35 < unknown[topic] < 0.65
    table = fitted().label_effects(labels="sold", contrast=(False, True))
    assert (table["contrast"] == "True - False").all()
    assert table["lower"][topic] > 0.5
    # Of two levels, each against the others is each against the other.
    both = fitted().label_effects()
    assert both["contrast"].unique().tolist() == ["False - other sold", "True - other sold"]
    np.testing.assert_allclose(both["effect"][both["label"] == "True"], table["effect"], atol=1e-12)
