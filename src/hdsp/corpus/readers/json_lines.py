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
    name, columns = file.name, wanted.columns
    seen: dict[str, None] = {}
    batch: list[dict[str, Any]] = []
    for row in _rows(file):
        seen.update(dict.fromkeys(row))
        batch.append(row)
        if len(batch) == _BATCH:
            # The first column is that of the texts, without which reading on is of no use.
            check_columns(name, columns[:1], list(seen))
            yield _transposed(batch, columns)
            batch = []
    if seen or batch:
        check_columns(name, columns, list(seen))
    if batch:
        yield _transposed(batch, columns)


def _transposed(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> Batch:
    return {column: [row.get(column) for row in rows] for column in columns}


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
        try:
            row = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            detail = "nested too deep" if isinstance(error, RecursionError) else _detail(error)
            problem = f"this is not JSON ({detail}): {short_repr(line.strip())}"
            raise lines.error(problem, _REMEDY) from error
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
    try:
        rows = json.loads("\n".join(parts), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        place = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        detail = "nested too deep" if isinstance(error, RecursionError) else _detail(error)
        raise lines.error(f"this is no JSON array ({detail})", _REMEDY, place) from error
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise lines.error(f"entry {number} of the array is no JSON object", _REMEDY, 1)
        _check_characters(row, lines)
        yield row


def _detail(error: ValueError) -> str:
    # The decoder's own message goes on with a position in the line, which is too much to show.
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)[:100]


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
