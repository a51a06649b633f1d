"""The effects that a paper prints: the largest of the labels with the strongest ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.answers.topic_tables import Columns
from hdsp.numerics.types import IntArray
from hdsp.paper.latex import escaped
from hdsp.paper.methods import as_code, read_asset
from hdsp.plots.drawing import topic_names
from hdsp.plots.labels import largest
from hdsp.validation import count_of

# Labels, and topics of each.
_LABELS, _TOPICS = 6, 8


def strongest_effects(model: Any, effects: Columns) -> list[IntArray]:
    """Rows of the table of effects, from the highest effect to the lowest, for each label."""
    n_topics, schema = len(model.components_), model.label_schema_
    effect, lower, upper = (
        np.reshape(effects[name], (-1, n_topics)) for name in ("effect", "lower", "upper")
    )
    names = effects["label"][::n_topics]
    strength = np.where((lower > 0) | (upper < 0), np.abs(effect), 0.0).max(axis=1)
    for block, own in schema.slices().items():
        if schema.kind(block) == "category" and own.stop - own.start == 2:
            # Of two levels, the one says what the other does.
            strength[[name == schema.names[own.start] for name in names]] = -1.0
    order = np.argsort(-strength, kind="stable")[: min(_LABELS, int((strength >= 0).sum()))]
    return [label * n_topics + largest(effect[label], _TOPICS) for label in np.sort(order)]


def effect_table(model: Any, effects: Columns, shown: Sequence[IntArray]) -> str:
    """A longtable of effects in points with their intervals, by label."""
    names = topic_names(model, range(len(model.components_)))
    lines = []
    for rows in shown:
        title = escaped(_title(effects, rows[0], effects["label"][rows[0]]))
        # No page ends between a label and its first topic.
        lines.append(rf"\multicolumn{{3}}{{@{{}}l}}{{\textit{{{title}}}}} \\*")
        for row in rows:
            effect, lower, upper = (
                _points(effects[name][row]).replace("-", "$-$")
                for name in ("effect", "lower", "upper")
            )
            topic = escaped(names[effects["topic"][row]].replace(" · ", " "))
            lines.append(rf"\quad {topic} & {effect} & {lower} to {upper} \\")
    return read_asset("effects.tex").replace("%ROWS", "\n".join(lines))


def results_text(model: Any, effects: Columns, shown: Sequence[IntArray]) -> str:
    """A sentence for each label, of its strongest effect, in Markdown."""
    names = topic_names(model, range(len(model.components_)))
    sentences = []
    for rows in shown:
        row = max(rows, key=lambda row: abs(effects["effect"][row]))
        effect, lower, upper = (effects[name][row] for name in ("effect", "lower", "upper"))
        number, words = names[effects["topic"][row]].split(" · ", 1)
        title = _title(effects, row, as_code(effects["label"][row]))
        unsure = "" if lower > 0 or upper < 0 else ", which includes zero"
        sentences.append(
            f"The strongest effect of {title} is on topic {number} ({words}): its expected "
            f"proportion is {100 * effects['expected'][row]:.1f} % instead of "
            f"{100 * effects['otherwise'][row]:.1f} %, a change of {_points(effect)} percentage "
            f"points (90 % interval {_points(lower)} to {_points(upper)}{unsure})."
        )
    return "# Results\n\n" + "\n\n".join(sentences) + "\n"


def _title(effects: Columns, row: int, name: str) -> str:
    """A label, what is compared and of how many documents."""
    documents = count_of(effects["n_documents"][row], "document")
    return f"{name} ({effects['contrast'][row]}; {documents})"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
