"""A cell in a process of its own: a library that crashes takes no more than its cell along."""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hdsp.corpus import Corpus
from hdsp.peers import Settings

JOB, OUTCOME = "job.pickle", "outcome.json"
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


def run_isolated(job: Job) -> Outcome:
    """Run a job in a new interpreter and wait for it."""
    # Not multiprocessing: its children run the caller's script once more.
    with tempfile.TemporaryDirectory(prefix="hdsp-") as name:
        folder = Path(name)
        with (folder / JOB).open("wb") as file:
            pickle.dump(job, file)
        ended = subprocess.run(
            # -P: no folder comes first that did not for the parent.
            [sys.executable, "-P", "-m", "hdsp.comparison.worker", name],
            env=_environment(job.settings.n_jobs),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if ended.returncode == 0:
            data = json.loads((folder / OUTCOME).read_text(encoding="utf-8"))
            return Outcome(data["measures"], data["error"])
        return Outcome({}, _describe(ended.returncode, ended.stderr.decode(errors="replace")))


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
    last = said.strip().splitlines()[-1:] or ["without a word"]
    return f"its process ended with status {status}: {last[0][:200]}"
