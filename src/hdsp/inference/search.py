"""How many topics: fits from several numbers, and the bound decides."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hdsp.inference.batch import AfterPass, Fit, fit_batch
from hdsp.inference.display import about_starts
from hdsp.inference.monitor import HistoryRow, Monitor, comparable
from hdsp.inference.moves.refine import refine
from hdsp.inference.moves.snapshot import FEWEST_TOPICS
from hdsp.kernels import Threads
from hdsp.model import DocumentState, GlobalState, LocalSettings, Problem

# The search begins here, doubles up to here, and then takes smaller steps: fits cost more.
_FIRST = 32
_DOUBLES = 128
_STEP = 1.5
# Numbers closer than this, as a difference of logarithms, are not told apart.
_CLOSE = 0.12
# A fit that keeps less than this share of its topics had too many to begin with.
_MANY_LEFT = 0.8
# Bounds closer than this share of them are the same.
_ROUNDING = 1e-6
# Merges that gain less than this share of the bound wait until a number has been chosen.
_WORTH_MERGING = 1e-4


@dataclass(frozen=True)
class Outcome:
    """How a fit ended: its bound, and the topics it had left."""

    bound: float
    topics: int


@dataclass(frozen=True, eq=False)
class Attempt:
    """A fit that started with some number of topics, and how it went."""

    start: int
    fit: Fit
    history: list[HistoryRow]
    converged: bool

    @property
    def bound(self) -> float:
        """What numbers of topics are compared by, after the last pass."""
        return comparable(self.history[-1])


@dataclass(eq=False)
class Search:
    """A fit with as many topics as the bound asks for.

    Fits start afresh with several numbers of topics; the one with the highest bound goes on, with
    moves that merge, split and delete topics. Without `keep_documents` there are no moves.

    Attributes
    ----------
    problem : its number of topics is the most there may be
    start_at : the state where a fit of a problem starts; the same for the same number of topics
    monitor : knows the starts and passes of a fit that was cut short
    resumed : where it stood
    after_pass : called after passes of the starts
    """

    problem: Problem
    start_at: Callable[[Problem], GlobalState]
    max_iter: int
    settings: LocalSettings
    monitor: Monitor
    threads: Threads
    keep_documents: bool = True
    resumed: tuple[GlobalState, DocumentState | None] | None = None
    after_pass: AfterPass | None = None
    _best: Attempt | None = None
    _tried: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._resumed_history = self.monitor.history

    def run(self) -> Fit:
        """Search, and fit."""
        start = search_number(self.try_number, self.problem.n_topics)
        best = self._best
        # After a fit that was cut short the best of its starts is no longer at hand. One that is
        # cut short again makes do with the start it is at, and keeps its checkpoint.
        if best is None or (best.start != start and not self.monitor.interrupted):
            if self.monitor.interrupted and self.resumed is not None:
                start = self.resumed[0].n_topics
            best = self._attempt(start)
        best = self._complete(best)
        while not self.monitor.interrupted:
            left = best.fit.state.n_topics
            if left >= _MANY_LEFT * best.start or left in self._tried:
                break
            # A start with the number that was left mostly ends higher.
            other = self._complete(self._try(left))
            if other.bound <= best.bound:
                break
            best = other
        self.monitor.go_on(best.history, best.converged)
        return best.fit

    def try_number(self, start: int) -> Outcome:
        """How a fit ends that starts with so many topics."""
        self._tried.add(start)
        for row in self.monitor.starts:
            if row["start"] == start:
                return Outcome(row["compared"], int(row["topics"]))
        if self.monitor.interrupted:
            return Outcome(-np.inf, start)
        found = self._try(start)
        if self._best is None or found.bound > self._best.bound:
            self._best = found
        return Outcome(found.bound, found.fit.state.n_topics)

    def _try(self, start: int) -> Attempt:
        self._tried.add(start)
        found = self._attempt(start)
        # A start of a fit that was cut short may be made again, to have it at hand.
        if all(row["start"] != start for row in self.monitor.starts):
            self.monitor.end(start, found.fit.state.n_topics)
        return found

    def _attempt(self, start: int) -> Attempt:
        problem = self.problem.with_topics(start)
        self.monitor.begin(start, about_starts(self.problem.n_topics))
        if self.resumed is not None and self.resumed[0].n_topics == start:
            state, documents = self.resumed
            self.resumed = None
            self.monitor.go_on(self._resumed_history, converged=False)
        else:
            state, documents = self.start_at(problem), None
        fit = fit_batch(
            problem,
            state,
            self.max_iter,
            self.settings,
            self.monitor,
            self.threads,
            self.keep_documents,
            documents,
            self.after_pass,
        )
        # Topics that are there twice may be all that is wrong with a larger number.
        return self._refine(start, fit, merge_only=True, worth=_WORTH_MERGING)

    def _complete(self, attempt: Attempt) -> Attempt:
        """All the moves that raise the bound."""
        self.monitor.display.finish()
        self.monitor.go_on(attempt.history, attempt.converged)
        return self._refine(attempt.start, attempt.fit, merge_only=False, worth=0.0)

    def _refine(self, start: int, fit: Fit, merge_only: bool, worth: float) -> Attempt:
        if self.keep_documents and self.monitor.converged and not self.monitor.interrupted:
            fit = refine(
                self.problem.with_topics(fit.state.n_topics),
                fit,
                self.max_iter,
                self.settings,
                self.monitor,
                self.threads,
                self.problem.n_topics,
                merge_only,
                worth,
            )
        return Attempt(start, fit, self.monitor.history, self.monitor.converged)


def search_number(try_number: Callable[[int], Outcome], ceiling: int) -> int:
    """The number of topics, up to `ceiling`, from which a fit ends with the highest bound.

    A fit that keeps few of its topics is followed by one with as many as it kept. Else the number
    rises until the bound falls or its peak is passed; or halves until the bound falls. Then it
    is looked for where the peak lies between the numbers tried.

    Parameters
    ----------
    try_number : how a fit ends that starts with so many topics; asked once for each number

    Examples
    --------
    >>> search_number(lambda n: Outcome(-(n / 100.0) - 20.0 / n**0.5, n), ceiling=400)
    100
    """
    tried: dict[int, float] = {}
    left: dict[int, int] = {}

    def attempt(number: int) -> float:
        if number not in tried:
            outcome = try_number(number)
            tried[number], left[number] = outcome.bound, max(outcome.topics, FEWEST_TOPICS)
        return tried[number]

    number = min(_FIRST, ceiling)
    attempt(number)
    shrinks = left[number] < _MANY_LEFT * number
    while shrinks and left[number] < _MANY_LEFT * number:
        following = left[number]
        if attempt(following) < tried[number]:
            break
        number = following
    while not shrinks and number < ceiling:
        following = 2 * number if number < _DOUBLES else int(_STEP * number)
        if following * (1.0 + _CLOSE) >= ceiling:
            following = ceiling
        if attempt(following) < tried[number]:
            break
        number = following
        peak = peak_number(tried)
        if peak is not None and peak <= number * (1.0 + _CLOSE):
            break
    number = min(tried)
    while not shrinks and number > FEWEST_TOPICS and _best(tried) == number:
        number = max(number // 2, FEWEST_TOPICS)
        attempt(number)
    peak = peak_number(tried)
    if not shrinks and peak is not None:
        rounded = min(max(round(peak), FEWEST_TOPICS), ceiling)
        if min(abs(np.log(rounded / n)) for n in tried) > _CLOSE:
            attempt(rounded)
    return _best(tried)


def peak_number(tried: dict[int, float]) -> float | None:
    """Where the bound peaks, by the best number tried and its neighbours; None if it does not.

    Between them the bound is taken as a - b n - c / sqrt(n): topics cost about the same each, and
    explain less and less. On real corpora the peak of this curve moves little with the numbers it
    goes through, unlike a parabola's.
    """
    if len(tried) < 3:
        return None
    numbers = sorted(tried)
    best = numbers.index(_best(tried))
    first = min(max(best - 1, 0), len(numbers) - 3)
    three = np.array(numbers[first : first + 3], dtype=np.float64)
    columns = np.stack([np.ones(3), -three, -(three**-0.5)], axis=1)
    bounds = np.array([tried[n] for n in numbers[first : first + 3]])
    if not np.isfinite(bounds).all():
        return None
    _, cost, gain = np.linalg.solve(columns, bounds - bounds.max())
    if cost <= 0.0 or gain <= 0.0:
        return None
    return float((gain / (2.0 * cost)) ** (2.0 / 3.0))


def _best(tried: dict[int, float]) -> int:
    """The number with the highest bound; of several, but for rounding, the smallest."""
    highest = max(tried.values())
    return min(n for n in tried if tried[n] >= highest - _ROUNDING * abs(highest))
