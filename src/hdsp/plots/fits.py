"""Figures of a fit: its bound, and the search for the number of topics."""

from collections.abc import Sequence
from typing import Any

from hdsp.checks import check_known
from hdsp.plots.drawing import BLUE, GREEN, GREY, ORANGE, SERIES, axes_or_new, without_frame


def history(model: Any, columns: str | Sequence[str] = "bound", *, ax: Any = None) -> Any:
    """The bound, or other columns of `history_`, after each pass.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    columns : str or sequence of str, default="bound"
        What to draw: ``"bound"``, a term of it, ``"document_concentration"`` and so on.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.report.fit import history_columns

    known = history_columns(model)
    chosen = [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        check_known(name, known, "columns", "hdsp.plots.history", "numbers of history_")
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
    """How well the numbers of topics that were tried predict held-out words, and how they read.

    Dashed, at the right: the mean coherence and exclusivity of topics. The upright line is the
    number of the model's topics, and the band the numbers that are about as good
    (`n_topics_range_`).

    Parameters
    ----------
    model : HDSP
        A fitted model, whose number of topics was searched for.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    own = [row for row in model.search_ if row["init"] == model.init_]
    rows = sorted(own, key=lambda row: row["topics"])
    if len(rows) < 2:
        raise ValueError(
            "hdsp.plots.search needs a fit that found its number of topics: here it was fixed, or "
            "`init` was an array."
        )
    ax = axes_or_new(ax, 5.0, 3.2)
    from matplotlib.ticker import LogLocator

    # Each number tried is a multiple of the one before.
    ax.set_xscale("log", base=2, subs=())
    if model.n_topics_range_ is not None:
        ax.axvspan(*model.n_topics_range_, color=ORANGE, alpha=0.15, linewidth=0)
    ax.axvline(len(model.components_), color=ORANGE, linewidth=1.5)
    topics, score = [row["topics"] for row in rows], [row["perplexity"] for row in rows]
    ax.plot(topics, score, color=BLUE, marker="o", markersize=4)
    ax.xaxis.set_major_locator(LogLocator(base=2, subs=(1.0, 1.5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set(xlabel="topics", ylabel="perplexity of held-out words")
    without_frame(ax)
    beside = ax.twinx()
    for name, colour in (("coherence", GREEN), ("exclusivity", GREY)):
        beside.plot(topics, [row[name] for row in rows], color=colour, linestyle="--", label=name)
    beside.set(ylim=(min(0.0, *(row["coherence"] for row in rows)), 1.0), ylabel="of topics")
    beside.spines["top"].set_visible(False)
    beside.legend(frameon=False, loc="upper center", ncols=2, fontsize="small")
    return ax
