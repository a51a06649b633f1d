"""The three plain terms, whose columns are the values of a label column as they are."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Kind
from hdsp.labels.term import Term
from hdsp.numerics import BoolArray


class Number(Term):
    """Numbers in standard units."""

    kinds = frozenset({"number"})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values."""
        return self.sources[0]

    def expand(self, parts: Sequence[csr_array]) -> csr_array:
        """The values themselves, [M, n]."""
        return parts[0]


class Tags(Number):
    """An indicator of each tag, of which a document may have several."""

    kinds = frozenset({"tags"})

    @property
    def indicator(self) -> BoolArray:
        """All columns hold only 0 and 1."""
        return np.ones(len(self.names), dtype=np.bool_)


class Levels(Tags):
    """An indicator of each level of a category, of which a document has at most one."""

    kinds = frozenset({"category"})
    exclusive = True


def plain_term(name: str, kind: Kind) -> Term:
    """The plain term of a label column."""
    terms: dict[Kind, type[Term]] = {"tags": Tags, "category": Levels, "number": Number}
    return terms[kind](name)
