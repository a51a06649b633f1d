"""Sparse products, and non-negative coordinate descent for the matrix-factorisation start."""

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from hdsp.kernels.parallel import run_ranges
from hdsp.kernels.special import DEVICE, fast_exp, fill, kernel
from hdsp.numerics import FloatArray, IntArray

_ROW_RANGE = 512
_LARGEST_EXPONENT = 60.0


@kernel
def multiply_rows(first, last, indptr, indices, data, dense, out):
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
def mix_rows(first, last, indptr, indices, proportions, word_share, out):
    """``out[i] = sum_k theta_mk phi_ki`` for stored words i of documents ``first`` to ``last``.

    Plain twin: ``tests/reference/likelihood.py``.
    """
    for m in range(first, last):
        theta = proportions[m]
        for i in range(indptr[m], indptr[m + 1]):
            row = word_share[indices[i]]
            mixed = out.dtype.type(0.0)
            for k in range(theta.shape[0]):
                mixed += theta[k] * row[k]
            out[i] = mixed


@kernel
def exponentiate(values):
    """``values = exp(values)`` in place, [M, K], with exponents limited to -60 ... 60."""
    limit = values.dtype.type(_LARGEST_EXPONENT)
    for m in range(values.shape[0]):
        row = values[m]
        for k in range(row.shape[0]):
            row[k] = fast_exp(max(-limit, min(limit, row[k])))


@kernel
def descend_rows(gram, gradient, n_sweeps, rows):
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
def _add_row(out, factor, row):
    for j in range(out.shape[0]):
        out[j] += factor * row[j]


def csr_arrays(matrix: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """The arrays of a CSR matrix, with the index types that kernels are compiled for."""
    indptr = matrix.indptr.astype(np.int64, copy=False)
    return indptr, matrix.indices.astype(np.int32, copy=False), matrix.data


def sparse_product(matrix: csr_array, dense: FloatArray) -> FloatArray:
    """``matrix @ dense``, [M, K], for a CSR matrix and a dense one of the same dtype."""
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


def mix_words(counts: csr_array, proportions: FloatArray, word_share: FloatArray) -> FloatArray:
    """``proportions @ word_share.T`` where `counts` [M, V] stores entries, [nnz].

    The probabilities of documents' words, of proportions [M, T] and E[phi] [V, T].
    """
    indptr, indices, _ = csr_arrays(counts)
    out = np.empty(len(indices), dtype=word_share.dtype)
    arrays = (np.ascontiguousarray(proportions), np.ascontiguousarray(word_share), out)
    run_ranges(mix_rows, counts.shape[0], _ROW_RANGE, indptr, indices, *arrays)
    return out


def exp_product(matrix: csr_array, dense: FloatArray) -> FloatArray:
    """``exp(matrix @ dense)`` in the dtype of the CSR matrix, [M, K].

    Exponents are limited to -60 ... 60: beyond, they only say "never" or "always".
    """
    dense = np.ascontiguousarray(dense, dtype=matrix.dtype)
    out = np.empty((matrix.shape[0], dense.shape[1]), dtype=matrix.dtype)
    multiply_rows(0, len(out), *csr_arrays(matrix), dense, out)
    exponentiate(out)
    return out
