"""Numbers that are written as text, in files whose lines hold little else."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hdsp.corpus.readers.columns import shown
from hdsp.corpus.readers.common import read_error
from hdsp.numerics.types import FloatArray, IntArray

# Numbers that are turned from text at a time.
_FIELDS = 1 << 16
_PAIRS = re.compile(r"(?:\s*[^\s:]+:[^\s:]+(?=\s|$))*\s*")


@dataclass(frozen=True, eq=False)
class NumberBatch:
    """Rows of `width` numbers, and where each stands.

    Parameters
    ----------
    lines
        The line of each row, from 1.
    orders
        How many lines with numbers, this batch's and others, stand before that line.
    numbers
        [N, width], the rows.
    """

    lines: IntArray
    orders: IntArray
    numbers: FloatArray


def number_batches(
    lines: Iterable[tuple[int, Sequence[str]]], width: int, name: str
) -> Iterator[NumberBatch]:
    """Turn the fields of lines, each any number of times `width` of them, to numbers."""
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
        # Python reads "1_0" as ten, a file never means it.
        if "_" in "".join(fields):
            raise ValueError
        values = np.array(fields, dtype=np.float64)
    except ValueError as error:
        wrong = next(i for i, field in enumerate(fields) if not is_number(field))
        raise read_error(
            name,
            f"{shown(fields[wrong])} is not a number",
            "write numbers only",
            line=int(lines[wrong // width]),
        ) from error
    orders = np.repeat(np.arange(order, order + len(numbers)), sizes)
    return NumberBatch(lines, orders, values.reshape(-1, width))


def line_fields(
    lines: Iterable[tuple[int, str]], width: int, name: str
) -> Iterator[tuple[int, list[str]]]:
    """Split lines that should hold `width` fields each, and pass over blank ones."""
    for number, line in lines:
        fields = line.split()
        if len(fields) == width:
            yield number, fields
        elif fields:
            raise read_error(
                name,
                f"this line should have {width} numbers, but is {shown(line)}",
                "write document, word and count" if width == 3 else "write document and word",
                line=number,
            )


def is_number(text: str) -> bool:
    """Tell whether a text is a number as files write it."""
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
            f"{what} should be a whole number from 0, but is {shown(text)}",
            "check that the file has this format",
            line=line,
        )
    return int(text)


def pair_fields(tokens: Sequence[str], name: str, line: int) -> list[str]:
    """Split tokens such as "17:3" to the numbers in them, in one list."""
    text = " ".join(tokens)
    if not _PAIRS.fullmatch(text):
        wrong = next(token for token in tokens if not _PAIRS.fullmatch(token))
        raise read_error(
            name, f"{shown(wrong)} is no pair of a word and a count", "write 'word:count'", line
        )
    return text.replace(":", " ").split()
