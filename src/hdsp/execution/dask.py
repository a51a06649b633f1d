"""Steps on a Dask cluster: documents stay on the workers that read them, and sums travel.

Everything on the cluster is the result of a task, never scattered data. So Dask can compute what a
lost worker held again, from the shards and the steps of all passes, to the same bits.
"""

import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import dask
from dask import delayed
from dask.sizeof import sizeof
from distributed import Client, KilledWorker, default_client
from distributed.client import CancelledError, ClosedClientError
from distributed.comm import CommClosedError, get_address_host_port
from distributed.protocol.pickle import dumps
from distributed.security import Security
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from hdsp.exceptions import ClusterError
from hdsp.execution.executor import Blocks, Executor, InProcess, Ran, Step, make_groups, tree_sum
from hdsp.model.data import Block
from hdsp.model.documents import BlockState, DocumentView
from hdsp.model.state import DocumentState, Statistics

# Sums that one task adds: fewer tasks than in a binary tree. A power of two, for the same bits.
_FAN_IN = 8
# Dask warns of large arrays in a graph; here they are a few, once per pass.
_LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "1 TB"}
# How long to wait for the answer of a scheduler.
_SECONDS = 10


class DaskExecutor(Executor):
    """Runs groups of blocks as tasks of a Dask cluster, which places them near their data.

    Blocks of which something is kept are read once, and stay on the workers until the executor is
    left or gets other blocks. `owned` are objects that are closed with the executor.
    """

    def __init__(self, client: Client, owned: Sequence[Any] = ()) -> None:
        self.client, self._owned = client, owned
        self._address = str(client.scheduler.address)
        self._release()

    def _release(self) -> None:
        self._blocks: Blocks | None = None
        self._groups: list[slice] = []
        self._loaded: list[Any] = []

    def run(self, step: Step, blocks: Blocks, kept: Any = None, keep: bool = True) -> Ran:
        """Apply a step to groups of blocks, where they are."""
        with self._failing_clearly(), dask.config.set(_LARGE_GRAPHS):
            if keep or kept is not None:
                if blocks is not self._blocks:
                    self._release()
                    self._groups, loading = self._load(blocks)
                    self._blocks, self._loaded = blocks, self.client.compute(loading)
                groups, loaded = self._groups, self._loaded
            else:
                groups, loaded = self._load(blocks)
            # Bytes, which the scheduler need not understand.
            sent = _task(pickle.loads)(dumps(step, protocol=5))
            if not step.reads_block:
                loaded = [[None] * (group.stop - group.start) for group in groups]
            given = zip(loaded, kept or [None] * len(groups), strict=True)
            ran = [_task(_run_group, 2)(sent, read, state, keep) for read, state in given]
            after = [state for state, _ in ran] if keep else []
            total = _sum([result for _, result in ran])
            futures = self.client.compute([total, *after], optimize_graph=False)
            try:
                return (futures[1:] if keep else None), self.client.gather(futures[0])
            except BaseException:
                # The traceback of the error holds the futures, and they would hold the tasks.
                for future in futures:
                    future.release()
                raise

    def _load(self, blocks: Blocks) -> tuple[list[slice], list[Any]]:
        """Groups for the present workers, and the tasks that read them."""
        groups = make_groups(len(blocks), sum(self.client.nthreads().values()) or 1)
        return groups, [_task(_load_group)(dumps(blocks[group], protocol=5)) for group in groups]

    @contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            for future in self._loaded:
                future.release()
            self._release()
            if isinstance(error, KilledWorker):
                raise ClusterError(
                    f"Several workers of the cluster at {self._address} died at the same "
                    "documents, perhaps for want of memory: give them more, or prepare smaller "
                    "shards."
                ) from error
            if isinstance(error, (CancelledError, ClosedClientError, CommClosedError)):
                raise ClusterError(
                    f"The cluster at {self._address} was lost or restarted in the course of the "
                    "fit: a fit with `checkpoint` goes on from there once it runs again."
                ) from error
            raise

    def __exit__(self, *_: object) -> None:
        self._release()
        for closable in self._owned:
            # A cluster may look for a worker that has died; the fit is done.
            with suppress(KeyError):
                closable.close()


def connect(executor: str) -> DaskExecutor:
    """An executor on the active client, for "dask", or on the scheduler at an address."""
    if executor == "dask":
        try:
            return DaskExecutor(default_client())
        except ValueError:
            raise ValueError(
                'executor="dask" takes the active client of dask.distributed, and there is none: '
                "make one with dask.distributed.Client(…), or give the address of a scheduler, "
                'such as "tcp://host:8786".'
            ) from None
    try:
        _check_address(executor)
        client = Client(executor, set_as_default=False, timeout=_SECONDS)
    except (OSError, ValueError, ImportError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {executor!r} ({error}): check the address and that the "
            "scheduler runs."
        ) from error
    return DaskExecutor(client, [client])


def _check_address(address: str) -> None:
    """Raise unless something listens: a client that cannot connect is slow to fail, and to end."""
    scheme = address.partition("://")[0]
    if scheme in ("tls", "wss") and not Security().get_connection_args("client")["ssl_context"]:
        raise ValueError("Dask has no certificate for encrypted connections")
    socket.create_connection(get_address_host_port(address), timeout=_SECONDS).close()


def _task(function: Callable[..., Any], n_results: int | None = None) -> Any:
    return delayed(function, pure=False, nout=n_results, traverse=False)


def _sum(results: list[Any]) -> Any:
    """The task that adds results up as `tree_sum` does."""
    while len(results) > 1:
        parts = [results[first : first + _FAN_IN] for first in range(0, len(results), _FAN_IN)]
        results = [delayed(tree_sum, pure=False)(part) for part in parts]
    return results[0]


def _load_group(sources: bytes) -> list[Block]:
    return [source.load() for source in pickle.loads(sources)]


def _run_group(step: Step, blocks: list[Any], kept: Any, keep: bool) -> Any:
    _use_one_blas_thread()
    with InProcess() as here:
        # A copy: the task may have to be run again.
        return here.run(step, blocks, None if kept is None else list(kept), keep)


@lru_cache(maxsize=1)
def _use_one_blas_thread() -> None:
    """From now on: a worker may run several steps at once."""
    threadpool_limits(1, "blas")


def _size(value: Any) -> int:
    """How much a worker holds: by it workers spill to disk, and Dask decides what may travel."""
    return sum(map(sizeof, vars(value).values()))


for _kind in (Block, BlockState, DocumentState, DocumentView, Statistics, Step, csr_array):
    sizeof.register(_kind, _size)
