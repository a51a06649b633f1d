"""Progress of long work, shown on standard error.

Code that takes long names its work, wherever it is called from::

    with progress.task("Comparing models", total=8) as task:
        for number in range(8):
            ...
            task.update(done=number + 1)

Tasks are visible only inside `display`, which commands and verbose estimators open.
"""

import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self, TypeVar

T = TypeVar("T")

# Terminals show tasks that take longer, since the others would only flicker.
_FLICKER_SECONDS = 0.3
# Items between two updates of `count`.
_ITEMS_PER_UPDATE = 200
# Control characters, line separators, changes of direction, and halves of characters. Other
# characters without a shape, such as joiners, belong to the words of some languages.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Replace characters that could control a terminal by escapes.

    Examples
    --------
    >>> printable("a file\x1b[2J.csv")
    'a file\\x1b[2J.csv'
    """
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


class Display:
    """The tasks under way, from the outermost to the innermost; this class shows none."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def begin(self, task: "Task") -> None:
        """Add a task."""
        self.tasks.append(task)

    def change(self, task: "Task") -> None:
        """Show the update of a task."""

    def end(self, task: "Task", is_done: bool) -> None:
        """Remove a task, which is not done if an error ended it."""
        self.tasks.remove(task)

    def close(self) -> None:
        """Stop showing tasks."""


@dataclass(eq=False)
class Task:
    """A piece of work in a `with` block; without a display it is not shown."""

    title: str = ""
    total: float | None = None
    unit: str | None = "done"
    display: Display = field(default_factory=Display)
    done: float = 0
    details: dict[str, str] = field(default_factory=dict)
    thread: int = field(default_factory=threading.get_ident)
    began: float = field(default_factory=lambda: time.monotonic())

    def __enter__(self) -> Self:
        self.display.begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.display.end(self, kind is None)

    def update(self, done: float | None = None, total: float | None = None, **details: Any) -> None:
        """Set how much is done, the total, and details by name; None removes a detail."""
        self.done = self.done if done is None else done
        self.total = self.total if total is None else total
        # A new dictionary, because a terminal's thread may be reading the old one.
        texts = {name: _detail(name, value) for name, value in details.items()}
        self.details = {name: text for name, text in {**self.details, **texts}.items() if text}
        self.display.change(self)

    @property
    def seconds(self) -> float:
        """How long the task has taken so far."""
        return time.monotonic() - self.began

    @property
    def amount(self) -> str:
        """The amount done and the details, such as "3 of 8 done, topics 64"."""
        of = "" if self.total is None else f" of {_number(self.total)}"
        counted = self.unit is not None and bool(of or self.done)
        amount = [f"{_number(self.done)}{of} {self.unit}"] if counted else []
        return ", ".join([*amount, *self.details.values()])

    def sentence(self, is_done: bool = False) -> str:
        """The task in one line."""
        took = f"{'took ' * is_done}{timedelta(seconds=int(self.seconds))}"
        return f"{self.title}: {', '.join(filter(None, (self.amount, took)))}"


class Lines(Display):
    """Plain lines in a pipe or a file, at most one every ten seconds."""

    # Seconds between two lines; shorter tasks leave no line.
    seconds = 10.0

    def begin(self, task: Task) -> None:
        """Add a task; the first line is written some seconds after the outermost one began."""
        if not self.tasks:
            self._written = time.monotonic()
        super().begin(task)

    def change(self, task: Task) -> None:
        """Write a line if it is time."""
        if task in self.tasks and time.monotonic() - self._written >= self.seconds:
            self._written = time.monotonic()
            self.write("; ".join(task.sentence() for task in self.tasks))

    def end(self, task: Task, is_done: bool) -> None:
        """Remove a task, and write a last line if it took long."""
        super().end(task, is_done)
        if is_done and task.seconds >= self.seconds:
            self.write(task.sentence(is_done))

    def write(self, line: str, end: str = "\n") -> None:
        """Write a line; a closed pipe, or a signal while writing, must not end the work."""
        with suppress(OSError, ValueError, RuntimeError):
            sys.stderr.write(f"{line}{end}")
            sys.stderr.flush()


class Notebook(Lines):
    """A line below a notebook's cell that changes in place."""

    seconds = 0.5
    _width = 0

    def write(self, line: str, end: str = "") -> None:
        """Write over the line before."""
        self._width = max(self._width, len(line))
        super().write(f"\r{line.ljust(self._width)}", end)


class Terminal(Display):
    """Lines at the bottom of a terminal that change in place, by rich."""

    def __init__(self) -> None:
        super().__init__()
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        class LongTasks(progress.Progress):
            def get_renderables(self) -> Iterator[Any]:
                long = [task for task in self.tasks if (task.elapsed or 0.0) >= _FLICKER_SECONDS]
                yield self.make_tasks_table(long)

        console = Console(stderr=True, highlight=False)
        # A process that is killed leaves the cursor visible.
        console.show_cursor = lambda show=True: False  # type: ignore[method-assign]
        # Without this, rich would send standard output from a pipe to the terminal.
        redirect = sys.stdout is not None and sys.stdout.isatty()
        whole = Column(no_wrap=True, overflow="ellipsis")
        cut = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        self._progress = LongTasks(
            progress.TextColumn("{task.description}", markup=False, table_column=whole),
            progress.BarColumn(bar_width=20),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[amount]}", markup=False, table_column=cut),
            console=console,
            transient=True,
            expand=True,
            redirect_stdout=redirect,
        )
        self._numbers: dict[Task, Any] = {}

    def begin(self, task: Task) -> None:
        """Add a task; the display is live as long as it has tasks."""
        super().begin(task)
        title = "  " * (len(self.tasks) - 1) + task.title
        self._numbers[task] = self._progress.add_task(title, total=task.total, amount=task.amount)
        self._progress.start()

    def change(self, task: Task) -> None:
        """Update a task."""
        if (number := self._numbers.get(task)) is not None:
            self._progress.update(number, completed=task.done, total=task.total, amount=task.amount)

    def end(self, task: Task, is_done: bool) -> None:
        """Remove a task; after the last one the terminal is free for others."""
        super().end(task, is_done)
        self._progress.remove_task(self._numbers.pop(task))
        if not self.tasks:
            self._progress.stop()

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()


# The display of this process, which all threads share.
_open: list[Display] = []


@contextmanager
def display(quiet: bool = False) -> Iterator[None]:
    """Show the tasks that begin inside, in the display that is already open if there is one."""
    if _open:
        yield
        return
    _open.append(choose_display(quiet))
    try:
        yield
    finally:
        _open.pop().close()


def choose_display(quiet: bool = False) -> Display:
    """Return the display for a terminal, a notebook, or a pipe."""
    if quiet or sys.stderr is None:
        return Display()
    if "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel"):
        return Notebook()
    if sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        return Terminal()
    return Lines()


def task(title: str, total: float | None = None, unit: str | None = "done") -> Task:
    """Return a task of the open display; without a unit only its share of the total is shown.

    Examples
    --------
    >>> with task("Reading") as reading:
    ...     reading.update(documents=20)
    """
    return Task(printable(title), total, unit, _open[-1] if _open else Display())


def update(done: float | None = None, total: float | None = None, **details: Any) -> None:
    """Update the innermost task of this thread, from code that did not begin it."""
    tasks, thread = _open[-1].tasks if _open else [], threading.get_ident()
    innermost = next((task for task in reversed(tasks) if task.thread == thread), None)
    if innermost is not None:
        innermost.update(done, total, **details)


def count(items: Iterable[T], name: str) -> Iterator[T]:
    """Yield items, and show how many on the innermost task."""
    number = 0
    for number, item in enumerate(items, start=1):
        yield item
        if number % _ITEMS_PER_UPDATE == 0:
            update(**{name: number})
    update(**{name: number})


def _number(value: float) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _detail(name: str, value: object) -> str:
    if value is None:
        return ""
    text = _number(value) if isinstance(value, (int, float)) else printable(str(value))
    return f"{name.replace('_', ' ')} {text}"
