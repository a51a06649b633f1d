"""Figures of a paper, as vector graphics."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hdsp.answers.label_levels import curve_columns
from hdsp.answers.topic_tables import Columns
from hdsp.numerics.types import IntArray
from hdsp.plots import curve, drawing, search
from hdsp.prediction import FittedModel

# Panels of a figure, and points of a curve.
_PANELS, _POINTS = 6, 50


def draw_effects(model: Any, effects: Columns, shown: Sequence[IntArray]) -> bytes:
    """The effects in some rows of a table, those of a label in each."""
    names = drawing.topic_names(model, range(len(model.components_)))

    def draw(panel: int, ax: Any) -> None:
        rows = shown[panel]
        limits = [np.array(effects[name])[rows] for name in ("effect", "lower", "upper")]
        called = [names[effects["topic"][row]] for row in rows]
        drawing.draw_intervals(ax, called, *limits)
        drawing.percent_axis(ax.xaxis)
        ax.set_title(f"{effects['label'][rows[0]]} ({effects['contrast'][rows[0]]})")
        ax.set_xlabel("change of the expected proportion, 90% interval")

    return _figure(len(shown), 0.9 + 0.24 * max(map(len, shown)), draw)


def curve_table(fitted: FittedModel) -> Columns:
    """Expected proportions along the numbers that have effects, as `TopicRegression.curve`."""
    columns: Columns = {}
    for block in fitted.schema.blocks:
        used = (fitted.used & ~fitted.missing())[fitted.schema.slices()[block.name]]
        if block.kind == "number" and len(used) == 1 and used.all():
            found = curve_columns(
                fitted, None, block.name, None, _POINTS, 0.9, "documents", "HDSP.paper"
            )
            for name, values in found.items():
                columns.setdefault(name, []).extend(values)
    return columns


def draw_curves(model: Any, curves: Columns) -> bytes:
    """The curves of numbers, of the topics that change most."""
    labels = list(dict.fromkeys(curves["label"]))[:_PANELS]
    return _figure(len(labels), 3.2, lambda panel, ax: curve(model, labels[panel], ax=ax))


def draw_search(model: Any) -> bytes:
    """The choice of the number of topics."""
    return _figure(1, 3.4, lambda panel, ax: search(model, ax=ax))


def _figure(n_panels: int, height: float, draw: Callable[[int, Any], Any]) -> bytes:
    """A PDF of panels, two beside each other, that does not tell when it was made."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shape = -(-n_panels // 2), min(n_panels, 2)
    # Names of topics and labels are no formulas, and their letters are to be found by a search.
    with rc_context({"text.parse_math": False, "pdf.fonttype": 42}):
        figure = Figure(figsize=(5.5 * shape[1], height * shape[0]), layout="constrained")
        for panel in range(n_panels):
            draw(panel, figure.add_subplot(*shape, panel + 1))
        file = io.BytesIO()
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    return file.getvalue()
