"""Interactions: products of the columns of two labels."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels.term import Term
from hdsp.numerics import csr_from_entries


class Interaction(Term):
    """The products of the columns of two labels: the effect of one may depend on the other.

    Parameters
    ----------
    *columns : str
        The names of two label columns, whose own effects the model has besides.

    Examples
    --------
    >>> Interaction("ideology", "day")
    Interaction('ideology', 'day')
    """

    main = False
    n_sources = 2

    def __init__(self, *columns: str) -> None:
        if len(columns) > self.n_sources:
            raise ValueError(
                f"Interaction takes two label columns, and not {', '.join(map(repr, columns))}: "
                "products of three labels are not possible."
            )
        super().__init__(*columns)

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each pair of columns."""
        first, second = self.sources
        return tuple(f"{a} × {b}" for a in first for b in second)

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """The pairs, those of the first source's first column first."""
        first, second = self.sources
        return tuple((i, j) for i in range(len(first)) for j in range(len(second)))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """r_mi r_mj for each pair of columns whose values are both there, [M, n]."""
        first, second = map(csr_array, parts)
        per_row = np.diff(second.indptr)
        rows = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
        # Each entry of the first meets every entry of the second in its row.
        times = per_row[rows]
        owner = np.repeat(np.arange(len(rows)), times)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(times) - times, times)
        other = second.indptr[rows[owner]] + place
        return csr_from_entries(
            rows[owner],
            first.indices[owner].astype(np.int64) * second.shape[1] + second.indices[other],
            first.data[owner] * second.data[other],
            (first.shape[0], first.shape[1] * second.shape[1]),
        )
