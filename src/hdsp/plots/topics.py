"""Figures of topics, their words and where they lie, and of the fit that found them."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from hdsp.analysis.topics import correlation_columns, topic_columns, word_share
from hdsp.checks import check_choice, check_known
from hdsp.plots import drawing
from hdsp.report import topics as measures
from hdsp.report.effects import report_effects
from hdsp.report.fit import history_columns, search_rows
from hdsp.report.layout import place_together, seriate

_WORDS = ("words", "frex_words", "distinctive_words")


def words(model: Any, topic: int, *, n: int = 15, relevance: float = 1.0, ax: Any = None) -> Any:
    """The words of a topic: their probability in it, and a tick at that in the whole corpus.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    topic : int
        Its number.
    n : int, default=15
        How many words.
    relevance : float, default=1.0
        1 chooses probable words, 0 those that the topic uses most beyond the corpus.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    share = word_share(model._model)
    overall = measures.word_frequency(model._model, share)
    shown = np.argsort(-measures.relevance(share[topic], overall, relevance), kind="stable")[:n]
    ax = drawing.axes_or_new(ax, 4.0, 0.8 + 0.22 * len(shown))
    drawing.draw_series(ax, [model.words_[i] for i in shown], {"": share[topic, shown]})
    style = {"color": drawing.GREY, "markersize": 9, "markeredgewidth": 1.5}
    ax.plot(overall[shown], np.arange(len(shown)), "|", **style)
    title = " · ".join(filter(None, (f"topic {topic}", model.topic_names_.get(topic))))
    ax.set(title=title, xlabel="probability of the word")
    return ax


def summary(
    model: Any, *, n: int = 20, n_words: int = 5, words: str = "words", ax: Any = None
) -> Any:
    """The shares of topics in the corpus, with their names and words: an overview of a model.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    n : int, default=20
        How many topics: the largest.
    n_words : int, default=5
        How many words of each.
    words : str, default="words"
        Which words: ``"words"``, ``"frex_words"`` or ``"distinctive_words"`` of `HDSP.topics`.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    check_choice(words, _WORDS, "words", "hdsp.plots.summary")
    table = topic_columns(model._model, n_words)
    share = np.asarray(table["share"][:n])
    ax = drawing.axes_or_new(ax, 7.0, 0.8 + 0.24 * len(share))
    drawing.draw_series(ax, [str(topic) for topic in range(len(share))], {"": share})
    for row, (size, own) in enumerate(zip(share, table[words], strict=False)):
        name = model.topic_names_.get(row)
        told = own if name is None else f"{name}: {own}"
        # A word may be a $.
        style = {"va": "center", "fontsize": "small", "parse_math": False}
        ax.annotate(told, (size, row), xytext=(4, 0), textcoords="offset points", **style)
    # Room for the words.
    ax.set_xlim(0.0, 2.2 * float(share.max()))
    ax.set(xlabel="share of the corpus' words", ylabel="topic")
    return ax


def map(model: Any, *, labels: bool = False, n_names: int = 20, ax: Any = None) -> Any:
    """Topics in the plane of the report's map: similar topics are near each other.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    labels : bool, default=False
        Whether to show labels as well, near the topics that they raise.
    n_names : int, default=20
        The number of the largest topics, and of the most frequent labels, that have names.
    ax : Axes, default=None
        The Axes to draw on; None creates a figure.

    Returns
    -------
    Axes
        The Axes with the figure.
    """
    table, _ = report_effects(model, 0.9)
    places, label_places = place_together(word_share(model._model), table.effect)
    share = model.topic_tokens_[: model.n_topics_]
    names = drawing.topic_names(model, range(model.n_topics_))
    largest = np.argsort(-share, kind="stable")[:n_names].tolist()
    ax = drawing.axes_or_new(ax, 9.0, 6.5)
    sizes = 10.0 + 400.0 * share / share.max()
    drawing.draw_points(ax, "topic", places[: len(names)], names, sizes, largest)
    if labels:
        known = [model.label_names_[j] for j in table.labels]
        carriers = model._model.carriers[table.labels]
        frequent = np.argsort(-carriers, kind="stable")[:n_names].tolist()
        drawing.draw_points(ax, "label", label_places, known, named=frequent)
    # As in the report, where y grows downwards.
    ax.invert_yaxis()
    return ax


def correlations(model: Any, *, n: int = 30, level: float = 0.9, ax: Any = None) -> Any:
    """Correlations of topics as colours, related topics side by side.

    Given labels, as in `HDSP.topic_correlations`. Pairs whose interval holds 0 are left white.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    n : int, default=30
        How many topics: those with the strongest correlations.
    level : float, default=0.9
        The probability of intervals.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    table = correlation_columns(model._model, level)
    topic, other = (np.array(table[name], dtype=np.int64) for name in ("topic", "other"))
    value, lower, upper = (np.array(table[name]) for name in ("correlation", "lower", "upper"))
    found = np.zeros((len(model.components_),) * 2)
    found[topic, other] = found[other, topic] = np.where((lower > 0) | (upper < 0), value, 0.0)
    chosen = np.argsort(-np.abs(found).max(axis=1), kind="stable")[:n]
    chosen = chosen[seriate(found[np.ix_(chosen, chosen)] + np.eye(len(chosen)))]
    found = found[np.ix_(chosen, chosen)]
    limit = float(np.abs(found).max()) or 1.0
    np.fill_diagonal(found, np.nan)
    ax = drawing.axes_or_new(ax, 3.5 + 0.24 * len(chosen), 2.5 + 0.2 * len(chosen))
    names = drawing.topic_names(model, chosen.tolist())
    style = {"cmap": "RdBu", "vmin": -limit, "vmax": limit}
    drawing.draw_matrix(ax, found, names, names, label="correlation", **style)
    ax.set_facecolor("#DDDDDD")
    return ax


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
    known, chosen = history_columns(model), [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        check_known(name, known, "columns", "hdsp.plots.history", "numbers of history_")
    ax = drawing.axes_or_new(ax, 5.0, 3.2)
    for name, colour in zip(chosen, cycle(drawing.SERIES), strict=False):
        ax.plot(known["pass"], known[name], color=colour, marker="o", markersize=3, label=name)
    ax.set_xlabel("pass")
    if len(chosen) == 1:
        ax.set_ylabel(chosen[0].replace("_", " "))
    else:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
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
    rows = search_rows(model)
    if not rows:
        raise ValueError(
            "hdsp.plots.search needs a fit that found its number of topics: here it was fixed, or "
            "`init` was an array."
        )
    ax = drawing.axes_or_new(ax, 5.0, 3.2)
    from matplotlib.ticker import LogLocator

    # Each number tried is a multiple of the one before.
    ax.set_xscale("log", base=2, subs=())
    ax.xaxis.set_major_locator(LogLocator(base=2, subs=(1.0, 1.5)))
    ax.xaxis.set_major_formatter("{x:g}")
    if model.n_topics_range_ is not None:
        ax.axvspan(*model.n_topics_range_, color=drawing.ORANGE, alpha=0.15, linewidth=0)
    ax.axvline(len(model.components_), color=drawing.ORANGE, linewidth=1.5)
    topics, score = [row["topics"] for row in rows], [row["perplexity"] for row in rows]
    ax.plot(topics, score, color=drawing.BLUE, marker="o", markersize=4)
    ax.set(xlabel="topics", ylabel="perplexity of held-out words")
    ax.spines[["top", "right"]].set_visible(False)
    beside = ax.twinx()
    for name, colour in (("coherence", drawing.GREEN), ("exclusivity", drawing.GREY)):
        beside.plot(topics, [row[name] for row in rows], color=colour, linestyle="--", label=name)
    beside.set(ylim=(min(0.0, *(row["coherence"] for row in rows)), 1.0), ylabel="of topics")
    beside.spines["top"].set_visible(False)
    beside.legend(frameon=False, loc="upper center", ncols=2, fontsize="small")
    return ax
