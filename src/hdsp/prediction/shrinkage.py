"""How large a label's coefficients may be, judged by what its documents show of them."""

import numpy as np
from scipy.special import softmax

from hdsp.numerics.types import FloatArray

# Standard deviations tau that a label's coefficients may have. All values up to the largest are as
# likely beforehand, so that a value of this geometric grid has a probability in proportion to it;
# its cell reaches up to the edge.
_SPREADS = np.geomspace(0.03, 3.0, 24)
_UPPER_EDGES = np.sqrt(_SPREADS[1] / _SPREADS[0]) * _SPREADS
# Coefficients are shrunk as if tau were as large as it is with this probability.
_LIKELY = 0.9


def likely_spreads(squares: FloatArray, error: FloatArray) -> FloatArray:
    """The standard deviation tau_j that each label's coefficients have at most, [J].

    The coefficients of label j are Normal(0, tau_j^2), and their estimates have errors besides.
    What is taken is not the most likely tau_j but the upper limit of what is likely: a label of few
    documents would otherwise be shrunk to nothing where its effect is only not seen, and intervals
    would miss it. Labels of many documents without an effect are shrunk all the same, since their
    coefficients show how small tau_j is.

    Parameters
    ----------
    squares : float array of shape [J, T]
        The squared estimates of the coefficients, without a penalty.
    error : float array of shape [J, T]
        The variances of the estimates' errors.
    """
    likelihood = np.empty((len(squares), len(_SPREADS)))
    for number, spread in enumerate(_SPREADS):
        total = spread**2 + error
        likelihood[:, number] = -0.5 * (np.log(total) + squares / total).sum(axis=1)
    weight = softmax(likelihood + np.log(_SPREADS), axis=1)
    below = np.cumsum(weight, axis=1)
    limits = [np.interp(_LIKELY, row, _UPPER_EDGES) for row in below]
    return np.array(limits).reshape(len(squares))
