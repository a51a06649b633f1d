"""What figures are made of: rows with intervals, matrices, named points, on any Axes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hdsp.analysis.topics import word_share
from hdsp.numerics import FloatArray
from hdsp.report.topics import relevance, word_frequency

# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"
SERIES = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")


def check_installed() -> None:
    """Raise if there is nothing to draw with."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'hdsp[plots]'.") from error


def axes_or_new(ax: Any, width: float, height: float) -> Any:
    """The Axes given, or those of a new figure of so many inches."""
    if ax is not None:
        return ax
    check_installed()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def percent_axis(axis: Any) -> None:
    """Show shares of 1 as percentages, at few places, so that they do not run together."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(PercentFormatter(1.0, decimals=None))


def draw_effects(ax: Any, names: Sequence[str], limits: Sequence[FloatArray], level: float) -> None:
    """One row for each name, the first on top: an effect, grey if its interval includes 0."""
    middle, lower, upper = limits
    rows = np.arange(len(names))
    colours = np.select([(lower <= 0) & (upper >= 0), middle >= 0], [GREY, BLUE], ORANGE)
    ax.hlines(rows, lower, upper, colors=colours, linewidth=1.5)
    ax.scatter(middle, rows, s=16, c=colours)
    ax.axvline(0.0, color="#AAAAAA", linewidth=0.8, zorder=0)
    set_rows(ax, names)
    ax.set_xlabel(f"effect on the topic's proportion, {level:.0%} interval")


def draw_series(
    ax: Any, names: Sequence[str], series: Mapping[str, FloatArray], sides: Any = None
) -> None:
    """One row for each name, with a dot for each series, and intervals of half widths `sides`.

    `sides` [N, 2, R] are those of N series; None draws bars. A series without a name has no legend.
    """
    step = 0.8 / len(series)
    for place, (name, values) in enumerate(series.items()):
        rows = np.arange(len(names)) + (place - (len(series) - 1) / 2.0) * step
        style: dict[str, Any] = {"color": SERIES[place % len(SERIES)], "label": name}
        if sides is None:
            ax.barh(rows, values, height=step, **style)
        else:
            style |= {"fmt": "o", "markersize": 4, "linewidth": 1.5}
            ax.errorbar(values, rows, xerr=np.maximum(sides[place], 0.0), **style)
    set_rows(ax, names)
    if any(series):
        ax.legend(frameon=False)


def set_rows(ax: Any, names: Sequence[str]) -> None:
    """Names at the left, the first on top, and percentages below."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    percent_axis(ax.xaxis)


def draw_matrix(
    ax: Any, values: Any, rows: Sequence[str], columns: Sequence[str], *, label: str, **options: Any
) -> Any:
    """A heat map of values [R, C] with names on both sides; returns its colour bar.

    `options` are those of ``Axes.imshow``, and `extend` of the colour bar.
    """
    extend = options.pop("extend", "neither")
    image = ax.imshow(values, aspect="auto", **options)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns, rotation=40, ha="right", fontsize=7)
    return ax.figure.colorbar(image, ax=ax, label=label, extend=extend)


# Colours, marks and sizes of names.
_STYLES = {"topic": (BLUE, "o", 7), "label": ("#C62828", "s", 8)}


def draw_points(
    ax: Any,
    kind: str,
    places: FloatArray,
    names: Sequence[str],
    sizes: float | FloatArray = 10.0,
    named: Sequence[int] | None = None,
) -> None:
    """Mark topics or labels in a plane, and write the names of some beside them, or of all."""
    colour, marker, fontsize = _STYLES[kind]
    # Of many points some lie on others.
    alpha = None if named is None else {"topic": 0.4, "label": 0.9}[kind]
    ax.scatter(*np.transpose(places), s=sizes, color=colour, marker=marker, alpha=alpha)
    areas = np.broadcast_to(sizes, len(names))
    for i in range(len(names)) if named is None else named:
        style = {"color": colour, "fontsize": fontsize, "va": "center", "parse_math": False}
        beside = (3.0 + 0.5 * math.sqrt(areas[i]), 0.0)
        ax.annotate(names[i], places[i], xytext=beside, textcoords="offset points", **style)
    ax.set(xticks=[], yticks=[])
    ax.margins(x=0.15, y=0.06)


def topic_names(model: Any, topics: Sequence[int], n: int = 3) -> list[str]:
    """What topics are called in figures: their numbers, and their names or most relevant words."""
    fitted = model._model
    share = word_share(fitted)
    overall = word_frequency(fitted, share)

    def name(topic: int) -> str:
        best = np.argsort(-relevance(share[topic], overall, 0.6), kind="stable")[:n]
        return fitted.topic_names.get(topic) or " ".join(fitted.source.words[i] for i in best)

    return [f"{topic} · {name(topic)}" for topic in topics]
