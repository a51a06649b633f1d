"""Where tasks are shown: nowhere, in a pipe, on a terminal, in a notebook."""

import sys
import time
from contextlib import suppress
from typing import IO, Any, TextIO, cast

from hdsp.progress.tasks import Clock, Display, ShownTask, Task

# Tasks shorter than this are not shown live: they would only flicker.
FLICKER_SECONDS = 0.3

_WIDEST = 100
_BAR = (8, 30)


class Silent(Display):
    """Shows nothing, at next to no cost."""

    def task(self, title: str, total: float | None = None, unit: str | None = "done") -> Task:
        """A task that is not shown."""
        return Task()


class Lines(Display):
    """Plain lines, for a pipe or a file: few, and none of work that takes seconds only.

    Parameters
    ----------
    stream : file object
        Where the lines go.
    clock : callable, default=time.monotonic
        Tells the seconds.

    Attributes
    ----------
    line_share : float
        The lines of long work come after this share of its time.
    """

    line_share = 0.05

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._stream = _Unbreakable(stream)
        self._began = self._written = clock()

    def begin(self, task: ShownTask) -> None:
        """A task has begun; each of the outermost has a pace of its own."""
        if not self.tasks:
            self._began = self._written = self.clock()
        super().begin(task)

    def changed(self, task: ShownTask) -> None:
        """A task was updated, and a line may be due."""
        now = self.clock()
        if now - self._written >= max(self.line_seconds, self.line_share * (now - self._began)):
            self.write("; ".join(task.sentence for task in self.tasks))

    def write(self, line: str) -> None:
        """Write a line."""
        self._written = self.clock()
        self._stream.write(f"{line}\n")
        self._stream.flush()


class Live(Display):
    """A few lines at the bottom of a terminal that change in place.

    Parameters
    ----------
    stream : file object
        That of the terminal.
    clock : callable, default=time.monotonic
        Tells the seconds.
    """

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        from rich.console import Console
        from rich.live import Live as RichLive

        class TerminalConsole(Console):
            """A console that leaves the cursor alone, so that a killed process leaves it too."""

            def show_cursor(self, show: bool = True) -> bool:
                return False

        self._console = TerminalConsole(
            file=cast("IO[str]", _Unbreakable(stream)),
            force_terminal=True,
            force_jupyter=False,
            highlight=False,
        )
        self._live = RichLive(
            get_renderable=self._render,
            console=self._console,
            transient=True,
            # What is printed in between goes above, but never from a pipe to the terminal.
            redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
        )

    def begin(self, task: ShownTask) -> None:
        """A task has begun; the display is there as long as there are tasks."""
        super().begin(task)
        self._live.start()

    def end(self, task: ShownTask) -> None:
        """A task has ended; after the last one the terminal is free for others."""
        super().end(task)
        if not self.tasks:
            self._live.stop()

    def write(self, line: str) -> None:
        """Write a line above the tasks."""
        from rich.text import Text

        self._console.print(Text(line), soft_wrap=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._live.stop()

    def _render(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        encoding = self._console.encoding.lower()
        lines = draw(self.tasks, self._console.width, ascii_only=not encoding.startswith("utf"))
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines))


class Notebook(Display):
    """The output of a notebook's cell, which changes in place and keeps what came of the work."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._lines: list[str] = []
        self._shown = -FLICKER_SECONDS
        self._handle: Any = None

    def changed(self, task: ShownTask) -> None:
        """A task was updated."""
        if self.clock() - self._shown >= FLICKER_SECONDS:
            self._show()

    def end(self, task: ShownTask) -> None:
        """A task has ended; the outermost ones leave a line however short they were."""
        short = task.seconds < self.line_seconds
        super().end(task)
        if short and not self.tasks and task.ended:
            self.write(task.sentence)

    def write(self, line: str) -> None:
        """Write a line above the tasks."""
        self._lines.append(line)
        self._show()

    def close(self) -> None:
        """Leave the lines that stay."""
        self._show()

    def _show(self) -> None:
        from IPython.display import display

        self._shown = self.clock()
        text = "\n".join([*self._lines, *draw(self.tasks, _WIDEST)])
        if self._handle is None and text:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        elif self._handle is not None:
            self._handle.update({"text/plain": text}, raw=True)


def draw(tasks: list[ShownTask], width: int, ascii_only: bool = False) -> list[str]:
    """Tasks as lines: title, bar, amount and time of each, and its details below.

    Parameters
    ----------
    tasks : list of ShownTask
        From the outermost to the innermost.
    width : int
        Of the terminal.
    ascii_only : bool, default=False
        Draw bars without special characters.
    """
    seen = [task for task in tuple(tasks) if task.seconds >= FLICKER_SECONDS]
    titles = [f"{'  ' * depth}{task.title}" for depth, task in enumerate(seen)]
    texts = ["  ".join(filter(None, (task.amount, task.time))) for task in seen]
    widest = min(max(map(len, titles), default=0), max(width // 3, 10))
    room = min(width, _WIDEST) - 1 - widest - max(map(len, texts), default=0) - 4
    lines: list[str] = []
    for task, title, text in zip(seen, titles, texts, strict=True):
        if len(title) > widest:
            title = f"{title[: widest - 1]}{'~' if ascii_only else '…'}"
        bar = ""
        if task.share is not None and room >= _BAR[0]:
            bar = _bar(task.share, min(room, _BAR[1]), ascii_only)
        lines.append("  ".join(filter(None, (title.ljust(widest), bar, text))))
        if task.details:
            indent = " " * (len(title) - len(title.lstrip()) + 2)
            lines.append(f"{indent}{', '.join(task.details.values())}")
    return lines


def _bar(share: float, width: int, ascii_only: bool) -> str:
    full, empty = "#-" if ascii_only else "━┄"
    done = int(share * width)
    return full * done + empty * (width - done)


class _Unbreakable:
    """A stream that never fails: work must not end because nobody is left to watch it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
