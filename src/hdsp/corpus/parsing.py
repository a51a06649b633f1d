"""Labels from every form in which they are accepted."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hdsp.checks import check_length, quoted
from hdsp.corpus.blocks import category_block, holds_dates, make_block, numeric_levels, tags_block
from hdsp.corpus.frames import (
    column_kind,
    column_values,
    is_frame,
    is_series,
    level_order,
    open_columns,
    open_series,
)
from hdsp.corpus.labels import Kind, LabelBlock, Labels, Names, label_kinds
from hdsp.corpus.matrices import matrix_blocks
from hdsp.corpus.values import ValueGroup, groups_of, is_missing

SEQUENCE_NAME = "label"

MatrixReader = Callable[[Any, str], Labels]


def as_labels(labels: object, n_documents: int, owner: str = "HDSP.fit") -> Labels:
    """Read labels in any accepted form.

    Parameters
    ----------
    labels : Labels, table, matrix, list or None
        A sparse or dense matrix [M, J], see `Labels.from_matrix`; a pandas, polars or pyarrow
        table, see `Labels.from_frame`; a list of lists of strings (tags), where None is missing;
        or a sequence of M strings, which is one category called "label". None for no labels.
    n_documents : int
        Number of documents M that the labels must have.
    owner : str, default="HDSP.fit"
        The function whose argument `labels` is, for messages.

    Returns
    -------
    Labels
        The labels of the M documents.

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
    """Read labels in any form: a matrix with `read_matrix`, a table by `kinds`, where given."""
    if labels is None:
        return Labels.empty(n_documents)
    result = _read(labels, subject, read_matrix or from_matrix, kinds)
    check_length(len(result), n_documents, subject)
    return result


def read_frame(
    frame: Any, tags: Names, categories: Names, numeric: Names
) -> tuple[tuple[LabelBlock, ...], int]:
    """Return the blocks of a table's columns, of the named ones only if any are named."""
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


def _read(
    labels: Any, subject: str, read_matrix: MatrixReader, kinds: Mapping[str, Kind] | None
) -> Labels:
    if isinstance(labels, Labels):
        return labels
    if issparse(labels):
        return read_matrix(labels, subject)
    if isinstance(labels, (str, bytes, Mapping)):
        raise _unsupported(labels, subject)
    if not isinstance(labels, (list, tuple, np.ndarray)):
        if is_frame(labels):
            return Labels(_frame_blocks(labels, subject, kinds), len(labels))
        if is_series(labels):
            column = open_series(labels)
            labels, order = list(column.to_list()), level_order(column)
            if order is not None:
                block = category_block(SEQUENCE_NAME, labels, subject, order)
                return Labels((block,), len(labels))
        elif hasattr(labels, "__array__"):
            labels = np.asarray(labels)
        elif isinstance(labels, Sequence):
            labels = list(labels)
        else:
            raise _unsupported(labels, subject)
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        return read_matrix(labels, subject)
    return _from_sequence(list(labels), subject, read_matrix)


def from_matrix(matrix: Any, subject: str) -> Labels:
    """Read a matrix, and tell the kinds of its columns from their values."""
    return Labels(*matrix_blocks(matrix, subject))


def _frame_blocks(
    frame: Any, subject: str, kinds: Mapping[str, Kind] | None
) -> tuple[LabelBlock, ...]:
    blocks = []
    for name, series in open_columns(frame, subject).items():
        if kinds is not None and name not in kinds:
            continue
        kind = column_kind(name, series, subject) if kinds is None else kinds[name]
        values, order = column_values(series), level_order(series)
        block = make_block(name, kind, values, subject, order=order)
        if kinds is None and order is None and holds_dates(block):
            block = numeric_levels(block) or block
        blocks.append(block)
    return tuple(blocks)


def _from_sequence(rows: list[Any], subject: str, read_matrix: MatrixReader) -> Labels:
    """Read a sequence: of strings, of lists of strings, or of lists of numbers (a matrix)."""
    groups = groups_of(rows)
    _check_one_group(groups, subject, "in its rows")
    if not groups:
        return Labels((tags_block("tags", rows, subject),), len(rows))
    group = next(iter(groups))
    if group == "text":
        return Labels((category_block(SEQUENCE_NAME, rows, subject),), len(rows))
    if group != "list":
        raise TypeError(
            f"{subject} must be a matrix, a table, lists of tags or strings. "
            f"Got a sequence of {type(rows[groups[group]]).__name__} in one dimension. "
            "Convert the values to strings for a category, or reshape numbers to one column with "
            "`values.reshape(-1, 1)`."
        )
    inside: dict[ValueGroup, int] = {}
    for position, row in enumerate(rows):
        if not is_missing(row):
            for inner in groups_of(row):
                inside.setdefault(inner, position)
    if "boolean" in inside and "number" in inside:
        del inside["boolean"]
    _check_one_group(inside, subject, "in its lists")
    if not inside or "text" in inside:
        return Labels((tags_block("tags", rows, subject),), len(rows))
    unordered = any(isinstance(row, (set, frozenset)) for row in rows)
    if ("number" in inside or "boolean" in inside) and not unordered:
        widths = [len(row) for row in rows if not is_missing(row)]
        if len(widths) < len(rows) or len(set(widths)) > 1:
            raise ValueError(
                f"{subject} must have rows of equal length where they hold numbers. "
                "Got ragged rows. Pad the rows with NaN, or pass tags as strings."
            )
        return read_matrix(np.array([list(row) for row in rows], dtype=object), subject)
    position = next(iter(inside.values()))
    raise TypeError(
        f"{subject} must hold strings in its lists of tags. Got {rows[position]!r} at row "
        f"{position}. Convert the tags to strings."
    )


def _check_one_group(groups: dict[ValueGroup, int], subject: str, where: str) -> None:
    if len(groups) > 1:
        (one, row), (other, other_row) = list(groups.items())[:2]
        raise TypeError(
            f"{subject} must hold values of one type {where}. Got {one} at row {row} and {other} "
            f"at row {other_row}. Use strings or lists of strings throughout."
        )


def _unsupported(labels: object, subject: str) -> TypeError:
    return TypeError(
        f"{subject} must be None, a matrix, a list of lists of strings, a sequence of strings, a "
        f"pandas, polars or pyarrow table in memory, or Labels. Got {type(labels).__name__}. "
        "Convert it to one of these."
    )
