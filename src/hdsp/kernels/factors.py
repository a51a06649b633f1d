"""Sparse products, and non-negative coordinate descent for the matrix-factorisation start."""

from typing import Any

from numba import njit

from hdsp.kernels.special import DEVICE, fast_exp, fill, kernel

_LARGEST_EXPONENT = 60.0


@kernel
def multiply_rows(
    first: Any, last: Any, indptr: Any, indices: Any, data: Any, dense: Any, out: Any
) -> None:
    """``out[m] = sum_i x_mi dense[i]`` for CSR rows ``first`` to ``last``. Twin: ``X @ dense``."""
    n_columns = dense.shape[1]
    for m in range(first, last):
        row = out[m]
        fill(row, out.dtype.type(0.0))
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
                row[k] += (x0 * d0[k] + x1 * d1[k]) + (x2 * d2[k] + x3 * d3[k])
            j += 4
        while j < stop:
            d0 = dense[indices[j]]
            x0 = data[j]
            for k in range(n_columns):
                row[k] += x0 * d0[k]
            j += 1


@kernel
def exponentiate(values: Any) -> None:
    """``values = exp(values)`` in place, [M, K], with exponents limited to -60 ... 60."""
    limit = values.dtype.type(_LARGEST_EXPONENT)
    for m in range(values.shape[0]):
        row = values[m]
        for k in range(row.shape[0]):
            row[k] = fast_exp(max(-limit, min(limit, row[k])))


@kernel
def descend_rows(gram: Any, gradient: Any, n_sweeps: Any, rows: Any) -> None:
    """Non-negative coordinate descent on ``row gram row^T / 2 - target row`` for each row.

    `gram` is [K, K]; `rows` [M, K] is replaced, after `n_sweeps` passes over the coordinates, and
    so is `gradient` [M, K], which is ``rows gram - target`` at first. It is kept up to date, so
    that a coordinate that stays at zero is free. Plain twin: ``tests/reference/factors.py``.
    """
    zero = rows.dtype.type(0.0)
    for m in range(rows.shape[0]):
        x = rows[m]
        slope = gradient[m]
        for _ in range(n_sweeps):
            for k in range(rows.shape[1]):
                diagonal = gram[k, k]
                if diagonal > zero and (x[k] > zero or slope[k] < zero):
                    new = max(zero, x[k] - slope[k] / diagonal)
                    _add_row(slope, new - x[k], gram[k])
                    x[k] = new


@njit(**DEVICE)
def _add_row(out: Any, factor: Any, row: Any) -> None:
    for j in range(out.shape[0]):
        out[j] += factor * row[j]
