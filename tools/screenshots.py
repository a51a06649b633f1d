"""Take the pictures of the demo's report and figures that README and docs show: make screenshots.

Look at them before they are committed.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from hdsp import HDSP, plots
from hdsp.cli.demo import fit_demo, write_demo_report

IMAGES = Path(__file__).parents[1] / "docs" / "images"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
# Name, address, width and height, and the scheme of colours.
PICTURES = (
    ("topics", "view=topics&topic=1", 1280, 800, "light"),
    ("explorer", "view=explorer", 1280, 1150, "light"),
    ("effects", "view=effects&side=label&label={n_parameters}", 1280, 1480, "light"),
    ("map", "view=map&topic=1", 1280, 1130, "light"),
    ("heat", "view=heat", 1280, 1400, "light"),
    ("documents", "view=documents&topic=1", 1280, 900, "dark"),
    ("fit", "view=fit", 1280, 1030, "light"),
    ("phone-topics", "view=topics", 390, 844, "light"),
    ("phone-explorer", "view=explorer", 390, 844, "dark"),
    ("phone-documents", "view=documents&topic=1", 390, 844, "light"),
)


def write_report(path: Path) -> HDSP:
    """The report of `hdsp demo`."""
    model, corpus, _ = fit_demo()
    write_demo_report(model, corpus, str(path))
    return model


def main() -> None:
    """Fit, write the report and take the pictures."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = os.environ.get("HDSP_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        sys.exit("Pictures need Chromium: install it, or name it in HDSP_CHROMIUM.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        model = write_report(path)
        labels = {"n_parameters": model.label_names_.index("n_parameters")}
        opened = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        for name, address, width, height, scheme in PICTURES:
            page = opened.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{path.as_uri()}#{address.format(**labels)}")
            if name == "phone-explorer":
                page.locator('[data-chart="expected-topics"]').scroll_into_view_if_needed()
                page.mouse.wheel(0, 300)
            if name == "documents":
                # One of several topics.
                page.locator(".doc-list button").nth(4).click()
            if name == "phone-documents":
                page.locator(".doc-list button").nth(4).click()
                page.locator("article").evaluate("e => e.scrollIntoView()")
            page.wait_for_timeout(300)
            page.screenshot(path=IMAGES / f"report-{name}.png")
            _shrink(IMAGES / f"report-{name}.png")
            page.close()
        opened.close()
    draw_figures(model)


def draw_figures(model: HDSP) -> None:
    """The figures of `hdsp.plots` that the docs show."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    plots.effects(model, "scipy.stats", n=12, ax=left)
    plots.curve(model, "n_parameters", n=4, ax=right)
    figure.savefig(IMAGES / "plots-effects.png", dpi=90)
    _shrink(IMAGES / "plots-effects.png")


def _shrink(path: Path) -> None:
    """Keep 256 colours, rare ones too."""
    from PIL import Image

    with Image.open(path) as image:
        colours = image.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
    colours.save(path, optimize=True)


if __name__ == "__main__":
    main()
