"""The page by keyboard, with a screen reader, on a phone, in light and dark, and on paper."""

import re

import pytest

from tests.report.test_page import PHONE, VIEWS, expected_table


def test_the_page_works_by_keyboard_alone(shown):
    page = shown.show()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "topic-search"
    page.keyboard.type("silk")
    assert page.locator(".topic-table tbody tr").count() < 8
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('td .plain')"):
            break
    page.keyboard.press("Enter")
    chosen = page.evaluate("document.activeElement.closest('tr').dataset.topic")
    assert page.locator("tr.chosen").get_attribute("data-topic") == chosen
    page.focus('nav a[data-view="explorer"]')
    page.keyboard.press("Enter")
    page.get_by_label("department of A", exact=True).focus()
    before = expected_table(page)
    page.get_by_label("department of A", exact=True).focus()
    page.keyboard.press("Home")
    assert expected_table(page) != before


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("reader", ["light", "dark", "phone"])
def test_axe_finds_no_serious_fault(open_page, page_file, view, reader):
    from axe_playwright_python.sync_playwright import Axe

    options = {"viewport": PHONE, "is_mobile": True} if reader == "phone" else {}
    options["color_scheme"] = "dark" if reader == "dark" else "light"
    page = open_page(page_file, **options).show(f"#view={view}&topic=1")
    for summary in page.locator("summary:visible").all():
        summary.click()
    # What is dark differs in its colours alone.
    rules = {"runOnly": ["color-contrast"]} if reader == "dark" else {}
    found = Axe().run(page, options=rules).response["violations"]
    serious = [
        (fault["id"], [node["html"][:200] for node in fault["nodes"][:3]])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_shows_it_without_scrolling_sideways(open_page, page_file, view):
    page = open_page(page_file, viewport=PHONE, has_touch=True, is_mobile=True).show(
        f"#view={view}"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator(f"#view-{view}").is_visible()


def test_it_prints_in_light_without_its_controls(open_page, page_file):
    page = open_page(page_file, color_scheme="dark").show("#view=topics")
    page.emulate_media(media="print")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.locator("#topic-search").is_visible()
    assert page.locator(".topic-table").is_visible()
    assert page.pdf()[:4] == b"%PDF"


def test_light_and_dark(open_page, page_file):
    page = open_page(page_file, color_scheme="dark").show()
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert sum(map(int, re.findall(r"\d+", dark)[:3])) < 200
    assert sum(map(int, re.findall(r"\d+", light)[:3])) > 600
