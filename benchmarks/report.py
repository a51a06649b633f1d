"""What the report of a large model costs: to write, to keep, and to open in a browser.

    python benchmarks/report.py

Fits two hundred topics to simulated documents with two thousand tags, writes the report without
documents, and opens its views in Chromium. Writes benchmarks/results/report.csv: the median of
several loads, each until the view is painted, and of several changes of a label or topic.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import write
from playwright.sync_api import sync_playwright

from hdsp import HDSP, simulate

N_LABELS, N_TOPICS, N_DOCUMENTS = 2_000, 200, 6_000
LOADS = 5
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
VIEWS = {
    "topics": "view=topics",
    "what if": "view=explorer",
    "effects of a label": "view=effects&side=label&label=0",
    "effects on a topic": "view=effects&side=topic&topic=0",
    "map": "view=map",
    "heat map": "view=heat",
    "fit": "view=fit",
}
PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
# The milliseconds that a change takes until it is painted.
TIMED = """async ([selector, value]) => {
    const element = document.querySelector(selector);
    const begin = performance.now();
    element.value = value;
    element.dispatchEvent(new Event('input', {bubbles: true}));
    element.dispatchEvent(new Event('change', {bubbles: true}));
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - begin;
}"""
CHANGES = {
    "words by another relevance": ("view=topics", "#relevance", ("0.2", "0.9", "0.4", "0.7", "0")),
    "a search in the topics": ("view=topics", "#topic-search", ("w", "wo", "1", "12", "")),
    "a label chosen": (
        "view=explorer&a=&b=",
        '[aria-label="tags of A"]',
        tuple(f"tag {j}" for j in (3, 5, 700, 900, 1500)),
    ),
    "effects on another topic": ("view=effects&side=topic", '[aria-label="Topic"]', tuple("12345")),
}


def fit():
    """A model as large as the report should bear; labels with many documents and with few."""
    rng = np.random.default_rng(0)
    weight = 1.0 / np.arange(10, N_LABELS + 10)
    chosen = rng.choice(N_LABELS, size=(N_DOCUMENTS, 4), p=weight / weight.sum())
    chosen[:N_LABELS, 0] = np.arange(N_LABELS)
    tags = [sorted({f"tag {j}" for j in row}) for row in chosen.tolist()]
    corpus, _ = simulate(tags, n_topics=N_TOPICS, n_words=5_000, random_state=0)
    model = HDSP(N_TOPICS, max_iter=5, tol=1e-2, random_state=0)
    return model.fit(corpus)


def measure():
    """Rows of results."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("HDSP_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("This needs Chromium: install it, or name it in HDSP_CHROMIUM.")
    model = fit()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        begin = time.perf_counter()
        model.report(path)
        yield {"measured": "writing the report", "value": f"{time.perf_counter() - begin:.0f} s"}
        yield {"measured": "the page on disk", "value": f"{path.stat().st_size / 1e6:.1f} MB"}
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})

        def show(address):
            page.goto("about:blank")
            page.goto(f"{path.as_uri()}#{address}")
            page.evaluate(PAINTED)

        for name, address in VIEWS.items():
            seconds = []
            for _ in range(LOADS):
                show(address)
                seconds.append(page.evaluate("performance.now()") / 1000)
            found = f"{statistics.median(seconds):.2f} s"
            yield {"measured": f"opening the page at {name}", "value": found}
        for name, (address, selector, values) in CHANGES.items():
            show(address)
            times = [page.evaluate(TIMED, [selector, value]) for value in values]
            yield {"measured": name, "value": f"{statistics.median(times):.0f} ms"}
        browser.close()


if __name__ == "__main__":
    write("report", measure())
