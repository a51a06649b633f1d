"""Coefficients that are drawn together: those of a spline, or of an interaction and its labels.

Columns of such terms overlap, so that each coefficient alone is uncertain where their sum is not:
drawn one by one, they would make bands of curves and of subgroups far too wide. With the
information H of a block of columns (beside the intercept and all other columns), the penalty
L = diag(o tau^-2) and the variance M of the score, o H or that of groups of documents, coefficients
have the covariance

    (H + L)^-1 (M + L diag(tau^2) L) (H + L)^-1

which is (H / o + diag(tau^-2))^-1 where M = o H: equation 26 of docs/model.md.
The plain twin is in ``tests/reference/calibration.py``.
"""

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels import Number
from hdsp.numerics.types import FloatArray, IntArray
from hdsp.prediction.calibration.regression import Regression
from hdsp.prediction.calibration.variance import OwnColumns
from hdsp.scaling import Design, LabelSpace

# Beyond this many columns, coefficients of a block are drawn one by one.
_MOST_COLUMNS = 150
_CHUNK = 2_048


def joint_blocks(space: LabelSpace) -> list[IntArray]:
    """Columns of the design whose coefficients are drawn together, one array for each block.

    A term that is no plain one is joined with the main terms of its label columns, and with all
    terms that share these. Several weights of a function that is not log-linear are a block.
    """
    owner = list(range(len(space.terms)))
    for number, term in enumerate(space.terms):
        if isinstance(term, Number):
            continue
        for other, main in enumerate(space.terms):
            if other == number or (main.main and main.columns[0] in term.columns):
                old, new = owner[other], owner[number]
                owner = [new if one == old else one for one in owner]
    parts = [np.arange(part.start, part.stop) for part in space.slices]
    functions = [columns for _, columns in space.functions]
    found = [columns for columns in functions if len(columns) > 1]
    taken = np.concatenate([np.zeros(0, dtype=np.int64), *functions])
    for block in dict.fromkeys(owner):
        members = [number for number, one in enumerate(owner) if one == block]
        columns = np.concatenate([parts[number] for number in members])
        columns = columns[~np.isin(columns, taken)]
        plain = all(isinstance(space.terms[number], Number) for number in members)
        if not plain and 1 < len(columns) <= _MOST_COLUMNS:
            found.append(columns)
    return found


def own_block(
    design: Design, lengths: FloatArray, columns: IntArray, ridge: float, most: int
) -> OwnColumns:
    """What a block of columns is beside the intercept and all columns outside of it.

    With more than `most` others, what these explain is left in it.
    """
    n_columns = design.shape[1]
    total = max(lengths.sum(), 1e-300)
    mean = np.asarray(csr_array(design, dtype=np.float64).T @ lengths) / total
    transform = np.zeros((n_columns, len(columns)))
    transform[columns, np.arange(len(columns))] = 1.0
    others = np.setdiff1d(np.arange(n_columns), columns)
    if 0 < len(others) <= most:
        rest = csr_array(design[:, others], dtype=np.float64)
        weighted = csr_array(rest.multiply(lengths[:, None])).T
        gram = (weighted @ rest).toarray() - total * np.outer(mean[others], mean[others])
        own = csr_array(design[:, columns], dtype=np.float64)
        with_own = (weighted @ own).toarray() - total * np.outer(mean[others], mean[columns])
        np.fill_diagonal(gram, gram.diagonal() + ridge)
        transform[others] = -np.linalg.solve(gram, with_own)
    return OwnColumns(mean, transform)


def block_information(
    regression: Regression, design: Design, lengths: FloatArray, own: OwnColumns
) -> FloatArray:
    """The information sum_m x_mi x_mj N_m theta_mk (1 - theta_mk) about a block, [T, B, B]."""
    found: FloatArray | None = None
    for first in range(0, design.shape[0], _CHUNK):
        rows = csr_array(design[first : first + _CHUNK], dtype=np.float64)
        columns, share = own.of(rows), regression.proportions(rows)
        weight = lengths[first : first + _CHUNK, None] * share * (1.0 - share)
        part = np.array([columns.T @ (columns * one[:, None]) for one in weight.T])
        found = part if found is None else found + part
    assert found is not None  # a corpus has a document
    return found


def joint_factors(
    information: FloatArray,
    score: FloatArray,
    amplified: FloatArray,
    penalty: FloatArray,
    deviation: FloatArray,
) -> FloatArray:
    """A factor F of the covariance F F' of a block's coefficients, [T, B, B].

    Parameters
    ----------
    information : float array of shape [T, B, B]
        H.
    score : float array of shape [T, B, B]
        M, without feedback.
    amplified : float array of shape [B, T]
        By how much feedback raises variances.
    penalty : float array of shape [B, T]
        L.
    deviation : float array of shape [B]
        The standard deviations tau of the prior.
    """
    found = np.empty_like(information)
    for k, (own, noise) in enumerate(zip(information, score, strict=True)):
        grown, ridge = np.sqrt(amplified[:, k]), penalty[:, k]
        middle = noise * np.outer(grown, grown) + np.diag(ridge**2 * deviation**2)
        size, axes = np.linalg.eigh((middle + middle.T) / 2.0)
        half = axes * np.sqrt(np.maximum(size, 0.0))
        found[k] = np.linalg.solve(own + np.diag(ridge), half)
    return found


def block_score(
    scores: tuple[FloatArray, FloatArray, FloatArray],
    information: FloatArray,
    dispersion: FloatArray,
) -> FloatArray:
    """The variance M of the score of a block where documents come in groups, [T, B, B].

    Each column has at least the variance that `clustered_dispersion` gives a column alone; `scores`
    are those of `scores_by_group`.
    """
    among, alike, correlation = scores
    for k, one in enumerate(among):
        chance = information[k].diagonal()
        floor = dispersion[k] * chance + correlation[k] * np.maximum(alike[:, k] - chance, 0.0)
        wider = np.sqrt(np.maximum(floor / np.maximum(one.diagonal(), 1e-300), 1.0))
        wider = np.minimum(wider, 1e6)
        among[k] = one * np.outer(wider, wider)
        np.fill_diagonal(among[k], np.maximum(among[k].diagonal(), floor))
    return among
