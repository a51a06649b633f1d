"""A figure of a comparison: a panel a measure, a dot a model, with its interval."""

from collections.abc import Sequence
from pathlib import Path

from hdsp.comparison.cells import Cell
from hdsp.comparison.measures import MEASURES
from hdsp.comparison.table import LEVEL, shown_measures, summarise
from hdsp.peers import check_libraries

FORMATS = (".png", ".svg")
_ARROWS = {"lower": " (lower is better)", "higher": " (higher is better)", "": ""}


def draw(cells: Sequence[Cell], path: Path) -> list[Path]:
    """Write the figure as PNG and SVG.

    Parameters
    ----------
    cells : at least one that did not fail
    path : without a suffix

    Returns
    -------
    list of Path
        The files.
    """
    check_libraries(["matplotlib"], "A figure")
    # Not pyplot, whose figures outlive their use and need a display on some machines.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    entries = summarise(cells)
    models = list(dict.fromkeys(cell.model for cell in cells))
    corpora = list(dict.fromkeys(cell.corpus for cell in cells))
    names = [name for name in shown_measures(cells) if any(e.measure == name for e in entries)]
    if not names:
        raise ValueError("There is nothing to draw: every cell of the comparison failed.")
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    height = 0.8 + 0.28 * len(models) * max(1, len(corpora)) ** 0.5
    figure = Figure(figsize=(3.4 * columns + 0.8, height * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for panel, name in zip(panels, names, strict=False):
        for number, corpus in enumerate(corpora):
            shift = (number - (len(corpora) - 1) / 2) * 0.6 / len(corpora)
            found = [e for e in entries if e.measure == name and e.corpus == corpus]
            panel.errorbar(
                [e.mean for e in found],
                [models.index(e.model) + shift for e in found],
                xerr=[e.margin or 0.0 for e in found],
                fmt="o",
                markersize=4,
                capsize=2,
                color=f"C{number}",
                label=corpus,
            )
        panel.set_title(MEASURES[name].title + _ARROWS[MEASURES[name].better], fontsize=9)
        panel.set_yticks(range(len(models)), models, fontsize=8)
        panel.tick_params(axis="x", labelsize=8)
        panel.grid(axis="x", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    # Shared: one turn puts the first model on top everywhere.
    panels[0].set_ylim(len(models) - 0.5, -0.5)
    for panel in panels[len(names) :]:
        panel.set_axis_off()
    if len(corpora) > 1:
        panels[0].legend(fontsize=8)
    figure.supxlabel(f"means over seeds, {LEVEL:.0%} t intervals", fontsize=8)
    written = [path.with_name(path.name + suffix) for suffix in FORMATS]
    for file in written:
        # Fixed, so that the same numbers give the same file.
        with rc_context({"svg.hashsalt": "hdsp"}):
            metadata = {"Date": None} if file.suffix == ".svg" else {}
            figure.savefig(file, dpi=150, metadata=metadata)
    return written
