"""A run: the settings of a fit, and what it reports to."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any, Protocol

from hdsp.execution import Executor, InProcess
from hdsp.fit.display import FitDisplay
from hdsp.fit.history import History, PassRecord, TrialRecord
from hdsp.kernels import run_together
from hdsp.model import (
    BlockProblem,
    BoundTerms,
    DocumentState,
    GlobalState,
    LocalSettings,
    Problem,
    ShardedProblem,
    Statistics,
)
from hdsp.progress import Task

# Called after a pass with the state, the documents and the history.
AfterPass = Callable[[GlobalState, DocumentState | None, History], None]


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

        This applies only in the main thread, where Python's own handler is installed, and not
        inside `interrupting_at_once`.
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


class Keeper(Protocol):
    """Keeps the state of an unfinished fit, as `hdsp.persistence.Checkpoint` does."""

    def resume(
        self, problem: Problem | ShardedProblem, run: "Run", most_topics: int
    ) -> "Resumed | None":
        """The state of the fit, or None if there is none yet."""

    def pass_writer(self, run: "Run") -> AfterPass:
        """The function that is called after passes."""

    def trial_writer(self, run: "Run") -> Callable[[], None]:
        """The function that a search calls after its trials."""

    def step_writer(self, run: "Run") -> Callable[..., None]:
        """The function that stochastic inference calls after its steps."""


@dataclass(eq=False)
class Run:
    """The settings of a fit, where it runs, and what it reports to.

    Attributes
    ----------
    max_iter : int, default=100
        The largest number of passes over the documents from each start.
    tol : float, default=1e-3
        The relative change of the bound at which a fit has converged.
    keep_documents : bool, default=True
        Whether documents continue from the solution of the last pass.
    settings : LocalSettings
        How documents are fitted.
    executor : Executor
        Where passes over blocks run.
    here : InProcess
        Where passes over documents in memory run: threads of this process.
    display : FitDisplay
        Shows passes and moves.
    interruption : Interruption
        Whether the fit was asked to stop.
    trials : list of TrialRecord
        The numbers of topics that a search has tried.
    after_pass : callable or None, default=None
        Called after each pass, unless that pass settles the bound.
    checkpoint : Keeper or None, default=None
        Keeps the state of the unfinished fit.
    stages : dict of str to float
        Seconds of each stage so far, in the order in which they began.
    """

    max_iter: int = 100
    tol: float = 1e-3
    keep_documents: bool = True
    settings: LocalSettings = field(default_factory=LocalSettings)
    executor: Executor = field(default_factory=InProcess)
    here: InProcess = field(default_factory=InProcess)
    display: FitDisplay = field(default_factory=lambda: FitDisplay(Task(), tol=0.0))
    interruption: Interruption = field(default_factory=Interruption)
    trials: list[TrialRecord] = field(default_factory=list)
    after_pass: AfterPass | None = None
    checkpoint: Keeper | None = None
    stages: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.interruption.on_request = self.display.stop

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside as a stage of the fit, and show it; stages do not nest."""
        began = time.perf_counter()
        self.display.begin_stage(name, self.stages)
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - began

    def stages_together(self, calls: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """The results of stages that do not depend on each other, which may run side by side.

        Each has the part of the time that it would have had on its own.
        """
        own = dict.fromkeys(calls, 0.0)

        def timed(name: str) -> Any:
            began = time.perf_counter()
            found = calls[name]()
            own[name] = time.perf_counter() - began
            return found

        began = time.perf_counter()
        self.display.begin_stage(", ".join(calls), self.stages)
        found = run_together([partial(timed, name) for name in calls])
        share = (time.perf_counter() - began) / max(sum(own.values()), 1e-9)
        for name, seconds in own.items():
            self.stages[name] = self.stages.get(name, 0.0) + share * seconds
        return dict(zip(calls, found, strict=True))

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

    def go_on_from(self, seconds: float) -> None:
        """Let the clock go on from that of an interrupted run."""
        self._began = time.perf_counter() - seconds

    def new_history(self, passes: list[PassRecord] | None = None) -> History:
        """A history on this run's clock; `passes` are those of an interrupted run."""
        if passes:
            self.go_on_from(passes[-1].seconds)
        return History(self.tol, lambda: time.perf_counter() - self._began, passes)

    def record(
        self,
        history: History,
        problem: BlockProblem,
        state: GlobalState,
        statistics: Statistics,
        bound: BoundTerms,
    ) -> None:
        """Add a pass to `history`, and show it."""
        history.record(problem, state, statistics, bound)
        self.display.passed(history.last.as_row(len(history)))

    def note_moves(self, history: History, moves: Mapping[str, int]) -> None:
        """Add moves to the last pass of `history`, and show them."""
        history.note_moves(moves)
        self.display.moved(moves)


@dataclass(frozen=True, eq=False)
class Resumed:
    """The state of an interrupted fit.

    Attributes
    ----------
    state : GlobalState
        The state.
    documents : DocumentState or None
        The documents, or None where they start afresh.
    history : History
        Its passes.
    stream : tuple of Stream and PassSoFar, or None, default=None
        Where stochastic inference goes on.
    """

    state: GlobalState
    documents: DocumentState | None
    history: History
    stream: Any = None


_at_once: ContextVar[bool] = ContextVar("at_once", default=False)
