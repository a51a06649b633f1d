"""Which of the words of texts are counted, by how often they occur."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hdsp.numerics.types import FloatArray, IntArray

if TYPE_CHECKING:
    from hdsp.corpus.text import TextSettings

# With fewer documents, the default rules on document frequencies keep every word.
_SMALL = 20


def choose_words(
    settings: "TextSettings",
    words: Sequence[Any],
    frequency: IntArray,
    totals: FloatArray,
    n_documents: int,
) -> IntArray:
    """Return which words `min_df`, `max_df` and `max_features` keep.

    Parameters
    ----------
    settings : TextSettings
        The settings.
    words : sequence of str or int of length V
        All words, in any order.
    frequency : int array of shape [V]
        Number of documents in which each word occurs.
    totals : float array of shape [V]
        How often each word occurs.
    n_documents : int
        Number of documents.

    Returns
    -------
    int array of shape [W]
        Positions of the kept words, in the order of the words. Of equally frequent words,
        `max_features` keeps those that come first.
    """
    kept = np.flatnonzero(is_common(settings, frequency, n_documents)).tolist()
    in_order = np.array(sorted(kept, key=words.__getitem__), dtype=np.int64)
    most = settings.max_features
    if most is not None and len(in_order) > most:
        in_order = in_order[np.sort(np.argsort(-totals[in_order], kind="stable")[:most])]
    return in_order


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
