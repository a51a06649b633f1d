"""Intervals of the perplexity."""

import numpy as np

from hdsp.numerics.types import FloatArray


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
