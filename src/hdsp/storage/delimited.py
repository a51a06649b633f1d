"""Values for JSON, and tables as CSV and TSV that a spreadsheet opens without computing."""

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def plain(value: Any, most: float = math.inf) -> Any:
    """A value that JSON can represent; NaN and numbers beyond `most` become None."""
    if isinstance(value, Mapping):
        return {str(name): plain(item, most) for name, item in value.items()}
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)):
        return [plain(item, most) for item in value]
    return None if isinstance(value, float) and not abs(value) <= most else value


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
            values.tolist() if hasattr(values, "dtype") else [_cell(own, show) for own in values]
            for values in piece.values()
        ]
        writer.writerows(zip(*cells, strict=True))


def _cell(value: Any, show: Callable[[str], str]) -> Any:
    if isinstance(value, list):
        clear = not any(";" in str(item) for item in value)
        value = ";".join(map(str, value)) if clear else json.dumps(value, ensure_ascii=False)
    return show(value) if isinstance(value, str) else value


def guarded(text: str) -> str:
    """A text that a spreadsheet does not take for a formula; a number is none."""
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
