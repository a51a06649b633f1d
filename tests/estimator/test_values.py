"""Values of labels as people write them, and data at the edge."""

import warnings
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hdsp import HDSP, FitWarning, IntervalWarning, LabelDataWarning, Labels

COUNTS = np.random.default_rng(0).poisson(1.0, size=(60, 8)).astype(float)
SIZES = ["small", "large", "medium"] * 20
LABELS = pd.DataFrame(
    {
        "day": pd.date_range("2001-01-01", periods=60, freq="30D"),
        "open": [True, False] * 30,
        "size": np.random.default_rng(1).normal(size=60),
        "never": np.nan,
        "one": "same",
        "tags": [["x"], [], ["y"], ["x", "y"]] * 15,
    }
)
LATER = "must be labels that documents had .* Got 'never'"


def make(**settings):
    return HDSP(3, tol=1e9, random_state=0, n_jobs=1, **settings)


@pytest.fixture(scope="module")
def model():
    with pytest.warns(LabelDataWarning, match="Every value of 'never' is missing"):
        return make().fit(COUNTS, labels=LABELS)


def effects(model, *arguments, **options):
    return model.label_effects(*arguments, **options).select_dtypes("number").to_numpy()


@pytest.mark.parametrize(
    ("label", "contrast", "expected"),
    [
        *(
            ("day", contrast, (2002.0, 2004.0))
            for contrast in (
                (date(2002, 1, 1), date(2004, 1, 1)),
                (datetime(2002, 1, 1), pd.Timestamp("2004-01-01")),
                (np.datetime64("2002-01-01"), np.datetime64("2004-01-01T00:00")),
                ("2002-01-01", "2004-01-01T00:00"),
                ("2002", Decimal(2004)),
            )
        ),
        ("open", (False, True), ("False", "True")),
        ("open", (np.False_, np.True_), ("False", "True")),
    ],
)
def test_a_contrast_of_dates_and_booleans(model, label, contrast, expected):
    found = effects(model, labels=label, contrast=contrast)
    np.testing.assert_allclose(found, effects(model, labels=label, contrast=expected))


def test_values_to_predict_may_be_dates_and_booleans(model):
    found = model.predict_labels(COUNTS, "day", values=["2002-01-01", date(2004, 1, 1)])
    assert list(found.columns) == ["2002", "2004"]
    assert list(model.predict_labels(COUNTS, "open", values=[True]).columns) == ["True"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ordered_categoricals_keep_their_order(library):
    order = ["small", "medium", "large", "huge"]
    labels = pd.DataFrame({"size": pd.Categorical(SIZES, categories=order, ordered=True)})
    if library == "polars":
        labels = pl.DataFrame({"size": pl.Series(SIZES, dtype=pl.Enum(order))})
    expected = ("small", "medium", "large")
    assert make().fit(COUNTS, labels=labels).label_names_ == expected
    assert Labels.from_frame(labels, categories="size").blocks[0].columns == expected
    assert make().fit(COUNTS, labels=labels["size"]).label_names_ == expected


def test_labels_that_tell_nothing_have_no_effects(model):
    with pytest.warns(UserWarning, match="'same'|'one'"):
        table = model.label_effects()
    assert set(table["label"]) == {"day", "False", "True", "size", "same", "x", "y"}
    # There is no other level that it could be compared with.
    assert (table["effect"].isna() == (table["label"] == "same")).all()
    assert "never" not in str(model.topics()["raised_by"].tolist())
    for contrast in (None, (1, 2)):
        with pytest.raises(ValueError, match=r"'never' has no effects: .*, or no document has it"):
            model.label_effects(labels="never", contrast=contrast)
    for values in (None, [1, 2]):
        with pytest.raises(ValueError, match=f"`target` of HDSP.predict_labels {LATER}"):
            model.predict_labels(COUNTS, "never", values=values)
    assert set(model.label_effects(labels=["never", "open"])["label"]) == {"False", "True"}
    with pytest.warns(IntervalWarning):
        far = effects(model, labels="size", contrast=(-1e25, 1e25))
    assert np.isfinite(far).all()


@pytest.mark.parametrize("labels", [None, LABELS[["day", "open", "tags"]]], ids=["none", "labels"])
def test_huge_counts_leave_no_warning_of_numpy(labels):
    counts = COUNTS * 1e12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        model = make().fit(counts, labels=labels)
        for given in ("completion", "labels"):
            assert np.isfinite(model.perplexity(counts, labels=labels, given=given))
        if labels is not None:
            assert np.isfinite(effects(model)).all()
            for target in labels:
                assert np.isfinite(model.predict_labels(counts, target)).all(axis=None)
        np.testing.assert_allclose(model.transform(counts, labels=labels).sum(axis=1), 1.0)


def test_weights_of_a_start_may_be_of_any_size():
    start = np.random.default_rng(2).random((3, 8))
    one, other = (make(init=size * start).fit(COUNTS) for size in (1.0, 1e307))
    assert np.isfinite(other.components_).all()
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-4)


def test_a_target_is_ignored_with_a_warning():
    with pytest.warns(FitWarning, match="pass the documents' labels as `labels`"):
        model = make().fit(COUNTS, SIZES)
    assert model.label_names_ == ()
