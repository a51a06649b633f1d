"""From how well numbers of topics predict held-out words to the number that is wanted.

The gain of T topics is the mean log probability of a held-out token beyond that of word
frequencies alone. By *prediction* the number is where the gain is largest. By *evidence* it is
where more topics stop being worth their while: beyond it, one per cent more topics add less than
`ELASTICITY` per cent to the gain. Where topics are sharply separate the two agree; on real text
topics of ever smaller use go on adding a little, and evidence stops earlier.
"""

import numpy as np

from hdsp.numerics.types import FloatArray

NUMBERS_BY = ("evidence", "prediction")
# At .1 to .2 the numbers for real text differ by a factor of two to three, and those for draws of
# known topics hardly at all; benchmarks/number.py shows both.
ELASTICITY = 0.15
# A parabola goes through the numbers within this factor of the best.
_WINDOW = 2.5
# As many times are held-out documents drawn again for the range of numbers.
_DRAWS = 200
# Fits from other seeds differ about as much as held-out documents do: the variance counts twice.
_INFLATION = 2.0**0.5


def best_number(gain: dict[int, float]) -> float:
    """Where a parabola in ln T through the numbers about the best peaks.

    Parameters
    ----------
    gain : dict of int to float
        By number of topics.

    Examples
    --------
    >>> round(best_number({32: 0.9, 48: 1.0, 72: 0.95}))
    51
    """
    best = max(gain, key=lambda n: (gain[n], -n))
    near = np.array([n for n in gain if 1.0 / _WINDOW < n / best < _WINDOW])
    if len(near) >= 3:
        x = np.log(near / best)
        curvature, slope, _ = np.polyfit(x, [gain[n] for n in near], 2)
        if curvature < 0.0:
            return float(best * np.exp(np.clip(-slope / (2.0 * curvature), x.min(), x.max())))
    return float(best)


def worthwhile_number(gain: dict[int, float]) -> float:
    """The number beyond which the elasticity of the gain is below `ELASTICITY`.

    Parameters
    ----------
    gain : dict of int to float
        By number of topics.

    Examples
    --------
    >>> round(worthwhile_number({8: 0.5, 16: 0.8, 32: 0.9, 64: 0.95}))
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


def chosen_number(gain: dict[int, float], number_by: str) -> float:
    """The number by ``"prediction"`` or by ``"evidence"``."""
    return best_number(gain) if number_by == "prediction" else worthwhile_number(gain)


def number_range(
    likelihood: dict[int, FloatArray], tokens: FloatArray, unigram: FloatArray, number_by: str
) -> tuple[int, int]:
    """Numbers that are about as good: where nine tenths of resampled held-out documents lead.

    Parameters
    ----------
    likelihood : dict of int to float array of shape [M]
        The log likelihood of held-out documents by number of topics.
    tokens : float array of shape [M]
        Their tokens.
    unigram : float array of shape [M]
        Their log likelihood by word frequencies alone.
    number_by : str
        ``"prediction"`` or ``"evidence"``.
    """
    rng = np.random.default_rng(0)
    numbers = sorted(likelihood)
    gains = np.array([likelihood[n] - unigram for n in numbers])
    mean = gains.sum(axis=1) / tokens.sum()
    found = []
    for _ in range(_DRAWS):
        times = np.bincount(rng.integers(len(tokens), size=len(tokens)), minlength=len(tokens))
        if not times @ tokens:
            continue
        drawn = mean + _INFLATION * (gains @ times / (times @ tokens) - mean)
        found.append(chosen_number(dict(zip(numbers, drawn.tolist(), strict=True)), number_by))
    low, high = np.quantile(found, [0.05, 0.95]) if found else (numbers[0], numbers[-1])
    return round(float(low)), round(float(high))
