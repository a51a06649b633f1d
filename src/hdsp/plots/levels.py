"""Figures of expected proportions: along a number, and at levels of a label."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hdsp.numerics.types import FloatArray
from hdsp.plots import drawing
from hdsp.prediction import Weight
from hdsp.validation import check_known

# Bins of documents whose means are drawn on a curve.
_BINS = 12
# Values that curves are drawn through.
_POINTS = 50
_LIMITS = ("expected", "lower", "upper")


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

    A number that has an effect at each of its values, as in ``o(rating)``, is drawn at these alone.

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
    names = list(dict.fromkeys(found[by])) if by is not None else [""]
    values = list(dict.fromkeys(found["value"]))
    shape = (len(names), len(values), len(fitted.groups))
    limits = np.array([found[name] for name in _LIMITS]).reshape(3, *shape)
    points = {}
    if documents is not None:
        points = observed_means(fitted, documents, label, by, _BINS, weight)
    chosen = _chosen(topics, limits[0], 1 if by is not None else n)
    return _draw(effects, label, values, limits, chosen, names, points, ax)


def curves(
    model: Any,
    label: str,
    topics: Sequence[int] | int | None = None,
    *,
    n: int = 5,
    level: float = 0.9,
    ax: Any = None,
) -> Any:
    """Expected proportions of topics along a number, with bands.

    Averages over the training documents; a band is the interval of the change from the number's
    middle value.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    label : str
        The name of a number.
    topics : sequence of int, int or None, default=None
        Which topics; None is the `n` that change most.
    n : int, default=5
        How many topics, where `topics` is None.
    level : float, default=0.9
        The probability that a band holds.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.report.effects import number_curve
    from hdsp.report.labels import label_view

    blocks = label_view(model._model)["blocks"]
    known = {one["name"]: one["numbers"][0] for one in blocks if len(one.get("numbers", ())) == 1}
    check_known(label, known, "label", "hdsp.plots.curves", "one of the model's numbers")
    found = number_curve(model, label, known[label], level)
    limits = np.array([found.expected, np.maximum(found.lower, 0.0), found.upper])[:, None]
    chosen = _chosen(topics, limits[0], n)
    return _draw(model, label, found.values, limits, chosen, [""], {}, ax)


def _chosen(topics: Sequence[int] | int | None, expected: FloatArray, n: int) -> list[int]:
    """The topics to draw: those given, or the `n` that change most along the second last axis."""
    if topics is None:
        change = np.ptp(expected, axis=-2).reshape(-1, expected.shape[-1]).max(axis=0)
        found: list[int] = np.argsort(-change, kind="stable")[:n].tolist()
        return found
    return [topics] if isinstance(topics, int) else list(topics)


def _draw(
    effects: Any,
    label: str,
    values: Sequence[float] | FloatArray,
    limits: FloatArray,
    chosen: Sequence[int],
    names: Sequence[str],
    points: Mapping[str, tuple[FloatArray, FloatArray]],
    ax: Any,
) -> Any:
    """Curves of topics by names of levels: expected, lower and upper [3, N, G, T], and points."""
    ax = drawing.axes_or_new(ax, 6.0, 4.0)
    called = drawing.topic_names(effects, chosen)
    joined = effects._model.space.single_values(label) is None
    pairs = [(k, g) for k in range(len(chosen)) for g in range(len(names))]
    for place, (k, g) in enumerate(pairs):
        colour, topic = drawing.SERIES[place % len(drawing.SERIES)], chosen[k]
        name = " · ".join(part for part in (called[k] if len(chosen) > 1 else "", names[g]) if part)
        style = {"color": colour, "label": name or called[k]}
        middle, lower, upper = limits[:, g, :, topic]
        if joined:
            ax.fill_between(values, lower, upper, color=colour, alpha=0.15, linewidth=0)
            ax.plot(values, middle, **style)
        else:
            sides = np.maximum([middle - lower, upper - middle], 0.0)
            ax.errorbar(values, middle, yerr=sides, fmt="D", markersize=4, **style)
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
    limits = np.array([found[name] for name in _LIMITS])
    expected, lower, upper = limits.reshape(3, len(names), len(fitted.groups))
    chosen = _chosen(topics, expected, n)
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.2 * len(chosen) * (len(names) + 1))
    step = 0.8 / len(names)
    for place, name in enumerate(names):
        rows = np.arange(len(chosen)) + (place - (len(names) - 1) / 2.0) * step
        middle = expected[place, chosen]
        sides = [middle - lower[place, chosen], upper[place, chosen] - middle]
        colour = drawing.SERIES[place % len(drawing.SERIES)]
        style = {"fmt": "o", "markersize": 4, "linewidth": 1.5, "color": colour, "label": name}
        ax.errorbar(middle, rows, xerr=np.maximum(sides, 0.0), **style)
    drawing.set_rows(ax, drawing.topic_names(effects, chosen))
    drawing.percent_axis(ax.xaxis)
    ax.set_xlabel(f"expected proportion, {level:.0%} interval")
    ax.legend(frameon=False, title=label)
    return ax


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
