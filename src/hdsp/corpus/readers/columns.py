"""The columns of a table that a reader wants: texts, ids and labels."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from hdsp.checks import quoted
from hdsp.corpus.columns import is_missing, level_name, make_block
from hdsp.corpus.labels import Kind, LabelBlock, Labels
from hdsp.corpus.readers.common import BinaryReader, read_error
from hdsp.exceptions import ReadError

# Values by column, of equal lengths: some rows of a table.
Batch: TypeAlias = Mapping[str, Sequence[object]]

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
# How text files write that a number is missing.
_NO_NUMBER = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none"})


class OrderedValues(list[object]):
    """Values of a column whose levels have an order of their own."""

    order: Sequence[object] = ()


@dataclass(frozen=True)
class TableFile:
    """A table that is open.

    Attributes
    ----------
    stream : binary stream
        Its content.
    name : str
        How messages call it.
    encoding : str
        The encoding of a text file.
    delimiter : str
        The character between the values of a CSV or TSV file.
    decimal : str, default="."
        The character before the decimals of its numbers.
    """

    stream: BinaryReader
    name: str
    encoding: str
    delimiter: str
    decimal: str = "."


@dataclass(frozen=True)
class Wanted:
    """Which columns of a table are read, and as what.

    Attributes
    ----------
    kinds : mapping of str to str
        Kind of the labels, by column.
    text : str or None
        Column of the texts.
    ids : str or None
        Column of the documents' ids.
    tag_separator : str or None
        What separates tags that are written as one text.
    groups : str or None
        Column of the documents' groups.
    """

    kinds: Mapping[str, Kind]
    text: str | None = None
    ids: str | None = None
    tag_separator: str | None = None
    groups: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All wanted columns, without repeats."""
        named = (self.text, self.ids, self.groups, *self.kinds)
        return tuple(dict.fromkeys(name for name in named if name is not None))


def check_columns(name: str, wanted: Iterable[str], present: Sequence[str]) -> None:
    """Raise unless a table has the wanted columns, each of them once."""
    counted = Counter(present)
    for column in wanted:
        if column not in counted:
            names = quoted(n if len(n) <= 40 else f"{n[:37]}..." for n in present)
            found = f"choose from {names}" if present else "it has no columns"
            raise read_error(name, f"there is no column {column!r}", found)
        if counted[column] > 1:
            raise read_error(
                name, f"{counted[column]} columns are called {column!r}", "rename all but one"
            )


def short_repr(value: object) -> str:
    """Return a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Columns:
    """The wanted columns of a table, collected batch by batch.

    The texts are passed on and not kept; the labels and ids are.

    Parameters
    ----------
    name : str
        The table's name, for messages.
    wanted : Wanted
        The columns.
    first_row : int, default=0
        The row of the table with which the batches begin, for messages.
    """

    def __init__(self, name: str, wanted: Wanted, first_row: int = 0) -> None:
        self.name = name
        self.wanted = wanted
        self.n_rows = 0
        self._first_row = first_row
        kept = [*wanted.kinds, *(name for name in (wanted.ids, wanted.groups) if name is not None)]
        self._values: dict[str, list[object]] = {column: [] for column in kept}
        self._orders: dict[str, Sequence[object]] = {}

    def texts(self, batches: Iterable[Batch]) -> Iterator[str]:
        """Yield the texts of the batches, "" where there is none, and keep labels and ids."""
        column = self.wanted.text
        for batch in batches:
            for name, values in self._values.items():
                values.extend(found := batch[name])
                if isinstance(found, OrderedValues):
                    self._orders[name] = found.order
            first = self._first_row + self.n_rows
            self.n_rows += len(next(iter(batch.values()), ()))
            for row, value in enumerate(() if column is None else batch[column], start=first):
                if isinstance(value, str):
                    yield value
                elif is_missing(value):
                    yield ""
                else:
                    raise self._error(
                        column, row, value, "not text", "name a column of text with `text`"
                    )

    def take(self, batches: Iterable[Batch]) -> None:
        """Keep the labels and ids of a table that has no texts."""
        for _ in self.texts(batches):
            pass

    def ids(self) -> tuple[str, ...] | None:
        """Return the documents' ids, or None where they are not wanted."""
        remedy = "give every row a text or a number as its id"
        return self._names(self.wanted.ids, None, "no id", remedy)

    def groups(self) -> tuple[str, ...] | None:
        """Return the documents' groups, "" for none, or None where they are not wanted."""
        remedy = "name a column of texts or numbers with `group`"
        return self._names(self.wanted.groups, "", "no group", remedy)

    def _names(
        self, column: str | None, missing: str | None, what: str, remedy: str
    ) -> tuple[str, ...] | None:
        if column is None:
            return None
        names = []
        for row, value in enumerate(self._values[column], self._first_row):
            name = missing if is_missing(value) else level_name(value)
            if name is None:
                raise self._error(column, row, value, what, remedy)
            names.append(name)
        return tuple(names)

    def labels(self) -> Labels:
        """Return the labels of all rows."""
        blocks = [self._block(column, kind) for column, kind in self.wanted.kinds.items()]
        return Labels(tuple(blocks), self.n_rows)

    def _block(self, column: str, kind: Kind) -> LabelBlock:
        values = self._values[column]
        if kind == "tags":
            values = [
                self._tags(value, column, row) for row, value in enumerate(values, self._first_row)
            ]
        elif kind == "category":
            values = _truth_values([None if isinstance(x, str) and not x else x for x in values])
        else:
            values = [self._number(value, column, row) for row, value in enumerate(values)]
        if column in self._orders:
            import pandas as pd

            order: Any = self._orders[column]
            given: Any = pd.Categorical(list[Any](values), order, ordered=True)
            values = cast("Any", pd.Series(given))
        with naming(self.name):
            return make_block(column, kind, values, self.name, self._first_row)

    def _number(self, value: object, column: str, row: int) -> object:
        """Return None where a text says that a number is missing, and else the value as it is."""
        if not isinstance(value, str):
            return value
        text = value.strip()
        if text.lower() in _NO_NUMBER:
            return None
        if _DECIMAL_COMMA.fullmatch(text):
            remedy = "pass `decimal`, which is ','"
            raise self._error(column, self._first_row + row, value, "no number", remedy)
        return value

    def _tags(self, value: object, column: str, row: int) -> object:
        """Read one row's tags: a list as it is, a text as a JSON list or by the separator."""
        if not isinstance(value, str):
            return value
        separator = self.wanted.tag_separator
        if separator is not None:
            return split_tags(value, separator)
        if not value.strip():
            return None
        try:
            tags = json.loads(value)
        except (ValueError, RecursionError):
            tags = None
        if isinstance(tags, list):
            return tags
        remedy = """write lists as '["a", "b"]', or pass `tag_separator`, such as ';'"""
        raise self._error(column, row, value, "not a list of tags", remedy)

    def _error(
        self, column: str | None, row: int, value: object, what: str, remedy: str
    ) -> ReadError:
        """Return the error of a value, which is `what`."""
        problem = f"column {column!r} holds {short_repr(value)}, which is {what}"
        return read_error(self.name, problem, remedy, row=row)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Turn errors of labels to those of the file that they are from."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise ReadError(_sentence(str(error), name)) from error


def split_tags(text: str, separator: str) -> list[str]:
    """Return the tags of a text, without blank ones."""
    return [tag for part in text.split(separator) if (tag := part.strip())]


def _truth_values(values: list[object]) -> list[object]:
    """Booleans where a column holds nothing but "true" and "false", as text files write them."""
    written = {value for value in values if isinstance(value, str)}
    if not written or not {text.lower() for text in written} <= {"true", "false"}:
        return values
    return [value.lower() == "true" if isinstance(value, str) else value for value in values]


def _sentence(message: str, name: str) -> str:
    """Join a message of three sentences, the rule, the value and the remedy, to one."""
    parts = re.fullmatch(r"(.*?)\. Got (.*)\. ([A-Z].*)", message, re.DOTALL)
    if parts is None:
        return f"{name}: {message}"
    rule, value, remedy = parts.groups()
    if len(value) > 200:
        value = f"{value[:100]}...{value[-97:]}"
    return f"{rule}, but got {value}; {remedy[0].lower()}{remedy[1:]}"
