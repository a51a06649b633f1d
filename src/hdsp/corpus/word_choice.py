"""Which of the words of texts are counted, by how often they occur."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hdsp.corpus.word_table import PackedWords
from hdsp.numerics import FloatArray, IntArray

if TYPE_CHECKING:
    from hdsp.corpus.text import TextSettings

# With fewer documents, the default rules on document frequencies keep every word.
_SMALL = 20


def choose_words(
    settings: "TextSettings", words: PackedWords, counts: csr_array
) -> tuple[IntArray, list[str]]:
    """Return the words that `min_df`, `max_df` and `max_features` keep, in alphabetical order.

    Parameters
    ----------
    settings : TextSettings
        The settings.
    words : PackedWords
        All V words, in any order.
    counts : sparse array of shape [M, V]
        Their counts.

    Returns
    -------
    positions : int array of shape [W]
        Positions of the kept words.
    words : list of str
        The kept words.
    """
    frequency = np.bincount(counts.indices, minlength=len(words))
    totals = np.bincount(counts.indices, counts.data, len(words)).astype(np.float64)
    common = np.flatnonzero(is_common(settings, frequency, counts.shape[0]))
    names = words.take(common)
    order = chosen_order(settings, names, totals[common])
    return common[order], [names[position] for position in order.tolist()]


def chosen_order(settings: "TextSettings", names: list[str], totals: FloatArray) -> IntArray:
    """Return the positions of the words that `max_features` keeps, in alphabetical order."""
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    return order[most_frequent(settings, totals[order])]


def most_frequent(settings: "TextSettings", totals: FloatArray) -> IntArray:
    """Return which of some words `max_features` keeps: of equals, those that come first.

    Parameters
    ----------
    settings : TextSettings
        The settings.
    totals : float array of shape [V]
        How often each word occurs.

    Returns
    -------
    int array of shape [W]
        Positions of the kept words, in their order.
    """
    most = settings.max_features
    if most is None or len(totals) <= most:
        return np.arange(len(totals))
    return np.sort(np.argsort(-totals, kind="stable")[:most])


def is_common(settings: "TextSettings", frequency: IntArray, n_documents: int) -> NDArray[np.bool_]:
    """Return which words occur in enough documents, and not in too many."""
    least = min(5, 0.02 * n_documents)
    largest = n_documents * (1.0 if n_documents < _SMALL else 0.5)
    if settings.min_df is not None:
        least = settings.min_df * (n_documents if isinstance(settings.min_df, float) else 1)
    if settings.max_df is not None:
        largest = settings.max_df * (n_documents if isinstance(settings.max_df, float) else 1)
    common: NDArray[np.bool_] = (frequency >= least) & (frequency <= largest)
    return common
