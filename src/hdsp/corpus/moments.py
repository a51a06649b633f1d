"""Sums over the observed values of a column of numbers, which add up over parts of a corpus."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self, TypeAlias

import numpy as np

from hdsp.numerics import FloatArray


@dataclass(frozen=True)
class Moments:
    """What standardising a column of numbers needs to know of its values.

    Attributes
    ----------
    n : int
        Number of observed values.
    mean : float
        Their mean; 0 if they are not centred.
    spread : float
        Sum of squares of their differences from `mean`.
    least : float
        The smallest value; 0 where there is none.
    most : float
        The largest value; 0 where there is none.
    centred : bool
        Whether numbers are standardised about their mean; see `LabelBlock`.
    """

    n: int = 0
    mean: float = 0.0
    spread: float = 0.0
    least: float = 0.0
    most: float = 0.0
    centred: bool = True

    @classmethod
    def of(cls, values: FloatArray, centred: bool) -> Self:
        """Return the sums of a column's observed values."""
        if len(values) == 0:
            return cls(centred=centred)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(values.mean()) if centred else 0.0
            return cls(
                len(values),
                mean,
                float(np.sum((values - mean) ** 2)),
                float(values.min()),
                float(values.max()),
                centred,
            )

    def __add__(self, other: "Moments") -> "Moments":
        if not other.n:
            return self
        if not self.n:
            return other
        n = self.n + other.n
        shift = other.mean - self.mean
        # About their own means, because the difference of two large sums would lose digits.
        spread = self.spread + other.spread + shift * shift * (self.n * other.n / n)
        return Moments(
            n,
            self.mean + shift * (other.n / n),
            spread,
            min(self.least, other.least),
            max(self.most, other.most),
            self.centred,
        )

    def standard(self, name: str) -> tuple[float, float]:
        """Return what is subtracted from the values of column `name`, and by what they are divided.

        Parameters
        ----------
        name : str
            The column's name, for messages.

        Returns
        -------
        mean : float
            The mean, or 0.
        scale : float
            The standard deviation, or the root of the mean square.
        """
        if not self.n:
            return 0.0, 1.0
        if self.centred and self.least == self.most:
            return self.least, 1.0
        scale = float(np.sqrt(self.spread / self.n))
        if not np.isfinite(scale):
            raise ValueError(
                "Numbers must be small enough to standardise. "
                f"Got {max(abs(self.least), abs(self.most))} in column {name!r}. Change its unit."
            )
        return self.mean, scale or 1.0


# Of the columns of each block of labels; those of a block that holds no numbers are empty.
LabelMoments: TypeAlias = tuple[tuple[Moments, ...], ...]


def added(parts: Iterable[LabelMoments]) -> LabelMoments:
    """Return the sums over all parts of a corpus, added in their order."""
    return reduce(
        lambda total, part: tuple(
            tuple(map(add, sums, more)) for sums, more in zip(total, part, strict=True)
        ),
        parts,
    )
