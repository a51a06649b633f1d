"""JSON Lines: one JSON object per line."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from hdsp.corpus.readers.columns import Batch, TableFile, Wanted, check_columns, short_repr
from hdsp.corpus.readers.common import LONGEST_LINE, Lines

_BATCH = 1024
# The number of rows in which keys are looked for.
_HEAD = 1_000
_REMEDY = """write one object per line, such as {"text": "..."}"""


def json_batches(file: TableFile, wanted: Wanted) -> Iterator[Batch]:
    """Yield the wanted columns of a JSON Lines file; a key that a row lacks is missing.

    The standard library's `json` reads them: pyarrow takes the types of the first megabyte for
    those of the whole file, and dates written as text for dates.
    """
    rows, columns = _rows(file), wanted.columns
    seen: dict[str, None] = {}
    while batch := list(islice(rows, _BATCH)):
        seen.update(dict.fromkeys(key for row in batch for key in row))
        # The first column is that of the texts, without which reading on is of no use.
        check_columns(file.name, columns[:1], list(seen))
        yield {column: [row.get(column) for row in batch] for column in columns}
    if seen:
        check_columns(file.name, columns, list(seen))


def json_columns(file: TableFile) -> tuple[str, ...]:
    """Return the keys of the first rows of a JSON Lines file."""
    return tuple(dict.fromkeys(key for row in islice(_rows(file), _HEAD) for key in row))


def _rows(file: TableFile) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, without blank lines."""
    lines = Lines(file.stream, file.name, file.encoding)
    first = True
    for line in lines:
        if not line.strip():
            continue
        if first and line.lstrip().startswith("["):
            yield from _array(line, lines)
            return
        first = False
        row = _decoded(line, lines, f"this is not JSON (%s): {short_repr(line.strip())}")
        if not isinstance(row, dict):
            raise lines.error(f"this is no JSON object: {short_repr(line.strip())}", _REMEDY)
        if "\\u" in line:
            _check_characters(row, lines)
        yield row


def _array(first: str, lines: Lines) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file that is one JSON array."""
    parts, size = [first], len(first)
    for line in lines:
        parts.append(line)
        size += len(line)
        if size > LONGEST_LINE:
            raise lines.error("this JSON array is too long to read at once", _REMEDY)
    rows = _decoded("\n".join(parts), lines, "this is no JSON array (%s)", in_lines=True)
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise lines.error(f"entry {number} of the array is no JSON object", _REMEDY, 1)
        _check_characters(row, lines)
        yield row


def _decoded(text: str, lines: Lines, problem: str, in_lines: bool = False) -> Any:
    """Read JSON; the problem is told with its detail, at its line where the text has several."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        detail, place = str(error)[:100], 1
        if isinstance(error, RecursionError):
            detail = "nested too deep"
        elif isinstance(error, json.JSONDecodeError):
            # Its own message goes on with a position in the line, which is too much to show.
            detail, place = error.msg, error.lineno
        problem = problem.replace("%s", detail, 1)
        raise lines.error(problem, _REMEDY, place if in_lines else None) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _check_characters(row: dict[str, Any], lines: Lines) -> None:
    """Raise if an escape is half of a character, which could not be written out again."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise lines.error(
            f"the escape \\u{ord(error.object[error.start]):04x} is half of a character",
            "write both halves, or none",
        ) from error
