"""Versions of topics: their word table, and what their tokens say of the shared words.

Row ``i (G + 1) + g`` of `tokens` and of tables is word i in documents of group g; g = 0 are
documents without a group, which use the shared words.
"""

from typing import Any

import numpy as np

from hdsp.kernels.special import digamma_and_log_gamma, exp_digamma, kernel

_SMALLEST_ENTRY = 1e-20
# x stays above the smallest number whose reciprocal is finite.
_SMALLEST_LOG = -690.0


@kernel
def fill_version_table(
    first: Any, last: Any, tokens: Any, shared: Any, strength: Any, inverse_total: Any, table: Any
) -> None:
    """The words' factors of the responsibilities (27), for words `first` to `last`.

    `tokens` [V (G + 1), T] are n, `shared` [V, K] is exp(E ln phi), `strength` kappa, and
    `inverse_total` [G + 1, T] is ``exp(-psi(kappa + N_gk))``. Plain twin:
    ``tests/reference/versions.py``.
    """
    n_groups, n_topics = inverse_total.shape
    smallest = table.dtype.type(_SMALLEST_ENTRY)
    zero, one = table.dtype.type(0.0), table.dtype.type(1.0)
    for i in range(first, last):
        for k in range(n_topics):
            table[i * n_groups, k] = shared[i, k]
        for g in range(1, n_groups):
            row = i * n_groups + g
            for k in range(n_topics):
                n = table.dtype.type(tokens[row, k])
                x = strength * shared[i, k]
                # Less than a token is no evidence that the group uses the word otherwise.
                value = exp_digamma(x + n) if n >= one else x
                value *= inverse_total[g, k]
                table[row, k] = value if value > smallest else zero


@kernel
def sum_versions(
    first: Any,
    last: Any,
    size: Any,
    tokens: Any,
    n_groups: Any,
    topics: Any,
    digamma_total: Any,
    log_strength: Any,
    least: Any,
    tables: Any,
    value: Any,
    pull: Any,
    slope: Any,
) -> None:
    """What the tokens of versions say of the shared words (24, 25), for words `first` to `last`.

    With ln x = ln kappa + E[ln phi], `topics` [V, T] and `digamma_total` [T] of q(phi): `tables`
    [V, T] are the tokens that the shared words answer for, and to row ``first // size`` of the
    others are added the sums of s(n, x), of tables E[ln phi] and of n ds/dn by topic. Counts below
    `least` are taken to follow the shared words. Plain twin: ``tests/reference/versions.py``.
    """
    n_topics = topics.shape[1]
    place = first // size
    for i in range(first, last):
        for k in range(n_topics):
            most, few = 0.0, 0.0
            for g in range(1, n_groups):
                n = np.float64(tokens[i * n_groups + g, k])
                most = max(most, n)
                few += n if n < least else 0.0
            tables[i, k] = few
            if most <= 0.0:
                continue
            digamma, _ = digamma_and_log_gamma(np.float64(topics[i, k]))
            log_shared = digamma - digamma_total[k]
            log_x = max(log_strength + log_shared, _SMALLEST_LOG)
            value[place, k] += few * log_x
            slope[place, k] += few * log_x
            if most >= least:
                x = np.exp(log_x)
                digamma_x, log_gamma_x = digamma_and_log_gamma(x)
                for g in range(1, n_groups):
                    n = np.float64(tokens[i * n_groups + g, k])
                    if n >= least:
                        digamma_n, log_gamma_n = digamma_and_log_gamma(x + n)
                        tables[i, k] += x * (digamma_n - digamma_x)
                        value[place, k] += log_gamma_n - log_gamma_x
                        slope[place, k] += n * digamma_n
            pull[place, k] += tables[i, k] * log_shared
