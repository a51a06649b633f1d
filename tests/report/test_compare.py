"""Two values of a label, A against B: the numbers of the model, or why there are none."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, Labels, simulate
from tests.report.conftest import choose, expected_topics, numbers, table_rows
from tests.report.corpora import fit, make_corpus, reviews
from tests.scaling.test_terms import N_TOPICS, SCALING, curved, table


def assert_effects(page, chart, wanted, atol=1e-4, rtol=1e-3):
    """The effects and widths of a page's table, against the table of `label_effects`."""
    effect, lower, upper = numbers(page, chart).T
    np.testing.assert_allclose(effect, wanted["effect"], rtol=0, atol=atol)
    np.testing.assert_allclose(upper - lower, wanted["upper"] - wanted["lower"], rtol=rtol)


def test_one_change_in_what_if_has_intervals(shown, model):
    page = shown.show("#view=explorer")
    for a, b, label, contrast in (
        ({"department": "shoes", "rating": 1.5}, {"department": "shoes", "rating": 4},
         "rating", (1.5, 4.0)),
        ({"department": "shoes"}, {"department": "shoes", "tags": ["sale"]}, "sale", None),
        ({"department": "shoes", "tags": ["sale"]}, {"department": "bags", "tags": ["sale"]},
         "department", ("shoes", "bags")),
    ):  # fmt: skip
        choose(page, "A", **a)
        choose(page, "B", **b)
        wanted = model.label_effects(label, contrast=contrast)
        assert_effects(page, "difference", wanted)
        assert page.inner_text("#no-intervals") == ""
    page.get_by_text("Swap A and B").click()
    wanted = model.label_effects("department", contrast=("bags", "shoes"))
    assert_effects(page, "difference", wanted)


def test_what_if_says_why_there_are_no_intervals(shown):
    page = shown.show("#view=explorer")
    for a, b, reason in (
        ({"department": "shoes"}, {"department": "shoes"}, "A and B are the same"),
        ({"department": "shoes"}, {"rating": 4}, "A and B differ in more than one label"),
        ({"department": "shoes"}, {}, "department is not known in both"),
        ({"rating": 2}, {}, "rating is not known in both"),
        ({"tags": ["sale"]}, {"tags": ["new"]}, "A and B differ in more than one label"),
    ):
        choose(page, "A", **a)
        choose(page, "B", **b)
        assert page.inner_text("#no-intervals") == f"No intervals: {reason}."
        assert not page.locator('[data-chart="difference"]').is_visible()


def test_interactions_have_no_intervals_in_what_if(show_model):
    model = fit(make_corpus(*reviews()), 4, scaling="~ department * rating + labels", init="nmf")
    page = show_model(model, "#view=explorer")
    choose(page, "A", "shoes", rating=2)
    choose(page, "B", "bags", rating=2)
    assert "the effect of department depends on other labels" in page.inner_text("#no-intervals")
    page.click('nav a[data-view="effects"]')
    page.get_by_label("Label", exact=True).select_option("rating")
    assert not page.get_by_label("rating A").count()


def test_values_of_a_number_in_effects(shown, model):
    label = model.label_names_.index("rating")
    page = shown.show(f"#view=effects&side=label&label={label}")
    inputs = [page.get_by_label(f"rating {side}", exact=True) for side in "AB"]
    assert [float(one.input_value()) for one in inputs] == [1.0, 5.0]
    assert_effects(page, "effects", model.label_effects("rating"))
    inputs[0].fill("2.5")
    inputs[0].press("Enter")
    wanted = model.label_effects("rating", contrast=(2.5, 5.0))
    assert_effects(page, "effects", wanted)
    assert "(5 - 2.5)" in page.locator('[data-chart="effects"] .caption').first.inner_text()
    page = shown.show(page.evaluate("location.hash"))
    assert_effects(page, "effects", wanted)
    inputs[0].fill("5")
    inputs[0].press("Enter")
    assert {float(row[2]) for row in table_rows(page, "effects")} == {0.0}


def test_levels_of_a_category_in_effects(shown, model):
    label = model.label_names_.index("shoes")
    page = shown.show(f"#view=effects&side=label&label={label}")
    page.get_by_label("Compared with").select_option("against hats")
    wanted = model.label_effects("department", contrast=("hats", "shoes"))
    assert_effects(page, "effects", wanted)
    # Another label starts with its own contrast.
    page.get_by_label("Label", exact=True).select_option("bags")
    assert_effects(page, "effects", model.label_effects("bags"))
    found = [float(row[2]) for row in table_rows(page, "effects")]
    assert found == sorted(found, reverse=True)
    assert not page.locator('[data-chart="curve"]').is_visible()
    page.get_by_role("button", name="On a topic").click()
    effects = model.label_effects().set_index(["label", "topic"])["effect"]
    for row in table_rows(page, "effects"):
        assert float(row[2]) == pytest.approx(effects[row[0], 0], abs=1e-4)
    page = shown.show(f"#view=effects&side=label&label={label}&against=5")
    assert page.get_by_label("Compared with").input_value() == ""


def test_curves_and_ordered_values(show_model):
    """Of a model of two numeric labels: a spline, and an ordered one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"price": rng.gamma(3.0, 20.0, 300), "stars": rng.integers(1, 6, 300)})
    labels = Labels.from_frame(frame, numeric=["price", "stars"])
    corpus, _ = simulate(labels, n_topics=5, document_length=50, random_state=0)
    corpus = Corpus(corpus.counts, corpus.words, labels)
    numeric = fit(corpus, 5, scaling="~ s(price) + o(stars)", init="nmf")
    page = show_model(numeric, "#view=explorer")
    effects = numeric.label_effects("price")
    # They start at their percentiles.
    high, low = effects["contrast"].iloc[0].split(" - ")
    assert page.get_by_label("price of A", exact=True).input_value() == low
    assert page.get_by_label("price of B", exact=True).input_value() == high
    assert_effects(page, "difference", effects)
    for side, value in (("A", "2"), ("B", "5")):
        page.get_by_label(f"Clear {side}").click()
        page.get_by_label(f"stars of {side}", exact=True).select_option(value)
    assert_effects(page, "difference", numeric.label_effects("stars", contrast=(2, 5)))
    price, stars = (numeric.label_names_.index(name) for name in ("price", "stars"))
    page.evaluate(f"location.hash = '#view=effects&side=label&label={price}&against=50_70'")
    # The page's curve is straight between the values of a table, and its degrees of freedom are
    # those of a pair nearby.
    wanted = numeric.label_effects("price", contrast=(50, 70))
    assert_effects(page, "effects", wanted, atol=3e-4, rtol=0.05)
    page.evaluate(f"location.hash = '#view=effects&side=label&label={stars}'")
    page.get_by_label("stars A", exact=True).select_option("3")
    page.get_by_label("stars B", exact=True).select_option("4")
    assert_effects(page, "effects", numeric.label_effects("stars", contrast=(3, 4)))
    assert {float(row[0]) for row in table_rows(page, "curve")} == {1.0, 2.0, 3.0, 4.0, 5.0}
    drawn = page.locator('[data-chart="curve"] svg')
    # A dot for each of five topics at each value, and no curve.
    assert drawn.locator("circle").count() == 25
    assert drawn.locator('g[aria-label="area"], g[aria-label="line"]').count() == 0


def test_what_if_follows_curves_and_interactions(show_model):
    frame = table()
    corpus = Corpus(curved(frame)[0], labels=frame)
    model = HDSP(N_TOPICS, scaling=SCALING, random_state=0, n_jobs=1).fit(corpus)
    page = show_model(model, "#view=explorer", corpus)
    for side, value in (("A", "a"), ("B", "b")):
        page.get_by_label(f"dept of {side}", exact=True).select_option(value)
        page.get_by_label(f"day of {side} is known").check()
        page.get_by_label(f"day of {side}", exact=True).fill("-1.3")
    found = np.array(expected_topics(page))
    wanted = model.expected_topics(pd.DataFrame({"dept": ["a", "b"], "day": [-1.3, -1.3]}))
    # The page has the curve as a table, straight between its values.
    np.testing.assert_allclose(found, wanted, atol=2e-3)
    assert np.abs(found[0] - found[1]).max() > 0.1


@pytest.mark.filterwarnings("ignore::hdsp.exceptions.LabelDataWarning")
@pytest.mark.filterwarnings("ignore::hdsp.exceptions.IntervalWarning")
def test_labels_that_cannot_be_told_apart_have_no_effects(show_model):
    corpus, _ = simulate([["a", "b"], ["c"], ["a", "b", "c"], []] * 15, n_topics=3, random_state=0)
    page = show_model(fit(corpus, 3, init="nmf"), "#view=effects")
    labels = page.get_by_label("Label", exact=True).locator("option").all_inner_texts()
    assert labels == ["c"]
    page.click('nav a[data-view="explorer"]')
    page.get_by_label("Clear A").click()
    page.get_by_label("Clear B").click()
    page.get_by_label("tags of B", exact=True).fill("a")
    page.get_by_label("tags of B", exact=True).press("Enter")
    assert page.inner_text("#no-intervals") == (
        "No intervals: the page has no intervals for these values of tags."
    )


def test_labels_without_effects_still_have_expected_topics(show_model):
    frame = pd.DataFrame({"side": ["left", "right"] * 30})
    corpus, _ = simulate(frame, n_topics=3, random_state=0)
    corpus = Corpus(corpus.counts, corpus.words, frame, groups=["one"] * 60)
    page = show_model(fit(corpus, 3, init="nmf"), "#view=explorer")
    assert "All documents are in one group" in page.inner_text("#no-intervals")
    assert page.locator("nav a").all_inner_texts() == ["Topics", "What if", "Map", "Fit"]
    page.click('nav a[data-view="topics"]')
    assert page.get_by_text("No label effects: All documents are in one group").is_visible()
