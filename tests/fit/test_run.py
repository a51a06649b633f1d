"""Stages, clock and progress of a fit."""

import signal

import numpy as np
import pytest

from hdsp.fit.run import Run


def run_of(bounds, tol=5e-4):
    return Run(tol=tol, history=[{"bound": bound} for bound in bounds])


def test_a_resumed_run_continues_its_clock():
    run = Run()
    run.resume([], [{"pass": 1, "bound": -5.0, "seconds": 100.0}])
    assert len(run.history) == 1
    assert 100.0 <= run.seconds < 101.0


def test_stages_are_timed_in_their_order_even_if_they_fail(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("hdsp.fit.run.time.perf_counter", lambda: now[0])
    run = Run()
    for name, seconds in (("search", 2.0), ("passes", 5.0), ("search", 1.0)):
        with run.stage(name):
            now[0] += seconds

    def fail():
        with run.stage("reading"):
            now[0] += 0.5
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(run.stages.items()) == [("search", 3.0), ("passes", 5.0), ("reading", 0.5)]


def test_the_expected_number_of_passes_follows_steps_that_shrink():
    bounds = [-1000.0, -992.0, -988.0, -986.0]
    change = np.abs(np.diff(bounds) / bounds[1:])
    passes = np.log(5e-4 / change[-1]) / np.log(np.sqrt(change[-1] / change[0]))
    assert run_of(bounds).settling_pass() == pytest.approx(4.0 + passes)
    assert run_of(bounds[:2]).settling_pass() is None
    assert run_of(bounds, tol=0.0).settling_pass() is None
    assert run_of([*bounds, -900.0]).settling_pass() is None


def test_an_interruption_is_shown():
    run = run_of([-1.0])
    with run.listening():
        signal.raise_signal(signal.SIGINT)
    assert run.interrupted
    assert "Ctrl-C again" in run.task.details["stopping"]
