"""Whoever waits for compiled code is told so."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba import njit
from numba.core.errors import TypingError
from numba.extending import overload

import hdsp.kernels.special  # noqa: F401
from hdsp import progress


def collecting():
    """A function whose compiled form notes whether garbage is collected."""


class Titles(progress.Display):
    def __init__(self):
        super().__init__()
        self.seen = []

    def begin(self, task):
        super().begin(task)
        self.seen.append(task.title)


def test_compiling_is_shown_from_any_thread_once_for_functions_inside_others(monkeypatch):
    titles = Titles()
    monkeypatch.setattr(progress, "choose_display", lambda quiet: titles)
    inner = njit(lambda x: x + 1.0)
    outer = njit(lambda x: inner(x) * 2.0)
    with progress.display(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(outer, 1.0).result() == 4.0
        assert titles.seen == ["Compiling, at first use only"]
        pool.submit(outer, 2.0).result()
    assert (len(titles.seen), titles.tasks) == (1, [])
    assert njit(lambda x: x - 1.0)(1.0) == 0.0
    assert len(titles.seen) == 1


def test_garbage_is_left_alone_only_while_code_is_compiled():
    seen = []

    @overload(collecting)
    def compiled_collecting():
        seen.append(gc.isenabled())
        return lambda: 1

    assert njit(lambda: collecting())() == 1
    assert (seen[0], gc.isenabled()) == (False, True)
    with pytest.raises(TypingError):
        njit(lambda: "a" - 1)()
    assert gc.isenabled()
    gc.disable()
    try:
        assert njit(lambda: collecting() + 1)() == 2
        assert not gc.isenabled()
    finally:
        gc.enable()
