"""What a fit shows of itself: start, pass, bound, topics, and the time left of all of it."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from hdsp.progress import Clock, Task, shown, task

# A start has settled after about so many passes; later ones take as many as earlier ones did.
_PASSES = 12
# A start with twice the topics takes longer by this power of two.
_GROWTH = 0.7
# Starts still to come take longer than those before, by this factor: most have more topics.
_LATER = 1.4
# Of the best start, moves at the end take about this share of a start's time.
_LAST_MOVES = 0.6


def about_starts(ceiling: int) -> int:
    """How many starts a search for the number of topics makes, by experience.

    Parameters
    ----------
    ceiling : int
        The most topics there may be.
    """
    return 2 + (ceiling > 64) + (ceiling > 128)


@contextmanager
def fit_display(tol: float, max_iter: int, quiet: bool) -> Iterator["FitDisplay"]:
    """Show a fit: in the display that is open already, or in one of its own unless `quiet`."""
    with shown(quiet), task("Fitting topics", unit=None) as fitting:
        yield FitDisplay(fitting, tol, max_iter)


class FitDisplay:
    """Turns what happens in a fit into updates of a task.

    Parameters
    ----------
    task : Task
        Shows the fit.
    tol : float
        The relative change of the bound at which a start has settled.
    max_iter : int, default=100
        Passes of a start at most.
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
        # Seconds, passes and first topics of the starts that have settled.
        self._settled: list[tuple[float, int, int]] = []
        self._bounds: list[float] = []
        self._first_pass_ended = 0.0
        self._about = 1
        self._in_start = True
        self._n_topics = 0
        # What is shown of the last pass.
        self._of_pass: dict[str, float] = {}

    def begin(self, n_topics: int, about: int) -> None:
        """A start begins.

        Parameters
        ----------
        n_topics : int
            The topics it starts with.
        about : int
            How many starts there will be, as far as one can tell.
        """
        number = len(self._settled) + 1
        self._about = max(about, number)
        self._in_start = True
        self._n_topics = n_topics
        self._stage_began = self._clock()
        self._bounds = []
        place = None if self._about == 1 else f"{number} of about {self._about}"
        self._show(**dict.fromkeys(("best", *self._of_pass, "after")))
        self._of_pass = {"topics": n_topics}
        self._show(start=place, **self._of_pass)

    def passed(self, row: Mapping[str, float]) -> None:
        """A pass is done; `row` is that of the fit's history."""
        self._bounds.append(row["bound"])
        if len(self._bounds) == 1:
            self._first_pass_ended = self._clock()
        self._of_pass = {
            "topics": int(row["topics_in_use"]),
            "pass": int(row["pass"]),
            "bound": float(row["bound"]),
        }
        self._show(**self._of_pass)

    def moved(self, counts: Mapping[str, int]) -> None:
        """Topics were merged, split or deleted."""
        made = " and ".join(
            f"{number} {name if number > 1 else name.removesuffix('s')}"
            for name, number in counts.items()
            if number
        )
        self._show(after=made or None)

    def end(self) -> None:
        """The start has settled."""
        seconds = self._clock() - self._stage_began
        self._settled.append((seconds, len(self._bounds), self._n_topics))
        self._in_start = False
        self._stage_began = self._clock()
        self._show()

    def finish(self) -> None:
        """No start is left to make: the best of them goes on."""
        self._in_start = False
        self._about = len(self._settled)
        self._stage_began = self._clock()
        best = None if self._about < 2 else f"of {self._about} starts"
        self._show(**dict.fromkeys(("start", *self._of_pass, "after")))
        self._show(best=best, **self._of_pass)

    def stop(self) -> None:
        """Somebody asked the fit to stop."""
        self._show(stopping="after this pass (Ctrl-C again: at once)")

    @property
    def seconds_left(self) -> float | None:
        """How long until the end of the last start and the moves after it; None for no idea."""
        now = self._clock() - self._stage_began
        whole = [seconds for seconds, *_ in self._settled]
        left = 0.0
        if self._in_start:
            of_start = self._start_left(now)
            if of_start is None:
                return None
            left = of_start
            whole.append(now + left)
        if self._about == 1:
            return left
        if not whole:
            return None
        typical = float(np.mean(whole[-2:]))
        starts_left = self._about - len(whole)
        if starts_left == 0 and not self._in_start:
            return max(_LAST_MOVES * typical - now, 0.0)
        return left + (starts_left * _LATER + _LAST_MOVES) * typical

    def _start_left(self, now: float) -> float | None:
        """How long until the start settles that has taken `now` seconds."""
        passes = len(self._bounds)
        # A first pass comes after whatever finds the topics to start with.
        if passes > 1:
            each = (self._clock() - self._first_pass_ended) / (passes - 1)
            return each * max(self._passes() - passes, 1.0)
        if not self._settled:
            return None
        seconds, _, n_topics = self._settled[-1]
        longer = float((self._n_topics / n_topics) ** _GROWTH)
        return max(seconds * longer - now, 0.0)

    def _passes(self) -> float:
        """How many passes the start will have taken."""
        if self._settled:
            return float(np.mean([passes for _, passes, _ in self._settled]))
        return min(settling_pass(self._bounds, self._tol) or _PASSES, self._max_iter)

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
