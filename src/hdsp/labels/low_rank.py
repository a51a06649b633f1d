"""Thousands of labels, whose effects are inner products of few dimensions."""

from typing import Any

from hdsp.labels.pooled import Pooled


class LowRank(Pooled):
    """An indicator of each level or tag, whose effects lie near few dimensions.

    The effect of label j on topic k is an inner product b_j . a_k of a vector of the label and one
    of the topic, and a deviation; deviations share a variance that is learned, and so are the
    dimensions: those that the documents do not show are removed. A label of few documents leans on
    what labels with similar topics have.

    Parameters
    ----------
    *columns : str
        The name of the category or of the tags.
    rank : int or None, default=None
        How many dimensions there may be; None is up to twenty. With as many as there are topics or
        labels, weights may be any, and the term is the plain one of `LogLinear`.

    Examples
    --------
    >>> LowRank("authors", rank=10)
    LowRank('authors', rank=10)
    """

    def __init__(self, *columns: str, rank: int | None = None) -> None:
        super().__init__(*columns)
        if rank is not None and (isinstance(rank, bool) or not isinstance(rank, int) or rank < 1):
            raise ValueError(
                "`rank` of LowRank must be a whole number from 1, or None to learn it. "
                f"Got {rank!r}."
            )
        self.rank = rank

    def settings(self) -> dict[str, Any]:
        """The rank, if it was given."""
        return {} if self.rank is None else {"rank": self.rank}
