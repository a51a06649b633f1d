import json
import os
import re
import shutil

import numpy as np
import pytest

from tests.report.corpora import fit, fit_searched, hostile, make_corpus, reviews

# Without its services in the background, which would ask for hosts that are not there.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
VIEWS = ("topics", "explorer", "effects", "map", "heat", "documents", "fit")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("HDSP_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not path:
        pytest.skip("No browser for the report's page: install Chromium, or set HDSP_CHROMIUM.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def texts():
    return reviews()[0]


@pytest.fixture(scope="session")
def corpus():
    return make_corpus(*reviews())


@pytest.fixture(scope="session")
def model(corpus):
    # As a line: by default, a rating is ordered.
    return fit(corpus, scaling="~ department + labels + rating")


@pytest.fixture(scope="session")
def searched():
    return fit_searched()


@pytest.fixture(scope="session")
def stability(model, corpus):
    return model.stability(corpus, seeds=1)


@pytest.fixture(scope="session")
def page_file(model, corpus, texts, stability, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    model.report(path, corpus, texts=texts, title="Reviews", stability=stability)
    return path


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    corpus, texts = hostile()
    seeds = {"</td><script>window.hacked = 5</script>": ["constructor"]}
    model = fit(corpus, n_components=4, seeds=seeds)
    model.report(path, corpus, texts=texts, title="</title><script>x")
    return path


class Opened:
    """A page in a browser without a network, and all that went wrong in it."""

    def __init__(self, browser, path, **options):
        self.path = path
        self.context = browser.new_context(offline=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.faults = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self._note("error", str(error)))
        self.page.on("request", self._request)

    def _note(self, kind, text):
        if kind in ("error", "warning"):
            self.faults.append(text)

    def _request(self, request):
        if not request.url.startswith(("file://", "data:", "blob:")):
            self.faults.append(request.url)

    def show(self, fragment=""):
        # Away first: a change of the fragment alone does not load a page again.
        self.page.goto("about:blank")
        self.page.goto(f"{self.path.as_uri()}{fragment}")
        return self.page


@pytest.fixture
def open_page(browser):
    opened = []

    def start(path, **options):
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.context.close()
        assert one.faults == []


@pytest.fixture
def shown(open_page, page_file):
    return open_page(page_file)


@pytest.fixture
def show_model(open_page, tmp_path):
    """The page of another model, at an address."""

    def show(model, fragment="", *arguments):
        model.report(tmp_path / "report.html", *arguments)
        return open_page(tmp_path / "report.html").show(fragment)

    return show


def data_of(page, name="data"):
    """The data that a page holds."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    return json.loads(found.group(1)) if found.group(1) else None


def values(page, selector):
    """Numbers as the page has them, not as it shows them."""
    return page.eval_on_selector_all(selector, "all => all.map(e => Number(e.dataset.value))")


def table_rows(page, chart):
    """The rows of a chart's table: numbers as the page has them, and texts."""
    figure = page.locator(f'[data-chart="{chart}"]')
    if figure.locator("details").get_attribute("open") is None:
        figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    return figure.locator("tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.children].map(c => c.dataset.value ?? c.textContent))"
    )


def expected_topics(page):
    """Expected proportions in settings A and B, from the explorer's table, [2, T]."""
    return numbers(page, "expected-topics")[:, :2].T.tolist()


def numbers(page, chart):
    """The numbers of a chart's table after its first two columns, by topic, [T, n]."""
    rows = sorted(table_rows(page, chart), key=lambda row: int(row[0]))
    assert [int(row[0]) for row in rows] == list(range(len(rows)))
    return np.array([row[2:] for row in rows], dtype=float)


def choose(page, side, department=None, rating=None, tags=()):
    """Choose the labels of a side of the explorer."""
    page.get_by_label(f"Clear {side}").click()
    if department is not None:
        page.get_by_label(f"department of {side}", exact=True).select_option(department)
    for tag in tags:
        page.get_by_label(f"labels of {side}", exact=True).fill(tag)
        page.get_by_label(f"labels of {side}", exact=True).press("Enter")
    if rating is not None:
        page.get_by_label(f"rating of {side} is known").check()
        page.get_by_label(f"rating of {side}", exact=True).fill(str(rating))


def each_view(page, views, rest=""):
    """Show one view after the other."""
    for view in views:
        # A chart under the pointer would show a tip.
        page.mouse.move(0, 0)
        page.evaluate(f"location.hash = '#view={view}&{rest}'")
        page.locator(f"#view-{view}").wait_for()
        yield view
