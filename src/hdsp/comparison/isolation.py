"""A cell in a process of its own: a library that crashes takes no more than its cell along."""

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

from hdsp.corpus import Corpus
from hdsp.peers import Settings

JOB, OUTCOME = "job.pickle", "outcome.json"
_SAID = "stderr.txt"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """What a child process is to do: fit one model and measure it.

    Parameters
    ----------
    model : its name
    train, test : as of `split_corpus`
    """

    model: str
    settings: Settings
    train: Corpus
    test: Corpus


@dataclass(frozen=True)
class Outcome:
    """Measures, or why there are none."""

    measures: dict[str, float | None]
    error: str | None


def run_isolated(job: Job, most_seconds: float | None = None) -> Outcome:
    """Run a job in a new interpreter and wait for it.

    The interpreter and whatever it started are ended with it: after `most_seconds`, at Ctrl-C, and
    where this process is killed.
    """
    # Not multiprocessing: its children run the caller's script once more.
    with tempfile.TemporaryDirectory(prefix="hdsp-") as name:
        folder = Path(name)
        with (folder / JOB).open("wb") as file:
            pickle.dump(job, file)
        try:
            status = _run_worker(folder, job.settings.n_jobs, most_seconds)
        except subprocess.TimeoutExpired as late:
            return Outcome({}, f"it took more than {_minutes(late.timeout)}")
        if status == 0 and (folder / OUTCOME).exists():
            data = json.loads((folder / OUTCOME).read_text(encoding="utf-8"))
            return Outcome(data["measures"], data["error"])
        said = (folder / _SAID).read_text(encoding="utf-8", errors="replace")
        return Outcome({}, _describe(status, said))


def _run_worker(folder: Path, n_jobs: int, most_seconds: float | None) -> int:
    """The exit status of a worker; it is killed where it takes longer."""
    # Nothing is written to this pipe: the worker sees that it closes where this process is gone.
    watched, held = os.pipe()
    try:
        with (folder / _SAID).open("wb") as said:
            worker = subprocess.Popen(
                # -P: no folder comes first that did not for the parent.
                [sys.executable, "-P", "-m", "hdsp.comparison.worker", str(folder), str(watched)],
                env=_environment(n_jobs),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # A file, and no pipe, which what the worker left behind could keep open.
                stderr=said,
                pass_fds=[watched],
                # A group of its own, to be ended as a whole.
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
    # The child must find what the parent found, one's own models included.
    environment["PYTHONPATH"] = os.pathsep.join(place or os.getcwd() for place in sys.path)
    for variable in _THREAD_VARIABLES:
        environment[variable] = str(n_jobs)
    return environment


def _describe(status: int, said: str) -> str:
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"its process was ended by {name}"
    if status == 0:
        return "its process ended before there was a result"
    last = said.strip().splitlines()[-1:] or ["without a word"]
    return f"its process ended with status {status}: {last[0][:200]}"


def _minutes(seconds: float) -> str:
    number = f"{seconds / 60:g}"
    return f"{number} minute" if number == "1" else f"{number} minutes"
