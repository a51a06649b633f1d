"""What figures are made of: rows with intervals, matrices, named points, on any Axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdsp.numerics import FloatArray

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


def without_frame(ax: Any) -> None:
    """Leave out the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def draw_intervals(
    ax: Any, names: Sequence[str], middle: FloatArray, lower: FloatArray, upper: FloatArray
) -> None:
    """One row for each name, the first on top: a dot and its interval, grey if it includes 0."""
    rows = np.arange(len(names))
    unsure = (lower <= 0) & (upper >= 0)
    for chosen, colour in (
        (~unsure & (middle >= 0), BLUE),
        (~unsure & (middle < 0), ORANGE),
        (unsure, GREY),
    ):
        if chosen.any():
            sides = np.array([middle - lower, upper - middle])[:, chosen]
            style = {"fmt": "o", "markersize": 4, "linewidth": 1.5, "color": colour}
            ax.errorbar(middle[chosen], rows[chosen], xerr=sides, **style)
    ax.axvline(0.0, color="#AAAAAA", linewidth=0.8, zorder=0)
    set_rows(ax, names)


def set_rows(ax: Any, names: Sequence[str]) -> None:
    """Names at the left, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    without_frame(ax)


def draw_matrix(
    ax: Any, values: Any, rows: Sequence[str], columns: Sequence[str], *, label: str, **options: Any
) -> Any:
    """A heat map with names on both sides and its scale of colours; returns the colour bar.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    values : float array of shape [R, C]
        One number for each cell.
    rows : sequence of str
        Names of the R rows.
    columns : sequence of str
        Names of the C columns.
    label : str
        What the colours mean.
    **options : object
        Options of ``Axes.imshow``, and `extend` of the colour bar.
    """
    extend = options.pop("extend", "neither")
    image = ax.imshow(values, aspect="auto", **options)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns, rotation=40, ha="right", fontsize=7)
    return ax.figure.colorbar(image, ax=ax, label=label, extend=extend)


@dataclass(frozen=True)
class Point:
    """A named place in a plane.

    Attributes
    ----------
    kind : str
        Either ``"topic"`` or ``"label"``.
    name : str
        What is written beside it.
    x, y : float
        Where it is.
    size : float, default=10.0
        The area of its mark, in points squared.
    """

    kind: str
    name: str
    x: float
    y: float
    size: float = 10.0


# Marks and names of topics and labels.
_COLOURS = {"topic": "#0072B2", "label": "#C62828"}
_MARKERS = {"topic": "o", "label": "s"}
_TYPE_SIZES = {"topic": 7, "label": 8}


def draw_points(ax: Any, points: Sequence[Point], named: Sequence[Point] | None = None) -> None:
    """Topics and labels in one plane, blue and red, with names where there is room.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    points : sequence of Point
        All points.
    named : sequence of Point or None, default=None
        The points to write names beside; None is all.
    """
    for kind, colour in _COLOURS.items():
        own = [point for point in points if point.kind == kind]
        if not own:
            continue
        sizes = {point.size for point in own}
        ax.scatter(
            [point.x for point in own],
            [point.y for point in own],
            s=sizes.pop() if len(sizes) == 1 else [point.size for point in own],
            color=colour,
            marker=_MARKERS[kind],
            # Of many points some lie on others.
            alpha=None if named is None else {"topic": 0.4, "label": 0.9}[kind],
        )
    _write_names(ax, points, points if named is None else named)
    ax.set(xticks=[], yticks=[])
    ax.margins(x=0.15, y=0.06)


def _write_names(ax: Any, points: Sequence[Point], named: Sequence[Point]) -> None:
    """Write names beside points: right, left, or further up or down, where there is room."""
    if not points:
        return
    width = (max(p.x for p in points) - min(p.x for p in points)) or 1.0
    height = (max(p.y for p in points) - min(p.y for p in points)) or 1.0
    line, letter = 0.028 * height, 0.0105 * width
    # Marks are measured in points: so many lie across the Axes.
    across = 72.0 * ax.bbox.width / ax.figure.dpi
    taken = [(point.x, point.x, point.y) for point in named]
    for point in sorted(named, key=lambda point: (point.kind, -point.y)):
        length = letter * len(point.name)
        gap = width * max(0.008, 0.004 + 0.65 * math.sqrt(point.size) / across)
        for step, side in ((s, side) for s in (0, -1, 1, -2, 2, -3, 3, -4, 4) for side in (1, -1)):
            x, y = point.x + side * gap, point.y + step * line
            left, right = (x, x + length) if side > 0 else (x - length, x)
            if not any(abs(y - v) < line and left < r and right > u for u, r, v in taken):
                break
        taken.append((left, right, y))
        style = {"color": _COLOURS[point.kind], "fontsize": _TYPE_SIZES[point.kind]}
        ax.text(x, y, point.name, ha="left" if side > 0 else "right", va="center", **style)


def topic_names(model: Any, topics: Sequence[int], n: int = 3) -> list[str]:
    """What topics are called in figures: their numbers, and their names or most relevant words.

    Parameters
    ----------
    model : HDSP or TopicRegression
        A fitted model, or a regression of its topics.
    topics : sequence of int
        Their numbers.
    n : int, default=3
        How many words.
    """
    from hdsp.analysis.topics import word_share
    from hdsp.report.topics import relevance

    fitted = model._model
    share = word_share(fitted)
    overall = fitted.tokens @ share / fitted.tokens.sum()

    def name(topic: int) -> str:
        best = np.argsort(-relevance(share[topic], overall, 0.6), kind="stable")[:n]
        return fitted.topic_names.get(topic) or " ".join(fitted.source.words[i] for i in best)

    return [f"{topic} · {name(topic)}" for topic in topics]
