"""English prose from a numpydoc docstring."""

import inspect
import re
from itertools import zip_longest

# Code, references, and text that is the same for many objects.
_DROPPED_SECTIONS = frozenset(
    {"array api standard support", "example", "examples", "references", "see also"}
)

_UNDERLINE = re.compile(r"^\s*([-=~^])\1{2,}\s*$")
_SIGNATURE = re.compile(r"\A[\w.]+\(.*\)\]?( ->.*)?$", re.MULTILINE)
_BOLD_LINE = re.compile(r"^\*\*[^*]+\*\*$")
_DECLARATION = re.compile(r"^(\s*[*\w][\w*, ]*) : .*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^\s*\.\. .*$", re.MULTILINE)
_URL = re.compile(r"\bhttps?://\S+|\bwww\.\S+")
_ROLE = re.compile(r":[a-zA-Z][\w:+-]*:(?=`)")
_LATEX = re.compile(r"\\[a-zA-Z]+(\{[a-zA-Z*]*\})?")


def prose(docstring: str) -> str:
    r"""Return the sentences of a docstring without code, references, markup or addresses.

    Parameters
    ----------
    docstring : str
        As found on an object, indented or not.

    Returns
    -------
    str
        Line by line what is left: summary, explanations, parameters, notes.

    Examples
    --------
    >>> prose("Sum.\n\nNotes\n-----\nSee :func:`add`.\n\nExamples\n--------\n>>> sum([1, 2])\n3\n")
    'Sum.\n\nSee `add`.'
    """
    text = "\n".join(_without_code(_without_sections(inspect.cleandoc(docstring).splitlines())))
    # "tol : float, optional" becomes "tol": a name may mean something, a type does not.
    text = _DECLARATION.sub(r"\1", text)
    for noise in (_SIGNATURE, _DIRECTIVE, _URL, _ROLE, _LATEX):
        text = noise.sub("", text)
    return text.strip()


def _without_sections(lines: list[str]) -> list[str]:
    """Return lines outside the dropped sections, without headings and their underlines."""
    kept: list[str] = []
    dropping = False
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        title = line.strip()
        if title and (_UNDERLINE.match(following) or _BOLD_LINE.match(title)):
            dropping = title.strip("*: ").lower() in _DROPPED_SECTIONS
        elif not dropping and not _UNDERLINE.match(line):
            kept.append(line)
    return kept


def _without_code(lines: list[str]) -> list[str]:
    """Return lines outside doctests: a prompt opens one, a blank line closes it."""
    kept: list[str] = []
    in_code = False
    for line in lines:
        in_code = line.lstrip().startswith(">>>") or (in_code and bool(line.strip()))
        if not in_code:
            kept.append(line)
    return kept
