"""A document, and the arrays in which all documents of a range are solved one after another."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hdsp.kernels.special import PADDING, PART
from hdsp.numerics import FloatArray, IntArray

# Words of a tile are padded to whole vector registers.
_LANES = 8
_CACHE_LINE = 64


class Document(NamedTuple):
    """What stays the same while a document is solved.

    Weights are taken relative to the topic with the lowest rate, so that none overflows.
    """

    words: Any  # columns of the W distinct words
    n_words: Any  # W, padded
    length: Any  # N
    prior: Any  # beta p_k, [K]
    prior_total: Any  # beta
    rho: Any  # E[rho_k], [K]
    lowest: Any  # the smallest E[rho_k]
    upper: Any  # no xi is larger
    tolerance: Any  # of xi, relative


class Words(NamedTuple):
    """Arrays of a document's words i; those that pad them do not occur."""

    counts: Any  # c_i
    own: Any  # o_i / c_i
    token_weight: Any  # c_i / Z_i
    background: Any  # the part of Z_i that is not of active topics
    norm: Any  # Z_i


class Topics(NamedTuple):
    """Arrays of all K topics."""

    n: Any
    a: Any
    scale: Any  # lowest / b_k
    reproduced: Any  # R_k
    weight: Any
    inverse: Any
    is_active: Any


class Active(NamedTuple):
    """Arrays of the active topics j, which have the first places."""

    topic: Any  # k
    n: Any
    prior: Any
    rho: Any
    scale: Any
    new_n: Any
    before: Any
    between: Any
    phi: Any  # [K, W]
    joint: Any  # gamma_ij Z_i, [K, W]


def make_memory(indptr: IntArray, n_topics: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Working arrays for documents of which `indptr` says how many distinct words they have."""
    longest = int(np.diff(indptr).max(initial=0))
    # Rows start at whole registers, too.
    room = -(-longest // _LANES) * _LANES
    return (
        _aligned((5, room + PADDING), dtype),
        _aligned((13, n_topics + PADDING), dtype),
        _aligned((2, n_topics, room), dtype),
        np.empty(n_topics, np.bool_),
        np.empty(n_topics, np.uint64),
    )


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatArray:
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(shape)


@njit(**PART)
def name_arrays(memory: Any) -> Any:
    """Words, topics and active topics in the arrays of `make_memory`."""
    w, k, tile, is_active, topic = memory
    words = Words(w[0], w[1], w[2], w[3], w[4])
    stop = topic.shape[0]
    topics = Topics(
        k[0, :stop], k[1, :stop], k[2, :stop], k[3, :stop], k[4, :stop], k[5], is_active
    )
    active = Active(topic, k[6], k[7], k[8], k[9], k[10], k[11], k[12], tile[0], tile[1])
    return words, topics, active


@njit(**PART)
def pad_words(counts: Any, words: Any) -> Any:
    """Take over the counts of a document's words; their number, padded."""
    padded, own, token_weight = words.counts, words.own, words.token_weight
    zero = padded.dtype.type(0.0)
    one = padded.dtype.type(1.0)
    stop = counts.shape[0]
    n_words = -(-stop // _LANES) * _LANES
    for i in range(stop):
        padded[i] = counts[i]
        own[i] = one / max(counts[i], one)
    for i in range(stop, n_words):
        padded[i] = zero
        own[i] = zero
        token_weight[i] = zero
    return n_words
