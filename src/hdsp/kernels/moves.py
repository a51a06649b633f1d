"""What proposals to merge, delete and split topics are judged by."""

from typing import Any

import numpy as np
from numba import njit

from hdsp.kernels.special import DEVICE, digamma_and_log_gamma, fill, kernel

# Fewer tokens than this are rounding.
_SMALLEST_COUNT = 1e-12
_POWER_ITERATIONS = 20
_DIVISION_ITERATIONS = 10
# The share of a document's tokens that start in the half on its own side.
_INITIAL_SHARE = 0.9
# The smallest share of a topic's weight that a half may have.
_SMALLEST_SHARE = 0.02
_LARGEST_EXPONENT = 50.0


@kernel
def sum_log_gamma(first: Any, last: Any, word_counts: Any, prior: Any, out: Any) -> None:
    """``out[q] = sum_i ln G(prior + n_qi) - ln G(prior)`` for topics `first` to `last`.

    `word_counts` [Q, V] holds n. Plain twin: ``tests/reference/moves.py``.
    """
    _, log_prior = digamma_and_log_gamma(prior)
    for q in range(first, last):
        total = 0.0
        for i in range(word_counts.shape[1]):
            n = np.float64(word_counts[q, i])
            if n > 0.0:
                _, log_gamma = digamma_and_log_gamma(prior + n)
                total += log_gamma - log_prior
        out[q] = total


@kernel
def sum_proportion_terms(
    first: Any, last: Any, token_counts: Any, prior_shape: Any, rate: Any, per_xi: Any, out: Any
) -> None:
    """``out[q] = sum_m ln G(a_mq) - ln G(a0_q) - a_mq ln b_mq`` for topics `first` to `last`.

    With a = a0 + n and b = rho + N / xi (equation 11); `token_counts` [M, Q] holds n, `rate` [M, Q]
    rho and `per_xi` [M] N / xi. Plain twin: ``tests/reference/moves.py``.
    """
    n_topics = last - first
    log_prior = np.empty(n_topics)
    total = np.empty(n_topics)
    fill(total, 0.0)
    for j in range(n_topics):
        _, log_prior[j] = digamma_and_log_gamma(np.float64(prior_shape[first + j]))
    for m in range(token_counts.shape[0]):
        for j in range(n_topics):
            q = first + j
            n = np.float64(token_counts[m, q])
            a0 = np.float64(prior_shape[q])
            if n > 0.0:
                _, log_gamma = digamma_and_log_gamma(a0 + n)
                total[j] += log_gamma - log_prior[j]
            total[j] -= (a0 + n) * np.log(np.float64(rate[m, q]) + np.float64(per_xi[m]))
    for j in range(n_topics):
        out[first + j] = total[j]


@kernel
def sum_pair_entropies(
    first: Any,
    last: Any,
    size: Any,
    indptr: Any,
    indices: Any,
    token_weight: Any,
    weight: Any,
    table: Any,
    token_counts: Any,
    pairs: Any,
    out: Any,
) -> None:
    """The entropy of words that is lost where two topics become one, for each pair of topics.

    With t_j = c_i gamma_ij: the sum of ``t_j ln t_j + t_k ln t_k - (t_j + t_k) ln (t_j + t_k)``
    over the words of documents `first` to `last`. It is added to ``out[first // size]`` [Q], so
    that ranges can be summed in order. Plain twin: ``tests/reference/moves.py``.
    """
    row = out[first // size]
    for m in range(first, last):
        for q in range(pairs.shape[0]):
            j = pairs[q, 0]
            k = pairs[q, 1]
            if token_counts[m, j] <= 0.0 or token_counts[m, k] <= 0.0:
                continue
            total = 0.0
            for i in range(indptr[m], indptr[m + 1]):
                word = indices[i]
                one = np.float64(token_weight[i] * weight[m, j] * table[word, j])
                other = np.float64(token_weight[i] * weight[m, k] * table[word, k])
                if one > _SMALLEST_COUNT and other > _SMALLEST_COUNT:
                    both = one + other
                    total += one * np.log(one / both) + other * np.log(other / both)
            row[q] += total


@njit(**DEVICE)
def _second_direction(document: Any, word: Any, entry: Any, n_documents: Any, n_words: Any) -> Any:
    """The second left singular vector of a topic's own tokens, documents by words.

    Rows and columns are divided by the square root of their tokens plus the average, as in
    regularised spectral clustering: otherwise small groups would lead.
    """
    n_entries = entry.shape[0]
    by_document = np.zeros(n_documents)
    by_word = np.zeros(n_words)
    total = 0.0
    for e in range(n_entries):
        by_document[document[e]] += entry[e]
        by_word[word[e]] += entry[e]
        total += entry[e]
    lead = np.sqrt(by_word)
    for d in range(n_documents):
        by_document[d] = 1.0 / np.sqrt(by_document[d] + total / n_documents)
    for w in range(n_words):
        by_word[w] = 1.0 / np.sqrt(by_word[w] + total / n_words)
    scaled = np.empty(n_entries)
    for e in range(n_entries):
        scaled[e] = entry[e] * by_document[document[e]] * by_word[word[e]]
    second = np.empty(n_words)
    for w in range(n_words):
        # Any direction but the first: pseudo-random numbers that are always the same.
        second[w] = ((w * 40503 + 12345) % 65536) / 65536.0 - 0.5
    along = np.empty(n_documents)
    for which in range(2):
        vector = lead if which == 0 else second
        for _ in range(_POWER_ITERATIONS if which else 10):
            if which:
                shared = 0.0
                for w in range(n_words):
                    shared += vector[w] * lead[w]
                for w in range(n_words):
                    vector[w] -= shared * lead[w]
            fill(along, 0.0)
            for e in range(n_entries):
                along[document[e]] += scaled[e] * vector[word[e]]
            fill(vector, 0.0)
            for e in range(n_entries):
                vector[word[e]] += scaled[e] * along[document[e]]
            norm = 0.0
            for w in range(n_words):
                norm += vector[w] * vector[w]
            norm = np.sqrt(norm)
            if norm > 0.0:
                for w in range(n_words):
                    vector[w] /= norm
    return along


@kernel
def divide_topics(
    first: Any,
    last: Any,
    divided: Any,
    indptr: Any,
    indices: Any,
    token_weight: Any,
    weight: Any,
    table: Any,
    token_counts: Any,
    prior_shape: Any,
    topic_prior: Any,
    least: Any,
    half_word_counts: Any,
    half_token_counts: Any,
    share: Any,
    entropy: Any,
) -> None:
    """Divide the tokens of topics into two halves, 0 and 1.

    The tokens t_mi = c_i gamma_mik of a topic are first divided by the second singular vector of
    documents by words. Coordinate ascent follows, on the bound as a function of the halves alone:
    r_mi ~ exp(E ln phi_1i + psi(a_m1)) against the same of half 0. Plain twin:
    ``tests/reference/moves.py``.

    Parameters
    ----------
    first, last : int
        The range of `divided`.
    divided : int array of shape [Q]
        The topics to divide.
    indptr, indices : int arrays
        CSR rows of the documents' words.
    token_weight : float array
        The ratio c_i / norm_i for each stored count.
    weight : float array of shape [M, K]
        The documents' e = exp(E ln pi).
    table : float array of shape [V, K]
        Expectations B = exp(E ln phi).
    token_counts : float array of shape [M, K]
        Tokens of each topic in each document.
    prior_shape : float array of shape [K]
        The products beta p_k.
    topic_prior : float
        The prior eta of topics.
    least : float
        Fewer tokens than this, of a document or of a word in it, stay in half 0.
    half_word_counts : float array of shape [Q, V]
        Zeros, replaced by the tokens of half 1 by word.
    half_token_counts : float array of shape [M, Q]
        Zeros, replaced by the tokens of half 1 by document.
    share : float array of shape [Q]
        Replaced by half 1's share of the topic's weight; 0 if the topic cannot be divided.
    entropy : float array of shape [Q]
        Replaced by the gain of the words' entropy.
    """
    n_documents = token_counts.shape[0]
    n_vocabulary = table.shape[0]
    prior_total = n_vocabulary * topic_prior
    for q in range(first, last):
        k = divided[q]
        share[q] = 0.0
        entropy[q] = 0.0
        n_entries = 0
        for m in range(n_documents):
            if token_counts[m, k] >= least:
                for i in range(indptr[m], indptr[m + 1]):
                    if token_weight[i] * weight[m, k] * table[indices[i], k] >= least:
                        n_entries += 1
        document = np.empty(n_entries, np.int32)
        word = np.empty(n_entries, np.int32)
        entry = np.empty(n_entries)
        row = np.empty(n_documents, np.int32)
        place = np.empty(n_vocabulary, np.int32)
        fill(place, np.int32(-1))
        column = np.empty(n_vocabulary, np.int32)
        n_rows = 0
        n_columns = 0
        e = 0
        for m in range(n_documents):
            if token_counts[m, k] >= least:
                before = e
                for i in range(indptr[m], indptr[m + 1]):
                    t = token_weight[i] * weight[m, k] * table[indices[i], k]
                    if t >= least:
                        if place[indices[i]] < 0:
                            place[indices[i]] = n_columns
                            column[n_columns] = indices[i]
                            n_columns += 1
                        document[e] = n_rows
                        word[e] = place[indices[i]]
                        entry[e] = t
                        e += 1
                if e > before:
                    row[n_rows] = m
                    n_rows += 1
        if n_rows < 2 or n_columns < 2:
            continue
        side = _second_direction(document, word, entry, n_rows, n_columns)
        part = np.empty(n_entries)
        for e in range(n_entries):
            part[e] = _INITIAL_SHARE if side[document[e]] > 0.0 else 1.0 - _INITIAL_SHARE
        by_document = np.empty((2, n_rows))
        by_word = np.empty((2, n_columns))
        for iteration in range(_DIVISION_ITERATIONS + 1):
            for half in range(2):
                fill(by_document[half], 0.0)
                fill(by_word[half], 0.0)
            for e in range(n_entries):
                one = entry[e] * part[e]
                by_document[1, document[e]] += one
                by_word[1, word[e]] += one
                by_document[0, document[e]] += entry[e] - one
                by_word[0, word[e]] += entry[e] - one
            mean = 0.0
            for d in range(n_rows):
                mean += by_document[1, d] / (by_document[0, d] + by_document[1, d])
            mean = min(max(mean / n_rows, _SMALLEST_SHARE), 1.0 - _SMALLEST_SHARE)
            if iteration == _DIVISION_ITERATIONS:
                break
            for half in range(2):
                prior = prior_shape[k] * (mean if half else 1.0 - mean)
                for d in range(n_rows):
                    by_document[half, d], _ = digamma_and_log_gamma(prior + by_document[half, d])
                total = prior_total
                for w in range(n_columns):
                    total += by_word[half, w]
                log_total, _ = digamma_and_log_gamma(total)
                for w in range(n_columns):
                    psi, _ = digamma_and_log_gamma(topic_prior + by_word[half, w])
                    by_word[half, w] = psi - log_total
            for e in range(n_entries):
                d = document[e]
                w = word[e]
                gap = by_document[0, d] + by_word[0, w] - by_document[1, d] - by_word[1, w]
                gap = min(max(gap, -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
                part[e] = 1.0 / (1.0 + np.exp(gap))
        share[q] = mean
        for d in range(n_rows):
            half_token_counts[row[d], q] = by_document[1, d]
        for w in range(n_columns):
            half_word_counts[q, column[w]] = by_word[1, w]
        gained = 0.0
        for e in range(n_entries):
            r = part[e]
            if r > _SMALLEST_COUNT and r < 1.0 - _SMALLEST_COUNT:
                gained -= entry[e] * (r * np.log(r) + (1.0 - r) * np.log(1.0 - r))
        entropy[q] = gained
