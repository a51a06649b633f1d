"""A figure of how two groups speak of a topic."""

from typing import Any

import numpy as np

from hdsp.plots import drawing
from hdsp.validation import check_known

_SMALLEST, _LARGEST = 7.0, 17.0


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
