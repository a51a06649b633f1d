"""Compiled kernels over fixed ranges, on one thread or several, with the same bits."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Threads:
    """Runs ``kernel(first, last, *arguments)`` over consecutive ranges.

    The ranges depend on the length alone, never on the number of threads, and each range writes
    its own part of the output: any `n_threads` gives the same result.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def run(self, kernel: Callable[..., Any], length: int, size: int, *arguments: Any) -> list[Any]:
        """Call `kernel` on ranges of `size` up to `length`; the results in order of the ranges."""
        starts = range(0, length, size)
        results: list[Any] = [None] * len(starts)
        # Threads take ranges from one iterator as they get free: a call costs more than a range.
        waiting = iter(enumerate(starts))

        def work() -> None:
            for number, first in waiting:
                results[number] = kernel(first, min(first + size, length), *arguments)

        if self._pool is None or len(starts) < 2:
            work()
        else:
            for call in [self._pool.submit(work) for _ in range(self.n_threads)]:
                call.result()
        return results

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
