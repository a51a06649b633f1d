"""What a fit tells of its passes."""

from hdsp.inference import PassRecord, Run
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
