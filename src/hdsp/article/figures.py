"""Figures of an article, as vector graphics."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_effects import own_regression
from hdsp.analysis.levels import curve_columns
from hdsp.analysis.topics import Columns
from hdsp.article.methods import curve_labels
from hdsp.numerics import IntArray
from hdsp.plots import curve, drawing, search

# Panels of a figure.
_PANELS = 6


def draw_effects(model: Any, effects: Columns, shown: Sequence[IntArray]) -> bytes:
    """A panel for each label, with the effects in some rows of a table."""
    names = drawing.topic_names(model, range(len(model.components_)))

    def draw(panel: int, ax: Any) -> None:
        rows = shown[panel]
        limits = [np.array(effects[name])[rows] for name in ("effect", "lower", "upper")]
        called = [names[effects["topic"][row]] for row in rows]
        drawing.draw_intervals(ax, called, *limits)
        drawing.percent_axis(ax.xaxis)
        ax.set_title(f"{effects['label'][rows[0]]} ({effects['contrast'][rows[0]]})")
        ax.set_xlabel("effect on the topic's proportion, 90% interval")

    return _figure(len(shown), 0.9 + 0.24 * max(map(len, shown)), draw)


def curve_table(fitted: FittedModel) -> Columns:
    """Expected proportions along the numeric labels that have effects: `TopicRegression.curve`."""
    columns: Columns = {}
    for name in curve_labels(fitted):
        for column, values in curve_columns(own_regression(fitted), name).items():
            columns.setdefault(column, []).extend(values)
    return columns


def draw_curves(model: Any, labels: Sequence[str]) -> bytes:
    """The curves of numeric labels, for the topics that change most."""
    shown = labels[:_PANELS]
    return _figure(len(shown), 3.2, lambda panel, ax: curve(model, shown[panel], ax=ax))


def draw_search(model: Any) -> bytes:
    """The choice of the number of topics."""
    return _figure(1, 3.4, lambda panel, ax: search(model, ax=ax))


def _figure(n_panels: int, height: float, draw: Callable[[int, Any], Any]) -> bytes:
    """A PDF of panels in two columns, without its creation date."""
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
