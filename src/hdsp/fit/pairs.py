"""Initial topics from pairs of words, for short texts of several topics.

Two tokens of a document are of topics k and l with probability s_kl, and words of these: how often
pairs of words share a document is Q ~ Phi S Phi^T (Hofmann's aspect model, of pairs of words).
Pairs add up over documents, so that documents may be short as long as there are many of them. The
factors begin at clusters of documents, twice as many as topics are wanted; those that are mixtures
of others are left out.
"""

import numpy as np
from scipy.linalg import qr

from hdsp.fit.words import WordSpace
from hdsp.kernels import run_ranges
from hdsp.numerics import FloatArray

# Topics are first learned for the most frequent words: pairs of all would be too many.
_MOST_WORDS = 1_000
# Clusters for each topic, and the passes that find them: they are only where steps begin.
_TIMES, _CLUSTER_PASSES = 2, 10
# Steps of expectation maximisation, with all clusters and with those that are chosen.
STEPS, _LAST_STEPS = 45, 6
# Each goes so many times as far as the maximum, in logarithms (over-relaxation), which takes little
# more than half of the steps. Longer ones find fewer topics (1.8), and from 2 on do not settle.
_STEP_LENGTH = 1.5
# Words at a time.
_WORDS = 128
# The share of pairs whose words are of one topic, to begin with.
_SAME = 0.5
_SMALLEST = 1e-9


def pair_topics(
    space: WordSpace,
    n_topics: int,
    topic_prior: float,
    rng: np.random.Generator,
    n_steps: int = STEPS,
) -> FloatArray:
    """Expected tokens of each word in topics, [V, T].

    Parameters
    ----------
    space : WordSpace
        The documents and their words.
    n_topics : int
        The number of topics T.
    topic_prior : float
        What every word has in a cluster besides its tokens.
    rng : numpy.random.Generator
        Chooses the seeds of clusters.
    n_steps : int, default=45
        Steps of expectation maximisation with all clusters.
    """
    counts, pairs = space.counts, space.pairs
    clusters = space.clusters(_TIMES * n_topics, rng, 1, _CLUSTER_PASSES)
    frequency = np.maximum(np.asarray(pairs.sum(axis=1)), 0.0)
    if not frequency.any():
        return np.zeros((counts.shape[1], n_topics))
    common = np.sort(np.argsort(-frequency, kind="stable")[:_MOST_WORDS])
    joint = np.maximum(pairs[common][:, common].toarray(), 0.0).astype(np.float32)
    joint /= max(float(joint.sum()), 1e-30)
    words = (clusters[common] + topic_prior).astype(np.float32)
    words, together = factorise_pairs(joint, words / words.sum(axis=0), n_steps)
    chosen = _unmixed(joint, words, together.sum(axis=1), n_topics)
    words, together = factorise_pairs(joint, words[:, chosen], _LAST_STEPS)
    found = np.zeros((counts.shape[1], n_topics))
    found[common] = words * together.sum(axis=1)
    rare = np.setdiff1d(np.arange(counts.shape[1]), common)
    if len(rare):
        # A rare word is of the topics of the words that it shares documents with.
        own = np.maximum(frequency[common] / frequency[common].sum(), 1e-30)
        found[rare] = pairs[rare][:, common] @ (words @ together / own[:, None]) / frequency.sum()
    found = np.maximum(found, 0.0)
    return np.asarray(found * (counts.sum() / max(float(found.sum()), 1e-300)))


def factorise_pairs(
    joint: FloatArray, words: FloatArray, n_steps: int
) -> tuple[FloatArray, FloatArray]:
    """Over-relaxed steps of expectation maximisation for Q ~ Phi S Phi^T.

    Parameters
    ----------
    joint : float array of shape [W, W]
        Q, the shares of pairs of words; symmetric.
    words : float array of shape [W, T]
        The word shares Phi to start from; columns sum to 1.
    n_steps : int
        The number of steps.

    Returns
    -------
    words : float array of shape [W, T]
        The word shares.
    together : float array of shape [T, T]
        The shares S of pairs of topics.
    """
    n_topics = words.shape[1]
    apart = np.float32((1.0 - _SAME) / n_topics**2)
    together = np.eye(n_topics, dtype=np.float32) * np.float32(_SAME / n_topics) + apart
    length = np.float32(_STEP_LENGTH)
    new = np.empty_like(words)

    def step(first: int, last: int) -> FloatArray:
        own = words[first:last]
        ratio = (own @ together) @ words.T
        np.divide(joint[first:last], np.maximum(ratio, 1e-12), out=ratio)
        weighted = ratio @ words
        new[first:last] = own * (weighted @ together) ** length
        return np.asarray(own.T @ weighted)

    for _ in range(n_steps):
        together = together * sum(run_ranges(step, len(words), _WORDS)) ** length
        together /= together.sum()
        words = new / np.maximum(new.sum(axis=0), 1e-30) + np.float32(_SMALLEST)
    return words, together


def _unmixed(joint: FloatArray, words: FloatArray, size: FloatArray, n_topics: int) -> FloatArray:
    """The T topics that differ most from mixtures of each other, in order.

    By a QR decomposition with pivots: the next topic is the one of which those before it explain
    least. A mixture of topics, and one that is there twice, has little left.
    """
    frequency = np.maximum(joint.sum(axis=1), _SMALLEST)
    scaled = words / np.sqrt(frequency)[:, None] * np.sqrt(size)
    _, order = qr(scaled, mode="r", pivoting=True)
    return np.asarray(np.sort(order[:n_topics]))
