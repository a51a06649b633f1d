"""Tables as CSV and TSV that a spreadsheet opens without computing anything."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def write_delimited(
    pieces: Iterable[Mapping[str, Sequence[Any]]],
    file: Any,
    delimiter: str,
    show: Callable[[str], str],
) -> None:
    """Write tables by columns, of which the first has the names; `show` is given every text."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    for number, piece in enumerate(pieces):
        if number == 0:
            writer.writerow(map(show, piece))
        for row in zip(*piece.values(), strict=True):
            writer.writerow([_cell(value, show) for value in row])


def _cell(value: Any, show: Callable[[str], str]) -> str:
    if isinstance(value, list):
        return show(";".join(map(str, value)))
    if isinstance(value, str):
        return show(value)
    return "" if value is None else str(value)


def guarded(text: str) -> str:
    """A text that a spreadsheet does not take for a formula; a number is none."""
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
