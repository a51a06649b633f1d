"""What a fit shows of itself, and its guess of the time left."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from hdsp.inference.display import FitDisplay, about_starts, settling_pass
from hdsp.progress.displays import Lines
from hdsp.progress.tasks import Task

# Events of searches on real corpora, with their seconds on one core.
RECORDED = json.loads((Path(__file__).parent / "recorded_searches.json").read_text())


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def replay(events, ceiling, task, clock):
    """Have a display see the events of a search, and yield it after each."""
    display = FitDisplay(task, tol=1e-3, clock=clock)
    for kind, clock.now, *rest in events:
        if kind == "begin":
            display.begin(rest[0], about_starts(ceiling))
        elif kind == "pass":
            display.passed(dict(zip(("pass", "bound", "topics_in_use"), rest, strict=True)))
        elif kind == "moved":
            display.moved(rest[0])
        elif kind in ("end", "finish"):
            getattr(display, kind)()
        yield display


def guesses(name):
    """Shares of a search's time, and guesses of all of its time then, as multiples of it."""
    recorded, clock = RECORDED[name], Clock()
    whole = recorded["events"][-1][1]
    found = [
        (clock.now / whole, (clock.now + display.seconds_left) / whole)
        for display in replay(recorded["events"], recorded["ceiling"], Task(), clock)
        if display.seconds_left is not None
    ]
    return np.array(found).T


@pytest.mark.parametrize("name", RECORDED)
def test_the_time_left_is_that_of_the_whole_search(name):
    share, guess = guesses(name)
    # In the first start one cannot know how many topics the others will have.
    assert (guess > 0.2).all()
    assert (guess < 3.0).all()
    later = guess[share > 0.25]
    assert later.min() > 0.45
    assert later.max() < 1.9
    assert 0.8 < guess[share > 0.9].mean() < 1.25


def test_guesses_are_about_right_from_a_quarter_on():
    errors = []
    for name in RECORDED:
        share, guess = guesses(name)
        errors.append(np.abs(np.log2(guess[share > 0.25])).mean())
    # A factor of 1.2 on average.
    assert np.mean(errors) < 0.3


def test_what_is_shown(monkeypatch):
    monkeypatch.setattr(Lines, "line_seconds", 0.0)
    monkeypatch.setattr(Lines, "line_share", 0.0)
    clock, stream = Clock(), io.StringIO()
    (name,) = [name for name in RECORDED if name.startswith("clothing_reviews")]
    with Lines(stream, clock).task("Fitting topics", unit=None) as task:
        for display in replay(RECORDED[name]["events"], 200, task, clock):
            last = display
        last.stop()
    lines = stream.getvalue().splitlines()
    assert lines[1] == "Fitting topics: start 1 of about 4, topics 32, 0:00"
    assert any(
        re.fullmatch(
            r"Fitting topics: start 3 of about 4, topics 16, pass 9, bound -[\d,]+\.0, 0:0\d, "
            r"(about \d s|a few seconds) left",
            line,
        )
        for line in lines
    )
    assert any(
        re.search(r", after (1 (merge|split|deletion)|\d+ (merge|split|deletion)s), ", line)
        for line in lines
    )
    assert re.fullmatch(
        r"Fitting topics: best of 4 starts, topics \d+, pass 18, bound -[\d,.]+, after .*"
        r"stopping after this pass \(Ctrl-C again: at once\), took 0:11",
        lines[-1],
    )


def test_a_fit_with_a_fixed_number_has_no_starts():
    clock, shown = Clock(), []

    class Kept(Task):
        def update(self, done=None, total=None, **details):
            shown.append((done, total, details))

    display = FitDisplay(Kept(), tol=1e-3, max_iter=20, clock=clock)
    for number in range(1, 7):
        clock.now = 3.0 * number
        display.passed({"pass": number, "bound": -1000.0 - 512 / 2**number, "topics_in_use": 9})
    # Steps halve, from 8 at the last: four more, of three seconds, to a thousandth.
    done, total, details = shown[-1]
    assert details == {"topics": 9, "pass": 6, "bound": -1008.0}
    assert done == 18.0
    assert total == pytest.approx(18.0 + 3 * np.log2(8.0 / 1.008), rel=0.02)
    # No further than passes may go.
    display = FitDisplay(Kept(), tol=1e-12, max_iter=8, clock=clock)
    clock.now = 0.0
    for number in range(1, 7):
        clock.now = 3.0 * number
        display.passed({"pass": number, "bound": -1000.0 - 512 / 2**number, "topics_in_use": 9})
    assert display.seconds_left == 6.0


def test_when_steps_that_halve_will_have_settled():
    bounds = [-1000.0, -992.0, -988.0, -986.0]
    change = np.abs(np.diff(bounds) / bounds[1:])
    passes = np.log(5e-4 / change[-1]) / np.log(np.sqrt(change[-1] / change[0]))
    assert settling_pass(bounds, 5e-4) == pytest.approx(4.0 + passes)
    assert settling_pass(bounds[:2], 5e-4) is None
    assert settling_pass(bounds, 0.0) is None
    assert settling_pass([*bounds, -900.0], 5e-4) is None
