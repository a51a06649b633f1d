"""Products of sparse and dense matrices, by the compiled row kernels."""

from typing import TYPE_CHECKING

import numpy as np

from hdsp.kernels.parallel import run_ranges
from hdsp.numerics import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROW_RANGE = 512


def csr_arrays(matrix: "csr_array") -> tuple[IntArray, IntArray, FloatArray]:
    """The arrays of a CSR matrix, with the index types that kernels are compiled for."""
    indptr = matrix.indptr.astype(np.int64, copy=False)
    return indptr, matrix.indices.astype(np.int32, copy=False), matrix.data


def sparse_product(matrix: "csr_array", dense: FloatArray) -> FloatArray:
    """``matrix @ dense``, [M, K], for a CSR matrix and a dense one of the same dtype."""
    from hdsp.kernels.factors import multiply_rows

    out = np.empty((matrix.shape[0], dense.shape[1]), dtype=dense.dtype)
    run_ranges(
        multiply_rows,
        matrix.shape[0],
        _ROW_RANGE,
        *csr_arrays(matrix),
        np.ascontiguousarray(dense),
        out,
    )
    return out


def exp_product(matrix: "csr_array", dense: FloatArray) -> FloatArray:
    """``exp(matrix @ dense)`` in the dtype of the CSR matrix, [M, K].

    Exponents are limited to -60 ... 60: beyond, they only say "never" or "always".
    """
    from hdsp.kernels.factors import exponentiate, multiply_rows

    dense = np.ascontiguousarray(dense, dtype=matrix.dtype)
    out = np.empty((matrix.shape[0], dense.shape[1]), dtype=matrix.dtype)
    multiply_rows(0, len(out), *csr_arrays(matrix), dense, out)
    exponentiate(out)
    return out
