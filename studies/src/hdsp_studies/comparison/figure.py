"""A figure of a comparison: a panel for each corpus and measure, a dot for each model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hdsp_studies.comparison.cells import Cell
from hdsp_studies.comparison.measures import MEASURES
from hdsp_studies.comparison.table import LEVEL, Entry, summarise

FORMATS = (".png", ".svg")
_ARROWS = {"lower": " (lower is better)", "higher": " (higher is better)", "": ""}


def draw(cells: Sequence[Cell], path: Path) -> list[Path]:
    """Write the figure as PNG and SVG.

    Parameters
    ----------
    cells : sequence of Cell
        Cells, of which at least one did not fail.
    path : Path
        Path of the files without a suffix.

    Returns
    -------
    list of Path
        The files.
    """
    # Not pyplot, whose figures outlive their use and need a display on some machines.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    entries = summarise(cells)
    if not entries:
        raise ValueError("There is nothing to draw: every cell of the comparison failed.")
    by_corpus = {name: [e for e in entries if e.corpus == name] for name in _corpora(entries)}
    columns = min(3, max(len(_measures(found)) for found in by_corpus.values()))
    heights = [_height(found, columns) for found in by_corpus.values()]
    figure = Figure(figsize=(3.4 * columns + 0.8, sum(heights) + 0.4), layout="constrained")
    parts = figure.subfigures(len(by_corpus), 1, squeeze=False, height_ratios=heights).ravel()
    # Each corpus has its own panels, because perplexities of different corpora differ in size.
    for part, (corpus, found) in zip(parts, by_corpus.items(), strict=True):
        if len(by_corpus) > 1:
            part.suptitle(corpus, fontsize=10, fontweight="bold")
        _draw_corpus(part, found, columns)
    figure.supxlabel(f"means over seeds, {LEVEL:.0%} t intervals", fontsize=8)
    written = [path.with_name(path.name + suffix) for suffix in FORMATS]
    for file in written:
        # Fixed, so that the same numbers give the same file.
        with rc_context({"svg.hashsalt": "hdsp"}):
            metadata = {"Date": None} if file.suffix == ".svg" else {}
            figure.savefig(file, dpi=150, metadata=metadata)
    return written


def _draw_corpus(part: Any, entries: Sequence[Entry], columns: int) -> None:
    """The panels of one corpus, in a part of a figure."""
    models, names = _models(entries), _measures(entries)
    rows = -(-len(names) // columns)
    panels = part.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for panel, name in zip(panels, names, strict=False):
        found = [e for e in entries if e.measure == name]
        panel.errorbar(
            [e.mean for e in found],
            [models.index(e.model) for e in found],
            xerr=[e.margin or 0.0 for e in found],
            fmt="o",
            markersize=4,
            capsize=2,
        )
        panel.set_title(MEASURES[name].title + _ARROWS[MEASURES[name].better], fontsize=9)
        panel.set_yticks(range(len(models)), models, fontsize=8)
        panel.tick_params(axis="x", labelsize=8)
        panel.grid(axis="x", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    # The panels share their axis, so that this puts the first model on top in all of them.
    panels[0].set_ylim(len(models) - 0.5, -0.5)
    for panel in panels[len(names) :]:
        panel.set_axis_off()


def _height(entries: Sequence[Entry], columns: int) -> float:
    """Height of the panels of one corpus, in inches."""
    rows = -(-len(_measures(entries)) // columns)
    return 0.4 + rows * (0.8 + 0.28 * len(_models(entries)))


def _corpora(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(entry.corpus for entry in entries))


def _models(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(entry.model for entry in entries))


def _measures(entries: Sequence[Entry]) -> list[str]:
    present = {entry.measure for entry in entries}
    return [name for name in MEASURES if name in present]
