"""Stopping a fit with Ctrl-C after the current pass."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


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
