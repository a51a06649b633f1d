"""The factors of a coefficient's variance, equation 23 of docs/model.md.

    V_jk = o_k / (g_j H_jk (1 - R_jk)^2)

H is the information of documents, o their overdispersion, g what other labels leave of a label, and
R the feedback (`feedback.py`). The plain twins are in ``tests/reference/calibration.py``.
"""

import numpy as np
from scipy.sparse import csr_array

from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.prediction.calibration.regression import Regression
from hdsp.scaling import Design

# The prior variance of coefficients, where labels overlap.
TYPICAL_VARIANCE = 0.5
# Beyond this many columns, their correlations are ignored.
_MOST_COLUMNS = 2_000
_CHUNK = 2_048


def information(
    regression: Regression, design: Design, lengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The information H_jk about coefficients, and the tokens of topics that labels expect, [J, T].

    H_jk = sum_g r_gj^2 N_g theta_gk (1 - theta_gk), and sum_g r_gj N_g theta_gk, over groups of
    documents with design [G, J] and `lengths` [G].
    """
    shape = (design.shape[1], len(regression.intercept))
    found, expected = np.zeros(shape), np.zeros(shape)
    for first in range(0, design.shape[0], _CHUNK):
        rows = csr_array(design[first : first + _CHUNK], dtype=np.float64)
        share = regression.proportions(rows)
        tokens = lengths[first : first + _CHUNK, None] * share
        expected += rows.T @ tokens
        found += rows.power(2).T @ (tokens * (1.0 - share))
    return found, expected


def overdispersion(regression: Regression, design: Design, tokens: FloatArray) -> FloatArray:
    """The ratio o_k of residual to multinomial variance in single documents, [T], at least 1.

    `design` [M, J] and `tokens` [M, T] are the documents' labels and topic tokens.
    """
    lengths = tokens.sum(axis=1, dtype=np.float64)[:, None]
    share = regression.proportions(design)
    by_chance = (lengths * share * (1.0 - share)).sum(axis=0)
    found = ((tokens - lengths * share) ** 2).sum(axis=0)
    return np.asarray(np.maximum(found / np.maximum(by_chance, 1e-12), 1.0))


def mean_information(regression: Regression) -> float:
    """The mean over topics of theta (1 - theta), at the intercept."""
    share = normalised_exp(regression.intercept[None, :])[0]
    return float((share * (1.0 - share)).mean()) or 1.0


def own_shares(
    design: Design, lengths: FloatArray, exclusive: BoolArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """The shares g_j of columns' sums of squares that are their own, [J] each.

    The first is what the intercept does not explain, the second what the intercept and all other
    columns do not. For columns that exclude each other, and are compared with each other, both are
    1. The second has a ridge, for the prior: tags of which each document has exactly one could
    otherwise not be told from the intercept.
    """
    centred, alone = np.ones((2, design.shape[1]))
    columns = np.flatnonzero(~exclusive)
    if len(columns) == 0 or lengths.sum() == 0:
        return centred, alone
    chosen = csr_array(design[:, columns], dtype=np.float64)
    square = np.maximum(np.asarray(chosen.power(2).T @ lengths), 1e-300)
    mean = np.asarray(chosen.T @ lengths) / lengths.sum()
    left = np.maximum(square - lengths.sum() * mean**2, 0.0)
    centred[columns] = alone[columns] = left / square
    if len(columns) <= _MOST_COLUMNS:
        weighted = csr_array(chosen.multiply(lengths[:, None]))
        gram = (weighted.T @ chosen).toarray() - lengths.sum() * np.outer(mean, mean)
        np.fill_diagonal(gram, gram.diagonal() + ridge)
        alone[columns] = np.clip(1.0 / np.linalg.inv(gram).diagonal() / square, 0.0, 1.0)
    return centred, alone
