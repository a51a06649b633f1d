"""Phrases that messages share."""

from collections.abc import Iterable, Sequence


def quoted(names: Iterable[str], limit: int = 10) -> str:
    """List names for a message, only the first few where there are many.

    Parameters
    ----------
    names : iterable of str
        The names.
    limit : int, default=10
        The largest number of names to spell out.

    Returns
    -------
    str
        The names in quotes, and how many more there are.

    Examples
    --------
    >>> quoted(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it needs one.

    Parameters
    ----------
    number : int
        How many there are.
    noun : str
        The noun in the singular; its plural ends in "s".

    Examples
    --------
    >>> count_of(2, "row")
    '2 rows'
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(parts: Sequence[object]) -> str:
    """Return parts with commas between them, and "and" before the last of several."""
    *most, last = map(str, parts)
    return f"{', '.join(most)} and {last}" if most else last
