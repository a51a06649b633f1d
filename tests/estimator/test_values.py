"""Values of labels as people write them: dates, booleans, ordered categories."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hdsp import HDSP, Labels

COUNTS = np.random.default_rng(0).poisson(1.0, size=(60, 8)).astype(float)
DAYS = pd.date_range("2001-01-01", periods=60, freq="30D")
SIZES = ["small", "large", "medium"] * 20


def make(**settings):
    return HDSP(3, tol=1e9, random_state=0, n_jobs=1, **settings)


@pytest.fixture(scope="module")
def model():
    labels = pd.DataFrame({"day": DAYS, "open": [True, False] * 30, "year": [1, 2, 3] * 20})
    return make().fit(COUNTS, labels=labels)


def effects(model, *arguments, **options):
    return model.label_effects(*arguments, **options).select_dtypes("number").to_numpy()


@pytest.mark.parametrize(
    "contrast",
    [
        (date(2002, 1, 1), date(2004, 1, 1)),
        (datetime(2002, 1, 1), pd.Timestamp("2004-01-01")),
        (np.datetime64("2002-01-01"), np.datetime64("2004-01-01T00:00")),
        ("2002-01-01", "2004-01-01T00:00"),
        ("2002", Decimal(2004)),
    ],
)
def test_a_contrast_of_dates(model, contrast):
    expected = effects(model, labels="day", contrast=(2002.0, 2004.0))
    np.testing.assert_allclose(effects(model, labels="day", contrast=contrast), expected)


@pytest.mark.parametrize("contrast", [(False, True), (np.False_, np.True_)])
def test_a_contrast_of_booleans(model, contrast):
    expected = effects(model, labels="open", contrast=("False", "True"))
    np.testing.assert_array_equal(effects(model, labels="open", contrast=contrast), expected)


def test_values_to_predict_may_be_dates_and_booleans(model):
    found = model.predict_labels(COUNTS, "day", values=["2002-01-01", date(2004, 1, 1)])
    assert list(found.columns) == ["2002", "2004"]
    assert list(model.predict_labels(COUNTS, "open", values=[True]).columns) == ["True"]
    with pytest.raises(ValueError, match="must be among those of 'open' in training"):
        model.predict_labels(COUNTS, "open", values=[3])


def ordered(library):
    order = ["small", "medium", "large", "huge"]
    if library == "polars":
        return pl.DataFrame({"size": pl.Series(SIZES, dtype=pl.Enum(order))})
    return pd.DataFrame({"size": pd.Categorical(SIZES, categories=order, ordered=True)})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ordered_categoricals_keep_their_order(library):
    labels = ordered(library)
    expected = ("small", "medium", "large")
    assert make().fit(COUNTS, labels=labels).label_names_ == expected
    assert Labels.from_frame(labels, categories="size").blocks[0].columns == expected
    assert make().fit(COUNTS, labels=labels["size"]).label_names_ == expected


def test_other_categories_are_sorted():
    labels = pd.DataFrame({"size": pd.Categorical(SIZES, categories=["small", "medium", "large"])})
    assert make().fit(COUNTS, labels=labels).label_names_ == ("large", "medium", "small")
