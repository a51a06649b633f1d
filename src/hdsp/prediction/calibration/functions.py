"""Scaling functions that are not log-linear, in the regression of topics on labels.

Expected proportions are theta_k ~ exp(u_k + r . v_k + sum_f ln s_fk(r; w_fk)), with the log scales
of these functions as they are, and their weights in the rows of the coefficients that log-linear
columns would have. Weights are found by the multinomial likelihood, from those of the fit. What is
said of columns of a design is said of a function's derivatives by its weights (`tangent`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design, FunctionColumns, LabelSpace, Parameters, ScalingFunction

_CHUNK = 2_048
_HALVINGS = 8


class Forms(NamedTuple):
    """Functions, the weights that they begin with [J, K], and the tokens of topics [G, K]."""

    functions: tuple[FunctionColumns, ...]
    weights: FloatArray
    tokens: FloatArray


def fitted_weights(space: LabelSpace, parameters: Parameters, n_padded: int) -> FloatArray:
    """The weights of functions that are not log-linear as the fit found them, 0 besides, [J, K]."""
    drawn = space.scaling.draw_posterior(parameters, np.random.default_rng(0))
    found = np.zeros((space.n_columns, n_padded))
    for _, columns in space.functions:
        found[columns, : len(drawn)] = drawn[:, columns].T
    return found


def design_scores(
    design: Design, coefficients: FloatArray, functions: tuple[FunctionColumns, ...] = ()
) -> FloatArray:
    """What the labels of documents [M, J] add to the log proportions of topics, [M, T]."""
    if not functions:
        return np.asarray(design @ coefficients)
    linear = coefficients.copy()
    for _, columns in functions:
        linear[columns] = 0.0
    found = np.asarray(design @ linear)
    for function, columns in functions:
        found = found + function.log_scale(coefficients[columns].T, design[:, columns])
    return found.astype(coefficients.dtype, copy=False)


def linear_part(design: Design, functions: tuple[FunctionColumns, ...]) -> Design:
    """The design with nothing in the columns of functions."""
    if not functions:
        return design
    kept = np.ones(design.shape[1], dtype=design.dtype)
    for _, columns in functions:
        kept[columns] = 0.0
    found = csr_array(design.multiply(kept))
    found.eliminate_zeros()
    return found


def sweep_functions(
    forms: Forms,
    design: Design,
    lengths: FloatArray,
    penalty: FloatArray,
    expected: FloatArray,
    coefficients: FloatArray,
) -> None:
    """A step of each function's weights, by which the penalised likelihood does not fall.

    The curvature is that of N theta in place of N theta (1 - theta), which is at least as large.

    Parameters
    ----------
    forms : Forms
        The functions and the tokens [G, K].
    design : sparse array of shape [G, J]
        The design.
    lengths : float array of shape [G]
        Tokens of each row.
    penalty : float array of shape [J, K]
        The penalties.
    expected : float array of shape [G, K]
        N_g theta_gk, kept up to date.
    coefficients : float array of shape [J, K]
        The functions' rows are replaced.
    """
    for function, columns in forms.functions:
        labels, ridge = design[:, columns], penalty[columns].T.astype(np.float64)
        weights = coefficients[columns].T.astype(np.float64)
        slope = -ridge * weights
        curvature = ridge[:, :, None] * np.eye(len(columns)) + 1e-9
        for rows in chunks(len(lengths)):
            gradient = function.log_scale_gradient(weights, labels[rows])
            load = expected[rows].astype(np.float64)
            slope += np.einsum("jgk,gk->kj", gradient, forms.tokens[rows] - load)
            curvature += np.einsum("igk,jgk,gk->kij", gradient, gradient, load, optimize=True)
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        for _ in range(_HALVINGS):
            moved = weights + step
            gain = -0.5 * (ridge * (moved**2 - weights**2)).sum()
            for rows in chunks(len(lengths)):
                change = _change(function, weights, moved, labels[rows])
                total = (expected[rows] * np.exp(change)).sum(axis=1, dtype=np.float64)
                gain += (forms.tokens[rows] * change).sum(dtype=np.float64)
                gain -= lengths[rows] @ np.log(np.maximum(total / lengths[rows], 1e-300))
            if gain >= 0.0:
                break
            step /= 2.0
        else:
            continue
        for rows in chunks(len(lengths)):
            part = expected[rows] * np.exp(_change(function, weights, moved, labels[rows]))
            expected[rows] = part * (lengths[rows] / part.sum(axis=1))[:, None]
        coefficients[columns] = moved.T


def _change(
    function: ScalingFunction, weights: FloatArray, moved: FloatArray, labels: Design
) -> FloatArray:
    return np.asarray(function.log_scale(moved, labels) - function.log_scale(weights, labels))


def chunks(n: int) -> Iterator[slice]:
    """Runs of n rows, some at a time."""
    return (slice(first, first + _CHUNK) for first in range(0, n, _CHUNK))
