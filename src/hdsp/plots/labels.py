"""Figures of what labels do to topics."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hdsp.numerics.types import IntArray
from hdsp.plots import drawing


def effects(
    model: Any,
    label: str | None = None,
    *,
    topic: int | None = None,
    n: int = 15,
    level: float = 0.9,
    ax: Any = None,
) -> Any:
    """Effects with intervals: of a label on topics, or of labels on a topic.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    label : str, default=None
        The name of a label; its `n` largest effects are drawn.
    topic : int, default=None
        The number of a topic, in place of `label`.
    n : int, default=15
        How many effects.
    level : float, default=0.9
        The probability that an interval holds.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.report.effects import effect_table

    if (label is None) == (topic is None):
        raise ValueError("hdsp.plots.effects needs either `label` or `topic`.")
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.24 * n)
    table = effect_table(model, level, labels=label)
    if topic is None:
        if len(table.labels) != 1:
            raise ValueError(
                f"`label` of hdsp.plots.effects must name one label. {label!r} has "
                f"{len(table.labels)}; choose one of them."
            )
        columns = (table.effect[0], table.lower[0], table.upper[0])
        shown = largest(columns[0], n)
        names = drawing.topic_names(model, shown.tolist())
        ax.set_title(f"{label} ({table.contrasts[0]})")
    else:
        columns = (table.effect[:, topic], table.lower[:, topic], table.upper[:, topic])
        shown = largest(columns[0], n)
        names = [model.label_names_[table.labels[row]] for row in shown]
        ax.set_title(f"topic {drawing.topic_names(model, [topic])[0]}")
    drawing.draw_intervals(ax, names, *(column[shown] for column in columns))
    drawing.percent_axis(ax.xaxis)
    ax.set_xlabel(f"change of the expected proportion, {level:.0%} interval")
    return ax


def heat_map(
    model: Any, labels: Any = None, *, n_labels: int = 25, n_topics: int = 25, ax: Any = None
) -> Any:
    """Effects of labels on topics as colours, similar labels and similar topics side by side.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    labels : str or sequence of str, default=None
        Labels or columns of labels; None is all. The most frequent are drawn.
    n_labels, n_topics : int, default=25
        How many labels, and topics that they change most.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.report.effects import effect_table
    from hdsp.report.layout import seriate

    table = effect_table(model, labels=labels)
    carriers = model._model.training.carriers[table.labels]
    rows = np.argsort(-carriers, kind="stable")[:n_labels]
    columns = np.argsort(-np.abs(table.effect[rows]).max(axis=0), kind="stable")[:n_topics]
    effect = table.effect[np.ix_(rows, columns)]
    by_label, by_topic = seriate(effect), seriate(effect.T)
    effect = effect[np.ix_(by_label, by_topic)]
    ax = drawing.axes_or_new(ax, 2.5 + 0.28 * len(columns), 1.8 + 0.22 * len(rows))
    # The extreme hundredth would else pale all others.
    limit = float(np.quantile(np.abs(effect), 0.99)) or 1.0
    bar = drawing.draw_matrix(
        ax,
        effect,
        [model.label_names_[j] for j in table.labels[rows[by_label]]],
        drawing.topic_names(model, columns[by_topic].tolist()),
        label="change of the expected proportion",
        cmap="RdBu",
        vmin=-limit,
        vmax=limit,
        extend="both",
    )
    drawing.percent_axis(bar.ax.yaxis)
    return ax


def expected_topics(
    model: Any, label_sets: Mapping[str, object], *, n: int = 10, ax: Any = None
) -> Any:
    """Expected proportions of topics for sets of labels, side by side.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    label_sets : mapping
        By the name of a set, the labels of one document, in any form that
        `HDSP.expected_topics` takes; or the labels of one document by column.
    n : int, default=10
        How many topics: those that the sets expect most.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    known = {block.name for block in model.label_schema_.blocks}
    if set(label_sets) <= known and not any(
        isinstance(one, Mapping) for one in label_sets.values()
    ):
        name = ", ".join(f"{column} {value}" for column, value in label_sets.items())
        label_sets = {name: label_sets}
    shares = np.concatenate([model.expected_topics(labels) for labels in label_sets.values()])
    if len(shares) != len(label_sets):
        raise ValueError(
            "`label_sets` of hdsp.plots.expected_topics must hold the labels of one document "
            f"each. Got {len(shares)} documents for {len(label_sets)} sets."
        )
    shown = np.argsort(-shares.max(axis=0), kind="stable")[:n]
    ax = drawing.axes_or_new(ax, 6.0, 1.0 + 0.16 * len(shown) * (len(label_sets) + 1))
    height = 0.8 / len(label_sets)
    for place, (name, share) in enumerate(zip(label_sets, shares, strict=True)):
        rows = np.arange(len(shown)) + (place - (len(label_sets) - 1) / 2.0) * height
        colour = drawing.SERIES[place % len(drawing.SERIES)]
        ax.barh(rows, share[shown], height=height, color=colour, label=name)
    drawing.set_rows(ax, drawing.topic_names(model, shown.tolist()))
    drawing.percent_axis(ax.xaxis)
    ax.set_xlabel("expected proportion")
    ax.legend(frameon=False)
    return ax


def largest(effect: Any, n: int) -> IntArray:
    """The largest effects either way, from the highest to the lowest."""
    chosen = np.argsort(-np.abs(effect), kind="stable")[:n]
    return np.asarray(chosen[np.argsort(-effect[chosen], kind="stable")])
