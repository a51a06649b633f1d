"""The search for the number of topics: the start with the highest bound wins."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.inference.batch import fit_batch
from hdsp.inference.display import about_starts
from hdsp.inference.history import History
from hdsp.inference.moves.refine import refine
from hdsp.inference.moves.snapshot import FEWEST_TOPICS
from hdsp.inference.run import Run
from hdsp.model import DocumentState, Fit, GlobalState, Problem

# The first number tried; it doubles up to the second, then grows by the third, as fits cost more.
_FIRST = 32
_DOUBLES = 128
_STEP = 1.5
# Numbers whose logarithms differ by less than this count as equal.
_CLOSE = 0.12
# A fit that keeps less than this share of its topics started with too many.
_MANY_LEFT = 0.8
# Bounds whose relative difference is smaller than this count as equal.
_ROUNDING = 1e-6
# Merges that gain less than this share of the bound wait until the number has been chosen.
_WORTH_MERGING = 1e-4
# Documents per chunk while they are compressed.
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Outcome:
    """How a fit ended: its bound, and its number of topics."""

    bound: float
    topics: int


@dataclass(frozen=True, eq=False)
class Attempt:
    """A fit that started with `start` topics, and its history."""

    start: int
    fit: Fit
    history: History

    @property
    def bound(self) -> float:
        """The part of the bound that attempts are compared by, after the last pass."""
        return self.history.last.bound.comparable


@dataclass(frozen=True, eq=False)
class Resumed:
    """The state, documents and history of an interrupted fit."""

    state: GlobalState
    documents: DocumentState | None
    history: History


class StoredDocuments:
    """The documents of an attempt, compressed while other attempts are fitted.

    Most topics hold nothing in most documents, so the token counts are usually stored sparse.
    """

    def __init__(self, documents: DocumentState) -> None:
        held = documents.token_counts
        self._shape, self._tangent = held.shape, documents.tangent
        # A sparse entry takes twice the memory of a dense one.
        if 2 * np.count_nonzero(held) > held.size:
            self._parts: list[Any] = [held]
        else:
            starts = range(0, len(held), _ROWS_AT_ONCE)
            self._parts = [csr_array(held[n : n + _ROWS_AT_ONCE]) for n in starts]

    def restored(self) -> DocumentState:
        """The documents as they were."""
        if isinstance(self._parts[0], np.ndarray):
            return DocumentState(self._parts[0], self._tangent)
        held = np.empty(self._shape, dtype=self._parts[0].dtype)
        for number, part in enumerate(self._parts):
            part.toarray(out=held[number * _ROWS_AT_ONCE :][: part.shape[0]])
        return DocumentState(held, self._tangent)


@dataclass(eq=False)
class Search:
    """A fit with the number of topics that gives the highest bound.

    Fits start afresh with several numbers of topics; the one with the highest bound is continued
    with moves that merge, split and delete topics. Without `Run.keep_documents` there are no moves.

    Attributes
    ----------
    problem : Problem
        What is fitted.
    most_topics : int
        The largest number of topics.
    start_at : callable
        Returns the initial state for a number of topics; equal numbers give equal states.
    run : Run
        How fits proceed, with the finished starts of an interrupted search.
    resumed : Resumed or None, default=None
        The unfinished start of an interrupted search.
    """

    problem: Problem
    most_topics: int
    start_at: Callable[[int], GlobalState]
    run: Run
    resumed: Resumed | None = None
    _best: Attempt | None = None
    _best_documents: StoredDocuments | None = None
    _tried: set[int] = field(default_factory=set)

    def fit(self) -> tuple[Fit, History]:
        """Search for the number of topics, and return the best fit."""
        start = search_number(self.try_number, self.most_topics)
        best = self._take_best()
        # A resumed search no longer has the fit of its best start, and makes it again. If it is
        # interrupted once more, it returns the current start and keeps its checkpoint.
        if best is None or (best.start != start and not self.run.interrupted):
            if self.run.interrupted and self.resumed is not None:
                start = self.resumed.state.n_topics
            best = self._attempt(start)
        best = self._complete(best)
        while not self.run.interrupted:
            left = best.fit.state.n_topics
            if left >= _MANY_LEFT * best.start or left in self._tried:
                break
            # A start with the remaining number of topics usually ends with a higher bound.
            self._keep(best)
            other = self._complete(self._try(left))
            if other.bound <= best.bound:
                best = self._take_best() or other
                break
            best = other
        return best.fit, best.history

    def try_number(self, start: int) -> Outcome:
        """The outcome of a fit that starts with `start` topics."""
        self._tried.add(start)
        for record in self.run.starts:
            if record.start == start:
                return Outcome(record.compared, record.topics)
        if self.run.interrupted:
            return Outcome(-np.inf, start)
        found = self._try(start)
        if self._best is None or found.bound > self._best.bound:
            self._keep(found)
        return Outcome(found.bound, found.fit.state.n_topics)

    def _keep(self, attempt: Attempt) -> None:
        """Keep the best attempt so far, with its documents compressed."""
        documents = attempt.fit.documents
        self._best_documents = None if documents is None else StoredDocuments(documents)
        fit = Fit(attempt.fit.state, None)
        self._best = Attempt(attempt.start, fit, attempt.history)

    def _take_best(self) -> Attempt | None:
        best, stored = self._best, self._best_documents
        self._best = self._best_documents = None
        if best is None or stored is None:
            return best
        return Attempt(best.start, Fit(best.fit.state, stored.restored()), best.history)

    def _try(self, start: int) -> Attempt:
        self._tried.add(start)
        found = self._attempt(start)
        self.run.display.end()
        # A start of a fit that was cut short may be made again, to have it at hand.
        if all(known.start != start for known in self.run.starts):
            self.run.starts.append(found.history.start_record(start, found.fit.state.n_topics))
        return found

    def _attempt(self, start: int) -> Attempt:
        documents: DocumentState | None = None
        self.run.display.begin(start, about_starts(self.most_topics))
        if self.resumed is not None and self.resumed.state.n_topics == start:
            state, documents = self.resumed.state, self.resumed.documents
            history = self.resumed.history
            self.resumed = None
        else:
            state, history = self.start_at(start), self.run.new_history()
        fit = fit_batch(self.problem, state, self.run, history, documents)
        # Duplicate topics may be the only fault of a larger number.
        return self._refine(Attempt(start, fit, history), _WORTH_MERGING)

    def _complete(self, attempt: Attempt) -> Attempt:
        """All the moves that raise the bound."""
        self.run.display.finish()
        return self._refine(attempt)

    def _refine(self, attempt: Attempt, merges_worth: float | None = None) -> Attempt:
        history = attempt.history
        if not self.run.keep_documents or not history.converged or self.run.interrupted:
            return attempt
        fit = refine(self.problem, attempt.fit, self.run, history, self.most_topics, merges_worth)
        return Attempt(attempt.start, fit, history)


def search_number(try_number: Callable[[int], Outcome], ceiling: int) -> int:
    """The number of topics, up to `ceiling`, from which a fit ends with the highest bound.

    A fit that keeps few of its topics is followed by one with the number it kept. Otherwise the
    number rises until the bound falls or its estimated peak is passed, or halves until the bound
    falls; then the estimated peak between the numbers tried is tried too.

    Parameters
    ----------
    try_number : callable
        Returns the outcome of a fit for a number of topics; called once for each number.
    ceiling : int
        The largest number of topics.

    Returns
    -------
    int
        One of the numbers tried.

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

    The bound is interpolated by a - b n - c / sqrt(n): each topic costs about the same, and
    explains less than the one before. On real corpora the peak of this curve depends little on the
    three numbers, unlike a parabola's.
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
    """The number with the highest bound; the smallest of those that are equal but for rounding."""
    highest = max(tried.values())
    return min(n for n in tried if tried[n] >= highest - _ROUNDING * abs(highest))
