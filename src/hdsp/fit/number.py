"""Which number of topics, given how well each predicts held-out words.

The gain of T topics is the mean log probability of a held-out token beyond that of word
frequencies alone. By *prediction* the number is the smallest whose gain is within one standard
error of the largest. On real text topics of ever smaller use often go on adding a little, and there
is no largest gain; the *elbow* is the number beyond which one per cent more topics add less than
`ELASTICITY` per cent to the gain.
"""

from dataclasses import dataclass

import numpy as np

from hdsp.numerics import FloatArray

NUMBERS_BY = ("auto", "prediction", "elbow")
# At .1 to .2 the numbers for real text differ by a factor of two to three, and those for draws of
# known topics hardly at all; benchmarks/number.py shows both.
ELASTICITY = 0.15
# Numbers whose scores differ by fewer standard errors are about as good.
_CLEARLY = 2.0
_DRAWS = 200
# The numbers that two fits find differ by the errors of both.
_OF_TWO = 2.0**0.5


@dataclass(frozen=True, eq=False)
class Scores:
    """How well numbers of topics predict held-out documents.

    Attributes
    ----------
    likelihood : dict of int to float array of shape [M]
        The log likelihood of held-out documents by number of topics.
    tokens : float array of shape [M]
        Their tokens.
    unigram : float array of shape [M]
        Their log likelihood by word frequencies alone.
    """

    likelihood: dict[int, FloatArray]
    tokens: FloatArray
    unigram: FloatArray

    @property
    def gain(self) -> dict[int, float]:
        """By number of topics."""
        total = self.tokens.sum()
        return {n: float((own - self.unigram).sum() / total) for n, own in self.likelihood.items()}

    @property
    def best(self) -> int:
        """The number with the largest gain."""
        gain = self.gain
        return max(gain, key=lambda n: (gain[n], -n))

    @property
    def has_peak(self) -> bool:
        """Whether the gain is largest before the largest number that was tried."""
        return self.best < max(self.likelihood)

    def errors_below(self, number: int) -> float:
        """By how many standard errors, over documents, a number's gain is below the largest."""
        apart = self.likelihood[self.best] - self.likelihood[number]
        residual = apart - self.tokens * (apart.sum() / self.tokens.sum())
        error = float(np.sqrt((residual**2).sum()))
        return float(apart.sum()) / error if error > 0.0 else 0.0

    def passed(self, edge: int) -> bool:
        """Whether the gain falls from its best towards `edge`: clearly, or twice."""
        best = self.best
        beyond = [n for n in self.likelihood if (n - best) * (edge - best) > 0]
        return len(beyond) > 1 or (edge != best and self.errors_below(edge) > _CLEARLY)

    def by_prediction(self) -> int:
        """The smallest number within one standard error of the best."""
        return min(n for n in self.likelihood if self.errors_below(n) <= 1.0)

    def chosen(self, number_by: str) -> float:
        """The number by one of `NUMBERS_BY`."""
        if number_by == "prediction" or (number_by == "auto" and self.has_peak):
            return self.by_prediction()
        return elbow_number(self.gain)

    def about_as_good(self, number_by: str) -> tuple[int, int]:
        """The smallest and the largest number that are about as good as the one chosen.

        By prediction they lie half-way between numbers that are within two standard errors of the
        best and those that are not. By the elbow another fit, with other documents held out and
        from another start, is expected to lead there in nine tenths: held-out documents are
        resampled, and gains differ besides as those of the numbers tried do from a smooth curve.
        """
        if number_by == "prediction" or (number_by == "auto" and self.has_peak):
            tried = np.array(sorted(self.likelihood))
            good = np.flatnonzero([self.errors_below(n) <= _CLEARLY for n in tried.tolist()])
            lower, upper = tried[max(good[0] - 1, 0)], tried[min(good[-1] + 1, len(tried) - 1)]
            low, high = np.sqrt(lower * tried[good[0]]), np.sqrt(upper * tried[good[-1]])
            return round(float(low)), round(float(high))
        low, high = np.quantile(self._drawn_elbows(), [0.05, 0.95])
        return round(float(low)), round(float(high))

    def _drawn_elbows(self) -> list[float]:
        rng = np.random.default_rng(0)
        numbers, m = sorted(self.likelihood), len(self.tokens)
        gains = np.array([self.likelihood[n] - self.unigram for n in numbers])
        mean = gains.sum(axis=1) / self.tokens.sum()
        deviation, freedom = _roughness(np.log(numbers), mean)
        found = [elbow_number(dict(zip(numbers, mean.tolist(), strict=True)))]
        for _ in range(_DRAWS):
            times = np.bincount(rng.integers(m, size=m), minlength=m)
            noise = rng.normal(size=len(numbers)) / np.sqrt(rng.chisquare(freedom) / freedom)
            if not times @ self.tokens:
                continue
            change = gains @ times / (times @ self.tokens) - mean + deviation * noise
            drawn = mean + _OF_TWO * change
            found.append(elbow_number(dict(zip(numbers, drawn.tolist(), strict=True))))
        return found


def _roughness(x: FloatArray, y: FloatArray) -> tuple[float, int]:
    """The standard deviation of values about a parabola, and its degrees of freedom."""
    freedom = len(x) - 3
    if freedom < 1:
        return 0.0, 1
    residual = y - np.polyval(np.polyfit(x, y, 2), x)
    return float(np.sqrt((residual**2).sum() / freedom)), freedom


def elbow_number(gain: dict[int, float]) -> float:
    """The number beyond which the elasticity of the gain is below `ELASTICITY`.

    Parameters
    ----------
    gain : dict of int to float
        By number of topics.

    Examples
    --------
    >>> round(elbow_number({8: 0.5, 16: 0.8, 32: 0.9, 64: 0.95}))
    26
    """
    numbers, curve = _concave(gain)
    if curve[-1] <= 0.0:
        # Topics say nothing beyond the frequencies of words.
        return float(numbers[-1])
    middle, elasticity = _elasticities(numbers, curve)
    below = int(np.argmax(elasticity < ELASTICITY))
    if below == 0:
        return float(numbers[0])
    above, last = elasticity[below - 1], elasticity[below]
    part = (above - ELASTICITY) / (above - last)
    return float(middle[below - 1] * (middle[below] / middle[below - 1]) ** part)


def settles(gain: dict[int, float]) -> bool:
    """Whether the elasticity between the largest two numbers tried, and before, is low enough."""
    numbers, curve = _concave(gain)
    _, elasticity = _elasticities(numbers, curve)
    return len(elasticity) > 2 and bool((elasticity[-3:-1] < ELASTICITY).all())


def _concave(gain: dict[int, float]) -> tuple[FloatArray, FloatArray]:
    """Numbers up to the best, and the least concave curve in ln T above their gains."""
    numbers = np.array(sorted(gain), dtype=np.float64)
    values = np.array([gain[int(n)] for n in numbers])
    x = np.log(numbers)
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1:
            j, k = hull[-2], hull[-1]
            if (values[k] - values[j]) * (x[i] - x[k]) > (values[i] - values[k]) * (x[k] - x[j]):
                break
            hull.pop()
        hull.append(i)
    curve = np.interp(x, x[hull], values[hull])
    last = int(np.argmax(curve)) + 1
    return numbers[:last], curve[:last]


def _elasticities(numbers: FloatArray, curve: FloatArray) -> tuple[FloatArray, FloatArray]:
    """d ln gain / d ln T between numbers, at their middles; 0 at the last number."""
    step = np.diff(np.log(numbers))
    middle = np.sqrt(numbers[1:] * numbers[:-1])
    mean = np.maximum((curve[1:] + curve[:-1]) / 2.0, 1e-12)
    return np.append(middle, numbers[-1]), np.append(np.diff(curve) / step / mean, 0.0)
