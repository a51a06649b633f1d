"""A term that gives a scaling function room for its weights: one weight is one column."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels.term import Term, number_columns


class Slots(Term):
    """A number, and columns that hold nothing, for a function of it with several weights.

    Parameters
    ----------
    *columns : str
        The name of the number.
    n : int, default=1
        The number of further columns.
    """

    kinds = frozenset({"number"})

    def __init__(self, *columns: str, n: int = 1) -> None:
        super().__init__(*columns)
        self.n = n

    def settings(self) -> dict[str, Any]:
        """The number of further columns."""
        return {"n": self.n}

    @property
    def names(self) -> tuple[str, ...]:
        """The number's own name, and one for each further weight."""
        further = range(2, self.n + 2)
        return (*self.sources[0], *(f"{self.columns[0]} (weight {i})" for i in further))

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The number, and nothing, [M, 1 + n]."""
        return number_columns(csr_array(parts[0]), np.zeros((parts[0].nnz, self.n)), 1.0)
