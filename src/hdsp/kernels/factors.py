"""Sparse products and non-negative coordinate descent for the matrix-factorisation start."""

from typing import Any

from numba import njit

from hdsp.kernels.special import ARITHMETIC


@njit(nogil=True, cache=True, **ARITHMETIC)
def multiply_rows(
    first: Any, last: Any, indptr: Any, indices: Any, data: Any, dense: Any, out: Any
) -> None:
    """``out[m] = sum_i x_mi dense[i]`` for CSR rows ``first`` to ``last``. Twin: ``X @ dense``."""
    n_columns = dense.shape[1]
    for m in range(first, last):
        row = out[m]
        row[:] = 0
        j = indptr[m]
        stop = indptr[m + 1]
        while j + 4 <= stop:
            d0 = dense[indices[j]]
            d1 = dense[indices[j + 1]]
            d2 = dense[indices[j + 2]]
            d3 = dense[indices[j + 3]]
            x0 = data[j]
            x1 = data[j + 1]
            x2 = data[j + 2]
            x3 = data[j + 3]
            for k in range(n_columns):
                row[k] += x0 * d0[k] + x1 * d1[k] + x2 * d2[k] + x3 * d3[k]
            j += 4
        while j < stop:
            d0 = dense[indices[j]]
            x0 = data[j]
            for k in range(n_columns):
                row[k] += x0 * d0[k]
            j += 1


@njit(nogil=True, cache=True, **ARITHMETIC)
def descend_rows(first: Any, last: Any, gram: Any, target: Any, n_sweeps: Any, rows: Any) -> None:
    """Non-negative coordinate descent on ``|row gram row^T / 2 - target row|`` for each row.

    `gram` [K, K], `target` [M, K], `rows` [M, K] replaced; `n_sweeps` passes over the coordinates.
    Plain twin: ``tests/reference/factors.py``.
    """
    n_columns = rows.shape[1]
    zero = rows.dtype.type(0.0)
    for m in range(first, last):
        x = rows[m]
        for _ in range(n_sweeps):
            for k in range(n_columns):
                diagonal = gram[k, k]
                if diagonal > zero:
                    g = gram[k]
                    dot = zero
                    for j in range(n_columns):
                        dot += g[j] * x[j]
                    x[k] = max(zero, x[k] + (target[m, k] - dot) / diagonal)
