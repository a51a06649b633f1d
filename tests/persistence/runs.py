"""Fits in processes of their own, to be killed or interrupted."""

import subprocess
import sys
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

from hdsp import HDSP, simulate
from hdsp.fit import search
from hdsp.fit.passes import Documents
from hdsp.fit.run import Run
from hdsp.persistence import checkpoint

N_PASSES = 60
# Announces each pass, and waits after one of them for a line, or in the midst of writing the
# checkpoint that follows; there is one after every pass.
_SCRIPT = """
import os, sys, warnings
import hdsp
from hdsp.fit.run import Run
from hdsp.persistence import checkpoint
from tests.persistence.runs import data, make

checkpoint.SECONDS_BETWEEN = 0.0
checkpoint._SHARE_OF_TIME = 1e9
record = Run.record

def announce(self, *arguments):
    record(self, *arguments)
    print("pass", len(self.history), flush=True)
    if len(self.history) == int(sys.argv[3]):
        if sys.argv[4] == "pass":
            sys.stdin.readline()
        else:
            os.fsync = lambda _: (print("writing", flush=True), sys.stdin.readline())

Run.record = announce
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = make(checkpoint=sys.argv[1] or None).fit(data())
print(*[str(w.message) for w in caught], sep="\\n", flush=True)
model.save(sys.argv[2])
"""


def data():
    labels = {"tags": [["a", "b"], ["a"], ["b", "c"], []] * 15, "rating": [1.0, 2.0, 5.0] * 20}
    import pandas as pd

    frame = pd.DataFrame({"tags": pd.Series(labels["tags"]), "rating": labels["rating"]})
    return simulate(frame, n_topics=4, n_words=30, document_length=30, random_state=0)[0]


def make(**settings):
    """An estimator of six topics."""
    return HDSP(6, max_iter=N_PASSES, tol=0.0, n_jobs=1, random_state=0, init="nmf", **settings)


def make_search(**settings):
    """An estimator that tries five numbers of topics, and then fits with three."""
    fixed = {"max_components": 12, "tol": 1e-3, "n_jobs": 1, "random_state": 3, "init": "nmf"}
    return HDSP(**fixed | settings)


@cache
def uninterrupted_search(**settings):
    return bits(make_search(**settings).fit(data()))


def act_in_pass(monkeypatch, n_trials, n_passes, act):
    """Act in a pass of a trial, or of the fit, once so many trials of a search have ended."""
    record, waiting, short_fit, runs = Run.record, [act], search.short_fit, []

    def maybe_act(run, n_done):
        if waiting and (len(run.trials), n_done) == (n_trials, n_passes):
            waiting.pop()()

    def note_run(problem, state, run):
        runs.append(run)
        return short_fit(problem, state, run)

    class Trial(Documents):
        n_done = 0

        def fit(self, *arguments):
            found = super().fit(*arguments)
            self.n_done += 1
            maybe_act(runs[-1], self.n_done)
            return found

    def record_and_act(self, *arguments):
        record(self, *arguments)
        maybe_act(self, len(self.history))

    monkeypatch.setattr(search, "short_fit", note_run)
    monkeypatch.setattr(search, "Documents", Trial)
    monkeypatch.setattr(Run, "record", record_and_act)


class Killed(BaseException):
    """Stands in for the end of a process."""


@contextmanager
def every_pass():
    """Checkpoints after every pass, however long the last one took."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "SECONDS_BETWEEN", 0.0)
        patch.setattr(checkpoint, "_SHARE_OF_TIME", 1e9)
        yield patch


def kill_fit(folder, n_passes):
    """End a fit with its n-th pass, after its checkpoint."""
    write = checkpoint.Checkpoint.write

    def write_and_stop(self, trials, passes, **state):
        write(self, trials, passes, **state)
        if len(passes) == n_passes:
            raise Killed

    with every_pass() as patch:
        patch.setattr(checkpoint.Checkpoint, "write", write_and_stop)
        with pytest.raises(Killed):
            make(checkpoint=folder).fit(data())
    assert [file.name for file in folder.iterdir()] == ["checkpoint.hdsp"]


def kill_search(folder, n_trials, n_passes):
    """End a search in a pass of a trial, or of its fit, after so many trials have ended."""

    def die():
        raise Killed

    with every_pass() as patch:
        act_in_pass(patch, n_trials, n_passes, die)
        with pytest.raises(Killed):
            make_search(checkpoint=folder).fit(data())
    kept = [file.name for file in folder.iterdir()]
    assert kept == (["checkpoint.hdsp"] if n_trials else [])


def start(checkpoint, output, halt=0, where="pass"):
    """A fit in a process of its own, which waits at a pass until it is told to go on."""
    return subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, checkpoint, output, str(halt), where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process, announced):
    for line in process.stdout:
        if line.strip() == announced:
            return
    raise AssertionError(f"The fit ended before {announced!r}: {process.stderr.read()}")


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def finish(process):
    """What a fit printed, once it has ended by itself."""
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    return printed.splitlines()


def bits(model):
    """All that a fit has found, in bytes."""
    held = model._model
    arrays = [held.state.topics, held.state.sticks, *held.state.scaling.values()]
    arrays += [held.reading.proportions, held.expected_regression("tokens").weights]
    rows = [
        [sorted((k, v) for k, v in row.items() if k != "seconds") for row in table]
        for table in (model.history_, model.search_)
    ]
    return [np.ascontiguousarray(array).tobytes() for array in arrays], rows
