"""What a fit tells of its passes."""

import numpy as np
import pytest

from hdsp.inference import PassRecord, Run, StartRecord
from hdsp.inference.history import seconds_left
from hdsp.model import Bound


def made(bound, seconds):
    return PassRecord(Bound(bound, 0, 0, 0, 0, 0, 0), 5, 1.0, 2.0, 4, 3.5, seconds)


def test_a_record_comes_back_from_its_row():
    record = PassRecord(Bound(*range(7)), 5, 1.0, 2.0, 4, 3.5, 9.0, {"merges": 2})
    row = record.as_row(3)
    assert row["pass"] == 3
    assert row["bound"] == sum(range(7))
    assert row["merges"] == 2
    assert PassRecord.from_row(row) == record
    start = StartRecord(32, 30, -5.0, -4.0, 12, 1.5)
    assert StartRecord.from_row(start.as_row()) == start


def test_a_history_that_goes_on_has_its_clock_go_on():
    run = Run()
    history = run.new_history([made(-5.0, 100.0)])
    assert len(history) == 1
    assert 100.0 <= history._clock() < 101.0


def test_the_time_left_of_steps_that_halve():
    # Changes of 8, 4 and 2 thousandths: two more halvings to a tenth and less, at 3 s per pass.
    bounds = [-1000.0, -992.0, -988.0, -986.0]
    passes = [made(bound, 3.0 * n) for n, bound in enumerate(bounds)]
    change = np.abs(np.diff(bounds) / bounds[1:])
    left = np.log(5e-4 / change[-1]) / np.log(np.sqrt(change[-1] / change[0]))
    assert seconds_left(passes, 5e-4) == pytest.approx(3.0 * left)
    assert seconds_left(passes[:2], 5e-4) is None
    assert seconds_left(passes, 0.0) is None
