"""Steps on a Dask cluster: documents stay on the workers that read them, and sums travel.

Everything on the cluster is the result of a task, never scattered data. What is kept of a block
depends on the step, on the block and on what was kept before, so that Dask computes what a lost
worker held again, from the shards and the steps of all passes, to the same bits.
"""

import operator
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import Any
from uuid import uuid4

import dask
import joblib
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, LocalCluster, default_client
from distributed.client import CancelledError, ClosedClientError
from distributed.comm import CommClosedError, get_address_host_port
from distributed.protocol.pickle import dumps
from distributed.security import Security
from scipy.sparse import issparse

from hdsp.exceptions import ClusterError
from hdsp.execution.executor import Executor, Kept, Step, run_step, tree_sum, use_one_blas_thread
from hdsp.execution.groups import make_groups
from hdsp.execution.passes import FittedBlock, LabelSums
from hdsp.execution.worker_memory import KEEPS_MEMORY
from hdsp.kernels import use_threads
from hdsp.model import Block, BlockSource, DocumentState, DocumentView, Statistics

# Results of one worker that one task adds: fewer tasks than in a binary tree, and the same sum.
_FAN_IN = 16
# How long to wait for the answer of a scheduler.
_SECONDS = 10


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
        self.client = client
        self._owned = owned
        self._address = str(client.scheduler.address)
        self._forget()

    def _forget(self) -> None:
        self._blocks: Sequence[BlockSource] | None = None
        self._sources: Future | None = None
        self._groups: list[slice] = []
        # Of each group: its worker, and its blocks there.
        self._homes: list[str | None] = []
        self._loaded: list[Future] = []

    def run(
        self, step: Step, blocks: Sequence[BlockSource], kept: Kept | None = None, keep: bool = True
    ) -> tuple[Kept | None, Any]:
        """Apply a step to groups of blocks, where they are."""
        with self._failing_clearly():
            stay = keep or kept is not None
            if stay and blocks is not self._blocks:
                self._load(blocks)
            if kept is not None and len(kept) != len(self._groups):
                raise TypeError("DaskExecutor can go on only from what it kept itself.")
            if stay and step.reads_block:
                kept = self._rebalanced(kept)
            groups = self._groups if stay else make_groups(len(blocks), len(self._threads()) or 1)
            token = uuid4().hex
            sent, sources = f"hdsp-step-{token}", f"hdsp-blocks-{token}"
            # Bytes, which the scheduler need not understand; workers pass the step on. It is the
            # result of a task, so that it can be had again where it is lost.
            graph: dict[Any, tuple[Any, ...]] = {sent: (pickle.loads, dumps(step, protocol=5))}
            if not stay:
                graph[sources] = (pickle.loads, dumps(list(blocks), protocol=5))
            ran = f"hdsp-{type(step).__name__}-{token}"
            for number, group in enumerate(groups):
                before = None if kept is None else kept[number]
                own: Any = [None] * (group.stop - group.start)
                if step.reads_block:
                    own = self._loaded[number] if stay else (operator.getitem, sources, group)
                graph[ran, number] = (_run_group, sent, own, before, keep)
            homes: list[str | None] = self._homes if stay else [None] * len(groups)
            return self._compute(
                graph, [(ran, number) for number in range(len(groups))], homes, keep
            )

    def _load(self, blocks: Sequence[BlockSource]) -> None:
        """Let workers read the blocks; neighbours go to one worker, so that it adds their sums."""
        self._release()
        threads = self._threads()
        self._blocks = blocks
        self._groups = make_groups(len(blocks), len(threads) or 1)
        with _large_graphs():
            self._sources = self.client.submit(
                pickle.loads, dumps(list(blocks), protocol=5), key=f"hdsp-blocks-{uuid4().hex}"
            )
        self._homes = _homes(threads, [None] * len(self._groups))
        self._loaded = [self._loading(number) for number in range(len(self._groups))]

    def _loading(self, number: int) -> Future:
        group = self._groups[number]
        return self._on(number, "load", _load_group, self._sources, group.start, group.stop)

    def _rebalanced(self, kept: Kept | None) -> Kept | None:
        """Let workers that have joined take their share of the groups, with what is kept of them.

        Those that a lost worker had were shared out by Dask, wherever they went.
        """
        threads = self._threads()
        if not threads or set(threads) == set(self._homes):
            return kept
        before, self._homes = self._homes, _homes(threads, self._homes)
        moved = None if kept is None else list(kept)
        for number, (old, new) in enumerate(zip(before, self._homes, strict=True)):
            if new != old:
                self._loaded[number] = self._loading(number)
                if moved is not None:
                    moved[number] = self._on(number, "move", _same, moved[number])
        return moved

    def _on(self, number: int, name: str, function: Callable[..., Any], *arguments: Any) -> Future:
        """A task on the worker of a group; a wish, since that one may be gone."""
        home = self._homes[number]
        return self.client.submit(
            function,
            *arguments,
            key=f"hdsp-{name}-{uuid4().hex}",
            workers=home,
            allow_other_workers=home is not None,
        )

    def _compute(
        self, graph: dict[Any, tuple[Any, ...]], ran: list[Any], homes: list[str | None], keep: bool
    ) -> tuple[list[Future] | None, Any]:
        """What the tasks `ran` keep, left on the workers, and the sum of their results."""
        token = uuid4().hex
        wanted, terms = [], ran
        if keep:
            wanted = [(f"hdsp-keep-{token}", number) for number in range(len(ran))]
            terms = [(f"hdsp-result-{token}", number) for number in range(len(ran))]
            for pair, part, term in zip(ran, wanted, terms, strict=True):
                graph[part], graph[term] = (operator.getitem, pair, 0), (operator.getitem, pair, 1)
        total_key = _add_tree(graph, f"hdsp-sum-{token}", terms, homes)
        with _large_graphs():
            futures = self.client.get(graph, [total_key, *wanted], sync=False)
        try:
            total = self.client.gather(futures[0])
        except BaseException:
            # The traceback of the error holds the futures, and they would hold the tasks.
            for future in futures:
                future.release()
            raise
        return (futures[1:] if keep else None), total

    def _threads(self) -> list[str]:
        """The address of each thread's worker."""
        workers = self.client.nthreads()
        return [address for address in sorted(workers) for _ in range(workers[address])]

    @contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
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

    def _release(self) -> None:
        """Forget the blocks on the workers."""
        for future in self._loaded:
            future.release()
        if self._sources is not None:
            self._sources.release()
        self._forget()

    def __exit__(self, *_: object) -> None:
        self._release()
        for one in self._owned:
            # A cluster may look for a worker that has died; the fit is done.
            with suppress(KeyError):
                one.close()


def connect(executor: str, n_jobs: int | None = None) -> DaskExecutor:
    """An executor on a Dask cluster.

    Parameters
    ----------
    executor : {"dask", "local"} or str
        "dask" is the active client, "local" a cluster of processes on this machine which ends with
        the executor, and anything else the address of a scheduler, such as "tcp://host:8786".
    n_jobs : int or None, default=None
        The number of processes of a local cluster, each of one thread, as joblib takes it; None is
        one per core.
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
        environment = dask.config.get("distributed.nanny.pre-spawn-environ")
        with dask.config.set({"distributed.nanny.pre-spawn-environ": environment | KEEPS_MEMORY}):
            n_workers = joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)
            cluster = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
            )
        client = Client(cluster, set_as_default=False)
        return DaskExecutor(client, [client, cluster])
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


def _add_tree(
    graph: dict[Any, tuple[Any, ...]], name: str, terms: list[Any], homes: list[str | None]
) -> Any:
    """Add tasks that sum the terms as `tree_sum` does to a graph, and return the key of the sum.

    Terms of one worker are summed by one task there.
    """
    if len(terms) == 1:
        return terms[0]
    key = (name, len(graph))
    if len(terms) <= _FAN_IN and len(set(homes)) == 1:
        graph[key] = (tree_sum, terms)
        return key
    half = 1 << (len(terms) - 1).bit_length() - 1
    first = _add_tree(graph, name, terms[:half], homes[:half])
    last = _add_tree(graph, name, terms[half:], homes[half:])
    key = (name, len(graph))
    graph[key] = (operator.add, first, last)
    return key


def _homes(threads: list[str], before: list[str | None]) -> list[str | None]:
    """A worker for each group: the one before as far as its share goes, else one with room.

    Without workers, as in a cluster that starts them on demand, groups have no home.
    """
    if not threads:
        return [None] * len(before)
    room = Counter(threads[n * len(threads) // len(before)] for n in range(len(before)))
    after: list[str | None] = []
    for home in before:
        if home is not None and room[home] > 0:
            room[home] -= 1
            after.append(home)
        else:
            after.append(None)
    others = room.elements()
    return [home or next(others) for home in after]


@contextmanager
def _large_graphs() -> Iterator[None]:
    """Dask warns of large arrays in a graph; here they are a few, once per pass."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        yield


def _load_group(sources: list[BlockSource], first: int, end: int) -> list[Block]:
    return [source.load() for source in sources[first:end]]


def _same(value: Any) -> Any:
    return value


def _run_group(step: Step, blocks: Sequence[Any], kept: Kept | None, keep: bool) -> Any:
    """The sum of a step's results over a group, after what it keeps if that is wanted."""
    use_one_blas_thread()
    with use_threads(1):
        after, total = run_step(step, blocks, kept, keep)
    return (after, total) if keep else total


# How much workers hold: by it they spill to disk, and the scheduler decides what may travel.


def _size(value: Any) -> int:
    return sum(_part_size(getattr(value, field.name)) for field in fields(value))


def _part_size(value: Any) -> int:
    if issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, Mapping):
        return sum(map(_part_size, value.values()))
    return int(sizeof(value))


for _kind in (Block, DocumentState, DocumentView, FittedBlock, LabelSums, Statistics, Step):
    sizeof.register(_kind, _size)
