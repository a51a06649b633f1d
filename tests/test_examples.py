"""The example of one's own scaling function works, and the page that shows it shows all of it."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Categorical, Corpus, LogLinear, simulate
from hdsp.testing import check_scaling, make_case
from tests.problems import failures

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "examples" / "own_scaling.py"


Saturating = runpy.run_path(str(SOURCE))["Saturating"]


@pytest.mark.parametrize("function", [Saturating(), Saturating(width=0.5, variance=0.2)])
@pytest.mark.parametrize("n_labels", [1, 4])
def test_it_keeps_the_contract(function, n_labels):
    assert failures(check_scaling(function, n_labels)) == {}


def test_the_page_shows_the_source_verbatim():
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert f"```python\n{SOURCE.read_text(encoding='utf-8')}```\n" in page


def test_a_wide_response_is_log_linear():
    case = make_case(LogLinear())
    weight = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_allclose(
        Saturating(width=1e5).rate(weight, case.design),
        LogLinear().rate(-weight, case.design),
        rtol=1e-6,
    )


def test_settings_are_positive_and_tell_functions_apart():
    for setting in ("width", "variance"):
        with pytest.raises(ValueError, match="`width` and `variance` of Saturating must be pos"):
            Saturating(**{setting: 0.0})
    assert Saturating("price", width=1.0) == Saturating("price", width=1.0)
    assert Saturating("price", width=1.0) != Saturating("price", width=2.0)
    assert Saturating(variance=1.0) != Saturating(variance=2.0)


def test_prices_with_a_long_tail_predict_words_and_level_off():
    price = np.random.default_rng(0).lognormal(3.0, 1.2, size=200)
    corpus, _ = simulate(
        pd.DataFrame({"price": price, "shop": ["north", "south"] * 100}),
        n_topics=4,
        n_words=40,
        document_length=40,
        scaling=Saturating("price", width=1.0, variance=9.0) * Categorical("shop"),
        corpus_concentration=3.0,
        document_concentration=4.0,
        random_state=1,
    )
    train, test = corpus.split(test_size=0.25, random_state=0)
    scaling = Categorical("shop") * Saturating("price", width=1.0)
    model = HDSP(8, scaling=scaling, random_state=0, n_jobs=1).fit(train)
    assert model.converged_
    bound = np.array([row["bound"] for row in model.history_])
    # The document step is in float32.
    assert (np.diff(bound) >= -1e-6 * np.abs(bound[1:])).all()
    without = Corpus(test.counts, words=test.words, labels=test.labels.without("price"))
    prices = pd.DataFrame({"price": [20.0, 60.0, 1e3, 1e5]})
    for method in ("regression", "exact", "ratio"):
        known = model.perplexity(test, method=method)
        assert known < 0.98 * model.perplexity(without, method=method)
        theta = model.expected_topics(prices, method=method)
        if method != "regression":
            assert np.abs(theta[0] - theta[1]).max() > 0.02
            np.testing.assert_allclose(theta[2], theta[3], atol=1e-3)
