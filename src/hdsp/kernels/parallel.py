"""Kernels over fixed ranges, on one thread or several, with the same bits.

How many threads there are is a matter of the place, not of the computation: `use_threads` sets it
for everything inside a block of code, as one sets the number of BLAS threads.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

_THREADS: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("threads", default=None)


@contextmanager
def use_threads(n_threads: int) -> Iterator[None]:
    """Let `run_ranges` use so many threads within a block of code.

    Work that runs inside one of these threads has no threads of its own.
    """
    if n_threads < 2:
        token = _THREADS.set(None)
        try:
            yield
        finally:
            _THREADS.reset(token)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        token = _THREADS.set((pool, n_threads))
        try:
            yield
        finally:
            _THREADS.reset(token)


def run_ranges(kernel: Callable[..., Any], length: int, size: int, *arguments: Any) -> list[Any]:
    """Call ``kernel(first, last, *arguments)`` on consecutive ranges of `size` up to `length`.

    The ranges depend on the length alone, never on the number of threads, and each range writes
    its own part of the output: any number of threads gives the same result.

    Returns
    -------
    list
        The results, in the order of the ranges.
    """
    starts = range(0, length, size)
    results: list[Any] = [None] * len(starts)
    # Threads take ranges from one iterator as they get free: a call costs more than a range.
    waiting = iter(enumerate(starts))

    def work() -> None:
        for number, first in waiting:
            results[number] = kernel(first, min(first + size, length), *arguments)

    threads = _THREADS.get()
    if threads is None or len(starts) < 2:
        work()
    else:
        pool, n_threads = threads
        for call in [pool.submit(work) for _ in range(n_threads)]:
            call.result()
    return results


def run_together(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of calls that do not depend on each other: side by side, if there are threads.

    Serial parts of one call then take the place of waiting in another. Each call may use
    `run_ranges`; the last is made by the thread that asks.
    """
    if _THREADS.get() is None or len(calls) < 2:
        return [call() for call in calls]
    with ThreadPoolExecutor(len(calls) - 1) as pool:
        waiting = [pool.submit(copy_context().run, call) for call in calls[:-1]]
        last = calls[-1]()
        return [*(call.result() for call in waiting), last]
