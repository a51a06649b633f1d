"""Plain twins of the kernels that judge moves, dense and in float64."""

import numpy as np
from scipy.special import gammaln, psi, xlogy

POWER_ITERATIONS = 20
DIVISION_ITERATIONS = 10


def sum_log_gamma(counts, prior):
    """sum_i ln G(prior + n_qi) - ln G(prior), [Q]."""
    return (gammaln(prior + counts) - gammaln(prior)).sum(axis=1)


def sum_proportion_terms(token_counts, prior_shape, rate, per_xi):
    """sum_m ln G(a_mq) - ln G(a0_q) - a_mq ln b_mq, [Q]."""
    a = prior_shape + token_counts
    return (gammaln(a) - gammaln(prior_shape) - a * np.log(rate + per_xi[:, None])).sum(axis=0)


def pair_entropies(tokens, pairs):
    """The change of -sum t ln t where two topics become one; `tokens` [M, V, T] = c gamma."""
    return np.array(
        [
            (xlogy(one, one) + xlogy(other, other) - xlogy(one + other, one + other)).sum()
            for one, other in ((tokens[..., j], tokens[..., k]) for j, k in pairs)
        ]
    )


def second_direction(entries):
    """Documents' side of the second singular vectors of `entries` [M, V], regularised."""
    by_document, by_word = entries.sum(axis=1), entries.sum(axis=0)
    scaled = entries / np.sqrt(by_document + by_document.mean())[:, None]
    scaled = scaled / np.sqrt(by_word + by_word.mean())
    lead = np.sqrt(by_word)
    for _ in range(10):
        lead = scaled.T @ (scaled @ lead)
        lead /= np.linalg.norm(lead)
    n_words = entries.shape[1]
    vector = ((np.arange(n_words) * 40503 + 12345) % 65536) / 65536.0 - 0.5
    for _ in range(POWER_ITERATIONS):
        vector = vector - (vector @ lead) * lead
        along = scaled @ vector
        vector = scaled.T @ along
        vector /= np.linalg.norm(vector) or 1.0
    return along


def divide_topic(tokens, totals, prior_shape, topic_prior, least):
    """Part of each token [M, V] that half 1 takes, and its share of the weight.

    `tokens` [M, V] are the topic's own, `totals` [M] their sums; (None, 0) where there is nothing
    to divide.
    """
    n_words = tokens.shape[1]
    kept = np.where((tokens >= least) & (totals >= least)[:, None], tokens, 0.0)
    rows = np.flatnonzero(kept.any(axis=1))
    # In the order in which words first appear, which decides where the vector starts.
    columns = list(dict.fromkeys(i for m in rows for i in np.flatnonzero(kept[m])))
    if len(rows) < 2 or len(columns) < 2:
        return None, 0.0
    entries = kept[np.ix_(rows, columns)]
    part = np.where(second_direction(entries) > 0, 0.9, 0.1)[:, None] * np.ones(len(columns))
    for iteration in range(DIVISION_ITERATIONS + 1):
        halves = np.stack([entries * (1 - part), entries * part])
        by_document, by_word = halves.sum(axis=2), halves.sum(axis=1)
        share = np.clip((by_document[1] / by_document.sum(axis=0)).mean(), 0.02, 0.98)
        if iteration == DIVISION_ITERATIONS:
            break
        shares = np.array([1 - share, share])[:, None]
        document = psi(prior_shape * shares + by_document)
        total = n_words * topic_prior + by_word.sum(axis=1, keepdims=True)
        word = psi(topic_prior + by_word) - psi(total)
        gap = (document[0] - document[1])[:, None] + (word[0] - word[1])
        part = 1 / (1 + np.exp(np.clip(gap, -50, 50)))
    full = np.zeros(tokens.shape)
    full[np.ix_(rows, columns)] = np.where(entries > 0, part, 0.0)
    return full, share
