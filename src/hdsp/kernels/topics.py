"""The topics' side of a pass: the word table and the word counts (equation 14)."""

from typing import Any

from hdsp.kernels.special import exp_digamma, fill, kernel, scratch

_SMALLEST_ENTRY = 1e-20


@kernel
def fill_word_table(first: Any, last: Any, topics: Any, inverse_total: Any, table: Any) -> None:
    """``table[i, k] = exp(E ln phi_ki)`` for words ``first`` to ``last``.

    `topics` [V, K] holds the Dirichlet parameters, `inverse_total` [K] is
    ``exp(-psi(sum_i lambda_ki))``, zero for padding. Entries below 1e-20 become zero, because
    arithmetic on subnormal products is slow. Plain twin:
    ``tests/reference/topics.py``.
    """
    smallest = table.dtype.type(_SMALLEST_ENTRY)
    zero = table.dtype.type(0.0)
    for i in range(first, last):
        for k in range(topics.shape[1]):
            value = exp_digamma(topics[i, k]) * inverse_total[k]
            table[i, k] = value if value > smallest else zero


@kernel
def add_word_counts(
    first: Any,
    last: Any,
    word_indptr: Any,
    documents: Any,
    positions: Any,
    token_weight: Any,
    weight: Any,
    table: Any,
    out: Any,
) -> None:
    """Add a block's expected word counts ``sum_m c_mi gamma_mik`` to words ``first`` to ``last``.

    The block is read in word order (`word_indptr`, `documents`, `positions`: its CSC form, with
    positions into `token_weight`), so that each row of `out` has one writer and one order of
    summation for any number of threads. Plain twin: ``tests/reference/topics.py``.
    """
    n_topics = table.shape[1]
    gathered = scratch(n_topics, table.dtype)
    for i in range(first, last):
        start = word_indptr[i]
        stop = word_indptr[i + 1]
        if start == stop:
            continue
        fill(gathered, table.dtype.type(0.0))
        j = start
        while j + 4 <= stop:
            e0 = weight[documents[j]]
            e1 = weight[documents[j + 1]]
            e2 = weight[documents[j + 2]]
            e3 = weight[documents[j + 3]]
            w0 = token_weight[positions[j]]
            w1 = token_weight[positions[j + 1]]
            w2 = token_weight[positions[j + 2]]
            w3 = token_weight[positions[j + 3]]
            for k in range(n_topics):
                gathered[k] += w0 * e0[k] + w1 * e1[k] + w2 * e2[k] + w3 * e3[k]
            j += 4
        while j < stop:
            e0 = weight[documents[j]]
            w0 = token_weight[positions[j]]
            for k in range(n_topics):
                gathered[k] += w0 * e0[k]
            j += 1
        for k in range(n_topics):
            out[i, k] += gathered[k] * table[i, k]
