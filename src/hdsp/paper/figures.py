"""Figures of a paper, as vector graphics."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from hdsp.answers.label_levels import curve_columns
from hdsp.answers.topic_tables import Columns
from hdsp.plots import curve, drawing, search
from hdsp.prediction import FittedModel

# Panels of a figure, topics of a panel, and points of a curve.
_PANELS, _TOPICS, _POINTS = 6, 8, 50


def draw_effects(model: Any, effects: Columns) -> bytes:
    """The largest effects of the labels that have the strongest ones."""
    n_topics = len(model.components_)
    effect, lower, upper = (
        np.reshape(effects[name], (-1, n_topics)) for name in ("effect", "lower", "upper")
    )
    names, contrasts = (effects[name][::n_topics] for name in ("label", "contrast"))
    sure = np.where((lower > 0) | (upper < 0), np.abs(effect), 0.0).max(axis=1)
    # Of two levels, the one says what the other does.
    binary = {
        name
        for block, columns in model.label_schema_.slices().items()
        if model.label_schema_.kind(block) == "category" and columns.stop - columns.start == 2
        for name in model.label_names_[columns.start : columns.start + 1]
    }
    order = [row for row in np.argsort(-sure, kind="stable") if names[row] not in binary]
    shown = sorted(order[:_PANELS])

    def draw(panel: int, ax: Any) -> None:
        row = shown[panel]
        chosen = np.argsort(-np.abs(effect[row]), kind="stable")[:_TOPICS]
        chosen = chosen[np.argsort(-effect[row, chosen], kind="stable")]
        limits = (values[row, chosen] for values in (effect, lower, upper))
        drawing.draw_intervals(ax, drawing.topic_names(model, chosen.tolist()), *limits)
        drawing.percent_axis(ax.xaxis)
        ax.set(title=f"{names[row]} ({contrasts[row]})")
        ax.set_xlabel("change of the expected proportion, 90% interval")

    return _figure(len(shown), 0.9 + 0.24 * min(n_topics, _TOPICS), draw)


def curve_table(fitted: FittedModel) -> Columns:
    """Expected proportions along the numbers that have effects, as `TopicRegression.curve`."""
    tables = [
        curve_columns(fitted, None, block.name, None, _POINTS, 0.9, "documents", "HDSP.paper")
        for block in fitted.schema.blocks
        if block.kind == "number"
        and len(block.columns) == 1
        and fitted.used[fitted.schema.slices()[block.name]].all()
    ]
    return {name: [v for table in tables for v in table[name]] for name in (*tables[:1], {})[0]}


def draw_curves(model: Any, curves: Columns) -> bytes:
    """The curves of numbers, of the topics that change most."""
    labels = list(dict.fromkeys(curves["label"]))[:_PANELS]
    return _figure(len(labels), 3.2, lambda panel, ax: curve(model, labels[panel], ax=ax))


def draw_search(model: Any) -> bytes | None:
    """The choice of the number of topics; None where nothing was searched."""
    if len([row for row in model.search_ if row["init"] == model.init_]) < 2:
        return None
    return _figure(1, 3.4, lambda panel, ax: search(model, ax=ax))


def _figure(n_panels: int, height: float, draw: Callable[[int, Any], Any]) -> bytes:
    """A PDF of panels, two beside each other, that does not tell when it was made."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    n_columns = min(n_panels, 2)
    n_rows = -(-n_panels // n_columns)
    # Names of topics and labels are no formulas, and their letters are to be found by a search.
    with rc_context({"text.parse_math": False, "pdf.fonttype": 42}):
        figure = Figure(figsize=(5.5 * n_columns, height * n_rows), layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for panel, ax in enumerate(axes):
            if panel < n_panels:
                draw(panel, ax)
            else:
                ax.set_axis_off()
        file = io.BytesIO()
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    return file.getvalue()
