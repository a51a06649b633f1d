"""Executors and steps that let a test do harm in the middle of a pass."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hdsp.execution.executor import Executor, Step
from hdsp.fit.passes import FitDocuments


@dataclass(frozen=True, eq=False)
class Halted(Step):
    """A step that says in which process it has begun, and waits for a sign before it goes on."""

    step: Step
    folder: Path

    def __call__(self, block, kept):
        (self.folder / f"began-{os.getpid()}").touch()
        while not (self.folder / "go on").exists():
            time.sleep(0.01)
        return self.step(block, kept)


class Disturbed(Executor):
    """Another executor, in whose n-th pass something happens.

    `happen` is called with the ids of the processes that are at work on the pass, which then goes
    on.
    """

    def __init__(self, executor, folder, happen, in_pass):
        self.executor, self.folder, self.happen = executor, folder, happen
        self.left = in_pass

    def run(self, step, blocks, kept=None, keep=True):
        self.left -= isinstance(step, FitDocuments)
        if self.left > 0 or not isinstance(step, FitDocuments):
            return self.executor.run(step, blocks, kept, keep)
        halted = Halted(step, self.folder)
        if self.left < 0:
            return self.executor.run(halted, blocks, kept, keep)
        with self._happening():
            return self.executor.run(halted, blocks, kept, keep)

    @contextmanager
    def _happening(self):
        def watch():
            while not (pids := self.pids()):
                time.sleep(0.01)
            try:
                self.happen(pids)
            finally:
                (self.folder / "go on").touch()

        with ThreadPoolExecutor(1) as pool:
            watching = pool.submit(watch)
            try:
                yield
            finally:
                watching.result()

    def pids(self):
        """The processes that have begun blocks since then."""
        return [int(path.name.split("-")[1]) for path in self.folder.glob("began-*")]

    def __enter__(self):
        self.executor.__enter__()
        return self

    def __exit__(self, *error):
        self.executor.__exit__(*error)
