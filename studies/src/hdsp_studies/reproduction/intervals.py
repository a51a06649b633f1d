"""Numbers over seeds: their mean, and an interval for it."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import t

from hdsp_studies.reproduction.study import mean

_LEVEL = 0.95
# With fewer seeds the t-interval says more of its assumptions than of the seeds.
_ENOUGH = 5
NOTE = (
    "Bands and brackets are 95% t-intervals of the mean over seeds; with two to four seeds, the "
    "smallest and the largest."
)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """An interval for the mean over seeds.

    Parameters
    ----------
    values : sequence of float
        One for each seed.

    Returns
    -------
    low : float
        End of the 95% t-interval; with fewer than five seeds, the smallest value.
    high : float
        The other end, or the largest value. NaN without values, like `low`.
    """
    n = len(values)
    if n < _ENOUGH:
        return (min(values), max(values)) if n else (float("nan"), float("nan"))
    half = float(t.ppf(0.5 + _LEVEL / 2, n - 1) * np.std(values, ddof=1) / n**0.5)
    return mean(values) - half, mean(values) + half


def with_interval(values: Sequence[float], form: str = ".2f") -> str:
    """The mean with its interval in brackets; one value stands alone."""
    if len(values) < 2:
        return f"{mean(values):{form}}"
    low, high = interval(values)
    return f"{mean(values):{form}} ({low:{form}} to {high:{form}})"
