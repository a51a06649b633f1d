"""Figures of expected proportions: along a numeric label, and at the levels of a label."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.label_effects import own_regression
from hdsp.analysis.levels import curve_columns, observed_means
from hdsp.corpus.frames import as_series, open_columns
from hdsp.numerics import FloatArray
from hdsp.plots import drawing

# Bins of documents whose means are plotted on a curve.
_BINS = 12
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
    """Expected proportions along a numeric label with their bands, and document means as points.

    An ordered label, as in ``o(rating)``, is plotted at its values alone.

    Parameters
    ----------
    effects : TopicRegression or HDSP
        The result of `HDSP.estimate_effects`, or a fitted model for its own formula.
    label : str
        The name of a numeric label.
    by : str or None, default=None
        A category: a curve for each of its levels.
    topics : sequence of int, int or None, default=None
        Topic numbers; None is the `n` topics that change most, or the first of them with `by`.
    n : int, default=3
        The number of topics if `topics` is None.
    level : float, default=0.9
        The confidence level of the pointwise band.
    ax : Axes, default=None
        The Axes to draw on; None creates a figure.

    Returns
    -------
    Axes
        The Axes with the figure.
    """
    regression = _regression(effects)
    found = curve_columns(regression, label, by, level=level)
    names = list(dict.fromkeys(found[by])) if by is not None else [""]
    values = list(dict.fromkeys(found["value"]))
    limits = np.array([found[name] for name in _LIMITS]).reshape(3, len(names), len(values), -1)
    means = observed_means(regression, label, by, _BINS)
    chosen = _chosen(topics, limits[0], 1 if by is not None else n)
    called = drawing.topic_names(regression, chosen)
    joined = regression._space.single_values(label) is None
    ax, lowest = drawing.axes_or_new(ax, 6.0, 4.0), 0.0
    series = [(k, g) for k in range(len(chosen)) for g in range(len(names))]
    for (k, g), colour in zip(series, cycle(drawing.SERIES), strict=False):
        parts = (called[k] if len(chosen) > 1 else "", names[g])
        style = {"color": colour, "label": " · ".join(filter(None, parts)) or called[k]}
        middle, lower, upper = limits[:, g, :, chosen[k]]
        if joined:
            ax.fill_between(values, lower, upper, color=colour, alpha=0.15, linewidth=0)
            ax.plot(values, middle, **style)
        else:
            sides = np.maximum([middle - lower, upper - middle], 0.0)
            ax.errorbar(values, middle, yerr=sides, fmt="D", markersize=4, **style)
        at, mean = means[names[g]]
        ax.plot(at, mean[:, chosen[k]], "o", color=colour, markersize=4)
        # Unbiased means of few documents may be slightly negative.
        lowest = min(lowest, float(np.nanmin(mean[:, chosen[k]], initial=0.0)))
    if len(chosen) == 1:
        ax.set_title(f"topic {called[0]}")
    drawing.percent_axis(ax.yaxis)
    ax.set(xlabel=label, ylabel="proportion", ylim=(1.1 * lowest, None))
    ax.legend(frameon=False, fontsize="small")
    drawing.without_frame(ax)
    return ax


def _regression(effects: Any) -> TopicRegression:
    """A regression, or the regression of a model on its own labels."""
    return effects if isinstance(effects, TopicRegression) else own_regression(effects._model)


def _chosen(topics: Sequence[int] | int | None, expected: FloatArray, n: int) -> list[int]:
    """The given topics, or the `n` that change most along the second last axis."""
    if topics is None:
        change = np.ptp(expected, axis=-2).reshape(-1, expected.shape[-1]).max(axis=0)
        found: list[int] = np.argsort(-change, kind="stable")[:n].tolist()
        return found
    return [topics] if isinstance(topics, int) else list(topics)


def levels(
    effects: Any,
    label: str,
    topics: Sequence[int] | int | None = None,
    *,
    n: int = 5,
    level: float = 0.9,
    ax: Any = None,
) -> Any:
    """Expected proportions at the levels of a label, with their intervals.

    Parameters
    ----------
    effects : TopicRegression or HDSP
        The result of `HDSP.estimate_effects`, or a fitted model for its own formula.
    label : str
        A label column.
    topics : sequence of int, int or None, default=None
        Topic numbers; None is the `n` topics that differ most.
    n : int, default=5
        The number of topics if `topics` is None.
    level : float, default=0.9
        The confidence level of the intervals.
    ax : Axes, default=None
        The Axes to draw on; None creates a figure.

    Returns
    -------
    Axes
        The Axes with the figure.
    """
    regression = _regression(effects)
    columns = open_columns(regression.levels(label, level), "levels")
    names = [_written(value) for value in dict.fromkeys(as_series(columns["value"]).tolist())]
    limits = np.array([as_series(columns[name]).tolist() for name in _LIMITS])
    expected, lower, upper = limits.reshape(3, len(names), -1)
    chosen = _chosen(topics, expected, n)
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.2 * len(chosen) * (len(names) + 1))
    series = dict(zip(names, expected[:, chosen], strict=True))
    sides = np.stack([expected - lower, upper - expected], axis=1)[..., chosen]
    drawing.draw_levels(ax, drawing.topic_names(regression, chosen), series, sides)
    ax.set_xlabel(f"expected proportion, {level:.0%} interval")
    ax.get_legend().set_title(label)
    return ax


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
