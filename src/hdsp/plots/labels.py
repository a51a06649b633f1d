"""Figures of label effects, and of expected and observed proportions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hdsp.checks import check_known
from hdsp.corpus import Corpus
from hdsp.numerics import IntArray
from hdsp.plots import drawing

# The half width of a 90% interval in standard errors.
_NINE_TENTHS = 1.645
# Sizes of words.
_SMALLEST, _LARGEST = 7.0, 17.0


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

    The strongest effects of both signs, from the highest to the lowest.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    label : str, default=None
        The name of a label.
    topic : int, default=None
        A topic number, instead of `label`.
    n : int, default=15
        The number of effects.
    level : float, default=0.9
        The confidence level of the intervals.
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
        shown = strongest(columns[0], n)
        names = drawing.topic_names(model, shown.tolist())
        ax.set_title(f"{label} ({table.contrasts[0]})")
    else:
        columns = (table.effect[:, topic], table.lower[:, topic], table.upper[:, topic])
        shown = strongest(columns[0], n)
        names = [model.label_names_[table.labels[row]] for row in shown]
        ax.set_title(f"topic {drawing.topic_names(model, [topic])[0]}")
    drawing.draw_intervals(ax, names, *(column[shown] for column in columns))
    drawing.percent_axis(ax.xaxis)
    ax.set_xlabel(f"effect on the topic's proportion, {level:.0%} interval")
    return ax


def heatmap(
    model: Any, labels: Any = None, *, n_labels: int = 25, n_topics: int = 25, ax: Any = None
) -> Any:
    """Effects of labels on topics as colours, with similar topics and similar labels together.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    labels : str or sequence of str, default=None
        Labels or label columns; None is all. The most frequent labels are shown.
    n_labels, n_topics : int, default=25
        The number of labels, and of topics: those with the strongest effects.
    ax : Axes, default=None
        The Axes to draw on; None creates a figure.

    Returns
    -------
    Axes
        The Axes with the figure.
    """
    from hdsp.report.effects import effect_table
    from hdsp.report.layout import seriate

    table = effect_table(model, labels=labels)
    estimable = np.flatnonzero(~np.isnan(table.effect).all(axis=1))
    carriers = model._model.carriers[table.labels[estimable]]
    chosen = estimable[np.argsort(-carriers, kind="stable")[:n_labels]]
    topics = np.argsort(-np.abs(table.effect[chosen]).max(axis=0), kind="stable")[:n_topics]
    effect = table.effect[np.ix_(chosen, topics)].T
    by_topic, by_label = seriate(effect), seriate(effect.T)
    effect = effect[np.ix_(by_topic, by_label)]
    ax = drawing.axes_or_new(ax, 3.5 + 0.22 * len(chosen), 1.8 + 0.24 * len(topics))
    # Otherwise the most extreme hundredth would pale all others.
    limit = float(np.quantile(np.abs(effect), 0.99)) or 1.0
    bar = drawing.draw_matrix(
        ax,
        effect,
        drawing.topic_names(model, topics[by_topic].tolist()),
        [model.label_names_[j] for j in table.labels[chosen[by_label]]],
        label="effect on the topic's proportion",
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
    series = {name: share[shown] for name, share in zip(label_sets, shares, strict=True)}
    drawing.draw_levels(ax, drawing.topic_names(model, shown.tolist()), series)
    ax.set_xlabel("expected proportion")
    return ax


def observed(model: Any, corpus: Corpus, label: str, *, n: int = 15, ax: Any = None) -> Any:
    """Mean proportions in documents with a label, and those expected from their labels.

    Observed proportions are estimated from the words alone, as in `HDSP.proportions_`.

    Parameters
    ----------
    model : HDSP
        A fitted model.
    corpus : Corpus
        Documents with the model's words.
    label : str
        The name of a tag or of a level.
    n : int, default=15
        How many topics: the largest.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    from hdsp.report.documents import observed_by_label, read_from_words

    found = observed_by_label(model, corpus, read_from_words(model, corpus)[0])
    owner = "hdsp.plots.observed"
    check_known(label, found.names, "label", owner, "a label of documents in `corpus`")
    group = found.names.index(label)
    seen, expected, error = found.observed[group], found.expected[group], found.error[group]
    shown = np.argsort(-np.maximum(seen, expected), kind="stable")[:n]
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.24 * len(shown))
    rows = np.arange(len(shown))
    found_style = {"fmt": "o", "markersize": 4, "color": drawing.BLUE, "label": "observed (90%)"}
    ax.errorbar(seen[shown], rows, xerr=_NINE_TENTHS * error[shown], **found_style)
    style = {"markersize": 4, "color": drawing.ORANGE, "label": "expected from labels"}
    ax.plot(expected[shown], rows, "D", **style)
    drawing.set_rows(ax, drawing.topic_names(model, shown.tolist()))
    drawing.percent_axis(ax.xaxis)
    ax.set(title=f"{label} ({found.sizes[group]} documents)", xlabel="mean proportion")
    ax.legend(frameon=False)
    return ax


def perspectives(
    model: Any, topic: int, by: str, *, levels: Any = None, n: int = 30, ax: Any = None
) -> Any:
    """The words of a topic between two levels: left and right by which of them uses a word more.

    The size of a word is its probability in the topic.

    Parameters
    ----------
    model : HDSP
        A model that was fitted with `content`.
    topic : int
        The number of the topic.
    by : str
        The category that was the `content`.
    levels : tuple of two str, or None, default=None
        The levels on the left and on the right; None takes the first two.
    n : int, default=30
        How many words.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        What was drawn on.
    """
    table = model.topic_words(topic, by, n_words=n)
    labels = list(dict.fromkeys(table["label"]))
    left, right = labels[:2] if levels is None else levels
    for name in (left, right):
        check_known(name, labels, "levels", "hdsp.plots.perspectives", f"two levels of {by!r}")
    found: dict[str, dict[str, float]] = {}
    for word, label, share in zip(table["word"], table["label"], table["probability"], strict=True):
        found.setdefault(word, {})[label] = share
    ratio = np.array([np.log(own[right] / own[left]) for own in found.values()])
    size = np.sqrt([max(own[left], own[right]) for own in found.values()])
    # Beyond a ratio of e^3 the other level hardly uses the word.
    places = np.clip(ratio, -3.0, 3.0)
    size = _SMALLEST + (_LARGEST - _SMALLEST) * size / size.max()
    ax = drawing.axes_or_new(ax, 7.0, 0.8 + 0.2 * len(found))
    rows = np.argsort(np.argsort(-size, kind="stable"))
    colours = np.where(places > 0.0, drawing.BLUE, drawing.GREY)
    for word, x, row, large, colour in zip(found, places, rows, size, colours, strict=True):
        ax.text(x, row, word, fontsize=large, color=colour, ha="center", va="center")
    ax.axvline(0.0, color=drawing.GREY, linewidth=0.8, zorder=0)
    ax.set(xlim=(-3.6, 3.6), ylim=(len(found) - 0.3, -0.7), yticks=[])
    ax.set_xticks(np.log([1 / 10, 1 / 3, 1, 3, 10]), ["10", "3", "1", "3", "10"])
    ax.set_xlabel(f"times as often: {left} (left), {right} (right)")
    ax.set_title(drawing.topic_names(model, [topic])[0])
    return ax


def strongest(effect: Any, n: int) -> IntArray:
    """The `n` strongest effects of both signs, from the highest to the lowest.

    Half of them are positive and half negative, unless one sign has fewer.
    """
    order = np.argsort(-effect, kind="stable")
    order = order[~np.isnan(effect[order])]
    falling = int((effect[order] < 0).sum())
    n = min(n, len(order))
    up = min(len(order) - falling, max(n - n // 2, n - falling))
    return np.asarray(np.append(order[:up], order[len(order) - (n - up) :]))
