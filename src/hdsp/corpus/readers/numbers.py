"""Numbers from the lines of a text file."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hdsp.corpus.readers.columns import short_repr
from hdsp.corpus.readers.common import read_error
from hdsp.numerics.types import FloatArray, IntArray

# How many fields are turned to numbers at a time.
_FIELDS = 1 << 16
_PAIRS = re.compile(r"(?:\s*[^\s:]+:[^\s:]+(?=\s|$))*\s*")


@dataclass(frozen=True, eq=False)
class NumberBatch:
    """Rows of `width` numbers, and where each was found.

    Attributes
    ----------
    lines : int array of shape [N]
        The line of each row, from 1.
    orders : int array of shape [N]
        How many lines with numbers precede that line, in this batch and those before.
    numbers : float array of shape [N, width]
        The rows.
    """

    lines: IntArray
    orders: IntArray
    numbers: FloatArray


def number_batches(
    lines: Iterable[tuple[int, Sequence[str]]], width: int, name: str
) -> Iterator[NumberBatch]:
    """Turn the fields of lines to numbers; a line has any multiple of `width` fields."""
    numbers: list[int] = []
    fields: list[str] = []
    sizes: list[int] = []
    order = 0
    for number, found in lines:
        numbers.append(number)
        sizes.append(len(found) // width)
        fields.extend(found)
        if len(fields) >= _FIELDS:
            yield _batch(numbers, sizes, fields, order, width, name)
            order += len(numbers)
            numbers, sizes, fields = [], [], []
    yield _batch(numbers, sizes, fields, order, width, name)


def _batch(
    numbers: list[int], sizes: list[int], fields: list[str], order: int, width: int, name: str
) -> NumberBatch:
    lines = np.repeat(np.array(numbers, dtype=np.int64), sizes)
    try:
        # Python reads "1_0" as ten, which no file means.
        if "_" in "".join(fields):
            raise ValueError
        values = np.array(fields, dtype=np.float64)
    except ValueError as error:
        wrong = next(i for i, field in enumerate(fields) if not is_number(field))
        raise read_error(
            name,
            f"{short_repr(fields[wrong])} is not a number",
            "write numbers only",
            line=int(lines[wrong // width]),
        ) from error
    orders = np.repeat(np.arange(order, order + len(numbers)), sizes)
    return NumberBatch(lines, orders, values.reshape(-1, width))


def line_fields(
    lines: Iterable[tuple[int, str]], width: int, name: str
) -> Iterator[tuple[int, list[str]]]:
    """Split lines that must have `width` fields each, and skip blank ones."""
    for number, line in lines:
        fields = line.split()
        if len(fields) == width:
            yield number, fields
        elif fields:
            raise read_error(
                name,
                f"this line should have {width} numbers, but is {short_repr(line)}",
                "write document, word and count" if width == 3 else "write document and word",
                line=number,
            )


def is_number(text: str) -> bool:
    """Return whether a text is a number as files write it."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def whole_number(text: str, what: str, name: str, line: int) -> int:
    """Read a whole number from 0, such as one of a header."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise read_error(
            name,
            f"{what} should be a whole number from 0, but is {short_repr(text)}",
            "check that the file has this format",
            line=line,
        )
    return int(text)


def pair_fields(tokens: Sequence[str], name: str, line: int) -> list[str]:
    """Return the numbers of tokens such as "17:3" in one list."""
    text = " ".join(tokens)
    if not _PAIRS.fullmatch(text):
        wrong = next(token for token in tokens if not _PAIRS.fullmatch(token))
        raise read_error(
            name,
            f"{short_repr(wrong)} is no pair of a word and a count",
            "write 'word:count'",
            line,
        )
    return text.replace(":", " ").split()
