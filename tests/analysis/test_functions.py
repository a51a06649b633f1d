"""Custom scaling functions: numbers inside functions enter regressions as splines."""

from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Categorical, Corpus, Custom, LogLinear, Monotone, Power, Softplus
from hdsp.scaling.terms import Spline
from tests.analysis.corpora import draw_counts, draw_topics

T = 4


def levelling(labels, weights):
    return weights[0] * np.tanh(labels[0] * np.exp(weights[1]))


SCALINGS = {
    "levelling": Custom("price", log_scale=levelling, n_weights=2) * LogLinear("size"),
    "Softplus": Softplus("price") * LogLinear("size"),
    "Power": Power("price") * LogLinear("size"),
    "Monotone": Monotone("price", n_knots=4) * LogLinear("size"),
}


@cache
def simulated():
    """Documents in two shops, in which the effects of prices level off soon."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "price": rng.uniform(4.0, 16.0, size=400),
            "size": rng.normal(size=400),
            "shop": rng.choice(["north", "south"], size=400),
        }
    )
    score = np.outer(np.tanh(2.0 * (table["price"] - 10.0)), [-1.0, -0.3, 0.3, 1.0])
    score += np.outer(table["shop"] == "south", [0.3, -0.3, 0.3, -0.3])
    share = np.exp(score + 0.8 * rng.normal(size=score.shape))
    share /= share.sum(axis=1, keepdims=True)
    return Corpus(draw_counts(share, draw_topics(T, 80), 60, rng), labels=table)


@cache
def fitted(name):
    scaling = SCALINGS[name] * Categorical("shop")
    model = HDSP(T, scaling=scaling, init="nmf", random_state=0, n_jobs=1)
    return model.fit(simulated())


@pytest.mark.parametrize("name", SCALINGS)
def test_numbers_inside_functions_enter_as_splines(name):
    model = fitted(name)
    terms = model._model.regression_space.terms
    assert [term.columns for term in terms if isinstance(term, Spline)] == [("price",)]
    # As if the formula had the spline: only the topics of the fit differ.
    wanted = model.estimate_effects("~ s(price) + size + shop").effects()
    pd.testing.assert_frame_equal(model.label_effects(), wanted, rtol=1e-6, atol=1e-9)
    prices = pd.DataFrame({"price": [10.0, 12.5, 14.0]})
    low, middle, high = model.expected_topics(prices)
    assert np.abs(middle - low).max() > 0.1
    np.testing.assert_allclose(middle, high, atol=0.08)
    bound = np.array([row["bound"] for row in model.history_])
    # The document step is in single precision.
    assert (np.diff(bound) >= -1e-6 * np.abs(bound[1:])).all()


def test_files_hold_functions_of_the_package_alone(tmp_path):
    own = fitted("levelling")
    with pytest.raises(ValueError, match=r"cannot store the scaling function Custom.*joblib"):
        own.save(tmp_path / "own.hdsp")
    assert not (tmp_path / "own.hdsp").exists()
    joblib.dump(own, tmp_path / "own.joblib")
    again = joblib.load(tmp_path / "own.joblib")
    pd.testing.assert_frame_equal(again.label_effects(), own.label_effects())
