"""The largest kernel is compiled beside other work, and waited for by whoever needs it."""

import os
import subprocess
import sys
from types import SimpleNamespace

import joblib
import pytest

from hdsp import HDSP, kernels, progress
from hdsp.kernels import ahead, cvb0


class Process:
    """One that ends when somebody waits for it."""

    def __init__(self, command, **options):
        self.command, self.ended = command, False

    def poll(self):
        return 0 if self.ended else None

    def wait(self):
        self.ended = True

    def kill(self):
        pass


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The processes that were started; there are two cores, and nothing is cached."""
    found = []
    empty = SimpleNamespace(
        stats=SimpleNamespace(cache_path=str(tmp_path)),
        py_func=cvb0.predict_documents.py_func,
        signatures=[],
    )
    monkeypatch.setattr(ahead, "_started", found)
    monkeypatch.setattr(cvb0, "predict_documents", empty)
    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    return found


def test_one_process_is_started_with_the_same_modules(started):
    kernels.compile_ahead()
    kernels.compile_ahead()
    (process,) = started
    assert process.command[:2] == ["/usr/bin/python3", "-c"]
    assert repr(sys.path) in process.command[2]


def test_none_is_started_without_a_second_core(started, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    kernels.compile_ahead()
    assert started == []


@pytest.mark.parametrize("executable", ["/opt/program", "", None])
def test_none_is_started_inside_another_program(started, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    kernels.compile_ahead()
    assert started == []


def test_none_is_started_where_nothing_can_be_cached(started):
    cvb0.predict_documents.stats.cache_path = None
    kernels.compile_ahead()
    assert started == []


def test_none_is_started_if_the_kernel_is_there(started):
    cvb0.predict_documents.signatures.append("some types")
    kernels.compile_ahead()
    assert started == []


def test_none_is_started_if_the_cache_is_newer_than_the_source(started, tmp_path):
    cached = tmp_path / "solver.predict_documents-1.py311.nbi"
    cached.touch()
    kernels.compile_ahead()
    assert started == []
    os.utime(cached, (0, 0))
    kernels.compile_ahead()
    assert len(started) == 1


def test_a_process_that_cannot_be_started_is_done_without(started, monkeypatch):
    def refuse(*_, **__):
        raise OSError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    kernels.compile_ahead()
    assert started == []


def test_who_needs_the_kernel_waits_and_is_told_why(monkeypatch):
    process, titles = Process([]), []

    def task(title, **_):
        titles.append(title)
        return progress.Task()

    monkeypatch.setattr(ahead, "_started", [process])
    monkeypatch.setattr(progress, "task", task)
    # As if nobody had asked for it.
    monkeypatch.delitem(vars(kernels), "predict_documents", raising=False)
    assert kernels.solve_documents is not None
    assert not process.ended
    assert kernels.predict_documents is cvb0.predict_documents
    assert process.ended
    assert kernels.predict_documents is not None
    assert titles == ["Compiling, at first use only"]


@pytest.mark.parametrize(("n_jobs", "n_started"), [(1, 0), (2, 1)])
def test_fits_on_several_threads_compile_ahead(monkeypatch, n_jobs, n_started):
    calls = []
    monkeypatch.setattr("hdsp.learning.compile_ahead", lambda: calls.append(1))
    model = HDSP(2, init="nmf", n_jobs=n_jobs, random_state=0)
    model.fit([[2, 1, 0], [0, 1, 3], [1, 1, 1], [3, 0, 1]])
    assert len(calls) == n_started
