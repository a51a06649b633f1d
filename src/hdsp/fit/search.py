"""The search for the number of topics, by held-out words.

A share of the documents is held out. Short fits of the others with several numbers of topics
predict one half of the words of each held-out document from the other.

The gain of T topics is the mean log probability of a held-out token beyond that of word
frequencies alone. By *prediction* the number is where the gain is largest. By *evidence* it is
smaller: beyond it, one per cent more topics add less than `ELASTICITY` per cent to the gain. Where
topics are sharply separate the two agree; on real text topics of ever smaller use go on adding a
little, and evidence stops earlier. All documents are then fitted with the number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hdsp.fit.history import TrialRecord
from hdsp.fit.merge import FEWEST_TOPICS
from hdsp.fit.passes import fit_batch
from hdsp.fit.run import Run
from hdsp.model import GlobalState, HeldOut, Problem
from hdsp.numerics.types import FloatArray

# Held out: a tenth of the documents, but some hundreds, and never more than a quarter.
_SHARE, _FEWEST_HELD_OUT, _MOST_HELD_OUT, _LARGEST_SHARE = 0.1, 500, 2_000, 0.25
# Trials read at most as many documents; the start of a fit reads no more either.
_MOST_FITTED = 20_000
# As many passes tell numbers of topics apart as well as a fit that has settled does.
_PASSES = 2
# The first number tried, and the factor between one and the next.
_FIRST = 32
_STEP = 1.5
# A fall of the score by as many standard errors is no chance.
_CLEARLY = 2.0
# Numbers whose ratio is closer to 1 than this are not told apart.
_CLOSE = 1.1
# Where the search for the best concentration begins.
_CONCENTRATION = 8.0


NUMBERS_BY = ("evidence", "prediction")
# At .1 to .2 the numbers for real text differ by a factor of two to three, and those for draws of
# known topics hardly at all; benchmarks/number.py shows both.
ELASTICITY = 0.15
# A parabola goes through the numbers within this factor of the best.
_WINDOW = 2.5
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


def hold_out(problem: Problem, rng: np.random.Generator) -> tuple[Problem, HeldOut]:
    """Documents to fit, and others whose words are to be predicted."""
    n_documents = problem.n_documents
    wanted = min(max(_SHARE * n_documents, _FEWEST_HELD_OUT), _MOST_HELD_OUT)
    n_held_out = int(min(wanted, _LARGEST_SHARE * n_documents))
    order = rng.permutation(n_documents)
    fitted = problem.take(np.sort(order[n_held_out : n_held_out + _MOST_FITTED]))
    rows = np.sort(order[:n_held_out])
    frequency = np.asarray(fitted.counts.sum(axis=0), dtype=np.float64)
    return fitted, HeldOut(problem.counts[rows], problem.design[rows], frequency, fitted)


def _short_fit(problem: Problem, state: GlobalState, run: Run) -> GlobalState:
    short = replace(run, max_iter=_PASSES, tol=0.0, keep_documents=True, after_pass=None)
    return fit_batch(problem, state, short, short.new_history()).state


def better_start(
    problem: Problem,
    starts: Mapping[str, Callable[[Problem], GlobalState]],
    run: Run,
    rng: np.random.Generator,
) -> str:
    """The start from which a short fit predicts held-out words best.

    Parameters
    ----------
    problem : Problem
        All documents, or a sample of them.
    starts : mapping of str to callable
        Each makes a state to start from; the first is taken where documents do not tell.
    run : Run
        How fits proceed.
    rng : numpy.random.Generator
        Chooses the documents that are held out.
    """
    fitted, held_out = hold_out(problem, rng)
    first, *_ = starts
    score: dict[str, float] = {}
    for name, start in starts.items():
        if run.interrupted or not held_out.tokens.sum():
            return first
        state = _short_fit(fitted, start(fitted), run)
        likelihood = held_out.score(state, problem.scaling, _CONCENTRATION).likelihood
        score[name] = float(likelihood.sum())
    return max(score, key=lambda name: score[name])


@dataclass(eq=False)
class Search:
    """How many topics the documents of a problem ask for.

    Attributes
    ----------
    problem : Problem
        All documents.
    most_topics : int
        There may be.
    number_by : str
        ``"prediction"`` or ``"evidence"``.
    start_at : callable
        The state where a fit of a problem with so many topics starts; the same for the same
        problem and number.
    run : Run
        How fits proceed; it keeps the trials, and knows those of a search that was cut short.
    rng : numpy.random.Generator
        Chooses the documents that are held out.
    after_trial : callable or None, default=None
        Called after each trial.
    """

    problem: Problem
    most_topics: int
    number_by: str
    start_at: Callable[[Problem, int], GlobalState]
    run: Run
    rng: np.random.Generator
    after_trial: Callable[[], None] | None = None
    _trials: dict[int, TrialRecord] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._fitted, self._held_out = hold_out(self.problem, self.rng)
        self._ceiling = max(min(self.most_topics, self._fitted.n_documents), 1)
        # Seeded topics, and one for all the rest.
        wanted = max(FEWEST_TOPICS, self.problem.priors.n_seeded + 1)
        self._fewest = min(wanted, self.most_topics)
        self._ceiling = max(self._ceiling, self._fewest)

    def number(self) -> int:
        """The number of topics to fit all documents with."""
        if self._ceiling <= self._fewest or not self._held_out.tokens.sum():
            return self._fewest
        first = min(max(_FIRST, self._fewest), self._ceiling)
        self._try(first)
        if not self._trials:
            # Interrupted in the first of them.
            return first
        self._climb()
        self._descend()
        if self.number_by == "prediction":
            peak = self._within(best_number(self.gain()))
            if min(abs(np.log(peak / n)) for n in self._trials) > np.log(_CLOSE):
                self._try(peak)
        return self._within(chosen_number(self.gain(), self.number_by))

    def number_range(self) -> tuple[int, int] | None:
        """Numbers that are about as good; None where nothing was tried."""
        if len(self._trials) < 2:
            return None
        likelihood = {n: trial.likelihood for n, trial in self._trials.items()}
        low, high = number_range(
            likelihood, self._held_out.tokens, self._held_out.unigram, self.number_by
        )
        return self._within(low), self._within(high)

    def gain(self) -> dict[int, float]:
        """The mean log probability of a held-out token beyond that by word frequencies alone."""
        tokens, unigram = self._held_out.tokens.sum(), self._held_out.unigram.sum()
        return {n: float(t.likelihood.sum() - unigram) / tokens for n, t in self._trials.items()}

    def _climb(self) -> None:
        """Try larger numbers until the score has passed its peak, or is no longer worth it."""
        while (largest := max(self._trials)) < self._ceiling and not self.run.interrupted:
            if self._passed(largest) or (self.number_by == "evidence" and settles(self.gain())):
                break
            following = round(largest * _STEP)
            self._try(self._ceiling if following * _CLOSE >= self._ceiling else following)

    def _descend(self) -> None:
        """Try smaller numbers until the number that is wanted lies between numbers tried."""
        while (smallest := min(self._trials)) > self._fewest and not self.run.interrupted:
            wanted = chosen_number(self.gain(), self.number_by)
            inside = self.number_by == "evidence" and wanted > smallest * _CLOSE
            if inside or (self.number_by == "prediction" and self._passed(smallest)):
                break
            self._try(max(round(smallest / _STEP), self._fewest))

    def _passed(self, edge: int) -> bool:
        """Whether the score falls from its best towards `edge`: clearly, or twice."""
        gain = self.gain()
        best = max(gain, key=lambda n: gain[n])
        if best == edge:
            return False
        beyond = [n for n in gain if (n - best) * (edge - best) > 0]
        return len(beyond) > 1 or gain[best] - gain[edge] > _CLEARLY * self._error(best, edge)

    def _error(self, one: int, other: int) -> float:
        """The standard error of the difference of two numbers' scores, over documents."""
        apart = self._trials[one].likelihood - self._trials[other].likelihood
        tokens: FloatArray = self._held_out.tokens
        residual = apart - tokens * (apart.sum() / tokens.sum())
        return float(np.sqrt((residual**2).sum()) / tokens.sum())

    def _try(self, number: int) -> None:
        """A short fit with so many topics, and its score."""
        for trial in self.run.trials:
            if trial.topics == number:
                self._trials[number] = trial
                return
        self.run.display.begin_trial(number)
        state = _short_fit(self._fitted, self.start_at(self._fitted, number), self.run)
        if self.run.interrupted:
            return
        near = min(self._trials, key=lambda n: abs(np.log(n / number)), default=None)
        concentration = _CONCENTRATION if near is None else self._trials[near].concentration
        score = self._held_out.score(state, self.problem.scaling, concentration)
        trial = TrialRecord(
            number,
            score.concentration,
            score.likelihood,
            self._perplexity(score.likelihood),
            self.run.seconds,
        )
        self._trials[number] = trial
        self.run.trials.append(trial)
        self.run.display.end_trial(trial.perplexity)
        if self.after_trial is not None:
            self.after_trial()

    def _perplexity(self, likelihood: FloatArray) -> float:
        return float(np.exp(-likelihood.sum() / self._held_out.tokens.sum()))

    def _within(self, number: float) -> int:
        return int(min(max(round(number), self._fewest), self._ceiling))
