"""What a fit reports: a row a pass, and whether it has converged or was told to stop."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np

from hdsp.inference.display import FitDisplay
from hdsp.model import Bound, GlobalState, Problem, Statistics
from hdsp.numerics.types import FloatArray
from hdsp.progress import Task

HistoryRow = dict[str, float]


def topics_in_use(topic_tokens: FloatArray, n_documents: int) -> int:
    """How many topics hold at least as many expected tokens as the average document has.

    A topic with less than a document's worth of words is no more than a few stray tokens.

    Parameters
    ----------
    topic_tokens : [T] expected tokens of each topic
    """
    return int((topic_tokens >= topic_tokens.sum() / n_documents).sum())


def comparable(row: HistoryRow) -> float:
    """`Bound.comparable` of a pass."""
    return row["bound"] - row["sticks"] - row["concentrations"]


class Monitor:
    """Collects the history of a fit and decides when it stops.

    Parameters
    ----------
    tol : float
        The relative change of the bound at which a fit has converged.

    Attributes
    ----------
    display : FitDisplay
        Shows what happens; at first to nobody.
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.display = FitDisplay(Task(), tol)
        self.history: list[HistoryRow] = []
        self.starts: list[HistoryRow] = []
        self.converged = False
        self.interrupted = False
        self._start = time.perf_counter()

    def resume(self, history: list[HistoryRow], starts: list[HistoryRow]) -> None:
        """Go on from the history of an earlier run, its clock included."""
        self.history = history
        self.starts = starts
        self._start -= history[-1]["seconds"]

    def begin(self, n_topics: int, about: int = 1) -> None:
        """A fit starts with so many topics, of `about` so many; the history is its own."""
        self.history = []
        self.converged = False
        self.display.begin(n_topics, about)

    def end(self, start: int, n_topics: int) -> float:
        """The fit that started with `start` topics has settled; its bound."""
        self.display.end()
        last = self.history[-1]
        self.starts.append(
            {
                "start": start,
                "topics": n_topics,
                "bound": last["bound"],
                "compared": comparable(last),
                "passes": len(self.history),
                "seconds": last["seconds"],
            }
        )
        return last["bound"]

    def go_on(self, history: list[HistoryRow], converged: bool) -> None:
        """Return to an earlier fit."""
        self.history = history
        self.converged = converged

    def note_moves(self, made: dict[str, int]) -> None:
        """Add to the last pass how many topics were merged, split or deleted after it."""
        self.history[-1].update(made)
        self.display.moved(made)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C only asks the fit to stop after its pass; a second one interrupts at once.

        In the main thread, where Python's own handler would raise KeyboardInterrupt; another
        handler, and other threads, are left alone.
        """
        before = signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or before is not signal.default_int_handler:
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            self.interrupted = True
            self.display.stop()
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def record(
        self, problem: Problem, state: GlobalState, statistics: Statistics, bound: Bound
    ) -> None:
        """Add a pass; `converged` tells whether it was the last that was needed."""
        total = bound.total
        tokens = statistics.word_counts.sum(axis=0, dtype=np.float64)
        before = self.history[-1]["bound"] if self.history else -np.inf
        self.history.append(
            {
                "pass": len(self.history) + 1,
                "bound": total,
                **bound.items(),
                "n_topics": problem.n_topics,
                "corpus_concentration": state.corpus_concentration,
                "document_concentration": state.document_concentration,
                "topics_in_use": topics_in_use(tokens, problem.n_documents),
                "inner_iterations": statistics.inner_iterations / problem.n_documents,
                "seconds": time.perf_counter() - self._start,
            }
        )
        self.converged = abs(total - before) <= self.tol * abs(total)
        self.display.passed(self.history[-1])
