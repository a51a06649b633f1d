"""How far long work has come, shown on standard error to whoever waits for it.

Code that takes long says what it does, wherever it is called from::

    with progress.task("Comparing models", total=8) as task:
        for number in range(8):
            ...
            task.update(done=number + 1)

Nobody sees that until someone opens a display around it with `shown`: a command, or an estimator
that is verbose. There is one display at a time, and the tasks that are begun inside one another
share it, the outer above the inner.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from hdsp.progress.displays import Lines, Live, Notebook, Silent
from hdsp.progress.tasks import Clock, Display, Task
from hdsp.progress.wording import printable

__all__ = [
    "Clock",
    "Display",
    "Task",
    "choose_display",
    "counted",
    "printable",
    "shown",
    "task",
    "update",
]

T = TypeVar("T")

# Few enough to see them grow, and enough to cost nothing.
_COUNTED_TOGETHER = 200

_display: ContextVar[Display | None] = ContextVar("display", default=None)
# Displays that are open, whichever thread asks.
_open: list[Display] = []


@contextmanager
def shown(quiet: bool = False) -> Iterator[None]:
    """Show the tasks that are begun inside: where a display is open already, in that one.

    Parameters
    ----------
    quiet : bool, default=False
        Show nothing.
    """
    if _display.get() is not None:
        yield
        return
    display = choose_display(quiet)
    token = _display.set(display)
    _open.append(display)
    try:
        yield
    finally:
        _open.remove(display)
        _display.reset(token)
        display.close()


def task(
    title: str, total: float | None = None, unit: str | None = "done", anywhere: bool = False
) -> Task:
    """A task inside those that are under way.

    Parameters
    ----------
    title : str
        What is done, such as ``"Fitting topics"``.
    total : float or None, default=None
        How much there is to do, where that is known.
    unit : str, default="done"
        What is counted, as in "3 of 8 done"; None shows the share alone.
    anywhere : bool, default=False
        Show it from a thread that has no display of its own, too.

    Examples
    --------
    >>> with task("Reading") as reading:
    ...     reading.update(documents=20)
    """
    display = _display.get() or (_open[-1] if anywhere and _open else None)
    return Task() if display is None else display.task(title, total, unit)


def update(done: float | None = None, total: float | None = None, **details: Any) -> None:
    """Say how far the innermost task has come, from where it was not begun; see `Task.update`."""
    display = _display.get()
    if display is not None and display.tasks:
        display.tasks[-1].update(done, total, **details)


def counted(items: Iterable[T], name: str) -> Iterator[T]:
    """Pass items on, and show on the innermost task how many there were.

    Parameters
    ----------
    items : iterable
        Gone through once.
    name : str
        What they are, such as ``"documents"``.
    """
    number = 0
    for number, item in enumerate(items, start=1):
        yield item
        if number % _COUNTED_TOGETHER == 0:
            update(**{name: number})
    update(**{name: number})


def choose_display(quiet: bool = False) -> Display:
    """A display that fits where standard error goes: to a terminal, a notebook, or elsewhere."""
    if quiet or sys.stderr is None:
        return Silent()
    if _in_notebook():
        return Notebook()
    if sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        return Live(sys.stderr)
    return Lines(sys.stderr)


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this, whose output is no terminal."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
