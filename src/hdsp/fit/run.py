"""A run: the settings of a fit, its history, what it shows, and how Ctrl-C stops it."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Annotated, Any

import numpy as np

from hdsp.execution.executor import Executor, InProcess
from hdsp.model.data import Data, Problem
from hdsp.model.documents import LocalSettings
from hdsp.model.state import BoundTerms, DocumentState, GlobalState, Statistics
from hdsp.numerics import FloatArray
from hdsp.progress import Task
from hdsp.storage.codec import Limits

_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


def topics_in_use(topic_tokens: FloatArray, n_documents: int) -> int:
    """How many topics hold at least as many expected tokens as the average document has.

    A topic with fewer words than a document is no more than a few stray tokens; but of very few
    documents, all topics may have fewer, and then the largest counts. `topic_tokens` [T] are the
    expected tokens of each topic.
    """
    return max(int((topic_tokens >= topic_tokens.sum() / n_documents).sum()), 1)


@dataclass(frozen=True, eq=False)
class Trial:
    """A number of topics that a search has tried, from one start.

    Attributes
    ----------
    topics : int
        The number of topics.
    init : str
        The start.
    concentration : float
        The beta at which held-out words are predicted best.
    perplexity : float
        Of a held-out token.
    coherence, exclusivity : float
        The means over topics of `hdsp.metrics.npmi`, in the documents that were fitted, and of
        `hdsp.metrics.exclusivity`.
    seconds : float
        Since the beginning of the fit.
    likelihood : float array of shape [M]
        The log likelihood of each held-out document.
    """

    topics: int
    init: str
    concentration: float
    perplexity: float
    coherence: float
    exclusivity: float
    seconds: float
    likelihood: Annotated[FloatArray, Limits("D")]

    def as_row(self) -> dict[str, Any]:
        """The trial as a row of `HDSP.search_`."""
        return {name: value for name, value in vars(self).items() if name != "likelihood"}


class History:
    """The passes of a fit, and whether its bound has settled.

    Parameters
    ----------
    tol : float
        The relative change of the bound at which a fit has converged.
    clock : callable
        Returns the seconds since the beginning of the fit.
    rows : list of dict or None, default=None
        Passes of an earlier run that this one continues.

    Attributes
    ----------
    rows : list of dict
        One row of `HDSP.history_` per pass.
    converged : bool
        Whether the last pass changed the bound by no more than `tol`.
    """

    def __init__(
        self, tol: float, clock: Callable[[], float], rows: list[dict[str, float]] | None = None
    ) -> None:
        self.tol, self.rows, self.converged = tol, rows or [], False
        self._clock = clock

    def __len__(self) -> int:
        return len(self.rows)

    def record(
        self, problem: Data, state: GlobalState, statistics: Statistics, bound: BoundTerms
    ) -> None:
        """Add a pass, and update `converged`."""
        before = self.rows[-1]["bound"] if self.rows else -np.inf
        self.converged = abs(bound.total - before) <= self.tol * abs(bound.total)
        tokens = statistics.word_counts.sum(axis=0, dtype=np.float64)
        self.rows.append(
            {
                "pass": len(self.rows) + 1,
                "bound": bound.total,
                **bound.items(),
                "n_topics": state.n_topics,
                "corpus_concentration": state.corpus_concentration,
                "document_concentration": state.document_concentration,
                "topics_in_use": topics_in_use(tokens, problem.n_documents),
                "inner_iterations": statistics.inner_iterations / problem.n_documents,
                "seconds": self._clock(),
            }
        )

    def settling_pass(self) -> float | None:
        """The pass at which the bound settles if its steps go on shrinking as they did."""
        if len(self.rows) < 3 or self.tol <= 0:
            return None
        last = np.array([row["bound"] for row in self.rows[-4:]])
        change = np.abs(np.diff(last) / last[1:])
        if not (change > 0).all() or change[-1] >= change[0]:
            return None
        shrinkage = (change[-1] / change[0]) ** (1.0 / (len(change) - 1))
        more = np.log(self.tol / change[-1]) / np.log(shrinkage)
        return len(self.rows) + max(float(more), 0.0)


# Called after a pass with the state, the documents and the history.
AfterPass = Callable[[GlobalState, Callable[[], DocumentState | None], History], None]


@contextmanager
def interrupting_at_once() -> Iterator[None]:
    """Let Ctrl-C end everything inside, for loops over fits: none of them may end early instead."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


class Interruption:
    """Whether a fit was asked to stop.

    Attributes
    ----------
    requested : bool
        Ctrl-C was pressed while `listening`.
    on_request : callable or None
        Called at once when it is pressed.
    """

    def __init__(self) -> None:
        self.requested = False
        self.on_request: Callable[[], None] | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Make Ctrl-C ask the fit to stop after its pass; a second one interrupts at once.

        This applies only in the main thread, where Python's handler is installed, and not inside
        `interrupting_at_once`.
        """
        before = signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or before is not signal.default_int_handler or _at_once.get():
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            self.requested = True
            if self.on_request is not None:
                self.on_request()
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@dataclass(eq=False)
class Run:
    """The settings of a fit, where it runs, and what it reports to.

    Attributes
    ----------
    max_iter : int, default=100
        The largest number of passes over the documents from each start.
    tol : float, default=1e-3
        The relative change of the bound at which a fit has converged.
    settings : LocalSettings
        How documents are fitted.
    executor : Executor
        Where passes over blocks run.
    here : InProcess
        Where passes over documents in memory run: threads of this process.
    task : Task
        Shows the fit.
    interruption : Interruption
        Whether the fit was asked to stop.
    trials : list of Trial
        The numbers of topics that a search has tried.
    after_pass : callable or None, default=None
        Called after each pass, unless that pass settles the bound.
    checkpoint : hdsp.persistence.Checkpoint or None, default=None
        Keeps the state of the unfinished fit.
    stages : dict of str to float
        Seconds of each stage so far, in the order in which they began.
    """

    max_iter: int = 100
    tol: float = 1e-3
    settings: LocalSettings = field(default_factory=LocalSettings)
    executor: Executor = field(default_factory=InProcess)
    here: InProcess = field(default_factory=InProcess)
    task: Task = field(default_factory=Task)
    interruption: Interruption = field(default_factory=Interruption)
    trials: list[Trial] = field(default_factory=list)
    after_pass: AfterPass | None = None
    # In a layer above.
    checkpoint: Any = None
    stages: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        stopping = "after this pass (Ctrl-C again: at once)"
        self.interruption.on_request = lambda: self.task.update(stopping=stopping)

    def executor_of(self, data: Data) -> Executor:
        """Where passes over the data run: threads of this process if they are in memory."""
        return self.here if isinstance(data, Problem) else self.executor

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside as a stage of the fit, and show it; stages do not nest."""
        began = time.perf_counter()
        self.task.update(stage=name)
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - began

    def stage_rows(self) -> list[dict[str, Any]]:
        """One plain row per stage."""
        return [{"stage": name, "seconds": seconds} for name, seconds in self.stages.items()]

    @property
    def interrupted(self) -> bool:
        """Whether the fit was asked to stop."""
        return self.interruption.requested

    @property
    def seconds(self) -> float:
        """Since the beginning of the fit."""
        return time.perf_counter() - self._began

    def continue_from(self, seconds: float) -> None:
        """Let the clock continue from that of an interrupted run."""
        self._began = time.perf_counter() - seconds

    def new_history(self, rows: list[dict[str, float]] | None = None) -> History:
        """A history on this run's clock; `rows` are those of an interrupted run."""
        if rows:
            self.continue_from(rows[-1]["seconds"])
        return History(self.tol, lambda: self.seconds, rows)

    def record(
        self,
        history: History,
        problem: Data,
        state: GlobalState,
        statistics: Statistics,
        bound: BoundTerms,
    ) -> None:
        """Add a pass to `history`, and show it."""
        history.record(problem, state, statistics, bound)
        done, expected = len(history), history.settling_pass()
        total = None if expected is None else min(max(expected, done + 1), self.max_iter)
        shown = {"pass": done, "topics": state.n_topics, "bound": bound.total}
        self.task.update(done, total, **shown)

    def note_moves(self, history: History, moves: Mapping[str, int]) -> None:
        """Add to the last pass how many topics were merged after it, and show it."""
        history.rows[-1] = {**history.rows[-1], **moves}
        self.task.update(**moves)


@dataclass(frozen=True, eq=False)
class Resumed:
    """The state of an interrupted fit.

    Attributes
    ----------
    state : GlobalState
        The state.
    documents : DocumentState or None
        The documents, or None for a cold start.
    history : History
        Its passes.
    stream : tuple of Stream and PassSoFar, or None, default=None
        Where stochastic inference continues.
    """

    state: GlobalState
    documents: DocumentState | None
    history: History
    stream: Any = None
