"""Steps in other processes, by joblib: on this machine, or wherever its active backend leads."""

import os
import pickle
import signal
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from hdsp.exceptions import ClusterError
from hdsp.execution.executor import Executor, Kept, Step, run_step, tree_sum, use_one_blas_thread
from hdsp.execution.groups import make_groups
from hdsp.execution.worker_memory import KEEPS_MEMORY, started_with
from hdsp.kernels import use_threads
from hdsp.model import BlockSource

# How often a pass is made again after a process has died.
_RETRIES = 1


class Processes(Executor):
    """Runs groups of blocks in the processes of joblib's active backend.

    A process reads its blocks itself, and leaves what is kept of them in files of a temporary
    folder, which all processes must see; `JOBLIB_TEMP_FOLDER` says where, as for joblib's own
    files. Only sums come back.

    Parameters
    ----------
    n_jobs : int or None, default=None
        The number of processes, as joblib takes it; None is that of `joblib.parallel_config`, or
        one per core.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        if n_jobs is None and joblib.effective_n_jobs(None) == 1:
            n_jobs = -1
        self.n_jobs = n_jobs
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def run(
        self, step: Step, blocks: Sequence[BlockSource], kept: Kept | None = None, keep: bool = True
    ) -> tuple[Kept | None, Any]:
        """Apply a step to groups of blocks, each in some process."""
        if kept is not None and not isinstance(kept, _KeptFiles):
            raise TypeError("Processes can go on only from what it kept itself.")
        groups = make_groups(len(blocks), joblib.effective_n_jobs(self.n_jobs))
        for attempt in range(_RETRIES + 1):
            after = self._new_files(len(groups)) if keep else None
            tasks = (
                joblib.delayed(_run_group)(
                    step,
                    # A step that does not read them need not be sent them.
                    blocks[group] if step.reads_block else [None] * (group.stop - group.start),
                    None if kept is None else kept[number],
                    None if after is None else after[number],
                    os.getpid(),
                )
                for number, group in enumerate(groups)
            )
            try:
                return after, tree_sum(self._results(tasks))
            except BrokenProcessPool as error:
                # Steps are pure: another attempt has the same result.
                if attempt == _RETRIES:
                    raise ClusterError(
                        f"Processes of the fit died in {attempt + 1} attempts at one pass, perhaps "
                        "for want of memory: use fewer (`n_jobs`), or smaller shards."
                    ) from error
        raise AssertionError("unreachable")

    def _results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        backend, _ = get_active_backend()
        how = "generator" if backend.supports_return_generator else "list"
        with started_with(KEEPS_MEMORY):
            # Copy on write: the arrays of a step are as any others to compiled code.
            return iter(joblib.Parallel(n_jobs=self.n_jobs, return_as=how, mmap_mode="c")(tasks))

    def _new_files(self, n_files: int) -> "_KeptFiles":
        if self._folder is None:
            parent = os.environ.get("JOBLIB_TEMP_FOLDER") or None
            self._folder = tempfile.TemporaryDirectory(prefix="hdsp-", dir=parent)
        inner = tempfile.mkdtemp(dir=self._folder.name)
        return _KeptFiles(Path(inner, str(number)) for number in range(n_files))

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


class _KeptFiles(list[Path]):
    """Files of what was kept, removed when nobody can ask for them any more."""

    def __init__(self, paths: Iterable[Path]) -> None:
        super().__init__(paths)
        weakref.finalize(self, _remove, list(self))


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _run_group(
    step: Step, blocks: Sequence[Any], before: Path | None, after: Path | None, parent: int
) -> Any:
    """Apply a step to a group of blocks, and return the sum; what is kept goes to a file."""
    if os.getpid() != parent:
        use_one_blas_thread()
        if threading.current_thread() is threading.main_thread():
            # Ctrl-C reaches every process of a terminal, and the fit answers it.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    with use_threads(1):
        kept = None
        if before is not None:
            with before.open("rb") as file:
                kept = pickle.load(file)
        found, total = run_step(step, blocks, kept, keep=after is not None)
    if after is not None:
        try:
            with after.open("wb") as file:
                pickle.dump(found, file, protocol=5)
        except OSError as error:
            raise OSError(
                f"What a pass keeps of its documents cannot be written to {str(after)!r} "
                f"({error.strerror or error}): make room, or set JOBLIB_TEMP_FOLDER to a folder "
                "that has it and that all processes see."
            ) from error
    return total
