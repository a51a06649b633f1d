"""Every cell runs in its own process, so that a library that crashes ends that cell alone."""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hdsp import Corpus
from hdsp_studies.peers import FitSettings

JOB, RESULT = "job.pickle", "result.json"
_WORKER = "hdsp_studies.comparison.worker"
_ERRORS = "stderr.txt"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """What a child process is to do: fit one model and measure it.

    Attributes
    ----------
    model : str
        Name of the model.
    settings : FitSettings
        Settings of the fit.
    train : Corpus
        Training documents from `split_corpus`.
    test : Corpus
        Test documents from `split_corpus`.
    """

    model: str
    settings: FitSettings
    train: Corpus
    test: Corpus


@dataclass(frozen=True)
class CellResult:
    """Measures of a cell, or why there are none.

    Attributes
    ----------
    measures : dict of str to float or None
        Values by the names of `MEASURES`; empty after a failure.
    error : str or None
        Why it failed.
    """

    measures: dict[str, float | None]
    error: str | None


def run_isolated(job: Job, most_seconds: float | None = None) -> CellResult:
    """Run a job in a new interpreter and wait for it.

    The interpreter and all that it started end after `most_seconds`, at Ctrl-C, and when this
    process is killed.
    """
    # Not multiprocessing, whose children run the caller's script once more.
    with tempfile.TemporaryDirectory(prefix="hdsp-") as name:
        folder = Path(name)
        with (folder / JOB).open("wb") as file:
            pickle.dump(job, file)
        try:
            status = _run_worker(folder, job.settings.n_jobs, most_seconds)
        except subprocess.TimeoutExpired as late:
            return CellResult({}, f"it took more than {_minutes(late.timeout)}")
        if status == 0 and (folder / RESULT).exists():
            return CellResult(**json.loads((folder / RESULT).read_text(encoding="utf-8")))
        errors = (folder / _ERRORS).read_text(encoding="utf-8", errors="replace")
        return CellResult({}, _describe(status, errors))


def _run_worker(folder: Path, n_jobs: int, most_seconds: float | None) -> int:
    """The exit status of a worker, which is killed if it takes longer."""
    # Nothing is written to this pipe. When this process is gone it closes, and the worker sees it.
    watched, held = os.pipe()
    try:
        with (folder / _ERRORS).open("wb") as errors:
            worker = subprocess.Popen(
                # -P: the child's path begins with no other folder than the parent's.
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "hdsp_studies.comparison.worker",
                    str(folder),
                    str(watched),
                ],
                env=_environment(n_jobs),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # A file rather than a pipe, which a child of the worker could keep open.
                stderr=errors,
                pass_fds=[watched],
                # A group of its own, so that it can be ended as a whole.
                start_new_session=True,
            )
        try:
            return worker.wait(most_seconds)
        finally:
            _end_group(worker)
    finally:
        os.close(watched)
        os.close(held)


def _end_group(worker: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


def _environment(n_jobs: int) -> dict[str, str]:
    environment = dict(os.environ)
    # The child must find all modules that the parent finds, a user's own models included.
    environment["PYTHONPATH"] = os.pathsep.join(place or os.getcwd() for place in sys.path)
    for variable in _THREAD_VARIABLES:
        environment[variable] = str(n_jobs)
    return environment


def _describe(status: int, errors: str) -> str:
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"its process was ended by {name}"
    if status == 0:
        return "its process ended before there was a result"
    last = errors.strip().splitlines()[-1:] or ["without a message"]
    return f"its process ended with status {status}: {last[0][:200]}"


def _minutes(seconds: float) -> str:
    number = f"{seconds / 60:g}"
    return f"{number} minute" if number == "1" else f"{number} minutes"
