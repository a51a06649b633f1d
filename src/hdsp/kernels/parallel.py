"""Kernels over fixed ranges, on one thread or several, with the same bits.

How many threads there are is a matter of the place, not of the computation: `use_threads` sets it
for everything inside a block of code, as one sets the number of BLAS threads.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from typing import Any

_THREADS: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("threads", default=None)


@contextmanager
def use_threads(n_threads: int) -> Iterator[None]:
    """Let `run_ranges` use so many threads within a block of code.

    Work that runs inside one of these threads has no threads of its own.
    """
    # The thread that asks is one of them.
    with ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else nullcontext() as pool:
        token = _THREADS.set((pool, n_threads) if pool else None)
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

    def call(first: int) -> Any:
        return kernel(first, min(first + size, length), *arguments)

    threads = _THREADS.get()
    if threads is None or len(starts) < 2:
        return [call(first) for first in starts]
    token = _THREADS.set(None)
    try:
        return _share(call, starts, *threads)
    finally:
        _THREADS.reset(token)


def run_together(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of calls that do not depend on each other: side by side, if there are threads.

    Serial parts of one call then take the place of waiting in another. Each call may use
    `run_ranges`. As many calls run at a time as there are threads.
    """
    threads = _THREADS.get()
    if threads is None or len(calls) < 2:
        return [call() for call in calls]
    # Not the threads of ranges, which calls wait for.
    with ThreadPoolExecutor(threads[1] - 1) as pool:
        return _share(lambda call: call(), calls, pool, threads[1])


def _share(
    call: Callable[[Any], Any], items: Sequence[Any], pool: ThreadPoolExecutor, n_threads: int
) -> list[Any]:
    """The results of a call of each item: this thread and others take items as they get free."""
    results: list[Any] = [None] * len(items)
    # One iterator: to submit each item would cost more than a short call.
    waiting = iter(enumerate(items))

    def work() -> None:
        for number, item in waiting:
            results[number] = call(item)

    n_others = min(n_threads, len(items)) - 1
    others = [pool.submit(copy_context().run, work) for _ in range(n_others)]
    work()
    for other in others:
        # One that waits for a thread still has nothing left to do.
        if not other.cancel():
            other.result()
    return results
