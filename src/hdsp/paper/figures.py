"""Figures of a paper, as vector graphics."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from hdsp.answers.label_levels import curve_columns
from hdsp.answers.topic_tables import Columns
from hdsp.plots import curve, drawing, search
from hdsp.plots.labels import largest
from hdsp.prediction import FittedModel

# Panels of a figure, topics of a panel, and points of a curve.
_PANELS, _TOPICS, _POINTS = 6, 8, 50


def draw_effects(model: Any, effects: Columns) -> bytes:
    """The largest effects of the labels that have the strongest ones."""
    n_topics, schema = len(model.components_), model.label_schema_
    found = [np.reshape(effects[name], (-1, n_topics)) for name in ("effect", "lower", "upper")]
    names, contrasts = (effects[name][::n_topics] for name in ("label", "contrast"))
    strength = np.where((found[1] > 0) | (found[2] < 0), np.abs(found[0]), 0.0).max(axis=1)
    for block, own in schema.slices().items():
        if schema.kind(block) == "category" and own.stop - own.start == 2:
            # Of two levels, the one says what the other does.
            strength[[name == schema.names[own.start] for name in names]] = -1.0
    order = np.argsort(-strength, kind="stable")[: min(_PANELS, int((strength >= 0).sum()))]
    shown = np.sort(order)

    def draw(panel: int, ax: Any) -> None:
        row = shown[panel]
        topics = largest(found[0][row], _TOPICS)
        called = drawing.topic_names(model, topics.tolist())
        drawing.draw_intervals(ax, called, *(values[row, topics] for values in found))
        drawing.percent_axis(ax.xaxis)
        ax.set_title(f"{names[row]} ({contrasts[row]})")
        ax.set_xlabel("change of the expected proportion, 90% interval")

    return _figure(len(shown), 0.9 + 0.24 * min(n_topics, _TOPICS), draw)


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
