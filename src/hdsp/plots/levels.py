"""Figures of expected proportions: along a number, and at levels of a label."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.plots import drawing
from hdsp.prediction import Weight

# Bins of documents whose means are drawn on a curve.
_BINS = 12
# Values that curves are drawn through.
_POINTS = 50


def curve(
    effects: Any,
    label: str,
    by: str | None = None,
    topics: Sequence[int] | int | None = None,
    *,
    n: int = 3,
    level: float = 0.9,
    ax: Any = None,
) -> Any:
    """Expected proportions along a number with their bands, and means of documents as points.

    Parameters
    ----------
    effects : TopicRegression or HDSP
        What `HDSP.estimate_effects` returned; or a fitted model, of which there are no points.
    label : str
        The name of a number.
    by : str or None, default=None
        A category: a curve for each of its levels.
    topics : sequence of int, int or None, default=None
        Which topics; None is the `n` that change most, or the one with `by`.
    n : int, default=3
        How many topics, where `topics` is None.
    level : float, default=0.9
        The share of a band's intervals that are to contain the proportion.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.answers.label_levels import curve_columns, observed_means

    fitted, documents = effects._model, getattr(effects, "_documents", None)
    weight: Weight = getattr(effects, "weight", "documents")
    found = curve_columns(fitted, documents, label, by, _POINTS, level, weight, "hdsp.plots.curve")
    n_topics = len(fitted.groups)
    names = list(dict.fromkeys(found[by])) if by is not None else [""]
    shape = (len(names), _POINTS, n_topics)
    values = np.array(found["value"]).reshape(shape)[0, :, 0]
    expected, lower, upper = (
        np.array(found[name]).reshape(shape) for name in ("expected", "lower", "upper")
    )
    if topics is None:
        change = np.ptp(expected, axis=1).max(axis=0)
        topics = np.argsort(-change, kind="stable")[: 1 if by is not None else n].tolist()
    chosen = [topics] if isinstance(topics, int) else list(topics)
    points = {}
    if documents is not None:
        points = observed_means(fitted, documents, label, by, _BINS, weight)
    ax = drawing.axes_or_new(ax, 6.0, 4.0)
    called = _topic_names(fitted, chosen)
    pairs = [(k, g) for k in range(len(chosen)) for g in range(len(names))]
    for place, (k, g) in enumerate(pairs):
        colour, topic = drawing.SERIES[place % len(drawing.SERIES)], chosen[k]
        name = " · ".join(part for part in (called[k] if len(chosen) > 1 else "", names[g]) if part)
        ax.fill_between(
            values, lower[g, :, topic], upper[g, :, topic], color=colour, alpha=0.15, linewidth=0
        )
        ax.plot(values, expected[g, :, topic], color=colour, label=name or called[k])
        if names[g] in points:
            at, means = points[names[g]]
            ax.plot(at, means[:, topic], "o", color=colour, markersize=4)
    if len(chosen) == 1:
        ax.set_title(f"topic {called[0]}")
    drawing.percent_axis(ax.yaxis)
    ax.set(xlabel=label, ylabel="proportion", ylim=(0.0, None))
    ax.legend(frameon=False, fontsize="small")
    drawing.without_frame(ax)
    return ax


def levels(
    effects: Any,
    label: str,
    topics: Sequence[int] | int | None = None,
    *,
    n: int = 5,
    level: float = 0.9,
    ax: Any = None,
) -> Any:
    """Expected proportions at the levels of a label, with intervals of these themselves.

    Parameters
    ----------
    effects : TopicRegression or HDSP
        What `HDSP.estimate_effects` returned, or a fitted model.
    label : str
        A column of labels.
    topics : sequence of int, int or None, default=None
        Which topics; None is the `n` that differ most.
    n : int, default=5
        How many topics, where `topics` is None.
    level : float, default=0.9
        The share of intervals that are to contain the proportion.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.answers.label_levels import level_columns

    fitted = effects._model
    weight: Weight = getattr(effects, "weight", "documents")
    found = level_columns(fitted, None, label, level, weight, "hdsp.plots.levels")
    names = [_written(value) for value in dict.fromkeys(found["value"])]
    shape = (len(names), len(fitted.groups))
    expected, lower, upper = (
        np.array(found[name]).reshape(shape) for name in ("expected", "lower", "upper")
    )
    if topics is None:
        topics = np.argsort(-np.ptp(expected, axis=0), kind="stable")[:n].tolist()
    chosen = [topics] if isinstance(topics, int) else list(topics)
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.2 * len(chosen) * (len(names) + 1))
    step = 0.8 / len(names)
    for place, name in enumerate(names):
        rows = np.arange(len(chosen)) + (place - (len(names) - 1) / 2.0) * step
        middle = expected[place, chosen]
        sides = [middle - lower[place, chosen], upper[place, chosen] - middle]
        colour = drawing.SERIES[place % len(drawing.SERIES)]
        style = {"fmt": "o", "markersize": 4, "linewidth": 1.5, "color": colour, "label": name}
        ax.errorbar(middle, rows, xerr=np.maximum(sides, 0.0), **style)
    drawing.set_rows(ax, _topic_names(fitted, chosen))
    drawing.percent_axis(ax.xaxis)
    ax.set_xlabel(f"expected proportion, {level:.0%} interval")
    ax.legend(frameon=False, title=label)
    return ax


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _topic_names(fitted: Any, topics: Sequence[int]) -> list[str]:
    """The numbers of topics, and their names or most probable words."""
    from hdsp.answers.topic_tables import top_words

    words = top_words(fitted, 3)
    return [f"{k} · {fitted.topic_names.get(k) or ' '.join(words[k])}" for k in topics]
