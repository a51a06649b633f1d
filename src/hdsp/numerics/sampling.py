"""Parts of documents: of one size, and random ones that are always the same."""

from collections.abc import Iterator

import numpy as np

from hdsp.numerics.types import IntArray

# Documents of a part of a corpus, of a block of a fit, and of all that is done in parts: enough
# to keep threads busy and the word pass efficient, few enough that temporary arrays stay small
# beside the corpus.
AT_ONCE = 8_192


def sample_rows(n_rows: int, most: int, seed: int = 0) -> IntArray:
    """At most `most` of the rows, chosen at random, in order."""
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:most])


def random_folds(n_rows: int, n_folds: int, seed: int) -> IntArray:
    """The fold of each row; folds are of equal size, to one."""
    return np.asarray(np.random.default_rng(seed).permutation(n_rows) % n_folds)


def parts_of(rows: IntArray, size: int = AT_ONCE) -> Iterator[IntArray]:
    """The rows in parts of `size`."""
    for first in range(0, len(rows), size):
        yield rows[first : first + size]
