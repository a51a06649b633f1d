"""Blocks of labels from columns of values."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hdsp.checks import check_not_infinite, quoted
from hdsp.corpus.labels import Kind, LabelBlock, Labels
from hdsp.corpus.values import LIST_TYPES, is_missing, level_name, written_date, written_number
from hdsp.exceptions import LabelDataWarning
from hdsp.numerics import FloatArray, csr_from_entries

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Places of names, as they are and by three letters.
_CALENDAR = [
    {name: place for place, whole in enumerate(names) for name in (whole, whole[:3])}
    for names in (_MONTHS, _DAYS)
]


def make_block(
    name: str,
    kind: Kind,
    values: FloatArray | Sequence[object],
    subject: str,
    first_row: int = 0,
    order: Sequence[object] | None = None,
) -> LabelBlock:
    """Read the values of a column, one per document, as labels of a kind.

    Messages count rows from `first_row`. Levels of a category may have an `order`.
    """
    if kind == "number":
        return number_block(name, values, subject, first_row)
    if kind == "tags":
        return tags_block(name, list(values), subject, first_row)
    return category_block(name, list(values), subject, order, first_row)


def tags_block(name: str, rows: Sequence[object], subject: str, first_row: int = 0) -> LabelBlock:
    """Read one list of tags per document; a tag that is repeated in a document counts once.

    Columns are the sorted tags, so that they do not depend on the order of documents.
    """
    carried: list[set[str]] = []
    for position, row in enumerate(rows, start=first_row):
        if is_missing(row):
            carried.append(set())
            continue
        if not isinstance(row, LIST_TYPES):
            raise TypeError(
                f"{subject} must hold a list of tags in each row of {name!r}. "
                f"Got {row!r} at row {position}. Split it into a list, or make it a category."
            )
        carried.append({_level(tag, name, position, subject) for tag in row if not is_missing(tag)})
    block = _indicator_block(name, "tags", carried, sorted(set().union(*carried)))
    return replace(block, n_missing=sum(map(is_missing, rows)))


def category_block(
    name: str,
    values: Sequence[object],
    subject: str,
    order: Sequence[object] | None = None,
    first_row: int = 0,
) -> LabelBlock:
    """Read one level per document; columns are the levels that occur, sorted or in `order`.

    Names of months and days have the order of the calendar.
    """
    carried = [
        set() if is_missing(value) else {_level(value, name, position, subject, single=True)}
        for position, value in enumerate(values, start=first_row)
    ]
    occurring = set().union(*carried)
    columns = sorted(occurring)
    for places in _CALENDAR:
        if all(level.lower() in places for level in columns):
            columns.sort(key=lambda level: places[level.lower()])
    if order is not None:
        named = dict.fromkeys(level_name(level) for level in order)
        columns = [level for level in named if level in occurring]
    return _indicator_block(name, "category", carried, columns)


def _indicator_block(
    name: str, kind: Kind, carried: Sequence[set[str]], columns: Sequence[str]
) -> LabelBlock:
    """Return the block of documents that carry some of the columns each."""
    position_of = {column: j for j, column in enumerate(columns)}
    documents = np.repeat(np.arange(len(carried)), [len(found) for found in carried])
    indices = np.array([position_of[x] for found in carried for x in found], dtype=np.int64)
    values = csr_from_entries(
        documents, indices, np.ones(len(indices)), shape=(len(carried), len(columns))
    )
    return LabelBlock(name, kind, tuple(columns), values)


def number_block(
    name: str, values: FloatArray | Sequence[object], subject: str, first_row: int = 0
) -> LabelBlock:
    """Read one number per document; every observed value is stored, zero included."""
    if not isinstance(values, np.ndarray):
        values = _numbers(values, name, subject, first_row)
    documents = np.flatnonzero(~np.isnan(values))
    observed = values[documents]
    check_not_infinite(observed, documents + first_row, name, subject)
    column = np.zeros(len(documents), dtype=np.int64)
    return LabelBlock(
        name, "number", (name,), csr_from_entries(documents, column, observed, (len(values), 1))
    )


def holds_dates(block: LabelBlock) -> bool:
    """Whether a block is a category whose levels are all dates."""
    return (
        block.kind == "category" and bool(block.columns) and all(map(written_date, block.columns))
    )


def warn_dates(labels: Labels) -> None:
    """Warn of categories whose levels are all dates, and offer them as numbers."""
    found = [block.name for block in labels.blocks if holds_dates(block)]
    if found:
        one = len(found) == 1
        warnings.warn(
            f"{quoted(found)} {'holds' if one else 'hold'} dates as text, each of which is a level "
            f"of its own: name {'it' if one else 'them'} with `numeric` (on the command line, "
            "--numeric) to read dates, in years.",
            LabelDataWarning,
            stacklevel=4,
        )


def _level(value: object, name: str, position: int, subject: str, single: bool = False) -> str:
    """The name of a tag, or of a category's single level."""
    level = level_name(value)
    if level is None:
        remedy = "Flatten the column, or drop it."
        if single and isinstance(value, LIST_TYPES):
            remedy = "Name a column of lists as `tags`, or flatten it."
        raise TypeError(
            f"{subject} must hold plain values as tags and categories. "
            f"Got a {type(value).__name__} at row {position}, column {name!r}. {remedy}"
        )
    return level


def _numbers(values: Sequence[object], name: str, subject: str, first_row: int) -> FloatArray:
    numbers = np.full(len(values), np.nan)
    for position, value in enumerate(values):
        if is_missing(value):
            continue
        number = written_number(value)
        if number is None:
            raise TypeError(
                f"{subject} must hold numbers or dates in column {name!r}. "
                f"Got {value!r} at row {first_row + position}. "
                "Convert the column, or make it a category."
            )
        numbers[position] = number
    return numbers


def numeric_levels(block: LabelBlock) -> LabelBlock | None:
    """A category whose levels are all numbers or dates as a number; None if they are not."""
    numbers = [written_number(level) for level in block.columns]
    known = [number for number in numbers if number is not None]
    if block.kind != "category" or not known or len(known) < len(numbers):
        return None
    rows = np.repeat(np.arange(block.values.shape[0]), np.diff(block.values.indptr))
    data = np.array(known)[block.values.indices]
    values = csr_from_entries(rows, np.zeros_like(rows), data, (block.values.shape[0], 1))
    return LabelBlock(block.name, "number", (block.name,), values)
