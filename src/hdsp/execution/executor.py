"""Executors: how a function of block numbers is applied, and its results added up."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, Self, TypeVar

from hdsp.kernels import use_threads

Result = TypeVar("Result")


class Executor(ABC):
    """Applies a step to the blocks of a corpus.

    A subclass defines where steps run by its `map`. Results are added in a tree that depends on the
    block numbers alone, so that every executor gives the same bits.
    """

    @abstractmethod
    def map(self, step: Callable[[int], Result], n_blocks: int) -> Iterable[Result]:
        """The results of ``step(0)`` to ``step(n_blocks - 1)``, in this order."""

    def sum(self, step: Callable[[int], Result], n_blocks: int) -> Result:
        """The results of all blocks, added up."""
        total: Result = tree_sum(self.map(step, n_blocks))
        return total


class InProcess(Executor):
    """Runs one block after another in this process, each on several threads.

    Parameters
    ----------
    n_threads : int, default=1
        The number of threads that kernels use inside a ``with`` block of the executor.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._entered = ExitStack()

    def map(self, step: Callable[[int], Result], n_blocks: int) -> Iterable[Result]:
        """Run the steps one after another, lazily."""
        return map(step, range(n_blocks))

    def __enter__(self) -> Self:
        self._entered.enter_context(use_threads(self.n_threads))
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.close()


def tree_sum(results: Iterable[Any]) -> Any:
    """The sum of results in a fixed binary tree over their numbers.

    Neighbours are added first, then neighbouring pairs, and so on; at most one result per level of
    the tree is kept.

    Examples
    --------
    >>> tree_sum(["a", "b", "c", "d", "e"])
    'abcde'
    """
    levels: list[tuple[int, Any]] = []
    for result in results:
        level = 0
        while levels and levels[-1][0] == level:
            result = levels.pop()[1] + result
            level += 1
        levels.append((level, result))
    if not levels:
        raise ValueError("A sum needs at least one result.")
    total = levels.pop()[1]
    while levels:
        total = levels.pop()[1] + total
    return total
