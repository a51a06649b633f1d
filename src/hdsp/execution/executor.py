"""Executors: where steps over blocks of documents run, and how their results are added up."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from operator import methodcaller
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from threadpoolctl import threadpool_limits

from hdsp.corpus.counting import in_threads
from hdsp.kernels import use_threads
from hdsp.model import Block, BlockSource

Result = TypeVar("Result")
# What is kept of each block, wherever the executor keeps it: only the executor looks inside.
Kept: TypeAlias = Sequence[Any]


class Step(ABC):
    """What is done to a block: a pure function that can be pickled, since it travels to blocks."""

    # Whether the step needs the block itself, or only what was kept of it.
    reads_block: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, block: Any, kept: Any) -> tuple[Any, Any]:
        """What to keep of the block from now on, and a result that can be added.

        Parameters
        ----------
        block : Block or None
            The documents; None if the step does not read them.
        kept : object or None
            What an earlier step kept of the block.
        """


class Executor(ABC):
    """Applies a step to blocks of documents, and adds up the results.

    Results are added in a tree that depends on the numbers of blocks alone, so that every executor
    gives the same bits.
    """

    @abstractmethod
    def run(
        self, step: Step, blocks: Sequence[BlockSource], kept: Kept | None = None, keep: bool = True
    ) -> tuple[Kept | None, Any]:
        """Apply a step to every block.

        Parameters
        ----------
        step : Step
            What is done to each block.
        blocks : sequence of BlockSource
            The blocks.
        kept : sequence or None, default=None
            What an earlier call kept of these blocks.
        keep : bool, default=True
            Whether to keep what the step returns of each block for a later call.

        Returns
        -------
        kept : sequence or None
            What was kept of each block.
        total : object
            The sum of the results.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


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

    def run(
        self, step: Step, blocks: Sequence[BlockSource], kept: Kept | None = None, keep: bool = True
    ) -> tuple[Kept | None, Any]:
        """Apply a step to one block after another, while the next one is read."""
        return run_step(step, blocks, kept, keep)

    def sum(self, step: Callable[[int], Result], n_blocks: int) -> Result:
        """The results of ``step(0)`` to ``step(n_blocks - 1)`` on blocks in memory, added up."""
        total: Result = tree_sum(map(step, range(n_blocks)))
        return total

    def __enter__(self) -> Self:
        self._entered.enter_context(use_threads(self.n_threads))
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.close()


def run_step(
    step: Step, blocks: Sequence[BlockSource], kept: Kept | None, keep: bool
) -> tuple[list[Any] | None, Any]:
    """`Executor.run` in this process, on one block after another."""
    after: list[Any] = []

    def results() -> Iterator[Any]:
        loaded = _loaded(blocks) if step.reads_block else [None] * len(blocks)
        for number, block in enumerate(loaded):
            part, result = step(block, None if kept is None else kept[number])
            if keep:
                after.append(part)
            yield result

    total = tree_sum(results())
    return (after if keep else None), total


@lru_cache(maxsize=1)
def use_one_blas_thread() -> None:
    """Let BLAS use one thread from now on: for workers, which may run several steps at once."""
    threadpool_limits(1, "blas")


def _loaded(blocks: Sequence[BlockSource]) -> Iterator[Block]:
    """The blocks, each read while the step works on the one before."""
    load = methodcaller("load")
    if all(isinstance(block, Block) for block in blocks):
        return map(load, blocks)
    return in_threads(load, blocks, n_threads=1)


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
