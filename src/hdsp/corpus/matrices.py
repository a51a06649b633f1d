"""Labels from a matrix, whose columns are known by their position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array, issparse

from hdsp.corpus.blocks import number_block
from hdsp.corpus.labels import LabelBlock
from hdsp.numerics.sparse import csr_from_entries
from hdsp.validation import check_matrix, check_not_infinite, quoted

TAGS_NAME = "labels"
NUMBERS_NAME = "numbers"

MatrixKind = Literal["tags", "number"]


@dataclass(frozen=True)
class MatrixPart:
    """Which columns of a matrix make a block.

    Attributes
    ----------
    name : str
        The block's name.
    kind : {"tags", "number"}
        The kind of its labels.
    positions : tuple of int
        Its columns of the matrix.
    centred : bool
        Whether numbers are standardised about their mean; see `LabelBlock`.
    """

    name: str
    kind: MatrixKind
    positions: tuple[int, ...]
    centred: bool = True


def column_name(position: int) -> str:
    """Return the name of a matrix's column."""
    return f"label_{position}"


def matrix_blocks(
    matrix: Any,
    subject: str,
    kinds: Sequence[MatrixKind] | None = None,
    layout: Sequence[MatrixPart] | None = None,
) -> tuple[tuple[LabelBlock, ...], int]:
    """Return the blocks of a sparse or dense matrix and its number of rows M.

    A sparse matrix is never made dense, except for columns of centred numbers in `layout`, where
    a zero is an observed value like any other.
    """
    dense = not issparse(matrix)
    columns = csc_array(check_matrix(matrix, subject), copy=True)
    columns.sum_duplicates()
    # In a sparse matrix, a stored zero means the same as one that is not stored.
    columns.eliminate_zeros()
    for position in range(columns.shape[1]):
        part = slice(columns.indptr[position], columns.indptr[position + 1])
        check_not_infinite(
            columns.data[part], columns.indices[part], column_name(position), subject
        )
    if layout is None:
        layout = _layout(_kinds(columns, kinds, subject), dense)
    blocks = tuple(_block(columns, part, subject) for part in layout)
    return blocks, columns.shape[0]


def _kinds(
    columns: csc_array, kinds: Sequence[MatrixKind] | None, subject: str
) -> Sequence[MatrixKind]:
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


def _layout(kinds: Sequence[MatrixKind], dense: bool) -> list[MatrixPart]:
    tags = tuple(j for j, kind in enumerate(kinds) if kind == "tags")
    numbers = tuple(j for j, kind in enumerate(kinds) if kind == "number")
    parts = [MatrixPart(TAGS_NAME, "tags", tags)] if tags else []
    if dense:
        parts += [MatrixPart(column_name(j), "number", (j,)) for j in numbers]
    elif numbers:
        parts.append(MatrixPart(NUMBERS_NAME, "number", numbers, centred=False))
    return parts


def _block(columns: csc_array, part: MatrixPart, subject: str) -> LabelBlock:
    if part.kind == "number" and part.centred:
        (position,) = part.positions
        stored = slice(columns.indptr[position], columns.indptr[position + 1])
        values = np.zeros(columns.shape[0])
        values[columns.indices[stored]] = columns.data[stored]
        return number_block(part.name, values, subject)
    entries = columns[:, list(part.positions)].tocoo()
    observed = ~np.isnan(entries.data)
    rows, indices, data = entries.row[observed], entries.col[observed], entries.data[observed]
    if part.kind == "tags" and (data != 1.0).any():
        wrong = np.flatnonzero(data != 1.0)
        first = wrong[np.argmin(rows[wrong])]
        raise ValueError(
            f"{subject} must be 0, 1 or NaN in a column of tags, and is such a column wherever "
            f"training saw only 0 and 1. Got {data[first]} at row {rows[first]}, "
            f"column {column_name(part.positions[indices[first]])!r}. "
            "Train with `Labels.from_matrix(matrix, kinds=...)` to make it a number."
        )
    return LabelBlock(
        part.name,
        part.kind,
        tuple(column_name(j) for j in part.positions),
        csr_from_entries(rows, indices, data, (columns.shape[0], len(part.positions))),
        part.centred,
    )
