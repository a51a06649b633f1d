"""What runs in the child process of a cell: ``python -m hdsp.comparison.worker FOLDER PIPE``."""

import importlib
import json
import math
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

from hdsp.comparison.isolation import JOB, OUTCOME, Job
from hdsp.comparison.measures import measure
from hdsp.peers import make_peer


def run(job: Job) -> dict[str, float | None]:
    """Fit and measure."""
    peer = make_peer(job.model)
    for library in peer.libraries:
        importlib.import_module(library)
    peer.warm_up(job.train)
    start = time.perf_counter()
    fitted = peer.fit(job.train, job.settings)
    seconds = time.perf_counter() - start
    found = measure(fitted, job.train, job.test, seconds, job.settings.target)
    for name, value in found.items():
        # A dash says that a model cannot do a thing, and this one tried.
        if value is not None and not math.isfinite(value):
            raise ArithmeticError(f"the measure {name} came out as {value}")
    return found


def main(folder: Path) -> None:
    """Read the job, do it, and write the outcome."""
    warnings.simplefilter("ignore")
    with (folder / JOB).open("rb") as file:
        job: Job = pickle.load(file)
    outcome: dict[str, object]
    try:
        outcome = {"measures": run(job), "error": None}
    except Exception as error:
        said = " ".join(str(error).split())
        outcome = {"measures": {}, "error": f"{type(error).__name__}: {said}"}
    (folder / OUTCOME).write_text(json.dumps(outcome), encoding="utf-8")


def end_with(pipe: int) -> None:
    """Wait until the parent's end of a pipe closes, which is its death; then end the group."""
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with, args=(int(sys.argv[2]),), daemon=True).start()
    main(Path(sys.argv[1]))
