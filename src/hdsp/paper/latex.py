"""The table of topics in LaTeX."""

import unicodedata

from hdsp.answers.topic_tables import Columns, frex_words, top_words
from hdsp.prediction import FittedModel

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
_HEAD = r"""\toprule
Topic & Share & Most probable words & FREX words \\
\midrule
"""


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


def topic_table(fitted: FittedModel, topics: Columns, n_words: int, quoted: bool) -> str:
    """A longtable of topics: number and name, share, words, and typical texts if `quoted`."""
    words = [
        [escaped(", ".join(own)) for own in lists]
        for lists in (top_words(fitted, n_words), frex_words(fitted, n_words))
    ]
    rows = []
    for k, share in zip(topics["topic"], topics["token_share"], strict=True):
        name = escaped(f"{k} {fitted.topic_names.get(k, '')}")
        rows.append(
            rf"{name} & {100 * share:.1f}\,\% & {words[0][k]} & {words[1][k]} \\"
            # No page ends between a topic and its texts.
            + "*" * quoted
        )
        texts = [topics[f"typical_{rank}"][k] for rank in (1, 2)] if quoted else []
        rows += [
            rf"\multicolumn{{4}}{{@{{}}p{{\linewidth}}@{{}}}}{{\footnotesize ``{_cut(text)}''}} \\"
            for text in texts
            if text
        ]
    return (
        "% Needs \\usepackage{booktabs,longtable}. Letters beyond Latin need LuaLaTeX or XeLaTeX.\n"
        r"\begin{longtable}{@{}p{0.16\linewidth}rp{0.32\linewidth}p{0.32\linewidth}@{}}"
        "\n\\caption{Topics, their shares of all words, and their ten most probable and FREX "
        f"words{', with typical texts' * quoted}.}}\\label{{tab:topics}}\\\\\n"
        f"{_HEAD}\\endfirsthead\n{_HEAD}\\endhead\n\\bottomrule\n\\endfoot\n"
        + "".join(f"{row}\n" for row in rows)
        + "\\end{longtable}\n"
    )


def _cut(text: str) -> str:
    """The beginning of a text, at the end of a word."""
    text = " ".join(text.split())
    if len(text) <= _LONGEST:
        return escaped(text)
    return escaped(text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]) + r"\,\dots{}"
