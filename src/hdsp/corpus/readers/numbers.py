"""Numbers from the lines of a text file."""

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from hdsp.corpus.readers.columns import short_repr
from hdsp.corpus.readers.common import Lines
from hdsp.numerics import FloatArray, IntArray

# How many fields are turned to numbers at a time.
_FIELDS = 1 << 16
_PAIRS = re.compile(r"(?:\s*[^\s:]+:[^\s:]+(?=\s|$))*\s*")


def number_batches(
    rows: Iterable[Sequence[str]], width: int, lines: Lines
) -> Iterator[tuple[FloatArray, IntArray, IntArray, int]]:
    """Turn the fields of lines to numbers; a line has any multiple of `width` fields.

    Yields
    ------
    numbers : float array of shape [N, width]
        Some rows of numbers.
    at : int array of shape [N]
        The line of each row, from 1.
    orders : int array of shape [N]
        How many of `rows` precede the one that it is from.
    n_rows : int
        How many of `rows` were read.
    """
    remaining = enumerate(rows)
    while True:
        fields: list[str] = []
        # The line, the order and the number of numbers of each.
        places: list[tuple[int, int, int]] = []
        for order, found in remaining:
            fields.extend(found)
            places.append((lines.number, order, len(found) // width))
            if len(fields) >= _FIELDS:
                break
        if not places:
            return
        at, orders, sizes = np.array(places, dtype=np.int64).T
        at = np.repeat(at, sizes)
        yield _numbers(fields, width, at, lines), at, np.repeat(orders, sizes), order + 1


def _numbers(fields: list[str], width: int, at: IntArray, lines: Lines) -> FloatArray:
    try:
        # Python reads "1_0" as ten, which no file means.
        if "_" in "".join(fields):
            raise ValueError
        return np.array(fields, dtype=np.float64).reshape(-1, width)
    except ValueError as error:
        wrong = next(i for i, field in enumerate(fields) if not is_number(field))
        raise lines.error(
            f"{short_repr(fields[wrong])} is not a number",
            "write numbers only",
            int(at[wrong // width]),
        ) from error


def line_fields(lines: Lines, width: int) -> Iterator[list[str]]:
    """Split lines that must have `width` fields each, and skip blank ones."""
    for line in lines:
        fields = line.split()
        if len(fields) == width:
            yield fields
        elif fields:
            raise lines.error(
                f"this line should have {width} numbers, but is {short_repr(line)}",
                "write document, word and count" if width == 3 else "write document and word",
            )


def is_number(text: str) -> bool:
    """Return whether a text is a number as files write it."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def whole_number(text: str, what: str, lines: Lines) -> int:
    """Read a whole number from 0, such as one of a header."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise lines.error(
            f"{what} should be a whole number from 0, but is {short_repr(text)}",
            "check that the file has this format",
        )
    return int(text)


def pair_fields(tokens: Sequence[str], lines: Lines) -> list[str]:
    """Return the numbers of tokens such as "17:3" in one list."""
    text = " ".join(tokens)
    if not _PAIRS.fullmatch(text):
        wrong = next(token for token in tokens if not _PAIRS.fullmatch(token))
        raise lines.error(
            f"{short_repr(wrong)} is no pair of a word and a count", "write 'word:count'"
        )
    return text.replace(":", " ").split()
