"""Kernels over fixed ranges, on one thread or several, with the same bits.

How many threads there are is a matter of the place, not of the computation: `use_threads` sets it
for everything inside a block of code, as one sets the number of BLAS threads.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
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
