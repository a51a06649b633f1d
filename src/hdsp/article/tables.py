"""The tables of topics and of effects in LaTeX, and sentences on the strongest effects."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.topics import Columns, frex_words, top_words
from hdsp.article.methods import as_code, read_asset
from hdsp.numerics import IntArray
from hdsp.plots.drawing import topic_names
from hdsp.plots.labels import strongest

# Characters of a text that the table prints at most.
_LONGEST = 300
_ESCAPED = {
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Which babel makes a command in some languages.
    '"': r"{\char34}",
}


def escaped(text: str) -> str:
    r"""A text as LaTeX prints it, on one line, without characters that nothing can print.

    Examples
    --------
    >>> print(escaped("50 % of {a_b} & more"))
    50 \% of \{a\_b\} \& more
    """
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    shown = (c for c in plain if not unicodedata.category(c).startswith("C"))
    return "".join(_ESCAPED.get(character, character) for character in shown)


def topic_table(fitted: FittedModel, topics: Columns, n_words: int, quotes: list[str]) -> str:
    """A longtable of topics: number and name, share, words, and texts in the columns `quotes`."""
    rows, lists = [], (top_words(fitted, n_words), frex_words(fitted, n_words))
    for k, share in zip(topics["topic"], topics["share"], strict=True):
        name = escaped(f"{k} {fitted.topic_names.get(k, '')}")
        words = " & ".join(escaped(", ".join(own[k])) for own in lists)
        # No page ends between a topic and its texts.
        rows.append(rf"{name} & {100 * share:.1f}\,\% & {words} \\" + "*" * bool(quotes))
        wide = r"\multicolumn{4}{@{}p{\linewidth}@{}}"
        rows += [rf"{wide}{{\footnotesize ``{_cut(topics[own][k])}''}} \\" for own in quotes]
    return read_asset("topics.tex").replace("%ROWS", "\n".join(rows))


def _cut(text: str) -> str:
    """The beginning of a text, at the end of a word."""
    text = " ".join(text.split())
    if len(text) <= _LONGEST:
        return escaped(text)
    return escaped(text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]) + r"\,\dots{}"


# Labels, and topics of each.
_LABELS, _TOPICS = 6, 8
_EFFECT = ("effect", "lower", "upper")


def strongest_effects(model: Any, effects: Columns) -> list[IntArray]:
    """Rows of the effect table for each label, from the highest effect to the lowest."""
    n_topics, schema = len(model.components_), model.label_schema_
    effect, lower, upper = (np.reshape(effects[name], (-1, n_topics)) for name in _EFFECT)
    names = effects["label"][::n_topics]
    strength = np.where((lower > 0) | (upper < 0), np.abs(effect), 0.0).max(axis=1)
    # Effects that are not estimable are not printed.
    strength[np.isnan(effect).all(axis=1)] = -1.0
    # The effects of two levels are opposite.
    pairs = [own for block, own in schema.slices().items() if schema.kind(block) == "category"]
    opposite = {schema.names[own.start] for own in pairs if own.stop - own.start == 2}
    strength[[name in opposite for name in names]] = -1.0
    order = np.argsort(-strength, kind="stable")[: min(_LABELS, int((strength >= 0).sum()))]
    return [label * n_topics + strongest(effect[label], _TOPICS) for label in np.sort(order)]


def effect_table(model: Any, effects: Columns, shown: Sequence[IntArray]) -> str:
    """A longtable by label: effects in percentage points, their intervals and q values."""
    names = topic_names(model, range(len(model.components_)))
    lines = []
    for rows in shown:
        title = escaped(_title(effects, rows[0], effects["label"][rows[0]]))
        # No page ends between a label and its first topic.
        lines.append(rf"\multicolumn{{4}}{{@{{}}l}}{{\textit{{{title}}}}} \\*")
        for row in rows:
            cells = "{} & {} to {} & {}".format(*_cells(effects, row))
            cells = cells.replace("-", "$-$").replace("<", "$<$")
            topic = escaped(names[effects["topic"][row]].replace(" · ", " "))
            lines.append(rf"\quad {topic} & {cells} \\")
    return read_asset("effects.tex").replace("%ROWS", "\n".join(lines))


def results_text(model: Any, effects: Columns, shown: Sequence[IntArray]) -> str:
    """A sentence for each label on the topics that it raises and lowers most, in Markdown."""
    names = topic_names(model, range(len(model.components_)))
    sentences = ["# Results"]
    for rows in shown:
        found = []
        for row, side in ((rows[0], "higher"), (rows[-1], "lower")):
            if (effects["effect"][row] < 0) == (side == "lower"):
                effect, lower, upper, q = _cells(effects, row)
                number, words = names[effects["topic"][row]].split(" · ", 1)
                found.append(
                    f"the proportion of topic {number} ({words}) is {effect[1:]} percentage points "
                    f"{side} (90% interval {lower} to {upper}, q {'= ' * (q[0] != '<')}{q})"
                )
        title = _title(effects, rows[0], as_code(effects["label"][rows[0]]))
        sentences.append(f"{title}: {', and '.join(found)}.")
    return "\n\n".join(sentences) + "\n"


def _title(effects: Columns, row: int, name: str) -> str:
    """A label with its contrast and its number of documents."""
    n_documents = effects["n_documents"][row]
    documents = f"{n_documents:,} document{'s' * (n_documents != 1)}"
    return f"{name} ({effects['contrast'][row]}; {documents})"


def _cells(effects: Columns, row: int) -> tuple[str, str, str, str]:
    """An effect and its limits in percentage points, and its q value."""
    effect, lower, upper = (f"{100 * effects[name][row]:+.1f}" for name in _EFFECT)
    q = effects["q"][row]
    return effect, lower, upper, "< 0.001" if q < 0.001 else f"{q:.3f}"
