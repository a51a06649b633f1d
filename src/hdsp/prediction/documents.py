"""Proportions of documents given their words and labels, by CVB0 with the topics' means."""

import numpy as np
from scipy.sparse import csr_array

from hdsp import kernels
from hdsp.kernels import Threads
from hdsp.numerics.types import FloatArray

# Documents a thread takes at a time; fixed, so that results do not depend on threads.
_DOCUMENT_RANGE = 128
# Topics are padded to whole vector registers.
_PADDING = 16
# A document that has not settled by then changes by little more than the tolerance.
_MAX_ITER = 100
_TOLERANCE = 1e-3


def predict_proportions(
    counts: csr_array,
    word_share: FloatArray,
    prior_shape: FloatArray,
    rate: FloatArray,
    threads: Threads,
) -> FloatArray:
    """Proportions theta of documents given their words and labels, [M, T] (equation 22).

    A document without words has the prior's means, prior_shape / rate, normalised.

    Parameters
    ----------
    counts : csr_array
        [M, V] tokens.
    word_share : FloatArray
        [V, T] E[phi]; columns sum to 1.
    prior_shape : FloatArray
        [T] beta p, with the beta to predict with.
    rate : FloatArray
        [M, T] E[rho_mk] of the documents' labels.
    threads : Threads
        Results do not depend on their number.
    """
    return solve_documents(
        counts,
        pad_topics(word_share, 0.0),
        pad_topics(prior_shape, 0.0),
        pad_topics(rate, 1.0),
        len(prior_shape),
        threads,
    )


def solve_documents(
    counts: csr_array,
    table: FloatArray,
    prior_shape: FloatArray,
    rate: FloatArray,
    n_topics: int,
    threads: Threads,
) -> FloatArray:
    """As `predict_proportions`, with arrays that `pad_topics` has made."""
    proportions = np.empty((counts.shape[0], n_topics))
    threads.run(
        kernels.predict_documents,
        counts.shape[0],
        _DOCUMENT_RANGE,
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int32),
        counts.data.astype(table.dtype),
        table,
        prior_shape,
        rate,
        np.asarray(counts.sum(axis=1)).astype(table.dtype),
        _MAX_ITER,
        table.dtype.type(_TOLERANCE),
        proportions,
    )
    return proportions


def mean_table(topics: FloatArray) -> FloatArray:
    """E[phi] from topics' Dirichlet parameters [V, T], in the compiled code's form."""
    table = pad_topics(topics, 0.0)
    total = table.sum(axis=0, dtype=np.float64)
    table /= np.where(total > 0.0, total, 1.0).astype(np.float32)
    return table


def pad_topics(values: FloatArray, filling: float) -> FloatArray:
    """`values` [..., T] in the compiled code's form: float32, topics padded with `filling`."""
    n_topics = values.shape[-1]
    width = -(-n_topics // _PADDING) * _PADDING
    out = np.full((*values.shape[:-1], width), filling, dtype=np.float32)
    out[..., :n_topics] = values
    return out
