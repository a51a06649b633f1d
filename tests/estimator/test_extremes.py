"""Data at the edge: nothing to learn from, or far too much."""

import warnings

import numpy as np
import pandas as pd
import pytest

import hdsp
from hdsp import HDSP, IntervalWarning

COUNTS = np.random.default_rng(0).poisson(1.0, size=(40, 8)).astype(float)
LABELS = pd.DataFrame(
    {
        "size": np.random.default_rng(1).normal(size=40),
        "kind": ["a", "b"] * 20,
        "tags": [["x"], [], ["y"], ["x", "y"]] * 10,
    }
)


def make(**settings):
    return HDSP(3, tol=1e-2, random_state=0, n_jobs=1, **settings)


def test_a_number_without_a_value_has_no_effects():
    labels = LABELS.assign(size=np.nan)
    with pytest.warns(hdsp.LabelDataWarning, match="Every value of 'size' is missing"):
        model = make().fit(COUNTS, labels=labels)
    assert set(model.label_effects()["label"]) == {"a", "b", "x", "y"}
    assert "size" not in str(model.topics()["raised_by"].tolist())
    message = "`labels` of HDSP.label_effects: 'size' has no effects: .*, or no document has it"
    with pytest.raises(ValueError, match=message):
        model.label_effects(labels="size")
    with pytest.raises(ValueError, match=message):
        model.label_effects(labels="size", contrast=(1, 2))
    message = "`target` of HDSP.predict_labels must be labels that documents had .* Got 'size'"
    for values in (None, [1, 2]):
        with pytest.raises(ValueError, match=message):
            model.predict_labels(COUNTS, "size", values=values)
    assert set(model.label_effects(labels=["size", "kind"])["label"]) == {"a", "b"}


def test_a_category_with_one_level_gets_a_sentence():
    labels = LABELS.assign(kind="a")
    model = make().fit(COUNTS, labels=labels)
    with pytest.warns(UserWarning, match=r"'a'|'kind'"):
        effects = model.label_effects()
    # There is no other kind that it could be compared with.
    assert effects["effect"][effects["label"] == "a"].isna().all()
    assert effects["effect"][effects["label"] != "a"].notna().all()


@pytest.mark.parametrize("contrast", [(-1e300, 1e300), (0, np.inf), (np.nan, 1), ("-1e300", "1")])
def test_absurd_contrasts_are_refused(contrast):
    model = make().fit(COUNTS, labels=LABELS)
    with pytest.raises(ValueError, match="must be two finite numbers or dates"):
        model.label_effects(labels="size", contrast=contrast)
    with pytest.warns(IntervalWarning):
        far = model.label_effects(labels="size", contrast=(-1e25, 1e25))
    assert np.isfinite(far.select_dtypes("number").to_numpy()).all()


@pytest.mark.parametrize("factor", [1e7, 1e12])
@pytest.mark.parametrize("labels", [None, LABELS], ids=["no labels", "labels"])
def test_huge_counts_leave_no_warning_of_numpy(factor, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        model = make().fit(COUNTS * factor, labels=labels)
        found = model.transform(COUNTS * factor, labels=labels)
        assert np.isfinite(model.perplexity(COUNTS * factor, labels=labels, given="completion"))
        assert np.isfinite(model.perplexity(COUNTS * factor, labels=labels))
        if labels is not None:
            effects = model.label_effects().select_dtypes("number").to_numpy()
            assert np.isfinite(effects).all()
            for target in labels:
                assert np.isfinite(model.predict_labels(COUNTS * factor, target)).all(axis=None)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.isfinite(found).all()


def test_weights_of_a_start_may_be_of_any_size():
    start = np.random.default_rng(2).random((3, 8))
    one, other = (make(init=size * start).fit(COUNTS) for size in (1.0, 1e307))
    assert np.isfinite(other.components_).all()
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-4)
