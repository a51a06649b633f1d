"""Random draws of documents: proportions from Dirichlet distributions, then tokens."""

import numpy as np
from scipy.sparse import coo_array, csr_array

from hdsp.numerics.softmax import normalised_exp
from hdsp.numerics.types import FloatArray, IntArray


def draw_proportions(shape: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw one Dirichlet vector per row of parameters.

    Parameters
    ----------
    shape : float array of shape [M, K]
        The Dirichlet parameters, positive and as small as one likes.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    float array of shape [M, K]
        Rows sum to 1.
    """
    # Gamma(a) is Gamma(a + 1) U^(1/a), in logarithms: tiny shapes would all come out zero.
    log_draw = np.log(rng.gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
    return normalised_exp(log_draw)


def draw_counts(
    proportions: FloatArray, word_share: FloatArray, lengths: IntArray, rng: np.random.Generator
) -> csr_array:
    """Draw the tokens of documents, each a topic and then a word.

    The time grows with the number of tokens and with M K, not with M V.

    Parameters
    ----------
    proportions : float array of shape [M, K]
        Proportions of topics; rows sum to 1.
    word_share : float array of shape [K, V]
        Probabilities of words in topics; rows sum to 1.
    lengths : int array of shape [M]
        Tokens per document.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    sparse array of shape [M, V]
        Counts, without stored zeros.

    Examples
    --------
    >>> import numpy as np
    >>> share = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> draw_counts(share, share, np.array([2, 3]), np.random.default_rng(0)).toarray().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    shape = (len(proportions), word_share.shape[1])
    tokens = rng.multinomial(lengths, proportions)
    rows, columns = [], []
    for number, share in zip(tokens.T, word_share, strict=True):
        rows.append(np.repeat(np.arange(shape[0]), number))
        # The sum is short of 1 by rounding at times; dividing by it keeps all draws below V.
        cumulated = np.cumsum(share)
        cumulated /= cumulated[-1]
        columns.append(np.searchsorted(cumulated, rng.random(len(rows[-1])), side="right"))
    places = (np.concatenate(rows), np.concatenate(columns))
    return csr_array(coo_array((np.ones(len(places[0])), places), shape=shape))
