"""What a reader sees: names that can be read, on a screen, a phone and paper."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, Labels
from tests.report.test_page import PHONE, as_rows, expected_table

# The texts of a chart that lie outside of it, by more than the pixel that letters may lean over.
OUTSIDE = """svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')]
        .filter(text => text.textContent && text.closest('[aria-label^="tip"]') === null)
        .map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => box.width && (box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1))
        .map(([text]) => text);
}"""
# Pairs of texts of a chart that cover each other.
COVERED = """svg => {
    const boxes = [...svg.querySelectorAll('g[aria-label="text"] text')]
        .map(text => [text.textContent, text.getBoundingClientRect()]);
    return boxes.flatMap(([text, a], i) => boxes.slice(i + 1)
        .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1
            && a.top < b.bottom - 1 && b.top < a.bottom - 1)
        .map(([other]) => [text, other]));
}"""


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """A report of many topics, with long words and long labels."""
    rng = np.random.default_rng(0)
    words = [f"extraordinarily-long-word-{i:03}" for i in range(120)]
    levels = [f"a department with a very long name, number {i}" for i in range(12)]
    chosen = rng.integers(12, size=300)
    rates = rng.gamma(0.1, size=(12, 120))
    counts = rng.poisson(30 * rates[chosen] / rates[chosen].sum(axis=1, keepdims=True))
    counts[:, 0] += counts.sum(axis=1) == 0
    frame = pd.DataFrame({"department": [levels[i] for i in chosen], "price": rng.normal(size=300)})
    corpus = Corpus(counts, words, Labels.from_frame(frame))
    model = HDSP(30, max_iter=5, tol=0.1, random_state=0).fit(corpus)
    path = tmp_path_factory.mktemp("long") / "report.html"
    model.report(path, corpus)
    return path


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("view", ["topics", "explorer", "effects", "map", "heat", "documents"])
def test_no_name_leaves_its_chart(open_page, long_names, view, width):
    viewport = {"width": width, "height": 844}
    page = open_page(long_names, viewport=viewport).show(f"#view={view}&label=12&topic=0")
    charts = page.locator(f"#view-{view} figure svg:visible").all()
    assert charts
    for chart in charts:
        assert chart.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_names_on_the_map_do_not_cover_each_other(open_page, long_names, width):
    viewport = {"width": width, "height": 844}
    page = open_page(long_names, viewport=viewport).show("#view=map&topic=3")
    picture = page.locator('[data-chart="map"] svg').first
    assert picture.locator('g[aria-label="text"] text').count() > 2
    assert picture.evaluate(COVERED) == []


def test_numbers_stand_clear_of_the_grey_line(shown):
    page = shown.show("#view=explorer")
    crossed = page.locator('[data-chart="expected-topics"] svg').evaluate(
        """svg => {
            const lines = [...svg.querySelectorAll('g[aria-label="tick"] line')]
                .map(line => line.getBoundingClientRect());
            return [...svg.querySelectorAll('g[aria-label="text"] text')]
                .map(text => [text.textContent, text.getBoundingClientRect()])
                .filter(([, box]) => lines.some(line =>
                    line.left > box.left + 1 && line.left < box.right - 1
                    && line.top < box.bottom && line.bottom > box.top))
                .map(([text]) => text);
        }"""
    )
    assert page.locator('[data-chart="expected-topics"] g[aria-label="tick"] line').count() > 3
    assert crossed == []


def test_a_number_is_known_once_it_is_moved(shown, model):
    page = shown.show("#view=explorer")
    page.get_by_label("Clear A").click()
    known = page.get_by_label("rating of A is known")
    assert not known.is_checked()
    assert page.get_by_label("rating of A", exact=True).input_value() == ""
    page.get_by_label("rating of A, as a slider").press("Home")
    assert known.is_checked()
    assert page.get_by_label("rating of A", exact=True).input_value() == "1"
    wanted = model.expected_topics(pd.DataFrame({"rating": [1.0, np.nan]}))
    found = as_rows(expected_table(page), len(model.components_))
    np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=1e-6)
    page.get_by_label("rating of A", exact=True).fill("")
    assert not known.is_checked()
    found = as_rows(expected_table(page), len(model.components_))
    np.testing.assert_allclose(found[0], wanted[1], rtol=0, atol=1e-6)


def test_a_phone_shows_a_topic_where_it_was_chosen(open_page, page_file):
    page = open_page(page_file, viewport=PHONE, has_touch=True, is_mobile=True).show()
    assert page.locator("aside").count() == 0
    page.tap('[data-topic="4"] .plain')
    assert page.inner_text("#topic-heading") == "Topic 4"
    row, detail = (
        page.locator(place).bounding_box() for place in ('tr[data-topic="4"]', ".detail-row aside")
    )
    assert 0 <= detail["y"] - (row["y"] + row["height"]) < 30
    assert page.locator(".detail-row figure svg").is_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(".side > aside").wait_for()


def test_charts_are_drawn_anew_for_paper(open_page, page_file):
    page = open_page(page_file).show("#view=effects&side=label&label=0")
    picture = '[data-chart="effects"] svg'
    screen = page.locator(picture).evaluate("svg => svg.viewBox.baseVal.width")
    page.evaluate(
        "() => addEventListener('beforeprint', () => {"
        f" window.printed = document.querySelector('{picture}').viewBox.baseVal.width; }})"
    )
    assert page.pdf()[:4] == b"%PDF"
    assert page.evaluate("window.printed") < 700 < screen
    page.wait_for_function(
        f"width => document.querySelector('{picture}').viewBox.baseVal.width === width", arg=screen
    )
    page.emulate_media(media="print")
    # The chart may be drawn anew in the meantime, and an element that is gone has no style.
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.swatch')).printColorAdjust === 'exact'"
    )


def test_a_wide_heat_map_fits_a_sheet(open_page, long_names):
    page = open_page(long_names, viewport={"width": 1280, "height": 800}).show("#view=heat")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1000})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 703")


def test_the_most_frequent_label_is_compared_first(shown, model, corpus):
    page = shown.show("#view=documents")
    title = page.inner_text('[data-chart="observed-expected"] h2')
    carried = np.diff(model.label_schema_.encode(corpus.labels).tocsc().indptr)
    labels = [j for j, name in enumerate(model.label_names_) if name != "rating"]
    assert title.endswith(model.label_names_[max(labels, key=lambda j: carried[j])])
    page.get_by_label("Typical of label").select_option(index=4)
    chosen = page.get_by_label("Typical of label").locator("option:checked").inner_text()
    title = page.inner_text('[data-chart="observed-expected"] h2')
    assert title.endswith(chosen.rsplit(" (", 1)[0])


def test_a_number_of_topics_that_stays_needs_no_chart(shown, model):
    assert len({row["topics_in_use"] for row in model.history_}) == 1
    page = shown.show("#view=fit")
    assert page.locator('[data-chart="topics-in-use"]').count() == 0
    facts = page.locator(".facts-table").first.inner_text()
    assert f"{model.n_topics_} of {len(model.components_)}" in facts
