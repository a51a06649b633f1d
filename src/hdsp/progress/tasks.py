"""Tasks, and the display that they are shown in."""

import time
from collections.abc import Callable
from typing import Any, Self

from hdsp.progress.wording import amount_text, duration, printable, roughly

# Seconds after which the rate of the work tells when it will end.
_FIRST_GUESS = 1.0

Clock = Callable[[], float]


class Task:
    """A piece of work of which nothing is shown; others show what they are told.

    Tasks are context managers: the work is what happens inside.
    """

    def update(self, done: float | None = None, total: float | None = None, **details: Any) -> None:
        """Say how far the work has come.

        Parameters
        ----------
        done : float or None, default=None
            How much is done.
        total : float or None, default=None
            How much there is to do, of which an estimate may change.
        **details : str, int or float
            What else there is to know, shown by name; None takes a detail away.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        pass


class ShownTask(Task):
    """A task of a display.

    Parameters
    ----------
    display : Display
        Shows the task.
    title : str
        What is done, such as ``"Fitting topics"``.
    total : float or None
        How much there is to do.
    unit : str or None
        What is counted; None shows the share alone.
    """

    def __init__(
        self, display: "Display", title: str, total: float | None, unit: str | None
    ) -> None:
        self.title = printable(title)
        self.done: float = 0
        self.total = total
        self.unit = unit
        self.details: dict[str, str] = {}
        self.ended = False
        self._display = display
        self._began = display.clock()
        self._end_expected: float | None = None

    def __enter__(self) -> Self:
        self._display.begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.ended = kind is None
        self._display.end(self)

    def update(self, done: float | None = None, total: float | None = None, **details: Any) -> None:
        """Say how far the work has come; see `Task.update`."""
        if total is not None:
            self.total = total
        if done is not None:
            self.done = done
        # A new dictionary: the thread that draws a live display may be at the old one.
        told = self.details | {
            name: "" if value is None else f"{name.replace('_', ' ')} {amount_text(value)}"
            for name, value in details.items()
        }
        self.details = {name: text for name, text in told.items() if text}
        if (done, total) != (None, None):
            for task in self._display.tasks:
                task.estimate_end()
        self._display.changed(self)

    def estimate_end(self) -> None:
        """Expect the end at the rate of the work so far."""
        seconds, share = self.seconds, self.share
        if share and seconds >= _FIRST_GUESS:
            self._end_expected = self._display.clock() + seconds * (1.0 / share - 1.0)

    @property
    def seconds(self) -> float:
        """How long the task has taken so far."""
        return self._display.clock() - self._began

    @property
    def share(self) -> float | None:
        """How much of the work is done, from 0 to 1; None where the total is not known.

        The task inside this one is taken for the next of what it counts.
        """
        if not self.total:
            return None
        # A copy: the thread that draws a live display asks while tasks come and go.
        tasks = tuple(self._display.tasks)
        inner = tasks[tasks.index(self) + 1 :] if self.unit is not None and self in tasks else ()
        begun = (inner[0].share or 0.0) if inner else 0.0
        return min((self.done + begun) / self.total, 1.0)

    @property
    def amount(self) -> str:
        """What is done, such as "3 of 8 done"; empty where nothing is counted."""
        if self.unit is None or not (self.total or self.done):
            return ""
        of = f" of {amount_text(self.total)}" if self.total else ""
        return f"{amount_text(self.done)}{of} {self.unit}"

    @property
    def time(self) -> str:
        """How long the task has taken, and about how much longer it will."""
        taken = duration(self.seconds)
        if self.ended:
            return f"took {taken}"
        left = (self._end_expected or 0.0) - self._display.clock()
        # A guess that has turned out wrong is not shown.
        return f"{taken}, {roughly(left)} left" if left > 0.0 else taken

    @property
    def sentence(self) -> str:
        """The task in one line."""
        parts = (self.amount, *self.details.values(), self.time)
        return f"{self.title}: {', '.join(part for part in parts if part)}"


class Display:
    """The tasks that are under way, and what becomes of them on the way to whoever watches.

    Parameters
    ----------
    clock : callable, default=time.monotonic
        Tells the seconds.

    Attributes
    ----------
    line_seconds : float
        Tasks that took longer leave a line.
    """

    line_seconds = 10.0

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        # Those that are under way, from the outermost to the innermost.
        self.tasks: list[ShownTask] = []

    def task(self, title: str, total: float | None = None, unit: str | None = "done") -> Task:
        """A task that is shown from its beginning to its end."""
        return ShownTask(self, title, total, unit)

    def begin(self, task: ShownTask) -> None:
        """A task has begun, inside those that are under way."""
        self.tasks.append(task)

    def changed(self, task: ShownTask) -> None:
        """A task was updated."""

    def end(self, task: ShownTask) -> None:
        """A task has ended; what took long leaves a line, unless an error ended it."""
        self.tasks.remove(task)
        if task.ended and task.seconds >= self.line_seconds:
            self.write(task.sentence)

    def write(self, line: str) -> None:
        """Write a line that stays."""

    def close(self) -> None:
        """Nothing more is to be shown."""
