"""What a reader sees: by keyboard, with a screen reader, on a phone, in the dark and on paper."""

import re

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, Labels
from tests.report.conftest import PHONE, VIEWS, each_view, expected_topics

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
# Numbers of a chart that a grey line crosses.
CROSSED = """svg => {
    const lines = [...svg.querySelectorAll('g[aria-label="tick"] line')]
        .map(line => line.getBoundingClientRect());
    return [...svg.querySelectorAll('g[aria-label="text"] text')]
        .map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => lines.some(line => line.left > box.left + 1
            && line.left < box.right - 1 && line.top < box.bottom && line.bottom > box.top))
        .map(([text]) => text);
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
def test_names_can_be_read(open_page, long_names, width):
    page = open_page(long_names, viewport={"width": width, "height": 844}).show()
    for view in each_view(page, VIEWS[:-1], "label=12&topic=3"):
        page.locator(f"#view-{view} figure svg:visible").first.wait_for()
        charts = page.locator(f"#view-{view} figure svg:visible").all()
        assert [chart.evaluate(OUTSIDE) for chart in charts] == [[]] * len(charts), view
        if view == "heat":
            room = page.locator("#view-heat .pickable")
            assert room.evaluate("room => room.scrollHeight - room.clientHeight") <= 1
        if view == "map":
            assert charts[0].locator('g[aria-label="text"] text').count() > 2
            assert charts[0].evaluate(COVERED) == []


def test_numbers_stand_clear_of_the_grey_line(shown):
    chart = shown.show("#view=explorer").locator('[data-chart="expected-topics"] svg')
    assert chart.locator('g[aria-label="tick"] line').count() > 3
    assert chart.evaluate(CROSSED) == []


def test_the_page_works_by_keyboard_alone(shown):
    page = shown.show()
    active = "document.activeElement"
    for key, focused in (("Tab", "skip"), ("Enter", "main"), ("Tab", "topic-search")):
        page.keyboard.press(key)
        assert page.evaluate(f"{active}.id") == focused
    page.keyboard.type("silk")
    assert page.locator(".topic-table tbody tr").count() < 8
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(f"{active}.matches('td .plain')"):
            break
    page.keyboard.press("Enter")
    chosen = page.evaluate(f"{active}.closest('tr').dataset.topic")
    assert page.locator("tr.chosen").get_attribute("data-topic") == chosen
    page.focus('nav a[data-view="explorer"]')
    page.keyboard.press("Enter")
    before = expected_topics(page)
    page.get_by_label("department of A", exact=True).focus()
    page.keyboard.press("Home")
    assert expected_topics(page) != before


@pytest.mark.parametrize("reader", ["light", "dark", "phone"])
def test_axe_finds_no_serious_fault(open_page, page_file, reader):
    from axe_playwright_python.sync_playwright import Axe

    options = {"viewport": PHONE, "is_mobile": True} if reader == "phone" else {}
    options["color_scheme"] = "dark" if reader == "dark" else "light"
    page = open_page(page_file, **options).show()
    # What is dark differs in its colours alone.
    rules = {"runOnly": ["color-contrast"]} if reader == "dark" else {}
    for view in each_view(page, VIEWS, "topic=1"):
        if reader == "phone":
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        for summary in page.locator("summary:visible").all():
            summary.click()
        found = Axe().run(page, options=rules).response["violations"]
        serious = [
            (view, fault["id"], [node["html"][:200] for node in fault["nodes"][:3]])
            for fault in found
            if fault["impact"] in ("serious", "critical")
        ]
        assert serious == []


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


def test_light_and_dark(open_page, page_file):
    page = open_page(page_file, color_scheme="dark").show("#view=topics")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert sum(map(int, re.findall(r"\d+", dark)[:3])) < 200
    assert sum(map(int, re.findall(r"\d+", light)[:3])) > 600
    page.click("#theme")
    # It prints in light, without its controls.
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.locator("#topic-search").is_visible()
    assert page.locator(".topic-table").is_visible()
    assert page.pdf()[:4] == b"%PDF"


def test_charts_are_drawn_anew_for_paper(open_page, page_file, long_names):
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
    # A wide heat map fits a sheet.
    page = open_page(long_names, viewport={"width": 1280, "height": 800}).show("#view=heat")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1000})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 703")
