"""Single label values: which are missing, and how they become numbers or level names."""

from calendar import isleap
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal

import numpy as np

ValueGroup = Literal["text", "boolean", "number", "date", "list", "other"]

LIST_TYPES = (list, tuple, set, frozenset, np.ndarray)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    # By name, so that pandas need not be imported.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating, np.datetime64, Decimal)):
        return bool(value != value)
    return False


def group_of(value: object) -> ValueGroup:
    """Return the group of types to which a value belongs."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, np.timedelta64):
        return "other"
    if isinstance(value, (int, float, np.integer, np.floating, Decimal)):
        return "number"
    if isinstance(value, (date, np.datetime64)):
        return "date"
    if isinstance(value, LIST_TYPES):
        return "list"
    return "other"


def groups_of(values: Iterable[object]) -> dict[ValueGroup, int]:
    """Return the groups of types that occur, with the first position of each."""
    groups: dict[ValueGroup, int] = {}
    for position, value in enumerate(values):
        if not is_missing(value):
            groups.setdefault(group_of(value), position)
    return groups


def level_name(value: object) -> str | None:
    """Return the name of a category's level or a tag, or None where a value cannot be one.

    Whole numbers lose their ``.0``, since a table stores integers with gaps as floats.

    Examples
    --------
    >>> level_name("Dresses"), level_name(3.0), level_name(True)
    ('Dresses', '3', 'True')
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (*LIST_TYPES, Mapping, bytes)):
        return None
    return str(value)


def number_of(value: object) -> float | None:
    """Return a value as a number, a date in decimal years, or None if it is not a number."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, date):
        return decimal_year(value)
    if isinstance(value, (bool, np.bool_, int, float, np.integer, np.floating, Decimal, str)):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return None
    return None


def written_number(value: object) -> float | None:
    """Return a value as `number_of` does, and also a date or a time that is written as text.

    Examples
    --------
    >>> written_number("2001-07-02T12:00"), written_number("2.5"), written_number("long ago")
    (2001.5, 2.5, None)
    """
    number = number_of(value)
    if number is None and isinstance(value, str):
        day = written_date(value)
        return None if day is None else decimal_year(day)
    return number


def written_date(text: str) -> datetime | None:
    """Return the date, or the time, that a text writes as ISO 8601 does, or None.

    Examples
    --------
    >>> written_date("2024-05-01"), written_date("May 2024")
    (datetime.datetime(2024, 5, 1, 0, 0), None)
    """
    text = text.strip()
    # Without its hyphens a date cannot be told from a number.
    if not text[:5].endswith("-"):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def decimal_year(day: date) -> float:
    """Return a date or a time (in UTC, where it has a zone) in years.

    Examples
    --------
    >>> decimal_year(datetime(2001, 7, 2, 12))
    2001.5
    """
    days = 0.0
    if isinstance(day, datetime):
        if day.tzinfo is not None:
            day = day.astimezone(UTC)
        seconds = day.hour * 3600 + day.minute * 60 + day.second + day.microsecond / 1e6
        days = seconds / 86400
    days += day.timetuple().tm_yday - 1
    return day.year + days / (366 if isleap(day.year) else 365)
