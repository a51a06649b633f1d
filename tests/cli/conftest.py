import pytest

from hdsp.progress import Lines


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch):
    """On a slow machine, too, nothing here takes so long that it would leave a line."""
    monkeypatch.setattr(Lines, "seconds", 1e9)


@pytest.fixture
def every_line(monkeypatch):
    """Every update of a task is a line."""
    monkeypatch.setattr(Lines, "seconds", 0.0)
