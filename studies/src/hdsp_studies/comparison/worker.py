"""The child process of a cell: ``python -m hdsp_studies.comparison.worker FOLDER PIPE``."""

import importlib
import json
import math
import os
import pickle
import signal
import sys
import threading
import warnings
from pathlib import Path

from hdsp_studies.comparison.isolation import JOB, RESULT, Job
from hdsp_studies.comparison.measures import fit_and_measure
from hdsp_studies.peers import make_peer


def run(job: Job) -> dict[str, float | None]:
    """Fit and measure."""
    peer = make_peer(job.model)
    for library in peer.libraries:
        importlib.import_module(library)
    peer.warm_up(job.train)
    _, found = fit_and_measure(peer, job.train, job.test, job.settings)
    for name, value in found.items():
        # None says that a model cannot do a thing, and this one tried.
        if value is not None and not math.isfinite(value):
            raise ArithmeticError(f"the measure {name} came out as {value}")
    return found


def main(folder: Path) -> None:
    """Read the job, do it, and write the result."""
    warnings.simplefilter("ignore")
    with (folder / JOB).open("rb") as file:
        job: Job = pickle.load(file)
    result: dict[str, object]
    try:
        result = {"measures": run(job), "error": None}
    except Exception as error:
        text = " ".join(str(error).split())
        result = {"measures": {}, "error": f"{type(error).__name__}: {text}"}
    (folder / RESULT).write_text(json.dumps(result), encoding="utf-8")


def end_with(pipe: int) -> None:
    """Wait until a pipe closes because the parent has ended; then end the group."""
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with, args=(int(sys.argv[2]),), daemon=True).start()
    main(Path(sys.argv[1]))
