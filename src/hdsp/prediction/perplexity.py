"""The likelihood of words, and intervals of the perplexity."""

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import run_ranges
from hdsp.numerics.types import FloatArray

_DOCUMENT_RANGE = 64


def word_log_likelihood(
    counts: csr_array, proportions: FloatArray, word_share: FloatArray
) -> FloatArray:
    """The log likelihood of each document's words, sum_i c_mi ln sum_k theta_mk phi_ki, [M].

    `proportions` [M, T] are theta, and `word_share` [V, T] is E[phi].
    """
    out = np.empty(counts.shape[0])
    run_ranges(
        kernels.mixture_log_likelihood,
        counts.shape[0],
        _DOCUMENT_RANGE,
        *kernels.csr_arrays(counts),
        np.ascontiguousarray(proportions, dtype=np.float64),
        np.ascontiguousarray(word_share, dtype=np.float64),
        out,
    )
    return out


def split_tokens(counts: csr_array, seed: int = 0) -> tuple[csr_array, csr_array]:
    """Assign each token to one of two halves at random: (observed, held out).

    Whole counts are split by ``numpy.random.default_rng(seed).binomial(counts, 0.5)`` over the
    entries in order; a fractional remainder goes to either half with equal probability.
    """
    rng = np.random.default_rng(seed)
    whole = np.floor(counts.data)
    half = rng.binomial(whole.astype(np.int64), 0.5).astype(np.float64)
    fraction = counts.data - whole
    if fraction.any():
        half += fraction * rng.integers(0, 2, size=len(fraction))
    return _with_data(counts, half), _with_data(counts, counts.data - half)


def _with_data(counts: csr_array, data: FloatArray) -> csr_array:
    # A copy, because dropping zeros rewrites all three arrays in place.
    matrix = csr_array((data, counts.indices, counts.indptr), shape=counts.shape, copy=True)
    matrix.eliminate_zeros()
    return matrix


def bootstrap_interval(
    log_likelihood: FloatArray, tokens: FloatArray, level: float, n_draws: int = 1_000
) -> tuple[float, float]:
    """Limits (lower, upper) of the perplexity, by a bootstrap over documents.

    `log_likelihood` [M] and `tokens` [M] are those of each document.
    """
    rng = np.random.default_rng(0)
    n_documents = len(tokens)
    found = np.full(n_draws, np.nan)
    for number in range(n_draws):
        times = np.bincount(rng.integers(n_documents, size=n_documents), minlength=n_documents)
        drawn = times @ tokens
        if drawn > 0:
            found[number] = np.exp(-(times @ log_likelihood) / drawn)
    tail = (1.0 - level) / 2.0
    lower, upper = np.nanquantile(found, [tail, 1.0 - tail])
    return float(lower), float(upper)
