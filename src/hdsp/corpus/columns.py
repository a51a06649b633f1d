"""Label columns: any table, list or matrix as blocks of labels, converted by pandas.

Files and tables in memory come through the same functions, so the same values mean the same.
Messages name rows by the index of a Series.
"""

import hashlib
import json
import warnings
from calendar import isleap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from hdsp.checks import check_known, check_length, check_matrix, check_not_infinite
from hdsp.corpus.frames import as_series, is_frame, is_series, open_columns
from hdsp.corpus.labels import Kind, LabelBlock, Labels, Names, label_kinds
from hdsp.exceptions import LabelDataWarning
from hdsp.numerics import FloatArray, IntArray, csr_entries, csr_from_entries

if TYPE_CHECKING:
    import pandas as pd

MatrixReader = Callable[[Any, str], Labels]

SEQUENCE_NAME = "label"
_LIST_TYPES = (list, tuple, set, frozenset, np.ndarray)
_NUMBERS = (bool, np.bool_, int, float, np.integer, np.floating, Decimal)
# Types that pandas infers from values.
_PLAIN_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
_NUMBER_TYPES = (*_PLAIN_NUMBERS, "datetime64", "datetime", "date")
# How texts write that a number is missing.
_NO_NUMBER = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none"})
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


def parse_number(value: Any) -> float | None:
    """A value as a number, dates in decimal years also if written as text; None if it is neither.

    Examples
    --------
    >>> parse_number("2001-07-02T12:00"), parse_number("2.5"), parse_number("long ago")
    (2001.5, 2.5, None)
    """
    try:
        if isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                value = parse_date(value)
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        if isinstance(value, date):
            return _decimal_year(value)
        if isinstance(value, _NUMBERS):
            return float(value)
    except OverflowError:
        pass
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


def _decimal_year(day: date) -> float:
    """A date or time in years: noon on 2 July 2001 is 2001.5."""
    time = day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)
    time = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    since = time - datetime(time.year, 1, 1)
    return time.year + since / timedelta(days=365 + isleap(time.year))


def _decimal_years(times: NDArray[np.datetime64]) -> FloatArray:
    """Times in years, NaN if missing: `_decimal_year` of each."""
    years = times.astype("datetime64[Y]")
    start, end = (year.astype("datetime64[us]") for year in (years, years + 1))
    since = (times.astype("datetime64[us]") - start) / (end - start)
    return np.asarray(years.astype(np.int64) + 1970 + since, dtype=np.float64)


def make_block(
    name: str, kind: Kind, values: "pd.Series[Any]", subject: str, tag_separator: str | None = None
) -> LabelBlock:
    """A column as labels of a kind; messages name its rows by its index."""
    if kind == "number":
        return _number_block(name, values, subject)
    if kind == "tags":
        return _tags_block(name, values, subject, tag_separator)
    return _category_block(name, values, subject)


def _distinct(values: "pd.Series[Any]") -> tuple[IntArray, "pd.Series[Any]"]:
    """The place of each row among the distinct values, -1 if it is missing, and these values."""
    import pandas as pd

    observed = values.notna().to_numpy()
    if values.dtype == object and pd.api.types.infer_dtype(values).startswith("mixed"):
        # Python takes True for 1, and lists have no hash: each row has its own value.
        return np.where(observed, np.cumsum(observed) - 1, -1), values[observed]
    return pd.factorize(values)[0], values[observed & ~values.duplicated().to_numpy()]


def _levels(values: "pd.Series[Any]", name: str, subject: str) -> tuple[IntArray, list[str]]:
    """The place of each row's level, -1 if it is missing, and the levels, as they occur."""
    places, distinct = _distinct(values)
    names = list(map(level_name, distinct))
    if None in names:
        wrong = names.index(None)
        raise TypeError(
            f"{subject} must hold plain values as names, tags and categories. "
            f"Got a {type(distinct.iloc[wrong]).__name__} at row {distinct.index[wrong]}, "
            f"column {name!r}. Name a column of lists as `tags`, or flatten it."
        )
    # An empty text is missing, as an empty cell of a file is.
    levels = list(filter(None, dict.fromkeys(names)))
    place_of = {level: place for place, level in enumerate(levels)}
    return np.array([*(place_of.get(str(level), -1) for level in names), -1])[places], levels


def names_of(values: "pd.Series[Any]", name: str, subject: str) -> tuple[str, ...]:
    """The name of each value, "" if it is missing."""
    places, levels = _levels(values, name, subject)
    return tuple(np.array([*levels, ""], dtype=object)[places].tolist())


def _indicators(
    rows: IntArray, places: IntArray, levels: Sequence[str], columns: Sequence[str], n_rows: int
) -> csr_array:
    """Ones at the rows and columns of levels by their place, which is -1 if a row has none."""
    column_of = {column: number for number, column in enumerate(columns)}
    of_row = np.array([*(column_of[level] for level in levels), -1])[places]
    known = of_row >= 0
    entries = (np.ones(int(known.sum())), (rows[known], of_row[known]))
    matrix = csr_array(entries, shape=(n_rows, len(columns)))
    # A tag that is repeated counts once.
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def _category_block(name: str, values: "pd.Series[Any]", subject: str) -> LabelBlock:
    """One level per document; columns are the levels that occur, in their order or sorted."""
    places, levels = _levels(values, name, subject)
    if {level.lower() for level in levels} <= {"true", "false"}:
        # Text files write booleans in many ways.
        levels = [level.capitalize() for level in levels]
    columns = sorted(set(levels))
    for calendar in _CALENDAR:
        if all(level.lower() in calendar for level in columns):
            columns.sort(key=lambda level: calendar[level.lower()])
    if getattr(values.dtype, "ordered", False):
        known = dict.fromkeys(map(level_name, values.cat.categories))
        columns = [level for level in known if level in levels]
    n_rows = len(values)
    matrix = _indicators(np.arange(n_rows), places, levels, columns, n_rows)
    return LabelBlock(name, "category", tuple(columns), matrix)


def _tags_block(
    name: str, values: "pd.Series[Any]", subject: str, separator: str | None
) -> LabelBlock:
    """A list of tags per document; columns are the sorted tags."""
    split = cache(partial(_split_tags, separator=separator))
    lists = values.map(lambda value: split(value) if isinstance(value, str) else value)
    for row, tags in lists.dropna().items():
        if not isinstance(tags, _LIST_TYPES):
            raise TypeError(
                f"{subject} must hold a list of tags in each row of {name!r}. "
                f"Got {tags!r} at row {row}. Split it into a list, write it as "
                """'["a", "b"]', or read the file with `tag_separator`."""
            )
    long = lists.explode()
    places, levels = _levels(long, name, subject)
    columns = sorted(levels)
    rows = long.index.to_numpy() - (values.index[0] if len(values) else 0)
    matrix = _indicators(rows, places, levels, columns, len(values))
    return LabelBlock(
        name, "tags", tuple(columns), matrix, n_missing=int(lists.isna().to_numpy().sum())
    )


def _split_tags(text: str, separator: str | None) -> list[Any] | str | None:
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


def _number_block(name: str, values: "pd.Series[Any]", subject: str) -> LabelBlock:
    """A number per document; every observed value is stored, zero included."""
    from pandas.api.types import is_any_real_numeric_dtype, is_bool_dtype, is_datetime64_any_dtype

    if is_datetime64_any_dtype(values):
        zoned = getattr(values.dtype, "tz", None) is not None
        numbers = _decimal_years((values.dt.tz_convert(None) if zoned else values).to_numpy())
    elif is_bool_dtype(values) or is_any_real_numeric_dtype(values):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        places, distinct = _distinct(values)
        numbers = np.append(_parsed_numbers(name, distinct, subject), np.nan)[places]
    rows = np.flatnonzero(~np.isnan(numbers))
    check_not_infinite(numbers[rows], values.index.to_numpy()[rows], name, subject)
    entries = csr_from_entries(rows, np.zeros_like(rows), numbers[rows], (len(numbers), 1))
    return LabelBlock(name, "number", (name,), entries)


def _parsed_numbers(name: str, values: "pd.Series[Any]", subject: str) -> FloatArray:
    """The numbers that values of any type are, or write; NaN if missing."""
    numbers = [
        np.nan if isinstance(v, str) and v.strip().lower() in _NO_NUMBER else parse_number(v)
        for v in values
    ]
    if None in numbers:
        wrong = numbers.index(None)
        raise TypeError(
            f"{subject} must hold numbers or dates in column {name!r}. "
            f"Got {values.iloc[wrong]!r} at row {values.index[wrong]}. Convert the column, read "
            "the file with `decimal`, if that is ',', or make it a category."
        )
    return np.array(numbers, dtype=np.float64)


def holds_dates(block: LabelBlock) -> bool:
    """Whether a block is a category whose levels are all dates."""
    return block.kind == "category" and bool(block.columns) and all(map(parse_date, block.columns))


def warn_dates(labels: Labels) -> None:
    """Warn of categories whose levels are all dates, and offer them as numbers."""
    for block in filter(holds_dates, labels.blocks):
        warnings.warn(
            f"{block.name!r} holds dates as text, each of which is a level of its own: name it "
            "with `numeric` (on the command line, --numeric) to read dates, in years.",
            LabelDataWarning,
            stacklevel=4,
        )


def numeric_levels(block: LabelBlock) -> LabelBlock | None:
    """A category whose levels are all numbers or dates as a number; None if they are not."""
    import pandas as pd

    if block.kind != "category" or not block.columns:
        return None
    rows, levels, _ = csr_entries(block.values)
    values = np.full(block.values.shape[0], None, dtype=object)
    values[rows] = np.array(block.columns, dtype=object)[levels]
    try:
        return make_block(block.name, "number", pd.Series(values), "The column")
    except (TypeError, ValueError):
        return None


def _kind_of(values: "pd.Series[Any]", subject: str, where: str = "") -> Kind:
    """The kind of labels that values of one type are."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(values)
    if inferred in ("string", "boolean", "categorical", "empty"):
        # A column without values becomes a category without levels, which has no effect.
        return "category"
    if inferred in _NUMBER_TYPES:
        return "number"
    classes = values[values.notna()].map(type)
    known = classes.map(lambda cls: issubclass(cls, _LIST_TYPES))
    if known.all():
        return "tags"
    wrong = classes[classes != classes.iloc[0]]
    row = wrong.index[0] if len(wrong) else classes.index[0]
    raise TypeError(
        f"{subject} must hold text, booleans, numbers, dates or lists of tags, all of one type. "
        f"Got a {classes[row].__name__} at row {row}{where}. Convert it, or drop it."
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
    labels: Any,
    n_documents: int,
    subject: str,
    read_matrix: MatrixReader | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> Labels:
    """Labels in any form: a matrix with `read_matrix`, a table by `kinds`, if given."""
    read_matrix = read_matrix or matrix_labels
    if labels is None:
        return Labels.empty(n_documents)
    is_array = hasattr(labels, "__array__")
    if isinstance(labels, Labels):
        result = labels
    elif is_frame(labels):
        result = _frame_labels(labels, subject, kinds)
    elif is_series(labels):
        result = _from_sequence(as_series(labels), subject, read_matrix)
    elif issparse(labels) or (is_array and np.ndim(labels) != 1):
        result = read_matrix(labels, subject)
    elif is_array or (isinstance(labels, Sequence) and not isinstance(labels, (str, bytes))):
        rows = as_series(np.asarray(labels) if is_array else list(labels))
        result = _from_sequence(rows, subject, read_matrix)
    else:
        raise TypeError(
            f"{subject} must be None, a matrix, a list of lists of strings, a sequence of "
            "strings, a pandas, polars or pyarrow table in memory, or Labels. "
            f"Got {type(labels).__name__}. Convert it to one of these."
        )
    check_length(len(result), n_documents, subject)
    return result


def read_frame(frame: Any, tags: Names, categories: Names, numeric: Names) -> Labels:
    """A table's columns as labels, the named ones only if any are named."""
    owner = "Labels.from_frame"
    subject = f"`frame` of {owner}"
    if not is_frame(frame):
        raise TypeError(
            f"{subject} must be a pandas, polars or pyarrow table in memory. "
            f"Got {type(frame).__name__}. Convert it, or collect a lazy one."
        )
    kinds = label_kinds(tags, categories, numeric, subject)
    columns = open_columns(frame, subject)
    for name in kinds:
        check_known(name, columns, "tags`, `categories` or `numeric", owner, "columns")
    return _frame_labels(frame, subject, kinds or None)


def _frame_labels(frame: Any, subject: str, kinds: Mapping[str, Kind] | None) -> Labels:
    blocks = []
    for name, column in open_columns(frame, subject).items():
        if kinds is not None and name not in kinds:
            continue
        values = as_series(column)
        kind = _kind_of(values, subject, f", column {name!r}") if kinds is None else kinds[name]
        block = make_block(name, kind, values, subject)
        if kinds is None and not getattr(values.dtype, "ordered", False) and holds_dates(block):
            block = make_block(name, "number", values, subject)
        blocks.append(block)
    return Labels(tuple(blocks), len(frame))


def _from_sequence(rows: "pd.Series[Any]", subject: str, read_matrix: MatrixReader) -> Labels:
    """A sequence of strings, of lists of strings, or of lists of numbers (a matrix)."""
    from pandas.api.types import infer_dtype

    kind, inferred = _kind_of(rows, subject), infer_dtype(rows)
    if inferred in ("string", "categorical"):
        return Labels((make_block(SEQUENCE_NAME, "category", rows, subject),), len(rows))
    if kind != "tags" and inferred != "empty":
        raise TypeError(
            f"{subject} must be a matrix, a table, lists of tags or strings. "
            f"Got a sequence of type {inferred} in one dimension. Convert the values to strings "
            "for a category, or reshape numbers to one column with `values.reshape(-1, 1)`."
        )
    if infer_dtype(rows.explode().dropna()) in (*_PLAIN_NUMBERS, "boolean"):
        return read_matrix(rows.tolist(), subject)
    return Labels((make_block("tags", "tags", rows, subject),), len(rows))


def column_name(position: int) -> str:
    """The name of a matrix's column."""
    return f"label_{position}"


def matrix_labels(
    matrix: Any, subject: str, kinds: Sequence[Kind] | None = None, centred: bool | None = None
) -> Labels:
    """The columns of a sparse or dense matrix as labels, whose kinds follow from their values.

    Numbers are centred if the matrix is dense, unless `centred` is given. A sparse matrix is never
    made dense, except for columns of centred numbers, where a zero is an observed value.
    """
    centred = not issparse(matrix) if centred is None else centred
    columns = csc_array(check_matrix(matrix, subject), copy=True)
    columns.sum_duplicates()
    # In a sparse matrix, a stored zero means the same as one that is not stored.
    columns.eliminate_zeros()
    n_rows, n_columns = columns.shape
    entries = columns.tocoo()
    if kinds is None:
        other = entries.col[(entries.data != 1.0) & ~np.isnan(entries.data)]
        is_number = np.bincount(other, minlength=n_columns) > 0
    else:
        is_number = np.array([kind == "number" for kind in kinds], dtype=np.bool_)
    tags, numbers = np.flatnonzero(~is_number), np.flatnonzero(is_number)
    blocks = []
    if tags.size:
        blocks.append(_sparse_block(columns, "labels", "tags", tags))
    if not centred and numbers.size:
        blocks.append(_sparse_block(columns, "numbers", "number", numbers))
    elif numbers.size:
        for j in numbers.tolist():
            values = as_series(columns[:, [j]].toarray()[:, 0])
            blocks.append(make_block(column_name(j), "number", values, subject))
    return Labels(tuple(blocks), n_rows)


def _sparse_block(columns: csc_array, name: str, kind: Kind, positions: IntArray) -> LabelBlock:
    """The block of columns that are not centred."""
    entries = columns[:, positions].tocoo()
    observed = ~np.isnan(entries.data)
    rows, indices, data = entries.row[observed], entries.col[observed], entries.data[observed]
    names = tuple(map(column_name, positions.tolist()))
    values = csr_from_entries(rows, indices, data, (columns.shape[0], len(names)))
    return LabelBlock(name, kind, names, values, centred=kind == "tags")


def as_groups(groups: Any, n_documents: int, owner: str) -> tuple[str, ...] | None:
    """The names of document groups; "" for a document without one, which is its own group."""
    if groups is None:
        return None
    subject = f"`groups` of {owner}"
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise TypeError(
            f"{subject} must hold one value per document, such as its author. "
            f"Got {type(groups).__name__}."
        )
    values = as_series(groups if is_series(groups) else list(groups))
    check_length(len(values), n_documents, subject)
    return names_of(values, "groups", subject)


def group_numbers(groups: tuple[str, ...]) -> IntArray:
    """A number for each document's group that follows from the group's name; -1 for none."""
    numbers = {"": -1}
    for name in set(groups) - {""}:
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        numbers[name] = int.from_bytes(digest, "little") >> 2
    return np.array([numbers[name] for name in groups], dtype=np.int64)
