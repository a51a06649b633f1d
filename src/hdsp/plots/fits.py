"""Figures of a fit: its bound, and the search over numbers of topics."""

from collections.abc import Sequence
from typing import Any

from hdsp.plots.drawing import BLUE, GREY, ORANGE, SERIES, axes_or_new, without_frame


def history(model: Any, columns: str | Sequence[str] = "bound", *, ax: Any = None) -> Any:
    """The bound, or other columns of `history_`, after each pass.

    Parameters
    ----------
    model : HDSP
        Fitted.
    columns : str or sequence of str, default="bound"
        What to draw: ``"bound"``, a term of it, ``"document_concentration"`` and so on.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
    """
    from hdsp.report.fit import history_columns

    known = history_columns(model)
    chosen = [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in known:
            raise ValueError(
                f"`columns` of hdsp.plots.history must be numbers of history_: {', '.join(known)}. "
                f"Got {name!r}."
            )
    ax = axes_or_new(ax, 5.0, 3.2)
    for place, name in enumerate(chosen):
        colour = SERIES[place % len(SERIES)]
        ax.plot(known["pass"], known[name], color=colour, marker="o", markersize=3, label=name)
    ax.set_xlabel("pass")
    if len(chosen) == 1:
        ax.set_ylabel(chosen[0].replace("_", " "))
    else:
        ax.legend(frameon=False)
    without_frame(ax)
    return ax


def search(model: Any, *, ax: Any = None) -> Any:
    """The fits that the number of topics was found with; the chosen one is orange.

    Parameters
    ----------
    model : HDSP
        Fitted, with a number of topics that was found.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
    """
    if not model.search_:
        raise ValueError(
            "hdsp.plots.search needs a fit that found its number of topics: here it was fixed, or "
            "`init` was an array."
        )
    rows = sorted(model.search_, key=lambda row: row["topics"])
    best = max(rows, key=lambda row: row["compared"])
    ax = axes_or_new(ax, 5.0, 3.2)
    topics, compared = [row["topics"] for row in rows], [row["compared"] for row in rows]
    ax.plot(topics, compared, color=GREY, linewidth=1.0, zorder=1)
    ax.scatter(topics, compared, color=[ORANGE if row is best else BLUE for row in rows], zorder=2)
    for row in rows:
        ax.annotate(
            f"from {row['start']}",
            (row["topics"], row["compared"]),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    ax.set(xlabel="topics", ylabel="bound that is compared")
    ax.margins(y=0.15)
    without_frame(ax)
    return ax
