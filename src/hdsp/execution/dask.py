"""Steps on a Dask cluster: documents stay on the workers that read them, and sums travel.

Everything on the cluster is the result of a task, never scattered data. What is kept of a block
depends on the step, on the block and on what was kept before, so that Dask computes what a lost
worker held again, from the shards and the steps of all passes, to the same bits.
"""

import operator
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from typing import Any
from uuid import uuid4

import dask
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, LocalCluster, default_client
from distributed.client import CancelledError, ClosedClientError
from distributed.comm import CommClosedError
from distributed.protocol.pickle import dumps
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from hdsp.exceptions import ClusterError
from hdsp.execution.executor import Executor, Kept, Step, run_step, tree_sum
from hdsp.execution.groups import make_groups
from hdsp.execution.steps import FitDocuments, FittedBlock, LabelSums, SumLabels
from hdsp.kernels import use_threads
from hdsp.model import Block, BlockSource, DocumentState, DocumentView, Statistics

# Results that one task adds: fewer tasks than in a binary tree, and the same sum.
_FAN_IN = 8


class DaskExecutor(Executor):
    """Runs groups of blocks as tasks of a Dask cluster.

    Blocks of which something is kept are read once, and stay on the workers until the executor is
    left or is given others.

    Parameters
    ----------
    client : distributed.Client
        Connected to the cluster.
    owned : sequence of objects with `close`, default=()
        What to close with the executor.
    """

    def __init__(self, client: Client, owned: Sequence[Any] = ()) -> None:
        self._client = client
        self._owned = owned
        self._address = str(client.scheduler.address)
        self._blocks: Sequence[BlockSource] | None = None
        self._groups: list[slice] = []
        self._loaded: list[Future] = []

    def run(
        self, step: Step, blocks: Sequence[BlockSource], kept: Kept | None = None, keep: bool = True
    ) -> tuple[Kept | None, Any]:
        """Apply a step to groups of blocks, where they are."""
        with self._failing_clearly():
            stay = keep or kept is not None
            if stay and blocks is not self._blocks:
                self._load(blocks)
            groups = self._groups if stay else make_groups(len(blocks), self._n_threads)
            sent = self._send(step)
            sources = None if stay else self._send(list(blocks))
            tasks: list[tuple[Any, ...]] = []
            for number, group in enumerate(groups):
                before = None if kept is None else kept[number]
                if not step.reads_block:
                    tasks.append((_run_group, sent, [None] * (group.stop - group.start), before))
                elif stay:
                    tasks.append((_run_group, sent, self._loaded[number], before))
                else:
                    tasks.append((_read_and_run_group, sent, sources, group.start, group.stop))
            return self._compute(type(step).__name__, tasks, keep)

    def _load(self, blocks: Sequence[BlockSource]) -> None:
        """Let workers read the blocks; neighbours go to one worker, so that it adds their sums."""
        self._release()
        threads = self._threads
        self._groups = make_groups(len(blocks), max(len(threads), 1))
        sources = self._send(list(blocks))
        self._blocks = blocks
        for number, group in enumerate(self._groups):
            # A wish: a worker that is lost or late is not waited for.
            home = threads[number * len(threads) // len(self._groups)] if threads else None
            future = self._client.submit(
                _load_group,
                sources,
                group.start,
                group.stop,
                key=f"hdsp-load-{uuid4().hex}",
                workers=home,
                allow_other_workers=home is not None,
            )
            self._loaded.append(future)

    def _compute(
        self, name: str, tasks: list[tuple[Any, ...]], keep: bool
    ) -> tuple[list[Future] | None, Any]:
        """What the tasks keep, left on the workers, and the sum of their results."""
        token = uuid4().hex
        ran, part, result = (f"hdsp-{what}-{name}-{token}" for what in ("run", "keep", "result"))
        graph: dict[Any, tuple[Any, ...]] = {}
        for number, task in enumerate(tasks):
            graph[ran, number] = (*task, keep)
            if keep:
                graph[part, number] = (operator.getitem, (ran, number), 0)
                graph[result, number] = (operator.getitem, (ran, number), 1)
        terms: list[Any] = [(result if keep else ran, number) for number in range(len(tasks))]
        while len(terms) > 1:
            level: list[Any] = []
            for first in range(0, len(terms), _FAN_IN):
                level.append((f"hdsp-add-{name}-{token}", len(graph)))
                graph[level[-1]] = (tree_sum, terms[first : first + _FAN_IN])
            terms = level
        wanted = [(part, number) for number in range(len(tasks) if keep else 0)]
        futures = self._client.get(graph, [*terms, *wanted], sync=False)
        try:
            total = self._client.gather(futures[0])
        except BaseException:
            # The error's traceback holds the futures, and with them the tasks.
            for future in futures:
                future.release()
            raise
        return (futures[1:] if keep else None), total

    def _send(self, value: Any) -> Future:
        """A value as the result of a task, so that it can be computed again where it is lost."""
        # Bytes, which the scheduler need not understand; the workers pass the value on.
        content = dumps(value, protocol=5)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self._client.submit(pickle.loads, content, key=f"hdsp-send-{uuid4().hex}")

    @property
    def _threads(self) -> list[str]:
        """The address of each thread's worker."""
        workers = self._client.nthreads()
        return [address for address in sorted(workers) for _ in range(workers[address])]

    @property
    def _n_threads(self) -> int:
        return max(len(self._threads), 1)

    @contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        try:
            yield
        except KilledWorker as error:
            self._release()
            raise ClusterError(
                f"Several workers of the cluster at {self._address} died at the same documents, "
                "perhaps for want of memory: give them more, or prepare smaller shards."
            ) from error
        except (CancelledError, ClosedClientError, CommClosedError) as error:
            self._release()
            raise ClusterError(
                f"The cluster at {self._address} was lost or restarted in the course of the fit: "
                "a fit with `checkpoint` goes on from there once it runs again."
            ) from error
        except BaseException:
            self._release()
            raise

    def _release(self) -> None:
        """Forget the blocks on the workers."""
        for future in self._loaded:
            future.release()
        self._blocks, self._groups, self._loaded = None, [], []

    def __exit__(self, *_: object) -> None:
        self._release()
        for one in self._owned:
            one.close()


def connect(executor: str, n_workers: int | None = None) -> DaskExecutor:
    """An executor on a Dask cluster.

    Parameters
    ----------
    executor : {"dask", "local"} or str
        "dask" is the active client, "local" a cluster of processes on this machine which ends with
        the executor, and anything else the address of a scheduler, such as "tcp://host:8786".
    n_workers : int or None, default=None
        The number of processes of a local cluster, each of one thread; None is one per core.
    """
    if executor == "dask":
        try:
            return DaskExecutor(default_client())
        except ValueError:
            raise ValueError(
                'executor="dask" takes the active client of dask.distributed, and there is none: '
                "make one with dask.distributed.Client(…), or give the address of a scheduler, "
                'such as "tcp://host:8786".'
            ) from None
    if executor == "local":
        cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
        )
        client = Client(cluster, set_as_default=False)
        return DaskExecutor(client, [client, cluster])
    try:
        client = Client(executor, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {executor!r} ({error}): check the address and that the "
            "scheduler runs."
        ) from error
    return DaskExecutor(client, [client])


def _load_group(sources: list[BlockSource], first: int, end: int) -> list[Block]:
    return [source.load() for source in sources[first:end]]


def _run_group(step: Step, blocks: Sequence[Any], kept: Kept | None, keep: bool) -> Any:
    """The sum of a step's results over a group, after what it keeps if that is wanted."""
    _use_one_blas_thread()
    with use_threads(1):
        after, total = run_step(step, blocks, kept, keep)
    return (after, total) if keep else total


def _read_and_run_group(
    step: Step, sources: list[BlockSource], first: int, end: int, keep: bool
) -> Any:
    return _run_group(step, sources[first:end], None, keep)


@lru_cache(maxsize=1)
def _use_one_blas_thread() -> None:
    """For the life of the worker, whose threads may run several tasks at once."""
    threadpool_limits(1, "blas")


# How much workers hold: by it they spill to disk, and the scheduler decides what may travel.


def _size(value: Any) -> int:
    return sum(_part_size(getattr(value, field.name)) for field in fields(value))


def _part_size(value: Any) -> int:
    if issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, Mapping):
        return sum(map(_part_size, value.values()))
    return int(sizeof(value))


for _kind in (
    Block,
    DocumentState,
    DocumentView,
    FitDocuments,
    FittedBlock,
    LabelSums,
    Statistics,
    SumLabels,
):
    sizeof.register(_kind, _size)
