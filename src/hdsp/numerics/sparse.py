"""Sparse matrices in which a stored zero is a value and must not get lost."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray, IntArray


def csr_from_entries(
    rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]
) -> csr_array:
    """Return a sorted CSR matrix that stores every given entry, zeros included."""
    order = np.lexsort((columns, rows))
    starts = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=starts[1:])
    return csr_array((values[order], columns[order], starts), shape=shape)


def csr_entries(matrix: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """Return row, column and value of every stored entry, zeros included."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices, matrix.data


def frozen_csr(matrix: Any) -> csr_array:
    """Copy to a float64 CSR matrix, sorted and without duplicates, whose arrays are read-only.

    Indices are int32 wherever they fit, so that compiled code meets one type.
    """
    source = csr_array(matrix)
    largest = max(source.nnz, *source.shape)
    index_type = np.int32 if largest <= np.iinfo(np.int32).max else np.int64
    frozen = csr_array(
        (
            np.array(source.data, dtype=np.float64),
            np.array(source.indices, dtype=index_type),
            np.array(source.indptr, dtype=index_type),
        ),
        shape=source.shape,
    )
    frozen.sum_duplicates()
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    return frozen
