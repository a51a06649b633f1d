"""The factors of a coefficient's variance, equation 23 of docs/model.md.

    V_jk = o_k / (g_j H_jk (1 - R_jk)^2)

H is the information of documents, o their overdispersion, g what other labels leave of a label, and
R the feedback: a document's tokens are shared out among topics by its words, and where these leave
it open by what its labels lead one to expect. An error in the labels' weights is thus partly found
again in the tokens that the weights are learned from: of an error e the part R e returns, of that
R^2 e, in all e / (1 - R). Documents would have to be longer, or topics less alike, for R to be
nothing. The plain twins are in ``tests/reference/calibration.py``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hdsp.kernels import run_ranges
from hdsp.model import GlobalState, LocalSettings, Problem
from hdsp.model.documents import DocumentView, make_view, solve_block
from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import BoolArray, FloatArray
from hdsp.prediction.calibration.cross_fit import MOST_ITERATIONS, TOL
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

    def sums(first: int, last: int) -> tuple[FloatArray, FloatArray]:
        rows = csr_array(design[first:last], dtype=np.float64)
        share = regression.proportions(rows)
        tokens = lengths[first:last, None] * share
        return rows.power(2).T @ (tokens * (1.0 - share)), rows.T @ tokens

    parts = run_ranges(sums, design.shape[0], _CHUNK)
    shape = (design.shape[1], len(regression.intercept))
    found, expected = (sum((part[n] for part in parts), np.zeros(shape)) for n in (0, 1))
    return np.asarray(found), np.asarray(expected)


def total_information(regression: Regression, design: Design, lengths: FloatArray) -> FloatArray:
    """The information sum_g N_g theta_gk (1 - theta_gk) about the intercepts, [T]."""
    found = np.zeros(len(regression.intercept))
    for first in range(0, design.shape[0], _CHUNK):
        share = regression.proportions(design[first : first + _CHUNK])
        found += lengths[first : first + _CHUNK] @ (share * (1.0 - share))
    return found


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


@dataclass(frozen=True, eq=False)
class OwnColumns:
    """What columns of a design are beside the intercept and all other columns.

    Attributes
    ----------
    mean : float array of shape [J]
        What the intercept explains of each column.
    transform : float array of shape [J, B] or None
        What turns columns, less their means, to the own parts of B of them; None leaves all.
    """

    mean: FloatArray
    transform: FloatArray | None

    @property
    def n_columns(self) -> int:
        """The number B of own columns."""
        return len(self.mean) if self.transform is None else int(self.transform.shape[1])

    def of(self, design: Design) -> FloatArray:
        """The parts of a design [M, J] that are the columns' own, [M, B]."""
        if self.transform is None:
            return np.asarray(design.toarray() - self.mean)
        return np.asarray(design @ self.transform) - self.mean @ self.transform


def own_shares(
    design: Design, lengths: FloatArray, exclusive: BoolArray, ridge: float
) -> tuple[FloatArray, FloatArray, OwnColumns]:
    """The shares g_j of columns' sums of squares that are their own, [J] each, and these parts.

    The first is what the intercept does not explain, the second what the intercept and all other
    columns do not. For columns that exclude each other, and are compared with each other, both are
    1. The second has a ridge, for the prior: tags of which each document has exactly one could
    otherwise not be told from the intercept.
    """
    n_columns = design.shape[1]
    centred, alone = np.ones((2, n_columns))
    columns = np.flatnonzero(~exclusive)
    means = np.zeros(n_columns)
    if len(columns) == 0 or lengths.sum() == 0:
        return centred, alone, OwnColumns(means, None)
    chosen = csr_array(design[:, columns], dtype=np.float64)
    square = np.maximum(np.asarray(chosen.power(2).T @ lengths), 1e-300)
    means[columns] = mean = np.asarray(chosen.T @ lengths) / lengths.sum()
    left = np.maximum(square - lengths.sum() * mean**2, 0.0)
    centred[columns] = alone[columns] = left / square
    if len(columns) > _MOST_COLUMNS:
        return centred, alone, OwnColumns(means, None)
    weighted = csr_array(chosen.multiply(lengths[:, None]))
    gram = (weighted.T @ chosen).toarray() - lengths.sum() * np.outer(mean, mean)
    np.fill_diagonal(gram, gram.diagonal() + ridge)
    inverse = np.linalg.inv(gram)
    alone[columns] = np.clip(1.0 / inverse.diagonal() / square, 0.0, 1.0)
    transform = np.eye(n_columns)
    transform[np.ix_(columns, columns)] = inverse / inverse.diagonal()
    return centred, alone, OwnColumns(means, transform)


# The standard deviation of the random change that is tried, up and down: small enough for tokens to
# change in proportion, and large enough to be seen after documents have settled.
_SIZE = 0.2
# Of labels and topics that words hardly tell apart, the part is too uncertain to be used.
_LARGEST = 0.8


def feedback(problem: Problem, state: GlobalState, regression: Regression) -> FloatArray:
    """The part R_jk of an error in labels' weights that returns in the tokens of topics, [J, T]."""
    return returned_parts(problem.design, *read_again(problem, state, regression))


def read_again(
    problem: Problem, state: GlobalState, regression: Regression
) -> tuple[FloatArray, FloatArray]:
    """Tokens that follow changes of what documents are led to expect, and that were asked for.

    What each document is led to expect is changed at random, up and down, and documents are read
    again.

    Parameters
    ----------
    problem : Problem
        The documents, a sample of them.
    state : GlobalState
        The fitted state.
    regression : Regression
        The proportions that labels lead one to expect.

    Returns
    -------
    returned : float array of shape [M, T]
        The change of tokens, weighted by the change that was made.
    whole : float array of shape [M, T]
        The change of those that are expected, weighted likewise.
    """
    theta = regression.proportions(problem.design)
    lengths = problem.lengths.astype(np.float64)[:, None]
    if not problem.design.nnz:
        return np.zeros(theta.shape), np.zeros(theta.shape)
    shift = _SIZE * np.random.default_rng(0).normal(size=theta.shape)
    change = read_with_shift(problem, state, shift) - read_with_shift(problem, state, -shift)
    centred = shift - (theta * shift).sum(axis=1, keepdims=True)
    return centred * change / 2.0, lengths * theta * centred**2


def returned_parts(design: Design, returned: FloatArray, whole: FloatArray) -> FloatArray:
    """The part R_jk of the changes of `read_again` that returns, [J, T].

    It is measured by label and by topic, since documents differ in length and topics in how clear
    they are; for a label and a topic together 1 - R_jk = (1 - R_j) (1 - R_k) / (1 - R). Topics have
    adapted to these documents, so that R is rather too small than too large.
    """
    remains = _remaining(returned.sum(), whole.sum(), 1.0)
    squares = csr_array(design, dtype=np.float64).power(2).T
    by_label = _remaining(squares @ returned.sum(axis=1), squares @ whole.sum(axis=1), remains)
    by_topic = _remaining(returned.sum(axis=0), whole.sum(axis=0), remains)
    return np.asarray(1.0 - np.clip(np.outer(by_label, by_topic) / remains, 1.0 - _LARGEST, 1.0))


def _remaining(
    returned: FloatArray, whole: FloatArray, otherwise: float | FloatArray
) -> FloatArray:
    """1 - R within its limits; `otherwise` where no document tells."""
    known = whole > 0
    part = np.where(known, returned, 0.0) / np.where(known, whole, 1.0)
    return np.asarray(np.where(known, np.clip(1.0 - part, 1.0 - _LARGEST, 1.0), otherwise))


@dataclass(frozen=True, eq=False)
class _ShiftedView(DocumentView):
    """A view in which the log scales of a block's topics are higher by `shift` [M, T]."""

    shift: FloatArray

    def rates(self, design: Design) -> FloatArray:
        """E[rho_mk] exp(-shift_mk), [M, K], padded with ones."""
        rates = super().rates(design)
        rates[:, : self.n_topics] *= np.exp(-self.shift)
        return rates


def read_with_shift(problem: Problem, state: GlobalState, shift: FloatArray) -> FloatArray:
    """The tokens of topics in documents if their log scales were higher by `shift`, [M, T] both.

    Topics are the fitted ones; documents are read from the start, until they settle.
    """
    view = make_view(state, problem.scaling, problem.dtype)
    reading = LocalSettings(max_iter=MOST_ITERATIONS, tol=TOL)
    tokens = np.empty(shift.shape)
    for block in problem.blocks:
        shifted = _ShiftedView(**vars(view), shift=shift[block.rows])
        solution = solve_block(shifted, block, None, reading)
        tokens[block.rows] = solution.documents.token_counts[:, : state.n_topics]
    return tokens
