"""Numbers, times and names as people read them on a terminal."""

import re

# Control characters, line separators, changes of direction, and halves of characters. Other
# characters without a shape, such as joiners, belong to the words of some languages.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Text that cannot steer a terminal: characters that could are written as escapes.

    Examples
    --------
    >>> printable("a file\x1b[2J.csv")
    'a file\\x1b[2J.csv'
    """
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def duration(seconds: float) -> str:
    """Seconds as a clock shows them.

    Examples
    --------
    >>> duration(41.7), duration(3723)
    ('0:41', '1:02:03')
    """
    minutes, whole = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}" if hours else f"{minutes}:{whole:02}"


def roughly(seconds: float) -> str:
    """Seconds in words, no more exactly than an estimate deserves.

    Examples
    --------
    >>> roughly(2), roughly(38), roughly(200), roughly(8000)
    ('a few seconds', 'about 40 s', 'about 3 min', 'about 2 h 15 min')
    """
    if seconds < 5:
        return "a few seconds"
    if seconds < 57.5:
        return f"about {5 * round(seconds / 5)} s"
    if seconds < 3570:
        return f"about {round(seconds / 60)} min"
    hours, minutes = divmod(15 * round(seconds / 900), 60)
    return f"about {hours} h {minutes} min" if minutes and hours < 10 else f"about {hours} h"


def amount_text(value: object) -> str:
    """A number, or text, as it is shown.

    Examples
    --------
    >>> amount_text(23486), amount_text(-1234.56), amount_text("3 of 5")
    ('23,486', '-1,234.6', '3 of 5')
    """
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))
