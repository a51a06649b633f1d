"""Label columns: any table, list or matrix as blocks of labels, converted by pandas.

Files and tables in memory come through the same functions, so the same values mean the same.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from hdsp.checks import check_length, check_matrix, check_not_infinite, count_of, quoted
from hdsp.corpus.frames import as_series, is_frame, is_series, open_columns
from hdsp.corpus.labels import Kind, LabelBlock, Labels, Names, label_kinds
from hdsp.exceptions import LabelDataWarning
from hdsp.numerics import FloatArray, IntArray, csr_entries, csr_from_entries

if TYPE_CHECKING:
    import pandas as pd

ValueGroup = Literal["text", "boolean", "number", "date", "list", "other"]
MatrixReader = Callable[[Any, str], Labels]

SEQUENCE_NAME = "label"
_LIST_TYPES = (list, tuple, set, frozenset, np.ndarray)
_KIND_OF_GROUP: dict[ValueGroup, Kind] = {
    "text": "category",
    "boolean": "category",
    "number": "number",
    "date": "number",
    "list": "tags",
}
# How texts write that a number is missing.
_NO_NUMBER = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none"})
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
# Positions of names, in full and by three letters.
_CALENDAR = [
    {name: place for place, full in enumerate(names.split()) for name in (full, full[:3])}
    for names in (_MONTHS, _DAYS)
]


def is_missing(value: object) -> bool:
    """Whether a single value is None, NaN, NaT or pandas' NA."""
    # By name, so that pandas need not be imported.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating, np.datetime64, Decimal)):
        return bool(value != value)
    return False


def level_name(value: object) -> str | None:
    """The name of a tag or level, or None if a value cannot be one.

    Whole numbers lose their ``.0``, since tables store integers with gaps as floats; times at
    midnight are dates.

    Examples
    --------
    >>> level_name("Dresses"), level_name(3.0), level_name(True), level_name(date(2001, 7, 2))
    ('Dresses', '3', 'True', '2001-07-02')
    """
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, date):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, (*_LIST_TYPES, Mapping, bytes)):
        return None
    return str(value)


def parse_number(value: object) -> float | None:
    """A value as a number, dates in decimal years also if written as text; None if it is neither.

    Examples
    --------
    >>> parse_number("2001-07-02T12:00"), parse_number("2.5"), parse_number("long ago")
    (2001.5, 2.5, None)
    """
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            value = parse_date(value)
    if isinstance(value, (date, np.datetime64)):
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return float(decimal_years(np.array([value], dtype="datetime64[us]"))[0])
    if isinstance(value, (bool, np.bool_, int, float, np.integer, np.floating, Decimal)):
        return float(value)
    return None


def parse_date(text: str) -> datetime | None:
    """The date or time that a text writes as ISO 8601 does, or None.

    Examples
    --------
    >>> parse_date("2024-05-01"), parse_date("May 2024")
    (datetime.datetime(2024, 5, 1, 0, 0), None)
    """
    text = text.strip()
    # Without its hyphens a date looks like a number.
    if not text[:5].endswith("-"):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def decimal_years(times: NDArray[np.datetime64]) -> FloatArray:
    """Times in years, NaN if missing: noon on 2 July 2001 is 2001.5."""
    years = times.astype("datetime64[Y]")
    start, end = (year.astype("datetime64[us]") for year in (years, years + 1))
    since = (times.astype("datetime64[us]") - start) / (end - start)
    return np.asarray(years.astype(np.int64) + 1970 + since, dtype=np.float64)


def make_block(
    name: str,
    kind: Kind,
    column: Any,
    subject: str,
    first_row: int = 0,
    tag_separator: str | None = None,
) -> LabelBlock:
    """A column of any table as labels of a kind; messages count rows from `first_row`."""
    values = as_series(column)
    if kind == "number":
        return _number_block(name, values, subject, first_row)
    if kind == "tags":
        return _tags_block(name, values, subject, first_row, tag_separator)
    return _category_block(name, values, subject, first_row)


def _distinct(values: "pd.Series[Any]") -> tuple[IntArray, list[Any]]:
    """The number of each row's value, -1 if it is missing, and the values."""
    import pandas as pd

    if values.dtype == object and pd.api.types.infer_dtype(values).startswith("mixed"):
        # Python takes True for 1, and lists have no hash: each row has its own value.
        return np.where(values.isna(), -1, np.arange(len(values))), values.tolist()
    numbers, distinct = pd.factorize(values)
    return numbers, list(distinct)


def _levels(
    values: "pd.Series[Any]", rows: IntArray, name: str, subject: str
) -> tuple[IntArray, list[str]]:
    """The number of each value's level, -1 if it is missing, and the levels, as they occur."""
    numbers, distinct = _distinct(values)
    names = [None if is_missing(value) else level_name(value) for value in distinct]
    wrong = np.array([*(name is None for name in names), False])[numbers]
    for place in np.flatnonzero(wrong)[:1]:
        raise TypeError(
            f"{subject} must hold plain values as tags and categories. "
            f"Got a {type(values[place]).__name__} at row {rows[place]}, column {name!r}. "
            "Name a column of lists as `tags`, or flatten it."
        )
    # An empty text is missing, as an empty cell of a file is.
    levels = [level for level in dict.fromkeys(names) if level]
    places = {level: place for place, level in enumerate(levels)}
    return np.array([*(places.get(name or "", -1) for name in names), -1])[numbers], levels


def _indicators(
    name: str, kind: Kind, rows: IntArray, columns: IntArray, n_rows: int, names: Sequence[str]
) -> LabelBlock:
    """The block of the entries whose column is not -1; repeated ones count once."""
    known = columns >= 0
    entries = (np.ones(int(known.sum())), (rows[known], columns[known]))
    values = csr_array(entries, shape=(n_rows, len(names)))
    values.sum_duplicates()
    values.data[:] = 1.0
    return LabelBlock(name, kind, tuple(names), values)


def _category_block(
    name: str, values: "pd.Series[Any]", subject: str, first_row: int
) -> LabelBlock:
    """One level per document; columns are the levels that occur, in their order or sorted."""
    rows = np.arange(len(values))
    numbers, levels = _levels(values, rows + first_row, name, subject)
    if {level.lower() for level in levels} <= {"true", "false"}:
        # Text files write booleans in many ways.
        levels = [level.capitalize() for level in levels]
    columns = sorted(set(levels))
    for places in _CALENDAR:
        if all(level.lower() in places for level in columns):
            columns.sort(key=lambda level: places[level.lower()])
    if getattr(values.dtype, "ordered", False):
        named = dict.fromkeys(map(level_name, values.cat.categories))
        columns = [level for level in named if level in levels]
    place_of = np.array([*map(columns.index, levels), -1])
    return _indicators(name, "category", rows, place_of[numbers], len(rows), columns)


def _tags_block(
    name: str, values: "pd.Series[Any]", subject: str, first_row: int, separator: str | None
) -> LabelBlock:
    """A list of tags per document; columns are the sorted tags."""
    gone = values.isna()
    lists = [None if missing else row for row, missing in zip(values, gone, strict=True)]
    lists = [split_tags(row, separator) if isinstance(row, str) else row for row in lists]
    for row, tags in enumerate(lists):
        if not (tags is None or isinstance(tags, _LIST_TYPES)):
            raise TypeError(
                f"{subject} must hold a list of tags in each row of {name!r}. "
                f"Got {tags!r} at row {row + first_row}. Split it into a list, write it as "
                """'["a", "b"]', or read the file with `tag_separator`."""
            )
    rows = np.repeat(np.arange(len(lists)), [0 if tags is None else len(tags) for tags in lists])
    flat = as_series(list(chain.from_iterable(tags for tags in lists if tags is not None)))
    numbers, levels = _levels(flat, rows + first_row, name, subject)
    columns = sorted(levels)
    places = {level: place for place, level in enumerate(columns)}
    place_of = np.array([*(places[level] for level in levels), -1])
    block = _indicators(name, "tags", rows, place_of[numbers], len(lists), columns)
    return replace(block, n_missing=sum(tags is None for tags in lists))


def split_tags(text: str, separator: str | None) -> list[Any] | str | None:
    """The tags of a text, None if it is blank, or the text itself if it is not a list."""
    if not text.strip():
        return None
    if separator is not None:
        return [tag for part in text.split(separator) if (tag := part.strip())]
    try:
        tags = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return tags if isinstance(tags, list) else text


def _number_block(name: str, values: "pd.Series[Any]", subject: str, first_row: int) -> LabelBlock:
    """A number per document; every observed value is stored, zero included."""
    from pandas.api.types import is_complex_dtype, is_datetime64_any_dtype, is_numeric_dtype

    if is_datetime64_any_dtype(values):
        zoned = getattr(values.dtype, "tz", None) is not None
        numbers = decimal_years((values.dt.tz_convert(None) if zoned else values).to_numpy())
    elif is_numeric_dtype(values) and not is_complex_dtype(values):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = _parsed_numbers(name, values, subject, first_row)
    rows = np.flatnonzero(~np.isnan(numbers))
    check_not_infinite(numbers[rows], rows + first_row, name, subject)
    entries = csr_from_entries(rows, np.zeros_like(rows), numbers[rows], (len(numbers), 1))
    return LabelBlock(name, "number", (name,), entries)


def _parsed_numbers(
    name: str, values: "pd.Series[Any]", subject: str, first_row: int
) -> FloatArray:
    """The numbers that values of any type are, or write; NaN if missing."""

    def parse(value: object) -> float | None:
        if is_missing(value) or (isinstance(value, str) and value.strip().lower() in _NO_NUMBER):
            return np.nan
        try:
            return parse_number(value)
        except OverflowError:
            return None

    places, distinct = _distinct(values)
    parsed = [*map(parse, distinct), np.nan]
    if None in parsed:
        row = next(row for row, place in enumerate(places) if parsed[place] is None)
        remedy = "Convert the column, or make it a category."
        if isinstance(values[row], str) and _DECIMAL_COMMA.fullmatch(values[row].strip()):
            remedy = "Convert the column, or read the file with `decimal`, which is ','."
        raise TypeError(
            f"{subject} must hold numbers or dates in column {name!r}. "
            f"Got {values[row]!r} at row {row + first_row}. {remedy}"
        )
    return np.array(parsed, dtype=np.float64)[places]


def holds_dates(block: LabelBlock) -> bool:
    """Whether a block is a category whose levels are all dates."""
    return block.kind == "category" and bool(block.columns) and all(map(parse_date, block.columns))


def warn_dates(labels: Labels) -> None:
    """Warn of categories whose levels are all dates, and offer them as numbers."""
    names = [block.name for block in labels.blocks if holds_dates(block)]
    if names:
        one = len(names) == 1
        warnings.warn(
            f"{quoted(names)} {'holds' if one else 'hold'} dates as text, each of which is a level "
            f"of its own: name {'it' if one else 'them'} with `numeric` (on the command line, "
            "--numeric) to read dates, in years.",
            LabelDataWarning,
            stacklevel=4,
        )


def numeric_levels(block: LabelBlock) -> LabelBlock | None:
    """A category whose levels are all numbers or dates as a number; None if they are not."""
    numbers = [parse_number(level) for level in block.columns]
    if block.kind != "category" or not numbers or None in numbers:
        return None
    rows, levels, _ = csr_entries(block.values)
    data = np.array(numbers, dtype=np.float64)[levels]
    values = csr_from_entries(rows, np.zeros_like(rows), data, (block.values.shape[0], 1))
    return LabelBlock(block.name, "number", (block.name,), values)


def _group_of(cls: type) -> ValueGroup:
    """The group of types to which the values of a class belong."""
    if issubclass(cls, str):
        return "text"
    if issubclass(cls, (bool, np.bool_)):
        return "boolean"
    if issubclass(cls, (int, float, np.number, Decimal)) and not issubclass(
        cls, (np.timedelta64, np.complexfloating)
    ):
        return "number"
    if issubclass(cls, (date, np.datetime64)):
        return "date"
    return "list" if issubclass(cls, _LIST_TYPES) else "other"


def _value_groups(values: "pd.Series[Any]") -> dict[ValueGroup, int]:
    """The groups of types that occur, with the first row of each."""
    groups: dict[ValueGroup, int] = {}
    for row, cls in values[values.notna()].map(type).drop_duplicates().items():
        groups.setdefault(_group_of(cls), int(str(row)))
    return groups


def column_kind(name: str, values: "pd.Series[Any]", subject: str) -> Kind:
    """The kind of a column's labels, by its type or else by its values."""
    import pandas as pd

    types, dtype = pd.api.types, values.dtype
    if isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)) or types.is_bool_dtype(dtype):
        return "category"
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return "number"
    if types.is_datetime64_any_dtype(dtype):
        return "number"
    groups = _value_groups(values)
    if "other" in groups:
        row = groups["other"]
        raise TypeError(
            f"{subject} must hold text, booleans, numbers, dates or lists of tags. "
            f"Got a {type(values[row]).__name__} at row {row}, column {name!r}. "
            "Convert the column, or drop it."
        )
    _check_one_group(groups, subject, f"in column {name!r}")
    # A column without values becomes a category without levels, which has no effect.
    return next((_KIND_OF_GROUP[group] for group in groups), "category")


def _check_one_group(groups: Mapping[ValueGroup, int], subject: str, where: str) -> None:
    if len(groups) > 1:
        (first, row), (second, second_row) = list(groups.items())[:2]
        raise TypeError(
            f"{subject} must hold values of one type {where}. Got {first} at row {row} and "
            f"{second} at row {second_row}. Convert them to one type."
        )


def as_labels(labels: object, n_documents: int, owner: str = "HDSP.fit") -> Labels:
    """Labels in any accepted form, as `Labels` of M documents.

    A sparse or dense matrix [M, J], see `Labels.from_matrix`; a pandas, polars or pyarrow table,
    see `Labels.from_frame`; a list of lists of strings (tags), where None is missing; or M
    strings, which are one category called "label". None for no labels.

    Examples
    --------
    >>> as_labels([["red"], None, ["red", "long"]], 3)
    Labels(3 documents: tags 'tags' 2)
    >>> as_labels(["a", "b", "a"], 3)
    Labels(3 documents: category 'label' 2)
    """
    return read_labels(labels, n_documents, f"`labels` of {owner}")


def read_labels(
    labels: object,
    n_documents: int,
    subject: str,
    read_matrix: MatrixReader | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> Labels:
    """Labels in any form: a matrix with `read_matrix`, a table by `kinds`, if given."""
    if labels is None:
        return Labels.empty(n_documents)
    result = _read(labels, subject, read_matrix or from_matrix, kinds)
    check_length(len(result), n_documents, subject)
    return result


def _read(
    labels: Any, subject: str, read_matrix: MatrixReader, kinds: Mapping[str, Kind] | None
) -> Labels:
    if isinstance(labels, Labels):
        return labels
    if issparse(labels):
        return read_matrix(labels, subject)
    if is_frame(labels):
        return Labels(_frame_blocks(labels, subject, kinds), len(labels))
    if not is_series(labels):
        is_array = hasattr(labels, "__array__")
        unusable = isinstance(labels, (str, bytes, Mapping))
        if unusable or not (is_array or isinstance(labels, Sequence)):
            raise TypeError(
                f"{subject} must be None, a matrix, a list of lists of strings, a sequence of "
                "strings, a pandas, polars or pyarrow table in memory, or Labels. "
                f"Got {type(labels).__name__}. Convert it to one of these."
            )
        labels = np.asarray(labels) if is_array else list(labels)
        if is_array and labels.ndim != 1:
            return read_matrix(labels, subject)
    return _from_sequence(as_series(labels), subject, read_matrix)


def from_matrix(matrix: Any, subject: str) -> Labels:
    """A matrix as labels, whose kinds follow from its values."""
    return Labels(*matrix_blocks(matrix, subject))


def read_frame(
    frame: Any, tags: Names, categories: Names, numeric: Names
) -> tuple[tuple[LabelBlock, ...], int]:
    """The blocks of a table's columns, of the named ones only if any are named, and its length."""
    subject = "`frame` of Labels.from_frame"
    if not is_frame(frame):
        raise TypeError(
            f"{subject} must be a pandas, polars or pyarrow table in memory. "
            f"Got {type(frame).__name__}. Convert it, or collect a lazy one."
        )
    kinds = label_kinds(tags, categories, numeric, subject)
    columns = open_columns(frame, subject)
    absent = [name for name in kinds if name not in columns]
    if absent:
        raise ValueError(
            f"{subject} must have the named columns. Got no {quoted(absent)}. "
            f"Choose from {quoted(columns)}."
        )
    return _frame_blocks(frame, subject, kinds or None), len(frame)


def _frame_blocks(
    frame: Any, subject: str, kinds: Mapping[str, Kind] | None
) -> tuple[LabelBlock, ...]:
    blocks = []
    for name, column in open_columns(frame, subject).items():
        if kinds is not None and name not in kinds:
            continue
        values = as_series(column)
        kind = column_kind(name, values, subject) if kinds is None else kinds[name]
        block = make_block(name, kind, values, subject)
        if kinds is None and not getattr(values.dtype, "ordered", False) and holds_dates(block):
            block = numeric_levels(block) or block
        blocks.append(block)
    return tuple(blocks)


def _from_sequence(rows: "pd.Series[Any]", subject: str, read_matrix: MatrixReader) -> Labels:
    """A sequence of strings, of lists of strings, or of lists of numbers (a matrix)."""
    groups = _value_groups(rows)
    _check_one_group(groups, subject, "in its rows")
    if not groups:
        return Labels((make_block("tags", "tags", rows, subject),), len(rows))
    (group,) = groups
    if group == "text":
        return Labels((make_block(SEQUENCE_NAME, "category", rows, subject),), len(rows))
    if group != "list":
        raise TypeError(
            f"{subject} must be a matrix, a table, lists of tags or strings. "
            f"Got a sequence of {type(rows[groups[group]]).__name__} in one dimension. "
            "Convert the values to strings for a category, or reshape numbers to one column with "
            "`values.reshape(-1, 1)`."
        )
    lists = rows[rows.notna()]
    row_of = np.repeat(lists.index.to_numpy(), lists.map(len).to_numpy())
    values = as_series(list(chain.from_iterable(lists)))
    inside = {group: int(row_of[place]) for group, place in _value_groups(values).items()}
    if "boolean" in inside and "number" in inside:
        del inside["boolean"]
    _check_one_group(inside, subject, "in its lists")
    if not inside or "text" in inside:
        return Labels((make_block("tags", "tags", rows, subject),), len(rows))
    row = next(iter(inside.values()))
    unordered = lists.map(lambda row: isinstance(row, (set, frozenset))).any()
    if inside.keys().isdisjoint(("number", "boolean")) or unordered:
        raise TypeError(
            f"{subject} must hold strings in its lists of tags. Got {rows[row]!r} at row {row}. "
            "Convert the tags to strings."
        )
    if len(lists) < len(rows) or lists.map(len).nunique() > 1:
        raise ValueError(
            f"{subject} must have rows of equal length where they hold numbers. "
            "Got ragged rows. Pad the rows with NaN, or pass tags as strings."
        )
    return read_matrix(np.array([list(row) for row in lists], dtype=object), subject)


def column_name(position: int) -> str:
    """The name of a matrix's column."""
    return f"label_{position}"


def matrix_blocks(
    matrix: Any, subject: str, kinds: Sequence[Kind] | None = None, centred: bool | None = None
) -> tuple[tuple[LabelBlock, ...], int]:
    """The blocks of a sparse or dense matrix and its number of rows M.

    Numbers are centred if the matrix is dense, unless `centred` is given. A sparse matrix is never
    made dense, except for columns of centred numbers, where a zero is an observed value.
    """
    centred = not issparse(matrix) if centred is None else centred
    columns = csc_array(check_matrix(matrix, subject), copy=True)
    columns.sum_duplicates()
    # In a sparse matrix, a stored zero means the same as one that is not stored.
    columns.eliminate_zeros()
    column_of = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    for place in np.flatnonzero(np.isinf(columns.data))[:1]:
        part = slice(place, columns.indptr[column_of[place] + 1])
        name = column_name(column_of[place])
        check_not_infinite(columns.data[part], columns.indices[part], name, subject)
    if kinds is None:
        other = column_of[(columns.data != 1.0) & ~np.isnan(columns.data)]
        is_number = np.bincount(other, minlength=columns.shape[1]) > 0
    else:
        _check_kinds(kinds, columns.shape[1], subject)
        is_number = np.array([kind == "number" for kind in kinds], dtype=np.bool_)
    tags, numbers = np.flatnonzero(~is_number), np.flatnonzero(is_number)
    blocks = []
    if tags.size:
        blocks.append(_sparse_block(columns, "labels", "tags", tags, subject))
    if not centred and numbers.size:
        blocks.append(_sparse_block(columns, "numbers", "number", numbers, subject))
    elif numbers.size:
        blocks += [
            _number_block(column_name(j), as_series(columns[:, [j]].toarray()[:, 0]), subject, 0)
            for j in numbers.tolist()
        ]
    return tuple(blocks), columns.shape[0]


def _check_kinds(kinds: Sequence[Kind], n_columns: int, subject: str) -> None:
    if len(kinds) != n_columns:
        raise ValueError(
            f"`kinds` must have one entry for each column of {subject}. "
            f"Got {len(kinds)} for {n_columns} columns. Pass 'tags' or 'number' for each."
        )
    for kind in kinds:
        if kind not in ("tags", "number"):
            raise ValueError(
                f"`kinds` must be 'tags' or 'number'. Got {kind!r}. Pass a table to have "
                "categories."
            )


def _sparse_block(
    columns: csc_array, name: str, kind: Kind, positions: IntArray, subject: str
) -> LabelBlock:
    """The block of columns that are not centred."""
    entries = columns[:, positions].tocoo()
    observed = ~np.isnan(entries.data)
    rows, indices, data = entries.row[observed], entries.col[observed], entries.data[observed]
    names = tuple(map(column_name, positions.tolist()))
    if kind == "tags" and (data != 1.0).any():
        wrong = np.flatnonzero(data != 1.0)
        first = wrong[np.argmin(rows[wrong])]
        raise ValueError(
            f"{subject} must be 0, 1 or NaN in a column of tags, and is such a column wherever "
            f"training saw only 0 and 1. Got {data[first]} at row {rows[first]}, "
            f"column {names[indices[first]]!r}. "
            "Train with `Labels.from_matrix(matrix, kinds=...)` to make it a number."
        )
    values = csr_from_entries(rows, indices, data, (columns.shape[0], len(names)))
    return LabelBlock(name, kind, names, values, centred=kind == "tags")


def as_groups(groups: Any, n_documents: int, owner: str) -> tuple[str, ...] | None:
    """The names of document groups; "" for a document without one, which is its own group."""
    if groups is None:
        return None
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise TypeError(
            f"`groups` of {owner} must hold one value per document, such as its author. "
            f"Got {type(groups).__name__}."
        )
    names = ["" if is_missing(value) else level_name(value) for value in groups]
    if len(names) != n_documents:
        raise ValueError(
            f"`groups` of {owner} must hold one value for each of the "
            f"{count_of(n_documents, 'document')}. Got {count_of(len(names), 'value')}."
        )
    if None in names:
        raise TypeError(
            f"`groups` of {owner} must hold texts or numbers, one per document. "
            f"The value of document {names.index(None)} is neither."
        )
    return tuple(map(str, names))


def group_numbers(groups: tuple[str, ...]) -> IntArray:
    """A number for each document's group that follows from the group's name; -1 for none."""
    numbers = {"": -1}
    for name in set(groups) - {""}:
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        numbers[name] = int.from_bytes(digest, "little") >> 2
    return np.array([numbers[name] for name in groups], dtype=np.int64)
