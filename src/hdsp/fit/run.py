"""A run of a fit: its parameters, how it proceeds, what it records, and how Ctrl-C stops it."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from types import FrameType
from typing import Annotated, Any

import numpy as np

from hdsp.execution.executor import Executor, InProcess
from hdsp.model.data import Data
from hdsp.model.documents import LocalSettings
from hdsp.model.state import BoundTerms, GlobalState, Statistics
from hdsp.numerics import FloatArray
from hdsp.progress import Task
from hdsp.scaling.design import Scaling
from hdsp.storage.codec import Limits

_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


def topics_in_use(topic_tokens: FloatArray, n_documents: int) -> int:
    """How many topics hold at least as many expected tokens as the average document has.

    A topic with fewer words than a document is no more than a few stray tokens; but of very few
    documents, all topics may have fewer, and then the largest counts. `topic_tokens` [T] are the
    expected tokens of each topic.
    """
    return max(int((topic_tokens >= topic_tokens.sum() / n_documents).sum()), 1)


@dataclass(eq=False, repr=False)
class FitParameters:
    """The parameters of `HDSP`, which documents them."""

    n_components: int | str = "auto"
    _: KW_ONLY
    max_components: int = 200
    scaling: Scaling = "auto"
    content: str | None = None
    topic_prior: float = 0.05
    corpus_concentration: float | None = None
    document_concentration: float | None = None
    init: Any = "auto"
    seeds: Mapping[str, Sequence[str]] | None = None
    inference: str = "batch"
    batch_size: int | None = None
    max_iter: int = 100
    tol: float = 1e-3
    executor: str | None = None
    n_jobs: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    random_state: Any = None
    verbose: int | bool = 0


def most_topics(parameters: FitParameters) -> int:
    """The number of topics, or the largest one that a search tries."""
    if parameters.n_components != "auto":
        return int(parameters.n_components)
    init = parameters.init
    return parameters.max_components if isinstance(init, str) else len(init)


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


@contextmanager
def interrupting_at_once() -> Iterator[None]:
    """Let Ctrl-C end everything inside, for loops over fits: none of them may end early instead."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


@dataclass(eq=False)
class Run:
    """How a fit proceeds: its limits, where it runs, and what it has recorded so far.

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
    interruption : threading.Event
        Set once the fit is asked to stop.
    checkpoint : hdsp.persistence.checkpoint.Checkpoint or None, default=None
        Keeps the state of the unfinished fit.
    saves : bool, default=True
        Whether it does so now: a fit goes on from its search or its passes, not from its merges.
    trials : list of Trial
        The numbers of topics that a search has tried.
    history : list of dict
        One row of `HDSP.history_` per pass.
    converged : bool
        Whether the last pass changed the bound by no more than `tol`.
    stages : dict of str to float
        Seconds of each stage so far, in the order in which they began.
    """

    max_iter: int = 100
    tol: float = 1e-3
    settings: LocalSettings = field(default_factory=LocalSettings)
    executor: Executor = field(default_factory=InProcess)
    here: InProcess = field(default_factory=InProcess)
    task: Task = field(default_factory=Task)
    interruption: threading.Event = field(default_factory=threading.Event)
    # In a layer above.
    checkpoint: Any = None
    saves: bool = True
    trials: list[Trial] = field(default_factory=list)
    history: list[dict[str, float]] = field(default_factory=list)
    converged: bool = False
    stages: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)

    @property
    def interrupted(self) -> bool:
        """Whether the fit was asked to stop."""
        return self.interruption.is_set()

    @property
    def seconds(self) -> float:
        """Since the beginning of the fit."""
        return time.perf_counter() - self._began

    def resume(self, trials: list[Trial], history: list[dict[str, float]]) -> None:
        """Take over the record, and the clock, of an interrupted run."""
        self.trials.extend(trials)
        self.history.extend(history)
        before = [trial.seconds for trial in trials] + [row["seconds"] for row in history]
        if before:
            self._began = time.perf_counter() - before[-1]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside as a stage of the fit, and show it; stages do not nest."""
        began = time.perf_counter()
        self.task.update(stage=name)
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - began

    def record(
        self, data: Data, state: GlobalState, statistics: Statistics, bound: BoundTerms
    ) -> None:
        """Add a pass to the history, show it, and update `converged`."""
        before = self.history[-1]["bound"] if self.history else -np.inf
        self.converged = abs(bound.total - before) <= self.tol * abs(bound.total)
        tokens = statistics.word_counts.sum(axis=0, dtype=np.float64)
        done = len(self.history) + 1
        self.history.append(
            {
                "pass": done,
                "bound": bound.total,
                **bound.items(),
                "n_topics": state.n_topics,
                "corpus_concentration": state.corpus_concentration,
                "document_concentration": state.document_concentration,
                "topics_in_use": topics_in_use(tokens, data.n_documents),
                "inner_iterations": statistics.inner_iterations / data.n_documents,
                "seconds": self.seconds,
            }
        )
        expected = self.settling_pass()
        total = None if expected is None else min(max(expected, done + 1), self.max_iter)
        shown = {"pass": done, "topics": state.n_topics, "bound": bound.total}
        self.task.update(done, total, **shown)

    def settling_pass(self) -> float | None:
        """The pass at which the bound settles if its steps go on shrinking as they did."""
        if len(self.history) < 3 or self.tol <= 0:
            return None
        last = np.array([row["bound"] for row in self.history[-4:]])
        change = np.abs(np.diff(last) / last[1:])
        if not (change > 0).all() or change[-1] >= change[0]:
            return None
        shrinkage = (change[-1] / change[0]) ** (1.0 / (len(change) - 1))
        more = np.log(self.tol / change[-1]) / np.log(shrinkage)
        return len(self.history) + max(float(more), 0.0)

    @property
    def save_is_due(self) -> bool:
        """Whether to `save`: after a while, or because the fit is to stop."""
        if self.checkpoint is None or not self.saves:
            return False
        return bool(self.checkpoint.is_due() or self.interrupted)

    def save(self, **state: Any) -> None:
        """Write a checkpoint with the state by name."""
        self.checkpoint.write(self.trials, self.history, **state)

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
            self.interruption.set()
            self.task.update(stopping="after this pass (Ctrl-C again: at once)")
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
