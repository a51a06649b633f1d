"""Tables as CSV and TSV that a spreadsheet opens without computing anything."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def write_delimited(
    pieces: Iterable[Mapping[str, Any]], file: Any, delimiter: str, show: Callable[[str], str]
) -> None:
    """Write tables by columns, of which the first has the names; `show` is given every text."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    for number, piece in enumerate(pieces):
        if number == 0:
            writer.writerow(map(show, piece))
        # The writer itself writes the numbers of arrays.
        cells = [
            values.tolist()
            if hasattr(values, "dtype")
            else [_cell(value, show) for value in values]
            for values in piece.values()
        ]
        writer.writerows(zip(*cells, strict=True))


def _cell(value: Any, show: Callable[[str], str]) -> str:
    if isinstance(value, list):
        if any(";" in str(item) for item in value):
            return show(json.dumps(value, ensure_ascii=False))
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
