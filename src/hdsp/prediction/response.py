"""How much of what labels are believed to do comes back from the documents that are read with it.

A document's tokens are shared out among topics by its words, and where these leave it open by what
its labels lead one to expect. An error in the labels' weights is thus partly found again in the
tokens that the weights are learned from: of an error e the share S e returns, of that S^2 e, in all
e / (1 - S). Documents would have to be longer, or topics less alike, for S to be nothing.
"""

import numpy as np
from scipy.sparse import csr_array

from hdsp.execution import read_with_shift
from hdsp.model import GlobalState, Problem
from hdsp.numerics.types import FloatArray
from hdsp.prediction.regression import Regression

# Weights are changed so often at random.
_CHANGES = 2
# Of labels and topics that words hardly tell apart, the share is too uncertain to be used.
_LARGEST = 0.8


def response(
    problem: Problem, state: GlobalState, regression: Regression, size: FloatArray
) -> FloatArray:
    """The share S_jk of a change of labels' weights that returns in the tokens of topics, [J, T].

    The weights of all labels are changed at random, up and down, and documents are read again. The
    share is that of the change in tokens which the expected proportions would show. It is measured
    by label and by topic, since documents differ in length and topics in how clear they are, and a
    label and a topic together have what remains of both: 1 - S_jk = (1 - S_j) (1 - S_k) / (1 - S).

    Parameters
    ----------
    problem : Problem
        The documents, a sample of them.
    state : GlobalState
        The fitted state.
    regression : Regression
        The proportions that labels lead one to expect.
    size : float array of shape [J, T]
        The standard deviations of the changes.
    """
    if not problem.design.nnz:
        return np.zeros(size.shape)
    share = regression.proportions(problem.design)
    lengths = np.asarray(problem.counts.sum(axis=1), dtype=np.float64)[:, None]
    returned, whole = np.zeros((2, *share.shape))
    rng = np.random.default_rng(0)
    for _ in range(_CHANGES):
        shift = size * rng.normal(size=size.shape)
        change = read_with_shift(problem, state, shift) - read_with_shift(problem, state, -shift)
        moved = np.asarray(problem.design @ shift)
        moved -= (share * moved).sum(axis=1, keepdims=True)
        returned += moved * change / 2.0
        whole += lengths * share * moved**2
    kept = _kept(returned.sum(), whole.sum(), 1.0)
    squares = csr_array(problem.design, dtype=np.float64).power(2).T
    by_label = _kept(squares @ returned.sum(axis=1), squares @ whole.sum(axis=1), kept)
    by_topic = _kept(returned.sum(axis=0), whole.sum(axis=0), kept)
    return np.asarray(1.0 - np.clip(np.outer(by_label, by_topic) / kept, 1.0 - _LARGEST, 1.0))


def _kept(returned: FloatArray, whole: FloatArray, otherwise: float | FloatArray) -> FloatArray:
    """1 - S within its limits; `otherwise` where no document tells."""
    known = whole > 0
    share = np.where(known, returned, 0.0) / np.where(known, whole, 1.0)
    return np.asarray(np.where(known, np.clip(1.0 - share, 1.0 - _LARGEST, 1.0), otherwise))
