"""Executors: where steps over blocks of documents run, and how their results are added up.

Internal: names here may change without notice.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from operator import methodcaller
from typing import Any, ClassVar, Self, TypeAlias

import joblib

from hdsp.corpus.counting import in_threads
from hdsp.kernels import use_threads
from hdsp.model.data import Block, BlockSource

# State of each block, if it has any, wherever the executor keeps it: only that one looks inside.
Kept: TypeAlias = list[Any] | None
Blocks: TypeAlias = Sequence[BlockSource]
# What a step keeps of every block, and the sum of its results.
Ran: TypeAlias = tuple[Kept, Any]
# Addresses of Dask schedulers begin with one of these.
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://")
# Groups of blocks per worker: enough that none waits long for the others at the end of a pass.
_GROUPS_PER_WORKER = 8
# Some 700 MB of documents of 72 words with 100 topics: a task must fit into a worker's memory.
_BLOCKS_PER_GROUP = 64


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

    Results are added in a tree that depends on the number of blocks alone, so every executor gives
    the same bits.
    """

    @abstractmethod
    def run(self, step: Step, blocks: Blocks, kept: Kept = None, keep: bool = True) -> Ran:
        """What the step keeps of every block, and the sum of its results.

        `kept` is what an earlier call kept of these blocks. With `keep`, what this call keeps
        replaces it: block by block, so that only one of the two is in memory.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class InProcess(Executor):
    """Runs one block after another in this process, each on several threads.

    Parameters
    ----------
    n_jobs : int or None, default=1
        The number of threads that kernels use inside a ``with`` block of the executor, as joblib
        counts; None is one per core.
    """

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.n_threads = joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)
        self._entered = ExitStack()

    def run(self, step: Step, blocks: Blocks, kept: Kept = None, keep: bool = True) -> Ran:
        """Apply a step to one block after another, while the next one is read."""
        after: list[Any] = []

        def results() -> Iterator[Any]:
            loaded = _loaded(blocks) if step.reads_block else [None] * len(blocks)
            for number, block in enumerate(loaded):
                state, result = step(block, None if kept is None else kept[number])
                if keep:
                    after.append(state)
                    if kept is not None:
                        kept[number] = None
                yield result

        total = tree_sum(results())
        return (after if keep else None), total

    def __enter__(self) -> Self:
        self._entered.enter_context(use_threads(self.n_threads))
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.close()


def _loaded(blocks: Blocks) -> Iterator[Block]:
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
    total = levels.pop()[1]
    while levels:
        total = levels.pop()[1] + total
    return total


def make_groups(n_blocks: int, n_workers: int) -> list[slice]:
    """Groups of neighbouring blocks, so that there are fewer and larger tasks.

    A group has 2^k blocks and begins at a multiple of 2^k, so its sum is a node of the tree of
    `tree_sum`: sums of groups, added by `tree_sum`, have the same bits as those of blocks.

    Examples
    --------
    >>> make_groups(3, 2)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    >>> len(make_groups(1000, 2)), make_groups(1000, 2)[-1]
    (16, slice(960, 1000, None))
    """
    size = 1
    while size < _BLOCKS_PER_GROUP and n_blocks > size * _GROUPS_PER_WORKER * n_workers:
        size *= 2
    return [slice(first, min(first + size, n_blocks)) for first in range(0, n_blocks, size)]


def check_executor(executor: object) -> None:
    """Raise unless an executor is None, "dask" or an address."""
    if executor not in (None, "dask") and not str(executor).startswith(_SCHEMES):
        raise ValueError(
            "`executor` of HDSP must be None, 'dask' or the address of a Dask scheduler, such as "
            f"'tcp://host:8786'; addresses begin with {', '.join(_SCHEMES)}. Got {executor!r}."
        )


def make_executor(executor: str | None = None, n_jobs: int | None = None) -> Executor:
    """The executor of a name: None is threads in this process, by default one per core."""
    check_executor(executor)
    if executor is None:
        return InProcess(n_jobs)
    try:
        from hdsp.execution.dask import connect
    except ImportError as error:
        raise ImportError(
            f"executor={executor!r} needs dask.distributed: install hdsp[dask]."
        ) from error
    return connect(executor)
