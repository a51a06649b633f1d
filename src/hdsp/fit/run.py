"""A run: the settings of a fit, and what it reports to."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType
from typing import Annotated, Any, Protocol

import numpy as np

from hdsp.execution.executor import Executor, InProcess
from hdsp.kernels import run_together
from hdsp.model.data import Data, Problem
from hdsp.model.documents import LocalSettings
from hdsp.model.state import BoundTerms, DocumentState, GlobalState, Statistics
from hdsp.numerics import FloatArray
from hdsp.progress import Task, display, duration, task
from hdsp.storage.codec import Limits

_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


_FACTS = (
    "n_topics",
    "corpus_concentration",
    "document_concentration",
    "topics_in_use",
    "inner_iterations",
    "seconds",
)


Clock = Callable[[], float]
# A search tries about so many numbers of topics.
_TRIALS = 5
# A fit takes about so many times as long as a trial with as many topics.
_FIT_IN_TRIALS = 1.8
# A fit has settled after about so many passes.
_PASSES = 12
# Stages that show more of themselves than their name.
_TOLD = ("search", "passes", "merges")


@contextmanager
def interrupting_at_once() -> Iterator[None]:
    """Let Ctrl-C end everything inside, for loops over fits: none of them may end early instead."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


def topics_in_use(topic_tokens: FloatArray, n_documents: int) -> int:
    """How many topics hold at least as many expected tokens as the average document has.

    A topic with fewer words than a document is no more than a few stray tokens; but of very few
    documents, all topics may have fewer, and then the largest counts. `topic_tokens` [T] are the
    expected tokens of each topic.
    """
    return max(int((topic_tokens >= topic_tokens.sum() / n_documents).sum()), 1)


@dataclass(frozen=True)
class PassRecord:
    """One pass over the documents.

    Attributes
    ----------
    bound : BoundTerms
        The bound after the pass, term by term.
    n_topics : int
        The number of topics T.
    corpus_concentration, document_concentration : float
        The concentrations alpha and beta during the pass.
    topics_in_use : int
        Topics with at least an average document's number of tokens.
    inner_iterations : float
        Mean inner iterations per document.
    seconds : float
        Seconds since the beginning of the fit.
    moves : mapping of str to int
        How many topics were merged, split or deleted after the pass, by the kind of move.
    """

    bound: BoundTerms
    n_topics: int
    corpus_concentration: float
    document_concentration: float
    topics_in_use: int
    inner_iterations: float
    seconds: float
    moves: Mapping[str, int] = field(default_factory=dict)

    def as_row(self, number: int) -> dict[str, float]:
        """The record as a plain row of `HDSP.history_`."""
        facts = {name: getattr(self, name) for name in _FACTS}
        total = {"pass": number, "bound": self.bound.total}
        return {**total, **self.bound.items(), **facts, **self.moves}


@dataclass(frozen=True, eq=False)
class TrialRecord:
    """One number of topics that a search has tried, from one start.

    Attributes
    ----------
    topics : int
        The number of topics.
    init : str
        The start.
    concentration : float
        The beta at which held-out words are predicted best.
    likelihood : float array of shape [M]
        The log likelihood of each held-out document.
    perplexity : float
        Of a held-out token.
    coherence, exclusivity : float
        The means over topics of `hdsp.metrics.npmi`, in the documents that were fitted, and of
        `hdsp.metrics.exclusivity`.
    seconds : float
        Since the beginning of the fit.
    """

    topics: int
    init: str
    concentration: float
    likelihood: Annotated[FloatArray, Limits("D")]
    perplexity: float
    coherence: float
    exclusivity: float
    seconds: float

    def as_row(self) -> dict[str, Any]:
        """The record as a plain row of `HDSP.search_`."""
        return {name: value for name, value in vars(self).items() if name != "likelihood"}


class History:
    """The passes of a fit, and whether its bound has settled.

    Parameters
    ----------
    tol : float
        The relative change of the bound at which a fit has converged.
    clock : callable
        Returns the seconds since the beginning of the fit.
    passes : list of PassRecord, default=None
        Passes of an earlier run that this one continues.

    Attributes
    ----------
    passes : list of PassRecord
        The passes so far.
    converged : bool
        Whether the last pass changed the bound by no more than `tol`.
    """

    def __init__(
        self, tol: float, clock: Callable[[], float], passes: list[PassRecord] | None = None
    ) -> None:
        self.tol = tol
        self.passes = passes or []
        self.converged = False
        self._clock = clock

    def __len__(self) -> int:
        return len(self.passes)

    @property
    def last(self) -> PassRecord:
        """The last pass."""
        return self.passes[-1]

    def rows(self) -> list[dict[str, float]]:
        """One plain row per pass."""
        return [record.as_row(number) for number, record in enumerate(self.passes, 1)]

    def record(
        self, problem: Data, state: GlobalState, statistics: Statistics, bound: BoundTerms
    ) -> PassRecord:
        """Add a pass, and update `converged`."""
        tokens = statistics.word_counts.sum(axis=0, dtype=np.float64)
        before = self.last.bound.total if self.passes else -np.inf
        self.converged = abs(bound.total - before) <= self.tol * abs(bound.total)
        self.passes.append(
            PassRecord(
                bound,
                state.n_topics,
                state.corpus_concentration,
                state.document_concentration,
                topics_in_use(tokens, problem.n_documents),
                statistics.inner_iterations / problem.n_documents,
                self._clock(),
            )
        )
        return self.last

    def note_moves(self, moves: Mapping[str, int]) -> None:
        """Add to the last pass how many topics were merged, split or deleted after it."""
        self.passes[-1] = replace(self.last, moves={**self.last.moves, **moves})


@contextmanager
def fit_display(tol: float, max_iter: int, quiet: bool) -> Iterator["FitDisplay"]:
    """Show a fit: in the display that is open already, or in one of its own unless `quiet`."""
    with display(quiet), task("Fitting topics", unit=None) as fitting:
        yield FitDisplay(fitting, tol, max_iter)
        fitting.update(stage=None)


class FitDisplay:
    """Turns what happens in a fit into updates of a task.

    Parameters
    ----------
    task : Task
        Shows the fit.
    tol : float
        The relative change of the bound at which the fit has settled.
    max_iter : int, default=100
        Passes at most.
    clock : callable, default=time.monotonic
        Tells the seconds.
    """

    def __init__(
        self, task: Task, tol: float, max_iter: int = 100, clock: Clock = time.monotonic
    ) -> None:
        self._task = task
        self._tol = tol
        self._max_iter = max_iter
        self._clock = clock
        self._began = self._stage_began = clock()
        # Seconds and topics of the trials that have ended.
        self._trials: list[tuple[float, int]] = []
        self._in_trial = self._in_fit = False
        self._n_topics = 0
        self._bounds: list[float] = []
        self._first_pass_ended = 0.0
        # The share of a pass of stochastic steps that is done, if it is one.
        self._share_of_pass = 0.0

    def begin_stage(self, name: str, before: Mapping[str, float]) -> None:
        """A stage of the fit begins; `before` has the seconds of those before it."""
        passes = before.get("passes", 0.0) + before.get("merges", 0.0)
        self._task.update(
            stage=None if name in _TOLD else name,
            passes=f"took {duration(passes)}" if passes and name != "merges" else None,
        )

    def begin_trial(self, n_topics: int) -> None:
        """The search tries a number of topics."""
        self._in_trial = True
        self._n_topics = n_topics
        self._stage_began = self._clock()
        number = len(self._trials) + 1
        about = max(_TRIALS, number)
        self._show(trying=f"{n_topics} topics ({number} of about {about})")

    def end_trial(self, perplexity: float) -> None:
        """The trial has ended, with this perplexity of held-out words."""
        self._in_trial = False
        self._trials.append((self._clock() - self._stage_began, self._n_topics))
        self._show(perplexity=f"{perplexity:,.1f}")

    def begin_fit(self, n_topics: int) -> None:
        """All documents are fitted with so many topics."""
        self._in_fit = True
        self._n_topics = n_topics
        self._stage_began = self._clock()
        self._bounds = []
        self._show(trying=None, perplexity=None, topics=n_topics)

    def passed(self, row: Mapping[str, float]) -> None:
        """A pass is done; `row` is that of the fit's history."""
        if self._in_trial:
            return
        self._bounds.append(row["bound"])
        if len(self._bounds) == 1:
            self._first_pass_ended = self._clock()
        self._show(
            topics=int(row["n_topics"]), **{"pass": int(row["pass"])}, bound=float(row["bound"])
        )

    def stepped(self, seen: int, n_documents: int) -> None:
        """A stochastic step is done; documents of all passes so far were `seen`."""
        self._share_of_pass = (seen % n_documents or n_documents) / n_documents
        self._show(documents=f"{seen:,}")

    def moved(self, counts: Mapping[str, int]) -> None:
        """Topics were merged."""
        made = " and ".join(
            f"{number} {name if number > 1 else name.removesuffix('s')}"
            for name, number in counts.items()
            if number
        )
        self._show(after=made or None)

    def stop(self) -> None:
        """Somebody asked the fit to stop."""
        self._show(stopping="after this pass (Ctrl-C again: at once)")

    @property
    def seconds_left(self) -> float | None:
        """How long until the end, trials that are still to come included; None for no idea."""
        now = self._clock() - self._stage_began
        if self._in_fit and self._share_of_pass and not self._bounds:
            return now * (1.0 / self._share_of_pass - 1.0)
        if self._bounds:
            return self._fit_left()
        if not self._trials:
            return None
        if self._in_fit:
            seconds, n_topics = self._trials[-1]
            return max(_FIT_IN_TRIALS * seconds * self._n_topics / n_topics - now, 0.0)
        typical = float(np.mean([seconds for seconds, _ in self._trials[-2:]]))
        ahead = max(_TRIALS - len(self._trials), 1) * typical - (now if self._in_trial else 0.0)
        return max(ahead, 0.0) + _FIT_IN_TRIALS * typical

    def _fit_left(self) -> float | None:
        """How long until the fit settles."""
        passes = len(self._bounds)
        if passes < 2:
            return None
        # The first pass comes after whatever finds the topics to start with.
        each = (self._clock() - self._first_pass_ended) / (passes - 1)
        expected = min(settling_pass(self._bounds, self._tol) or _PASSES, self._max_iter)
        return each * max(expected - passes, 1.0)

    def _show(self, **details: object) -> None:
        done, left = self._clock() - self._began, self.seconds_left
        total = None if left is None else done + left
        self._task.update(None if total is None else done, total, **details)


def settling_pass(bounds: list[float], tol: float) -> float | None:
    """The pass at which the bound settles if its steps go on shrinking as they did.

    Parameters
    ----------
    bounds : list of float
        After each pass.
    tol : float
        The relative change at which the bound has settled.

    Examples
    --------
    >>> round(settling_pass([-200.0, -160.0, -140.0, -130.0, -125.0], tol=0.01))
    7
    """
    if len(bounds) < 3 or tol <= 0:
        return None
    last = np.array(bounds[-4:])
    change = np.abs(np.diff(last) / last[1:])
    if not (change > 0).all() or change[-1] >= change[0]:
        return None
    shrinkage = (change[-1] / change[0]) ** (1.0 / (len(change) - 1))
    return len(bounds) + max(float(np.log(tol / change[-1]) / np.log(shrinkage)), 0.0)


# Called after a pass with the state, a function that returns the documents, and the history.
AfterPass = Callable[[GlobalState, Callable[[], DocumentState | None], History], None]


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

    def resume(self, problem: Data, run: "Run", most_topics: int) -> "Resumed | None":
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

    def executor_of(self, data: Data) -> Executor:
        """Where passes over the data run: threads of this process if they are in memory."""
        return self.here if isinstance(data, Problem) else self.executor

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
        problem: Data,
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
