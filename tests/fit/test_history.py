"""What a fit tells of its passes."""

import pytest

from hdsp.fit import PassRecord, Run
from hdsp.model import BoundTerms

N_TERMS = len(BoundTerms.names())


def made(bound, seconds):
    return PassRecord(BoundTerms(bound), 5, 1.0, 2.0, 4, 3.5, seconds)


def test_a_record_comes_back_from_its_row():
    record = PassRecord(BoundTerms(*range(N_TERMS)), 5, 1.0, 2.0, 4, 3.5, 9.0, {"merges": 2})
    row = record.as_row(3)
    assert row["pass"] == 3
    assert row["bound"] == sum(range(N_TERMS))
    assert row["merges"] == 2
    assert PassRecord.from_row(row) == record


def test_a_history_that_goes_on_has_its_clock_go_on():
    run = Run()
    history = run.new_history([made(-5.0, 100.0)])
    assert len(history) == 1
    assert 100.0 <= history._clock() < 101.0


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
    assert run.stage_rows() == [
        {"stage": "search", "seconds": 3.0},
        {"stage": "passes", "seconds": 5.0},
        {"stage": "reading", "seconds": 0.5},
    ]


def test_stages_side_by_side_share_their_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("hdsp.fit.run.time.perf_counter", lambda: now[0])
    run = Run()

    def work(seconds):
        now[0] += seconds
        return seconds

    found = run.stages_together({"words": lambda: work(1.0), "labels": lambda: work(3.0)})
    assert found == {"words": 1, "labels": 3}
    assert run.stage_rows() == [
        {"stage": "words", "seconds": 1.0},
        {"stage": "labels", "seconds": 3.0},
    ]
