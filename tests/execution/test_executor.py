"""Sums over blocks depend on block numbers alone, and threads on the place alone."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp.execution.executor import InProcess, tree_sum
from hdsp.kernels import run_ranges, run_together, use_threads


class Term:
    """Remembers how it was added up."""

    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Term(f"({self.text}{other.text})")


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, "0"),
        (2, "(01)"),
        (3, "((01)2)"),
        (4, "((01)(23))"),
        (6, "(((01)(23))(45))"),
        (7, "(((01)(23))((45)6))"),
    ],
)
def test_the_tree_is_fixed_by_the_numbers(n, expected):
    assert tree_sum(Term(str(i)) for i in range(n)).text == expected


@given(values=st.lists(st.integers(), min_size=1, max_size=70))
def test_nothing_is_lost_or_counted_twice(values):
    assert tree_sum(iter(values)) == sum(values)


def test_no_more_results_are_held_than_the_tree_is_deep():
    alive, most = set(), 0

    class Counted:
        def __init__(self):
            nonlocal most
            alive.add(id(self))
            most = max(most, len(alive))

        def __del__(self):
            alive.discard(id(self))

        def __add__(self, other):
            return Counted()

    tree_sum(Counted() for _ in range(1000))
    assert most <= 14


def test_threads_are_those_of_the_innermost_block():
    def names(first, last):
        return threading.current_thread().name

    main = threading.current_thread().name
    assert set(run_ranges(names, 50, 1)) == {main}
    with InProcess(3):
        assert main not in run_ranges(names, 50, 1)
        with use_threads(1):
            assert set(run_ranges(names, 50, 1)) == {main}
        # Work inside a thread has no threads of its own, so it cannot wait for itself.
        inner = run_ranges(lambda a, b: set(run_ranges(names, 4, 1)), 8, 1)
        assert all(len(one) == 1 for one in inner)
    assert set(run_ranges(names, 50, 1)) == {main}


def test_results_come_in_the_order_of_ranges_and_errors_are_raised():
    with use_threads(4):
        found = run_ranges(lambda first, last: (first, last), 23, 5)
        with pytest.raises(ZeroDivisionError):
            run_ranges(lambda first, last: 1 // 0, 10, 1)
        with pytest.raises(ZeroDivisionError):
            run_together([lambda: 1 // 0, lambda: None])
    assert found == [(0, 5), (5, 10), (10, 15), (15, 20), (20, 23)]


def test_calls_run_side_by_side_where_there_are_threads():
    meeting = threading.Barrier(2)

    def meet():
        # Breaks after its time unless the other call is there, too.
        meeting.wait(30.0)
        return sum(run_ranges(lambda first, last: last - first, 10, 3))

    with use_threads(2):
        assert run_together([meet, meet]) == [10, 10]


def test_calls_run_one_after_another_on_one_thread():
    order = []
    assert run_together([lambda: order.append(1), lambda: order.append(2)]) == [None, None]
    assert order == [1, 2]
