"""Labels from a matrix, whose columns are known by their position."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from hdsp.checks import check_matrix, check_not_infinite, quoted
from hdsp.corpus.blocks import number_block
from hdsp.corpus.labels import Kind, LabelBlock
from hdsp.numerics import csr_from_entries

TAGS_NAME = "labels"
NUMBERS_NAME = "numbers"


def column_name(position: int) -> str:
    """Return the name of a matrix's column."""
    return f"label_{position}"


def matrix_blocks(
    matrix: Any, subject: str, kinds: Sequence[Kind] | None = None, centred: bool | None = None
) -> tuple[tuple[LabelBlock, ...], int]:
    """Return the blocks of a sparse or dense matrix and its number of rows M.

    Numbers are centred where the matrix is dense, unless `centred` says otherwise. A sparse matrix
    is never made dense, except for columns of centred numbers, where a zero is an observed value
    like any other.
    """
    centred = not issparse(matrix) if centred is None else centred
    columns = csc_array(check_matrix(matrix, subject), copy=True)
    columns.sum_duplicates()
    # In a sparse matrix, a stored zero means the same as one that is not stored.
    columns.eliminate_zeros()
    for position in range(columns.shape[1]):
        part = slice(columns.indptr[position], columns.indptr[position + 1])
        check_not_infinite(
            columns.data[part], columns.indices[part], column_name(position), subject
        )
    kinds = _kinds(columns, kinds, subject)
    tags = [j for j, kind in enumerate(kinds) if kind == "tags"]
    numbers = [j for j, kind in enumerate(kinds) if kind == "number"]
    blocks = [_block(columns, TAGS_NAME, "tags", tags, subject)] if tags else []
    if centred:
        blocks += [_number_block(columns, j, subject) for j in numbers]
    elif numbers:
        blocks.append(_block(columns, NUMBERS_NAME, "number", numbers, subject))
    return tuple(blocks), columns.shape[0]


def _kinds(columns: csc_array, kinds: Sequence[Kind] | None, subject: str) -> Sequence[Kind]:
    n_columns = columns.shape[1]
    if kinds is None:
        other = (columns.data != 1.0) & ~np.isnan(columns.data)
        column_of = np.repeat(np.arange(n_columns), np.diff(columns.indptr))
        numeric = np.zeros(n_columns, dtype=np.bool_)
        numeric[column_of[other]] = True
        return ["number" if is_number else "tags" for is_number in numeric]
    if len(kinds) != n_columns:
        raise ValueError(
            f"`kinds` must have one entry for each column of {subject}. "
            f"Got {len(kinds)} for {n_columns} columns. Pass 'tags' or 'number' for each."
        )
    for kind in kinds:
        if kind not in ("tags", "number"):
            raise ValueError(
                f"`kinds` must be {quoted(['tags', 'number'])}. Got {kind!r}. "
                "Pass a table to have categories."
            )
    return kinds


def _number_block(columns: csc_array, position: int, subject: str) -> LabelBlock:
    stored = slice(columns.indptr[position], columns.indptr[position + 1])
    values = np.zeros(columns.shape[0])
    values[columns.indices[stored]] = columns.data[stored]
    return number_block(column_name(position), values, subject)


def _block(
    columns: csc_array, name: str, kind: Kind, positions: Sequence[int], subject: str
) -> LabelBlock:
    """Return the block of columns that are not centred."""
    entries = columns[:, list(positions)].tocoo()
    observed = ~np.isnan(entries.data)
    rows, indices, data = entries.row[observed], entries.col[observed], entries.data[observed]
    names = tuple(map(column_name, positions))
    if kind == "tags" and (data != 1.0).any():
        wrong = np.flatnonzero(data != 1.0)
        first = wrong[np.argmin(rows[wrong])]
        raise ValueError(
            f"{subject} must be 0, 1 or NaN in a column of tags, and is such a column wherever "
            f"training saw only 0 and 1. Got {data[first]} at row {rows[first]}, "
            f"column {names[indices[first]]!r}. "
            "Train with `Labels.from_matrix(matrix, kinds=...)` to make it a number."
        )
    values = csr_from_entries(rows, indices, data, (columns.shape[0], len(positions)))
    return LabelBlock(name, kind, names, values, centred=kind == "tags")
