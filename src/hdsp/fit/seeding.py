"""Where a fit starts the topics that seed words steer."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from hdsp.checks import quoted
from hdsp.exceptions import FitWarning
from hdsp.numerics import FloatArray, IntArray

# The share of a seeded topic's first words that its seeds are; the rest keep them company.
_SEED_SHARE = 0.25
# The share that is spread over all words, as in other starts.
_SMOOTHING = 0.5


def find_seeds(seeds: Mapping[str, Sequence[str]], words: Sequence[str]) -> list[IntArray]:
    """The places of seed words among `words`, one array per seeded topic.

    Warns of words that the corpus does not have; a topic with no other raises.
    """
    place = {word: i for i, word in enumerate(words)}
    unknown = [word for seed in seeds.values() for word in seed if word not in place]
    found: list[IntArray] = [
        np.unique([place[word] for word in seed if word in place]).astype(np.int64)
        for seed in seeds.values()
    ]
    for (name, seed), own in zip(seeds.items(), found, strict=True):
        if not len(own):
            raise ValueError(
                f"`seeds` of HDSP has no word for {name!r} that the corpus counts. Got "
                f"{quoted(seed)}. Choose other words, or have rarer ones counted (min_df); counts "
                "know no words unless X is a Corpus, or a frame with words as columns."
            )
    if unknown:
        warnings.warn(
            f"`seeds` of HDSP names words that the corpus does not count, and that steer nothing: "
            f"{quoted(dict.fromkeys(unknown))}.",
            FitWarning,
            stacklevel=6,
        )
    return found


def place_seeds(
    counts: csr_array, seeds: csr_array, word_share: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Start topics from seeds in place of those that resemble them most.

    Parameters
    ----------
    counts : sparse array of shape [M, V]
        The documents.
    seeds : sparse array of shape [S, V]
        The prior's tokens of seed words.
    word_share : float array of shape [V, T]
        Initial topics; columns sum to 1.

    Returns
    -------
    word_share : float array of shape [V, T]
        The same, with seeded topics.
    seeded : int array of shape [S]
        The topics that are seeded.
    """
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    frequency /= frequency.sum()
    profile = _company(counts, seeds, frequency)
    profile = (1.0 - _SMOOTHING) * profile + _SMOOTHING * frequency[:, None]
    # What topics have beyond the words of the whole corpus tells them apart.
    likeness = _unit(profile - frequency[:, None]).T @ _unit(word_share - frequency[:, None])
    _, seeded = linear_sum_assignment(-likeness)
    result = word_share.copy()
    # A topic that is only half the one wanted would keep its other half.
    result[:, seeded] = profile
    return result, seeded.astype(np.int64)


def _company(counts: csr_array, seeds: csr_array, frequency: FloatArray) -> FloatArray:
    """Seed words, and words that documents use more where seed words are, [V, S].

    A document has the weight of its seed words' inverse document frequencies, squared, so that
    those with several of them count most; and all of its words together count as one.
    """
    present = csr_array((np.sign(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    held = np.maximum(np.asarray(present.sum(axis=0), dtype=np.float64), 1.0)
    carried = csr_array((np.ones(seeds.nnz), seeds.indices, seeds.indptr), shape=seeds.shape)
    rare = csr_array(carried.multiply(np.log1p(counts.shape[0] / held)))
    lengths = np.maximum(np.asarray(counts.sum(axis=1), dtype=np.float64), 1e-300)
    weight = (present @ rare.T).toarray() ** 2 / lengths[:, None]
    used = np.asarray(counts.T @ weight, dtype=np.float64)
    used /= np.maximum(used.sum(axis=0), 1e-300)
    own = carried.toarray().T > 0
    gained = np.where(own, 0.0, np.maximum(used - frequency[:, None], 0.0))
    # Words that no document has, or no company, are left with those of the corpus.
    return np.asarray(
        _SEED_SHARE * _shares(np.where(own, frequency[:, None] + 1e-12, 0.0), frequency)
        + (1.0 - _SEED_SHARE) * _shares(gained, frequency)
    )


def _shares(columns: FloatArray, otherwise: FloatArray) -> FloatArray:
    total = columns.sum(axis=0)
    return np.where(total > 0, columns / np.maximum(total, 1e-300), otherwise[:, None])


def _unit(columns: FloatArray) -> FloatArray:
    return np.asarray(columns / np.maximum(np.sqrt((columns**2).sum(axis=0)), 1e-300))
