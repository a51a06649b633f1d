"""Figures of documents."""

from typing import Any

import numpy as np

from hdsp.corpus import Corpus
from hdsp.plots.drawing import BLUE, ORANGE, axes_or_new, percent_axis, set_rows, topic_names
from hdsp.validation import check_known

# Of a normal variable, as many standard errors either way hold nine tenths.
_NINE_TENTHS = 1.645


def observed(model: Any, corpus: Corpus, label: str, *, n: int = 15, ax: Any = None) -> Any:
    """Mean proportions in documents with a label, against those that their labels lead to expect.

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
    from hdsp.report.documents import observed_by_label

    found = observed_by_label(model, corpus, np.asarray(model.transform(corpus)))
    owner = "hdsp.plots.observed"
    check_known(label, found.names, "label", owner, "a label of documents in `corpus`")
    group = found.names.index(label)
    seen, expected, error = found.observed[group], found.expected[group], found.error[group]
    shown = np.argsort(-np.maximum(seen, expected), kind="stable")[:n]
    ax = axes_or_new(ax, 6.0, 1.2 + 0.24 * len(shown))
    rows = np.arange(len(shown))
    margin = np.minimum(_NINE_TENTHS * error[shown], seen[shown]), _NINE_TENTHS * error[shown]
    ax.errorbar(
        seen[shown], rows, xerr=margin, fmt="o", markersize=4, color=BLUE, label="observed (90 %)"
    )
    ax.plot(expected[shown], rows, "D", markersize=4, color=ORANGE, label="expected from labels")
    set_rows(ax, topic_names(model, shown.tolist()))
    percent_axis(ax.xaxis)
    ax.set(title=f"{label} ({found.sizes[group]} documents)", xlabel="mean proportion")
    ax.legend(frameon=False)
    return ax
