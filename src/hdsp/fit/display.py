"""What a fit shows of itself: start, pass, bound, topics, and the time left of all of it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from hdsp.progress import Task, display, duration, task

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
