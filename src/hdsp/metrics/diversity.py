"""Diversity: do the topics have words of their own?"""

import numpy as np

from hdsp.numerics.types import IntArray


def topic_diversity(top_words: IntArray) -> float:
    """Return the share of distinct words among all topics' top words.

    1 where no two topics share a top word, 1 / T where all T topics list the same words.

    Parameters
    ----------
    top_words : IntArray [T, n]
        Word indices of each topic: see `topic_top_words`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> topic_diversity(np.array([[0, 1], [1, 2]]))
    0.75
    """
    top_words = np.asarray(top_words)
    if top_words.ndim != 2 or top_words.size == 0:
        raise ValueError(
            "`top_words` of topic_diversity must be a matrix [T, n] with at least one word. "
            f"Got shape {top_words.shape}. Make it with topic_top_words(components, n=10)."
        )
    return float(np.unique(top_words).size / top_words.size)
