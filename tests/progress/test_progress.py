"""Tasks and the displays that show them."""

import io
import re
import signal
import sys
import types
import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hdsp
from hdsp import progress
from hdsp.progress import Display, Lines, Notebook, Task, Terminal, printable
from tests.progress.terminals import run_on_terminal

# Marks that change the direction of the text after them.
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
WORDS = [f"{a}{b}{c}{d}" for a in "bcdfg" for b in "aeiou" for c in "klmnp" for d in "rstvw"]


@pytest.fixture
def wait(monkeypatch):
    """A function that moves the clock."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def forward(seconds):
        now[0] += seconds

    return forward


@pytest.fixture
def lines(wait, capsys):
    """The lines that an open display wrote since the last call."""
    with progress.display():
        yield lambda: capsys.readouterr().err.splitlines()


def test_without_a_display_no_task_is_shown(capfd):
    with progress.task("Reading", total=2) as task:
        task.update(done=1, documents=3)
        progress.update(done=2)
    with progress.display(quiet=True), progress.display(), progress.task("Reading") as task:
        task.update(done=1)
    assert capfd.readouterr() == ("", "")


def test_lines_are_ten_seconds_apart_and_short_tasks_write_none(lines, wait):
    with progress.task("Loading") as task:
        wait(9.5)
        task.update(documents=3)
    with progress.task("Reading", total=100, unit="files") as task:
        for done in range(1, 46):
            wait(0.5)
            task.update(done=done, words=1000 * done)
    assert lines() == [
        "Reading: 20 of 100 files, words 20,000, 0:00:10",
        "Reading: 40 of 100 files, words 40,000, 0:00:20",
        "Reading: 45 of 100 files, words 45,000, took 0:00:22",
    ]


def test_nested_tasks_share_a_line_and_code_inside_updates_the_innermost(lines, wait):
    with progress.task("Comparing models", total=4) as outer:
        outer.update(done=1)
        with progress.display(), progress.task("Fitting topics", unit=None) as inner:
            wait(12.0)
            inner.update(done=12.0, total=24.0, start="3 of about 5", topics=64)
            progress.update(topics=None, bound=-1234.56)
        wait(1.0)
    assert lines() == [
        "Comparing models: 1 of 4 done, 0:00:12; "
        "Fitting topics: start 3 of about 5, topics 64, 0:00:12",
        "Fitting topics: start 3 of about 5, bound -1,234.6, took 0:00:12",
        "Comparing models: 1 of 4 done, took 0:00:13",
    ]


def test_an_error_leaves_no_line_and_ends_all_tasks(lines, wait):
    def fail():
        with progress.task("Comparing"), progress.task("Fitting"):
            wait(19.0)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert lines() == []
    with progress.task("Reading") as task:
        wait(19.0)
        task.update(done=1)
    assert lines()[0] == "Reading: 1 done, 0:00:19"


def test_work_continues_after_the_pipe_is_closed(wait, monkeypatch):
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Broken())
    with Task("Reading", display=Lines()) as task:
        wait(19.0)
        task.update(done=1)


def test_items_are_counted(lines, wait):
    assert list(progress.count("abc", "documents")) == ["a", "b", "c"]
    with progress.task("Reading"):
        items = progress.count(range(450), "documents")
        assert [number for number in items if not wait(0.125)] == list(range(450))
    assert lines() == [
        "Reading: documents 200, 0:00:25",
        "Reading: documents 400, 0:00:50",
        "Reading: documents 450, took 0:00:56",
    ]


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet"])
def test_the_share_of_a_large_file_is_shown(suffix, tmp_path, monkeypatch):
    path, shares = tmp_path / f"large.{suffix}", []
    texts = [" ".join(np.random.default_rng(k).choice(WORDS, 500)) for k in range(400)]
    frame = pd.DataFrame({"text": texts})
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)

    class Shares(Display):
        def change(self, task):
            shares.append(task.done / task.total if task.total else 0.0)

    monkeypatch.setattr(progress, "choose_display", lambda quiet: Shares())
    with progress.display(), progress.task("Reading", unit=None) as task:
        hdsp.read_table(path)
    assert task.details == {"documents": "documents 400"}
    assert shares[-1] == 1.0
    assert shares == sorted(shares)


def test_titles_and_details_cannot_control_a_terminal(lines, wait):
    with progress.task("Reading a\x1b[2Jb\r\n\u202e.csv") as task:
        wait(19.0)
        task.update(model="\x9b31m")
    line = "Reading a\\x1b[2Jb\\r\\n\\u202e.csv: model \\x9b31m, "
    assert lines() == [f"{line}0:00:19", f"{line}took 0:00:19"]


@given(st.text())
def test_printable_text_has_no_control_characters(text):
    found = printable(text)
    assert not {unicodedata.category(c) for c in found} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in found} & TURNING
    found.encode("utf-8")
    assert found == text or not text.isprintable()
    # Joiners belong to words.
    assert printable("می\u200cخواهم") == "می\u200cخواهم"


def test_standard_error_chooses_the_display(monkeypatch):
    assert type(progress.choose_display()) is Lines
    assert type(progress.choose_display(quiet=True)) is Display
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert type(progress.choose_display()) is Lines
    monkeypatch.setenv("TERM", "xterm")
    assert type(progress.choose_display()) is Terminal
    monkeypatch.setattr(sys, "stderr", None)
    assert type(progress.choose_display()) is Display


def test_a_notebook_replaces_a_line_of_its_cell(monkeypatch, wait):
    shown = []
    handle = types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    fake, outputs = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    fake.get_ipython = lambda: types.SimpleNamespace(kernel=None)
    outputs.display = lambda data, **_: [shown.append(data["text/plain"]), handle][1]
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", outputs)
    with progress.display(), progress.task("Fitting topics", unit=None) as task:
        assert type(progress._open[-1]) is Notebook
        for topics in (64, 63):
            wait(1.0)
            task.update(topics=topics)
    assert shown == [
        "Fitting topics: topics 64, 0:00:01",
        "Fitting topics: topics 63, 0:00:02",
        "Fitting topics: topics 63, took 0:00:02",
    ]


# Waits until the fourth update is visible.
PROGRAM = """
import signal, sys
from hdsp import progress
progress._FLICKER_SECONDS = 0.0
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
with progress.display():
    print("between")
    with progress.task("Comparing [red]models", total=2) as outer:
        with progress.task("Fitting topics", unit=None) as inner:
            for number in range(1, 9):
                inner.update(done=number, total=8, bound=-1000.0 * number)
                if number == 4:
                    signal.sigwait([signal.SIGUSR1])
                if number == 6:
                    print("a warning", file=sys.stderr)
        outer.update(done=1)
        raise_here
print("the result")
"""
SEEN = ("bound -4,000.0", signal.SIGUSR1)


@pytest.mark.parametrize("piped", [False, True])
def test_a_terminal_is_live_and_clean_at_the_end(piped, tmp_path):
    with (tmp_path / "out").open("w") as out:
        program = PROGRAM.replace("raise_here", "pass")
        stdout = out if piped else None
        status, screens, raw = run_on_terminal(program, send=[SEEN], stdout=stdout)
    assert status == 0
    assert "\x1b[?25l" not in raw
    during = next(screen for screen in screens if "bound -4,000.0" in screen)
    assert re.search(r"Comparing \[red\]models ━+ 0:00:0\d -:--:-- 0 of 2 done", during)
    assert re.search(r"\n  Fitting topics +━+[╸╺━]+ \S+ \S+ bound -4,000.0", during)
    printed = ["between", "the result"]
    if piped:
        assert (tmp_path / "out").read_text().splitlines() == printed
        assert screens[-1].splitlines() == ["a warning"]
    else:
        assert screens[-1].splitlines() == [printed[0], "a warning", printed[1]]


def test_a_terminal_is_clean_after_ctrl_c():
    program = PROGRAM.replace("raise_here", "signal.pause()")
    status, screens, raw = run_on_terminal(program, send=[SEEN, ("1 of 2 done", signal.SIGINT)])
    assert status == -signal.SIGINT
    assert "\x1b[?" not in raw
    last = screens[-1].splitlines()
    assert last[:3] == ["between", "a warning", "Traceback (most recent call last):"]
    assert last[-1].startswith("KeyboardInterrupt")
    assert "━" not in screens[-1]
