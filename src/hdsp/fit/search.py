"""The search for a start and for the number of topics, by held-out words.

A share of the documents is held out. Short fits of the others, from several starts and with several
numbers of topics, predict one half of the words of each held-out document from the other. All
documents are then fitted from the better start with the chosen number.

The gain of T topics is the mean log probability of a held-out token beyond that of word
frequencies alone. If it has a peak, the number is the smallest whose gain is within one standard
error of the largest. On real text topics of ever smaller use often go on adding a little; the
number is then the elbow, beyond which 1% more topics add less than `ELASTICITY` percent to the
gain.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.optimize import isotonic_regression, linear_sum_assignment

from hdsp.fit.merge import FEWEST_TOPICS
from hdsp.fit.passes import Documents
from hdsp.fit.run import Run, Trial
from hdsp.kernels import run_together
from hdsp.metrics import exclusivity, npmi, topic_top_words
from hdsp.model.data import Problem
from hdsp.model.reading import HeldOut
from hdsp.model.state import GlobalState
from hdsp.numerics import FloatArray

# Held out: a tenth of the documents, but some hundreds, and never more than a quarter.
_SHARE, _FEWEST_HELD_OUT, _MOST_HELD_OUT, _LARGEST_SHARE = 0.1, 500, 2_000, 0.25
# Trials read at most as many documents; the start of a fit reads no more either.
MOST_FITTED = 20_000
# Starts are compared on fewer, if no number is searched for: with as many, the same one wins on
# reviews, snippets and abstracts.
MOST_COMPARED = 10_000
# Two passes rank numbers of topics as well as a converged fit.
_PASSES = 2
# The first number tried, and the factor between one and the next.
_FIRST = 32
_STEP = 1.5
# Numbers whose ratio is closer to 1 than this are not told apart.
_CLOSE = 1.1
# A number between two is not tried if their ratio is closer to 1 than this.
_NARROW = 1.15
# A start is better than the first by this many standard errors: short fits differ by less than the
# whole ones that they stand for.
_SURE = 2.0
# Where the search for the best concentration begins.
_CONCENTRATION = 8.0
# At .1 to .2 the numbers for real text differ by a factor of two to three, and those for draws of
# known topics hardly at all; benchmarks/number.py shows both.
ELASTICITY = 0.15
# Numbers whose scores differ by fewer standard errors are about as good.
_CLEARLY = 2.0
_DRAWS = 200
# The numbers that two fits find differ by the errors of both.
_OF_TWO = 2.0**0.5
# Topics whose words deviate from the corpus' in directions with at least this cosine are the same.
SAME = 0.6


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
        return {n: float((one - self.unigram).sum() / total) for n, one in self.likelihood.items()}

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
        below = self.likelihood[self.best] - self.likelihood[number]
        residual = below - self.tokens * (below.sum() / self.tokens.sum())
        error = float(np.sqrt((residual**2).sum()))
        return float(below.sum()) / error if error > 0.0 else 0.0

    def declines_towards(self, edge: int) -> bool:
        """Whether the gain falls from its best towards `edge`: clearly, or twice."""
        best = self.best
        beyond = [n for n in self.likelihood if (n - best) * (edge - best) > 0]
        return len(beyond) > 1 or (edge != best and self.errors_below(edge) > _CLEARLY)

    @property
    def smallest_good(self) -> int:
        """The smallest number within one standard error of the best."""
        return min(n for n in self.likelihood if self.errors_below(n) <= 1.0)

    @property
    def choice(self) -> float:
        """The number: the smallest good one at a peak, and else the elbow."""
        return self.smallest_good if self.has_peak else elbow_number(self.gain)

    def good_range(self) -> tuple[int, int]:
        """The smallest and the largest number that are about as good as the one chosen.

        At a peak they lie half-way between numbers that are within two standard errors of the best
        and those that are not. At an elbow 90% of other fits, with other documents held out and
        from another start, are expected between them: held-out documents are resampled, and gains
        differ besides as those of the numbers tried do from a smooth curve.
        """
        if self.has_peak:
            tried = np.array(sorted(self.likelihood))
            good = np.flatnonzero([self.errors_below(n) <= _CLEARLY for n in tried.tolist()])
            lower, upper = tried[max(good[0] - 1, 0)], tried[min(good[-1] + 1, len(tried) - 1)]
            low, high = np.sqrt(lower * tried[good[0]]), np.sqrt(upper * tried[good[-1]])
        else:
            low, high = np.quantile(self._resampled_elbows(), [0.05, 0.95])
        return round(float(low)), round(float(high))

    def _resampled_elbows(self) -> list[float]:
        rng = np.random.default_rng(0)
        numbers, m = sorted(self.likelihood), len(self.tokens)
        gains = np.array([self.likelihood[n] - self.unigram for n in numbers])
        mean = gains.sum(axis=1) / self.tokens.sum()
        deviation, freedom = _roughness(np.log(numbers), mean)
        elbows = [elbow_number(dict(zip(numbers, mean.tolist(), strict=True)))]
        for _ in range(_DRAWS):
            times = np.bincount(rng.integers(m, size=m), minlength=m)
            noise = rng.normal(size=len(numbers)) / np.sqrt(rng.chisquare(freedom) / freedom)
            if not times @ self.tokens:
                continue
            change = gains @ times / (times @ self.tokens) - mean + deviation * noise
            resampled = mean + _OF_TWO * change
            elbows.append(elbow_number(dict(zip(numbers, resampled.tolist(), strict=True))))
        return elbows


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


def has_flattened(gain: dict[int, float]) -> bool:
    """Whether the elasticity between the largest two numbers tried, and before, is low enough."""
    numbers, curve = _concave(gain)
    _, elasticity = _elasticities(numbers, curve)
    return len(elasticity) > 2 and bool((elasticity[-3:-1] < ELASTICITY).all())


def _concave(gain: dict[int, float]) -> tuple[FloatArray, FloatArray]:
    """Numbers up to the best, and the least concave curve in ln T above their gains."""
    numbers = np.array(sorted(gain), dtype=np.float64)
    values = np.array([gain[int(n)] for n in numbers])
    step = np.diff(np.log(numbers))
    # Its slopes are the falling ones that are nearest to those between numbers.
    slopes = isotonic_regression(np.diff(values) / step, weights=step, increasing=False).x
    curve = values[0] + np.append(0.0, np.cumsum(slopes * step))
    last = int(np.argmax(curve)) + 1
    return numbers[:last], curve[:last]


def _elasticities(numbers: FloatArray, curve: FloatArray) -> tuple[FloatArray, FloatArray]:
    """d ln gain / d ln T between numbers, at their middles; 0 at the last number."""
    step = np.diff(np.log(numbers))
    middle = np.sqrt(numbers[1:] * numbers[:-1])
    mean = np.maximum((curve[1:] + curve[:-1]) / 2.0, 1e-12)
    return np.append(middle, numbers[-1]), np.append(np.diff(curve) / step / mean, 0.0)


def hold_out(
    problem: Problem, rng: np.random.Generator, most_fitted: int = MOST_FITTED
) -> tuple[Problem, HeldOut]:
    """Documents to fit, and others whose words are to be predicted."""
    n_documents = problem.n_documents
    wanted = min(max(_SHARE * n_documents, _FEWEST_HELD_OUT), _MOST_HELD_OUT)
    n_held_out = int(min(wanted, _LARGEST_SHARE * n_documents))
    order = rng.permutation(n_documents)
    fitted = problem.take(np.sort(order[n_held_out : n_held_out + most_fitted]))
    rows = np.sort(order[:n_held_out])
    frequency = np.asarray(fitted.counts.sum(axis=0), dtype=np.float64)
    return fitted, HeldOut(problem.counts[rows], problem.design[rows], frequency, fitted)


def short_fit(problem: Problem, state: GlobalState, run: Run) -> GlobalState:
    """The state after the few passes of a trial, which needs no bound."""
    documents = Documents(problem, run.here)
    for _ in range(_PASSES):
        state = documents.update(state, documents.fit(state, run.settings))
        if run.interrupted:
            break
    return state.reordered(state.by_size())


@dataclass(eq=False)
class Search:
    """The search for the start and the number of topics of a problem.

    Attributes
    ----------
    problem : Problem
        All documents, or a sample of them.
    most_topics : int
        The largest number of topics.
    start : callable
        The state in which a short fit of a problem with so many topics starts, from the start of a
        name: the same for the same problem, number and name.
    run : Run
        How fits proceed; it keeps the trials, and has those of an interrupted search.
    rng : numpy.random.Generator
        Chooses the documents that are held out.
    most_fitted : int, default=20000
        Documents that trials fit.
    """

    problem: Problem
    most_topics: int
    start: Callable[[Problem, int, str], GlobalState]
    run: Run
    rng: np.random.Generator
    most_fitted: int = MOST_FITTED
    _trials: dict[int, Trial] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._fitted, self._held_out = hold_out(self.problem, self.rng, self.most_fitted)
        # Seeded topics, and one for all the rest.
        wanted = max(FEWEST_TOPICS, self.problem.priors.n_seeded + 1)
        self._fewest = min(wanted, self.most_topics)
        self._ceiling = max(min(self.most_topics, self._fitted.n_documents), self._fewest)

    def better_start(self, names: Sequence[str], n_topics: int) -> str:
        """The start from which a short fit predicts held-out words best.

        The first of `names` is taken unless another one is better by `_SURE` standard errors.
        """
        if len(names) == 1 or not self._held_out.tokens.sum():
            return names[0]
        waiting = [name for name in names if self._known_trial(n_topics, name) is None]
        starts = run_together(
            [partial(self.start, self._fitted, n_topics, name) for name in waiting]
        )
        states = dict(zip(waiting, starts, strict=True))
        trials = {
            name: trial
            for name in names
            if (trial := self._trial(n_topics, name, states.pop(name, None))) is not None
        }
        if names[0] not in trials:
            return names[0]
        best = min(trials, key=lambda name: trials[name].perplexity)
        gain = trials[best].likelihood - trials[names[0]].likelihood
        return best if gain.sum() >= _SURE * np.sqrt(len(gain)) * gain.std() else names[0]

    def number(self, names: Sequence[str]) -> tuple[str, int]:
        """The start, and the number of topics, to fit all documents with.

        Starts are compared at the first number that is tried, and again at the number that the
        better one leads to.
        """
        if self._ceiling <= self._fewest or not self._held_out.tokens.sum():
            return names[0], self._fewest
        number = first = self._within(_FIRST)
        init = ""
        for _ in names:
            better = self.better_start(names, first)
            if better == init:
                break
            init, self._trials = better, {}
            if not self._try(init, first):
                return init, first
            for propose in (self._larger, self._smaller, self._between):
                while not self.run.interrupted and (following := propose()) is not None:
                    self._try(init, following)
            number = self._within(self._scores.choice)
            first = min(self._trials, key=lambda n: abs(np.log(n / number)))
        return init, number

    def number_range(self) -> tuple[int, int] | None:
        """Numbers that are about as good; None if nothing was tried."""
        if len(self._trials) < 2:
            return None
        low, high = self._scores.good_range()
        return self._within(low), self._within(high)

    @property
    def _scores(self) -> Scores:
        likelihood = {n: trial.likelihood for n, trial in self._trials.items()}
        return Scores(likelihood, self._held_out.tokens, self._held_out.unigram)

    def _larger(self) -> int | None:
        """A larger number, until the gain is past its peak or hardly rises."""
        largest, scores = max(self._trials), self._scores
        if largest >= self._ceiling:
            return None
        if has_flattened(scores.gain) or scores.declines_towards(largest):
            return None
        following = round(largest * _STEP)
        return self._ceiling if following * _CLOSE >= self._ceiling else following

    def _smaller(self) -> int | None:
        """A smaller number, until the chosen one lies between numbers tried."""
        smallest, scores = min(self._trials), self._scores
        if smallest <= self._fewest:
            return None
        inside = scores.choice > smallest * _CLOSE
        if inside and (not scores.has_peak or scores.declines_towards(smallest)):
            return None
        return max(round(smallest / _STEP), self._fewest)

    def _between(self) -> int | None:
        """A number between the chosen one and the next smaller one, at a peak."""
        scores = self._scores
        if not scores.has_peak:
            return None
        number = scores.smallest_good
        below = max((n for n in self._trials if n < number), default=number)
        between = round(float(np.sqrt(below * number)))
        return None if between in (below, number) or number <= _NARROW * below else between

    def _try(self, init: str, number: int) -> bool:
        """Whether a trial was made, and not interrupted."""
        trial = self._trial(number, init)
        if trial is not None:
            self._trials[number] = trial
        return trial is not None

    def _known_trial(self, number: int, init: str) -> Trial | None:
        """The trial of a number and start, if it has been made."""
        same = (one for one in self.run.trials if (one.topics, one.init) == (number, init))
        return next(same, None)

    def _trial(self, number: int, init: str, state: GlobalState | None = None) -> Trial | None:
        """A short fit from `state` or a new start, and its score; None if it was interrupted."""
        run, held_out = self.run, self._held_out
        if (known := self._known_trial(number, init)) is not None:
            return known
        run.task.update(trying=f"{number} topics")
        state = short_fit(self._fitted, state or self.start(self._fitted, number, init), run)
        if run.interrupted:
            return None
        near = min(run.trials, key=lambda t: abs(np.log(t.topics / number)), default=None)
        concentration = _CONCENTRATION if near is None else near.concentration
        score = held_out.score(state, self.problem.scaling, concentration)
        components = state.topics.T[: state.n_topics]
        coherence = 0.0
        if components.shape[1] > 1:
            coherence = float(npmi(topic_top_words(components), self._fitted.counts).mean())
        trial = Trial(
            topics=number,
            init=init,
            concentration=score.concentration,
            perplexity=float(np.exp(-score.likelihood.sum() / held_out.tokens.sum())),
            coherence=coherence,
            exclusivity=float(exclusivity(components).mean()),
            seconds=run.seconds,
            likelihood=score.likelihood,
        )
        run.trials.append(trial)
        run.task.update(perplexity=f"{trial.perplexity:,.1f}")
        if run.save_is_due:
            run.save()
        return trial

    def _within(self, number: float) -> int:
        return int(min(max(round(number), self._fewest), self._ceiling))


def count_returning(
    problem: Problem, start: Callable[[Problem], GlobalState], run: Run, seed: int
) -> int:
    """How many topics of a short fit of one half of the documents have a partner in the other's.

    `start` returns the state in which a short fit of a half starts, and `seed` decides the halves.
    """
    order = np.random.default_rng(seed).permutation(problem.n_documents)[: 2 * MOST_FITTED]
    middle = len(order) // 2
    halves = [problem.take(np.sort(rows)) for rows in (order[:middle], order[middle:])]
    topics = [short_fit(half, start(half), run).topics.T for half in halves]
    frequency = np.asarray(problem.counts.sum(axis=0), dtype=np.float64)
    similarity = topic_similarity(topics[0], topics[1], frequency)
    return int((similarity[linear_sum_assignment(-similarity)] >= SAME).sum())


def topic_similarity(one: FloatArray, other: FloatArray, frequency: FloatArray) -> FloatArray:
    """How similar topics are, [T, T']: `SAME` or more are the same.

    The cosine of sqrt(phi) - sqrt(f), for word shares phi and the words' shares f of the corpus:
    what all topics share does not count. `one` [T, V] and `other` [T', V] are word weights of
    topics, and `frequency` [V] the tokens of words.
    """
    usual = np.sqrt(frequency / frequency.sum())
    directions = []
    for topics in (one, other):
        away = np.sqrt(topics / topics.sum(axis=1, keepdims=True)) - usual
        directions.append(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12))
    return np.asarray(directions[0] @ directions[1].T)
