"""Empirical Bayes: how large the coefficients of labels may be, judged by the estimates."""

import numpy as np
from scipy.special import softmax

from hdsp.numerics.types import FloatArray, IntArray

# Standard deviations tau that coefficients may have. All values up to the largest are as likely
# beforehand, so that a value of this geometric grid has a probability in proportion to it; its cell
# reaches up to the edge.
_DEVIATIONS = np.geomspace(0.03, 3.0, 24)
_UPPER_EDGES = np.sqrt(_DEVIATIONS[1] / _DEVIATIONS[0]) * _DEVIATIONS
# Coefficients are shrunk as if tau were at this quantile of its posterior.
_QUANTILE = 0.9


def prior_deviations(squares: FloatArray, error: FloatArray, groups: IntArray) -> FloatArray:
    """The standard deviation tau of the prior of each column's coefficients, [J].

    The coefficients of a group are Normal(0, tau^2), and their estimates have errors besides. What
    is taken is not the most likely tau but an upper limit: a label of few documents would otherwise
    be shrunk to nothing where its effect is only not seen, and intervals would miss it. Labels of
    many documents without an effect are shrunk all the same, since their coefficients show how
    small tau is.

    Parameters
    ----------
    squares : float array of shape [J, T]
        The squared estimates of the coefficients, without a penalty.
    error : float array of shape [J, T]
        The variances of the estimates' errors.
    groups : int array of shape [J]
        The group of each column.
    """
    likelihood = np.zeros((int(groups.max(initial=-1)) + 1, len(_DEVIATIONS)))
    for number, deviation in enumerate(_DEVIATIONS):
        total = deviation**2 + error
        by_column = -0.5 * (np.log(total) + squares / total).sum(axis=1)
        np.add.at(likelihood[:, number], groups, by_column)
    weight = softmax(likelihood + np.log(_DEVIATIONS), axis=1)
    below = np.cumsum(weight, axis=1)
    limits = [np.interp(_QUANTILE, row, _UPPER_EDGES) for row in below]
    return np.array(limits).reshape(len(likelihood))[groups]
