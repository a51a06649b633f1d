"""The table of topics in LaTeX."""

import unicodedata

from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.topics import Columns, frex_words, top_words
from hdsp.paper.methods import read_asset

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
