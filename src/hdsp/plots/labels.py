"""Figures of effects, levels and curves of labels, and of expected and observed proportions."""

from collections.abc import Mapping, Sequence
from itertools import cycle, product
from typing import Any

import numpy as np

from hdsp.analysis.effects import TopicRegression
from hdsp.analysis.label_effects import own_regression
from hdsp.analysis.levels import curve_columns, level_columns, observed_means
from hdsp.checks import check_known
from hdsp.corpus import Corpus
from hdsp.numerics import FloatArray, IntArray
from hdsp.plots import drawing
from hdsp.report.documents import group_means, label_groups, original_labels, read_from_words
from hdsp.report.effects import effect_table
from hdsp.report.layout import seriate

# The half width of a 90% interval in standard errors.
_NINE_TENTHS = 1.645
# Sizes of words.
_SMALLEST, _LARGEST = 7.0, 17.0
# Bins of documents whose means are plotted on a curve.
_BINS = 12
_LIMITS = ("expected", "lower", "upper")


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
    if (label is None) == (topic is None):
        raise ValueError("hdsp.plots.effects needs either `label` or `topic`.")
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.24 * n)
    table = effect_table(model, level, labels=label)
    if topic is None and len(table.labels) != 1:
        raise ValueError(
            f"`label` of hdsp.plots.effects must name one label. {label!r} has "
            f"{len(table.labels)}; choose one of them."
        )
    place = 0 if topic is None else (slice(None), topic)
    shown = strongest(table.effect[place], n)
    limits = [part[place][shown] for part in (table.effect, table.lower, table.upper)]
    if topic is None:
        names = drawing.topic_names(model, shown.tolist())
        ax.set_title(f"{label} ({table.contrasts[0]})")
    else:
        names = [model.label_names_[table.labels[row]] for row in shown]
        ax.set_title(f"topic {drawing.topic_names(model, [topic])[0]}")
    drawing.draw_effects(ax, names, limits, level)
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
    style = {"cmap": "RdBu", "vmin": -limit, "vmax": limit, "extend": "both"}
    rows = drawing.topic_names(model, topics[by_topic].tolist())
    columns = [model.label_names_[j] for j in table.labels[chosen[by_label]]]
    told = "effect on the topic's proportion"
    bar = drawing.draw_matrix(ax, effect, rows, columns, label=told, **style)
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
    nested = any(isinstance(one, Mapping) for one in label_sets.values())
    if not nested and set(label_sets) <= set(model.label_schema_.slices()):
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
    drawing.draw_series(ax, drawing.topic_names(model, shown.tolist()), series)
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
    groups = label_groups(model, original_labels(model, corpus))
    check_known(label, groups, "label", "hdsp.plots.observed", "a label of documents in `corpus`")
    proportions, _ = read_from_words(model, corpus)
    members = groups[label]
    seen, expected, error = group_means(model, corpus, proportions, [members])[:, 0]
    shown = np.argsort(-np.maximum(seen, expected), kind="stable")[:n]
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.24 * len(shown))
    half = np.zeros((2, 2, len(shown)))
    half[0] = _NINE_TENTHS * error[shown]
    series = {"observed (90%)": seen[shown], "expected from labels": expected[shown]}
    drawing.draw_series(ax, drawing.topic_names(model, shown.tolist()), series, half)
    ax.set(title=f"{label} ({len(members)} documents)", xlabel="mean proportion")
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
    cells = zip(table["word"], table["label"], table["probability"], strict=True)
    share = {(word, label): probability for word, label, probability in cells}
    words = list(dict.fromkeys(table["word"]))
    words.sort(key=lambda word: -max(share[word, left], share[word, right]))
    sides = np.array([[share[word, left], share[word, right]] for word in words])
    # Beyond a ratio of e^3 the other level hardly uses the word.
    places = np.clip(np.log(sides[:, 1] / sides[:, 0]), -3.0, 3.0)
    sizes = np.sqrt(sides.max(axis=1) / sides.max())
    ax = drawing.axes_or_new(ax, 7.0, 0.8 + 0.2 * len(words))
    for row, (word, place, size) in enumerate(zip(words, places, sizes, strict=True)):
        style = {"color": drawing.BLUE if place > 0.0 else drawing.GREY, "ha": "center"}
        style["fontsize"] = _SMALLEST + (_LARGEST - _SMALLEST) * size
        ax.text(place, row, word, va="center", **style)
    ax.axvline(0.0, color=drawing.GREY, linewidth=0.8, zorder=0)
    ax.set(xlim=(-3.6, 3.6), ylim=(len(words) - 0.3, -0.7), yticks=[])
    ax.set_xticks(np.log([1 / 10, 1 / 3, 1, 3, 10]), ["10", "3", "1", "3", "10"])
    ax.set_xlabel(f"times as often: {left} (left), {right} (right)")
    ax.set_title(drawing.topic_names(model, [topic])[0])
    return ax


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
    ax = drawing.axes_or_new(ax, 6.0, 4.0)
    series = product(range(len(chosen)), range(len(names)))
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
    lowest = min(float(np.nanmin(mean[:, chosen], initial=0.0)) for _, mean in means.values())
    if len(chosen) == 1:
        ax.set_title(f"topic {called[0]}")
    drawing.percent_axis(ax.yaxis)
    ax.set(xlabel=label, ylabel="proportion", ylim=(1.1 * lowest, None))
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _regression(effects: Any) -> TopicRegression:
    """A regression, or the regression of a model on its own labels."""
    return effects if isinstance(effects, TopicRegression) else own_regression(effects._model)


def _chosen(topics: Sequence[int] | int | None, expected: FloatArray, n: int) -> list[int]:
    """The given topics, or the `n` that change most along the second last axis."""
    if topics is None:
        change = np.ptp(expected, axis=-2).reshape(-1, expected.shape[-1]).max(axis=0)
        return [int(k) for k in np.argsort(-change, kind="stable")[:n]]
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
    columns = level_columns(regression, label, level)
    values = dict.fromkeys(columns["value"])
    names = [value if isinstance(value, str) else f"{value:.6g}" for value in values]
    expected, lower, upper = np.reshape([columns[name] for name in _LIMITS], (3, len(names), -1))
    chosen = _chosen(topics, expected, n)
    ax = drawing.axes_or_new(ax, 6.0, 1.2 + 0.2 * len(chosen) * (len(names) + 1))
    series = dict(zip(names, expected[:, chosen], strict=True))
    sides = np.stack([expected - lower, upper - expected], axis=1)[..., chosen]
    drawing.draw_series(ax, drawing.topic_names(regression, chosen), series, sides)
    ax.set_xlabel(f"expected proportion, {level:.0%} interval")
    ax.get_legend().set_title(label)
    return ax


def strongest(effect: Any, n: int) -> IntArray:
    """The `n` strongest effects of both signs, from the highest to the lowest.

    Half of them are positive and half negative, unless one sign has fewer.
    """
    order = np.argsort(-effect, kind="stable")
    order = order[~np.isnan(effect[order])]
    falling, n = int((effect[order] < 0).sum()), min(n, len(order))
    up = min(len(order) - falling, max(n - n // 2, n - falling))
    return np.asarray(np.append(order[:up], order[len(order) - (n - up) :]))
