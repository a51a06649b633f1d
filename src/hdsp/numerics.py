"""Array types and leaf mathematics: gamma variables, stick breaking, sparse matrices, samples."""

import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln, psi

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

# Documents of a block: enough to keep threads busy, few enough for small temporary arrays.
BLOCK_DOCUMENTS = 8_192
# The integrand is analytic in a strip of half-width pi in ln t, so the trapezoid rule's error at
# this step is far below 1e-9; the limits below omit less than exp(-_TAIL).
_STEP, _TAIL = 0.25, 20.0
_PACKAGES = ("hdsp", "numpy", "scipy", "scikit-learn", "numba")


def library_versions() -> dict[str, str]:
    """Versions of Python, hdsp and the numerical libraries."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def expected_log_gamma(shape: FloatArray, rate: FloatArray) -> FloatArray:
    """E[ln x] of x ~ Gamma(shape, rate), [T, J]."""
    return by_distinct_columns(psi, shape) - np.log(rate)


def by_distinct_columns(
    function: Callable[[FloatArray], FloatArray], values: FloatArray
) -> FloatArray:
    """``function(values)`` of a matrix [T, J], elementwise, computed once for equal columns.

    The shapes of label weights depend only on a label's number of documents, so thousands of
    labels have a handful of distinct columns.
    """
    if values.ndim != 2 or len(values) == 0:
        return np.asarray(function(values))
    _, first, column = np.unique(values[0], return_index=True, return_inverse=True)
    distinct = values[:, first]
    if 2 * len(first) > values.shape[1] or not np.array_equal(distinct[:, column], values):
        return np.asarray(function(values))
    return np.asarray(function(distinct))[:, column]


def gamma_divergence(
    shape: FloatArray, rate: FloatArray, prior_shape: float, prior_rate: float
) -> FloatArray:
    """E[ln p(x)] - E[ln q(x)], elementwise: -KL(q || p) of Gamma(shape, rate) from the prior."""
    return np.asarray(
        prior_shape * (np.log(prior_rate) - np.log(rate))
        - gammaln(prior_shape)
        + by_distinct_columns(gammaln, shape)
        + (prior_shape - shape) * by_distinct_columns(psi, shape)
        + shape * (1.0 - prior_rate / rate)
    )


def log_gamma_density(x: float, shape: float, rate: float) -> float:
    """ln Gamma(x; shape, rate)."""
    return float(shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * np.log(x) - rate * x)


def normalised_gamma_mean(shape: FloatArray, rate: FloatArray) -> FloatArray:
    """E[x_k / sum_j x_j], [M, K], for independent x_k ~ Gamma(shape_k, rate_mk) (equation 21).

    Equal rates give the Dirichlet mean:

    >>> normalised_gamma_mean(np.array([1.0, 3.0]), np.full((1, 2), 7.0)).round(6).tolist()
    [[0.25, 0.75]]
    """
    if len(rate) == 0:
        return np.empty(rate.shape)
    log_rate = np.log(rate)
    total = shape.sum()
    # Small t: the integrand is at most t sum(a / rho). Large t: prod (rho_j / t)^a_j.
    start = -np.log((shape / rate).sum(axis=1)) - _TAIL
    stop = (log_rate @ shape) / total + _TAIL / total
    stop = np.maximum(stop, log_rate.max(axis=1) + _TAIL / total)
    # For small shapes that is far away; beyond this point the integrand is prod (rho_j / t)^a_j.
    reached = log_rate.max(axis=1) + 2.0 * _TAIL
    cut = bool((stop > reached).any())
    if cut:
        start = np.minimum(start, log_rate.min(axis=1) - _TAIL)
        stop = np.minimum(stop, reached)
    n_nodes = int(np.ceil((stop - start).max() / _STEP)) + 1
    mean = np.zeros_like(rate, dtype=np.float64)
    for node in range(n_nodes):
        log_t = (start + node * _STEP)[:, None]
        # ln(1 + t / rho), without overflow for large t
        log_ratio = np.logaddexp(0.0, log_t - log_rate)
        survival = np.exp(-(log_ratio @ shape))[:, None]
        mean += shape * np.exp(log_t - log_rate - log_ratio) * survival
    if cut:
        mean += shape * survival * (1.0 / (total * _STEP) - 0.5)
    return np.asarray(mean / mean.sum(axis=1, keepdims=True))


def weights_from_sticks(sticks: FloatArray) -> FloatArray:
    """p_k = V_k prod_{l<k} (1 - V_l), [T], of the sticks [T - 1]; the last stick is 1.

    >>> weights_from_sticks(np.array([0.5, 0.5])).tolist()
    [0.5, 0.25, 0.25]
    """
    left = np.concatenate([[1.0], np.cumprod(1.0 - sticks)])
    return np.asarray(np.concatenate([sticks, [1.0]]) * left)


def sticks_from_weights(weights: FloatArray) -> FloatArray:
    """The sticks [T - 1] of weights [T]: the inverse of `weights_from_sticks`."""
    tail = np.cumsum(weights[::-1])[::-1]
    return weights[:-1] / tail[:-1]


def csr_from_entries(
    rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]
) -> csr_array:
    """A sorted CSR matrix that stores every given entry, zeros included."""
    order = np.lexsort((columns, rows))
    starts = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=starts[1:])
    return csr_array((values[order], columns[order], starts), shape=shape)


def csr_entries(matrix: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """Row, column and value of every stored entry, zeros included."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices, matrix.data


def frozen_csr(matrix: Any) -> csr_array:
    """A read-only copy as float64 CSR, sorted and without duplicates; int32 indices if they fit."""
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


def sample_rows(n_rows: int, most: int, seed: int = 0) -> IntArray:
    """At most `most` of the rows, chosen at random, in order."""
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:most])


def parts_of(rows: IntArray, size: int = BLOCK_DOCUMENTS) -> Iterator[IntArray]:
    """The rows in parts of `size`."""
    for first in range(0, len(rows), size):
        yield rows[first : first + size]
