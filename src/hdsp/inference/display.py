"""What a fit shows while it runs."""

import sys
from typing import TextIO

from hdsp.inference.history import History, seconds_left


class FitDisplay:
    """Plain lines about the starts, passes and moves of a fit.

    Parameters
    ----------
    every : int, default=0
        Show every n-th pass; 0 shows nothing.
    stream : text stream, default=None
        Where lines are written; None is standard error.
    """

    def __init__(self, every: int = 0, stream: TextIO | None = None) -> None:
        self._every = every
        self._stream = stream

    def began(self, n_topics: int) -> None:
        """Report a start with `n_topics` topics."""
        self._write(f"start with {n_topics} topics")

    def went_on(self, history: History) -> None:
        """Report that an earlier fit is continued."""
        last = history.last
        self._write(f"go on from {last.n_topics} topics, bound {last.bound.total:,.1f}")

    def passed(self, history: History) -> None:
        """Report the last pass, if it is one to show."""
        if not self._every or ((len(history) - 1) % self._every and not history.converged):
            return
        last = history.last
        left = None if history.converged else seconds_left(history.passes, history.tol)
        about = "" if left is None else f", about {max(left, 0.1):.1f} s left"
        self._write(
            f"pass {len(history):>4}  bound {last.bound.total:,.1f}  topics in use "
            f"{last.topics_in_use}  {last.seconds:.1f} s{about}"
        )

    def moved(self, history: History) -> None:
        """Report the moves after the last pass."""
        counts = ", ".join(f"{n} {name}" for name, n in history.last.moves.items() if n)
        self._write(f"{counts} after pass {len(history)}")

    def _write(self, line: str) -> None:
        if self._every:
            stream = self._stream or sys.stderr
            stream.write(f"{line}\n")
            stream.flush()
