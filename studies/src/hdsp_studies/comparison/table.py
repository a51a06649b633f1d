"""A table of means with intervals, as text, CSV and JSON."""

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdsp_studies.comparison.cells import Cell
from hdsp_studies.comparison.measures import MEASURES

LEVEL = 0.95
DASH = "-"


@dataclass(frozen=True)
class Entry:
    """A measure of one model on one corpus.

    Attributes
    ----------
    corpus : str
        Name of the corpus.
    model : str
        Name of the model.
    measure : str
        A name of `MEASURES`.
    mean : float
        Mean over seeds.
    margin : float or None
        Half of Student's t interval for the mean; None with a single seed. It says how results
        vary over splits and starts, and nothing of other corpora.
    n_seeds : int
        Number of seeds.
    """

    corpus: str
    model: str
    measure: str
    mean: float
    margin: float | None
    n_seeds: int

    @property
    def text(self) -> str:
        """The mean and its margin, rounded for display."""
        digits = MEASURES[self.measure].digits
        shown = f"{self.mean:.{digits}f}"
        return shown if self.margin is None else f"{shown} ± {self.margin:.{digits}f}"


def summarise(cells: Iterable[Cell]) -> list[Entry]:
    """Means over seeds; what a model cannot do has no entry."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for cell in cells:
        for name in MEASURES:
            value = cell.measures.get(name)
            if value is not None:
                values.setdefault((cell.corpus, cell.model, name), []).append(value)
    return [
        Entry(corpus, model, name, float(np.mean(found)), _margin(found), len(found))
        for (corpus, model, name), found in values.items()
    ]


def as_text(cells: Sequence[Cell]) -> str:
    """An aligned table per corpus, with a dash for what a model cannot do, and the failures."""
    entries = {(e.corpus, e.model, e.measure): e for e in summarise(cells)}
    names = shown_measures(cells)
    lines: list[str] = []
    for corpus in dict.fromkeys(cell.corpus for cell in cells):
        rows = [["model", *[MEASURES[name].title for name in names]]]
        for model in dict.fromkeys(cell.model for cell in cells if cell.corpus == corpus):
            found = [entries.get((corpus, model, name)) for name in names]
            rows.append([model, *[DASH if entry is None else entry.text for entry in found]])
        seeds = {entry.n_seeds for entry in entries.values() if entry.corpus == corpus}
        lines += ["", f"{corpus}: {_caption(seeds)}", *_aligned(rows)]
    lines += ["", *[failure_text(cell) for cell in cells if cell.error is not None]]
    return "\n".join(lines).strip() + "\n"


def failure_text(cell: Cell) -> str:
    """One sentence on a failed cell."""
    return f"failed: {cell.model} on {cell.corpus}, seed {cell.seed}: {cell.error}"


def as_csv(cells: Iterable[Cell]) -> str:
    """One line for each corpus, model and measure; what a model cannot do has none."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["corpus", "model", "measure", "mean", "lower", "upper", "n_seeds"])
    for e in summarise(cells):
        limits = ("", "") if e.margin is None else (e.mean - e.margin, e.mean + e.margin)
        writer.writerow([e.corpus, e.model, e.measure, e.mean, *limits, e.n_seeds])
    return file.getvalue()


def as_data(cells: Sequence[Cell]) -> dict[str, Any]:
    """Plain data for JSON: one row per corpus and model, with null for what a model cannot do."""
    entries = {(e.corpus, e.model, e.measure): e for e in summarise(cells)}
    rows = []
    for corpus, model in dict.fromkeys((cell.corpus, cell.model) for cell in cells):
        row: dict[str, Any] = {"corpus": corpus, "model": model}
        for name in shown_measures(cells):
            entry = entries.get((corpus, model, name))
            row[name] = None
            if entry is not None:
                row[name] = {"mean": entry.mean, "margin": entry.margin, "n": entry.n_seeds}
        rows.append(row)
    failed = [
        {"model": cell.model, "corpus": cell.corpus, "seed": cell.seed, "error": cell.error}
        for cell in cells
        if cell.error is not None
    ]
    return {"interval": f"{LEVEL:.0%} t interval over seeds", "rows": rows, "failed": failed}


def shown_measures(cells: Iterable[Cell]) -> list[str]:
    """The measures that were asked for, in their order."""
    asked = {name for cell in cells for name in cell.measures}
    return [name for name in MEASURES if name in asked]


def _margin(values: Sequence[float]) -> float | None:
    from scipy.stats import t

    if len(values) < 2:
        return None
    spread = float(np.std(values, ddof=1)) / len(values) ** 0.5
    factor = float(t.ppf(0.5 + LEVEL / 2, len(values) - 1))
    margin: float = factor * spread
    return margin


def _caption(seeds: Collection[int]) -> str:
    if not seeds:
        return "every cell failed"
    least, most = min(seeds), max(seeds)
    if most == 1:
        return "one seed, so without intervals"
    number = f"{most}" if least == most else f"{least} to {most}"
    return f"means over {number} seeds, with {LEVEL:.0%} t intervals"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    ]
