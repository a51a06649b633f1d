"""The page computes with curves and interactions as the model does."""

import numpy as np
import pandas as pd

from hdsp import HDSP, Corpus
from tests.report.corpora import fit, make_corpus, reviews
from tests.report.test_page import as_rows, expected_table, table_rows
from tests.scaling.test_terms import N_TOPICS, SCALING, curved, table


def test_what_if_follows_curves_and_interactions(open_page, tmp_path):
    frame = table()
    corpus = Corpus(curved(frame)[0], labels=frame)
    model = HDSP(N_TOPICS, scaling=SCALING, random_state=0, n_jobs=1).fit(corpus)
    model.report(tmp_path / "report.html", corpus)
    page = open_page(tmp_path / "report.html").show("#view=explorer")
    page.get_by_label("dept of A", exact=True).select_option("a")
    page.get_by_label("dept of B", exact=True).select_option("b")
    for side in "AB":
        page.get_by_label(f"day of {side} is known").check()
        page.get_by_label(f"day of {side}", exact=True).fill("-1.3")
    found = as_rows(expected_table(page), N_TOPICS)
    wanted = model.expected_topics(pd.DataFrame({"dept": ["a", "b"], "day": [-1.3, -1.3]}))
    # The page has the curve as a table, straight between its values.
    np.testing.assert_allclose(found, wanted, atol=2e-3)
    assert np.abs(found[0] - found[1]).max() > 0.1
    effects = page.context.new_page()
    effects.goto(f"{(tmp_path / 'report.html').as_uri()}#view=effects&label=day")
    assert effects.locator("#view-effects figure svg").first.is_visible()


def test_an_ordered_number_has_points_and_no_curve(open_page, tmp_path):
    model = fit(make_corpus(*reviews(120)), 4, scaling="~ o(rating)", init="nmf")
    model.report(tmp_path / "report.html")
    label = model.label_names_.index("rating")
    page = open_page(tmp_path / "report.html").show(f"#view=effects&side=label&label={label}")
    values = {float(row[0]) for row in table_rows(page, "curve")}
    assert values == {1.0, 2.0, 4.0, 5.0}
    drawn = page.locator('[data-chart="curve"] svg')
    # A dot for each of four topics at each value.
    assert drawn.locator("circle").count() == 16
    assert drawn.locator('g[aria-label="area"], g[aria-label="line"]').count() == 0
