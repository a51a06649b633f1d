"""What a fit shows of itself, and its guess of the time left."""

import numpy as np
import pytest

from hdsp.fit.run import FitDisplay, settling_pass
from hdsp.progress import Task


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Kept(Task):
    """Remembers what it was told."""

    def __init__(self):
        self.shown = []

    def update(self, done=None, total=None, **details):
        self.shown.append((done, total, details))


def row(number, bound, n_topics=9):
    return {"pass": number, "bound": bound, "n_topics": n_topics}


def test_a_search_shows_its_trials_and_then_the_fit():
    clock, task = Clock(), Kept()
    display = FitDisplay(task, tol=1e-3, clock=clock)
    assert display.seconds_left is None
    for number, (n_topics, seconds) in enumerate([(32, 2.0), (48, 3.0), (72, 4.0)], start=1):
        display.begin_trial(n_topics)
        shown = task.shown[-1][2]["trying"]
        assert shown == f"{n_topics} topics ({number} of about 5)"
        # Passes of a trial are not those of the fit.
        display.passed(row(1, -5.0))
        assert task.shown[-1][2] == {"trying": shown}
        clock.now += seconds
        display.end_trial(321.987)
        assert task.shown[-1][2] == {"perplexity": "322.0"}
    # Two more trials like the last two, and a fit that takes 1.8 times as long as one.
    assert display.seconds_left == pytest.approx(2 * 3.5 + 1.8 * 3.5)
    display.begin_fit(60)
    assert task.shown[-1][2] == {"trying": None, "perplexity": None, "topics": 60}
    assert display.seconds_left == pytest.approx(1.8 * 4.0 * 60 / 72)
    clock.now += 1.0
    display.passed(row(1, -100.0, 60))
    assert task.shown[-1][2] == {"topics": 60, "pass": 1, "bound": -100.0}
    display.moved({"merges": 2})
    assert task.shown[-1][2] == {"after": "2 merges"}
    display.moved({"merges": 1})
    assert task.shown[-1][2] == {"after": "1 merge"}
    display.stop()
    assert "Ctrl-C again" in task.shown[-1][2]["stopping"]


def test_stages_are_shown_and_then_how_long_passes_took():
    task = Kept()
    display = FitDisplay(task, tol=1e-3)
    display.begin_stage("start", {})
    assert task.shown[-1][2] == {"stage": "start", "passes": None}
    # Passes tell of themselves.
    display.begin_stage("passes", {"start": 3.0})
    assert task.shown[-1][2] == {"stage": None, "passes": None}
    display.begin_stage("reading", {"start": 3.0, "passes": 60.0, "merges": 5.0})
    assert task.shown[-1][2] == {"stage": "reading", "passes": "took 0:01:05"}


def test_the_time_left_of_a_fit_follows_its_bound():
    clock, task = Clock(), Kept()
    display = FitDisplay(task, tol=1e-3, max_iter=20, clock=clock)
    for number in range(1, 7):
        clock.now = 3.0 * number
        display.passed(row(number, -1000.0 - 512 / 2**number))
    # Steps halve, from 8 at the last: three more, of three seconds, to a thousandth.
    done, total, details = task.shown[-1]
    assert details == {"topics": 9, "pass": 6, "bound": -1008.0}
    assert done == 18.0
    assert total == pytest.approx(18.0 + 3 * np.log2(8.0 / 1.008), rel=0.02)
    # No further than passes may go.
    clock.now = 0.0
    display = FitDisplay(Kept(), tol=1e-12, max_iter=8, clock=clock)
    for number in range(1, 7):
        clock.now = 3.0 * number
        display.passed(row(number, -1000.0 - 512 / 2**number))
    assert display.seconds_left == 6.0


def test_when_steps_that_halve_will_have_settled():
    bounds = [-1000.0, -992.0, -988.0, -986.0]
    change = np.abs(np.diff(bounds) / bounds[1:])
    passes = np.log(5e-4 / change[-1]) / np.log(np.sqrt(change[-1] / change[0]))
    assert settling_pass(bounds, 5e-4) == pytest.approx(4.0 + passes)
    assert settling_pass(bounds[:2], 5e-4) is None
    assert settling_pass(bounds, 0.0) is None
    assert settling_pass([*bounds, -900.0], 5e-4) is None
