"""Levels that are drawn from one distribution, such as authors around their venues."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hdsp.labels.plain import Tags


class Pooled(Tags):
    """An indicator of each level or tag, whose effects share a variance that is learned.

    With `parents`, levels are nested in those of another category, such as authors in venues: the
    parent has effects of its own, and a level's effect is how it differs from them. A document that
    has a level and no parent gets the parent that most training documents with this level have; of
    a level that training did not have, its parent is what is known.

    Parameters
    ----------
    *columns : str
        The name of the category or of the tags.
    parents : str or None, default=None
        The name of the category whose levels these belong to.

    Examples
    --------
    >>> Pooled("author", parents="venue")
    Pooled('author', parents='venue')
    """

    kinds = frozenset({"tags", "category"})

    def __init__(self, *columns: str, parents: str | None = None) -> None:
        super().__init__(*columns)
        if parents is not None and (not isinstance(parents, str) or parents in columns):
            raise ValueError(
                f"`parents` of {columns[0]!r} must be the name of another label column. "
                f"Got {parents!r}."
            )
        self.parents = parents

    def settings(self) -> dict[str, Any]:
        """The parents, if there are any."""
        return {} if self.parents is None else {"parents": self.parents}

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The label, and its parents."""
        return self.columns if self.parents is None else (*self.columns, self.parents)

    def bound(
        self, sources: Sequence[Sequence[str]], fitted: Mapping[str, list[float]] | None = None
    ) -> Self:
        """The term of levels; what it has learned says whether they exclude each other."""
        copy = super().bound(sources, fitted)
        copy.exclusive = bool(copy.fitted.get("exclusive", [0.0])[0])
        return copy

    def learn(self, parts: Sequence[csr_array], unit: float = 1.0) -> Mapping[str, list[float]]:
        """Whether a document has at most one of them; the position of each one's parent, or -1."""
        learned = {"exclusive": [float(np.diff(parts[0].indptr).max(initial=0) <= 1)]}
        if self.parents is not None:
            together = csr_array(parts[0].T @ parts[1])
            # Older releases of SciPy give a column.
            most = np.asarray(together.argmax(axis=1)).ravel()
            parent = np.where(np.diff(together.indptr) > 0, most, -1)
            learned["parent"] = parent.astype(np.float64).tolist()
        return learned

    def implied(self, own: csr_array, parents: csr_array) -> csr_array:
        """The values of parents [M, n], with those that levels imply where there are none."""
        parent = np.asarray(self.fitted.get("parent", []), dtype=np.int64)
        known = np.flatnonzero((parent >= 0) & (parent < parents.shape[1]))
        belongs = csr_array(
            (np.ones(len(known)), (known, parent[known])), shape=(own.shape[1], parents.shape[1])
        )
        lacking = np.diff(parents.indptr) == 0
        found = csr_array(csr_array(own.multiply(lacking[:, None])) @ belongs)
        rows = np.flatnonzero(np.diff(found.indptr))
        if not len(rows):
            return parents
        # Of several tags, the parent that most have.
        most = np.asarray(found[rows].argmax(axis=1)).ravel()
        added = csr_array((np.ones(len(rows)), (rows, most)), shape=parents.shape)
        return csr_array(parents + added)
