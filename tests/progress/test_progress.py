"""Tasks and the displays that show them."""

import os
import pty
import re
import signal
import subprocess
import sys
import types
import unicodedata
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hdsp
from hdsp import progress
from hdsp.progress import Display, Lines, Notebook, Terminal, printable

# Marks that change the direction of the text after them.
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
WORDS = [f"{a}{b}{c}{d}" for a in "bcdfg" for b in "aeiou" for c in "klmnp" for d in "rstvw"]


SHELL = types.SimpleNamespace(kernel=None)
NOTEBOOK = types.SimpleNamespace(get_ipython=lambda: SHELL)


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
    with suppress(KeyError), progress.task("Comparing"), progress.task("Fitting"):
        wait(19.0)
        raise KeyError
    assert lines() == []
    with progress.task("Reading") as task:
        wait(19.0)
        task.update(done=1)
    assert lines()[0] == "Reading: 1 done, 0:00:19"


def test_work_continues_after_the_pipe_is_closed(lines, wait, monkeypatch):
    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(write=_break))
    with progress.task("Reading") as task:
        wait(19.0)
        task.update(done=1)


def _break(text):
    raise BrokenPipeError


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
    assert lines()[0] == "Reading a\\x1b[2Jb\\r\\n\\u202e.csv: model \\x9b31m, 0:00:19"


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
    for term, expected in (("dumb", Lines), ("xterm", Terminal)):
        monkeypatch.setenv("TERM", term)
        assert type(progress.choose_display()) is expected
    monkeypatch.setitem(sys.modules, "IPython", NOTEBOOK)
    assert type(progress.choose_display()) is Notebook
    monkeypatch.setattr(sys, "stderr", None)
    assert type(progress.choose_display()) is Display


def test_a_notebook_writes_over_a_line(monkeypatch, wait, capsys):
    monkeypatch.setitem(sys.modules, "IPython", NOTEBOOK)
    with progress.display(), progress.task("Fitting topics", unit=None) as task:
        for topics in (164, 63):
            wait(1.0)
            task.update(topics=topics)
    assert capsys.readouterr().err.split("\r") == [
        "",
        "Fitting topics: topics 164, 0:00:01",
        "Fitting topics: topics 63, 0:00:02 ",
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


def run_on_terminal(program, signals, stdout=None):
    """Exit status and all that was sent to the terminal; signals go once a text is on it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=stdout or slave,
        stderr=slave,
    )
    os.close(slave)
    sent = b""
    # At the end of the process a read is an error.
    with suppress(OSError):
        while chunk := os.read(master, 1 << 16):
            sent += chunk
            while signals and next(iter(signals)).encode() in sent:
                process.send_signal(signals.pop(next(iter(signals))))
    os.close(master)
    return process.wait(), sent.decode()


@pytest.mark.parametrize("end", ["result", "piped result", "Ctrl-C"])
def test_a_terminal_is_live_and_clean_at_the_end(end, tmp_path):
    signals, code = {"bound -4,000.0": signal.SIGUSR1}, "pass"
    if end == "Ctrl-C":
        code, signals["1 of 2 done"] = "signal.pause()", signal.SIGINT
    with (tmp_path / "out").open("w") as out:
        stdout = out if end == "piped result" else None
        status, raw = run_on_terminal(PROGRAM.replace("raise_here", code), signals, stdout)
    assert status == (-signal.SIGINT if end == "Ctrl-C" else 0)
    # The cursor stays visible.
    assert "\x1b[?" not in raw
    *during, last = raw.split("\x1b[2K")
    shown = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", "".join(during))
    assert re.search(r"Comparing \[red\]models ━+ 0:00:0\d -:--:-- 0 of 2 done", shown)
    assert re.search(r"\n  Fitting topics +━+[╸╺━]+ \S+ \S+ bound -4,000.0", shown)
    assert "a warning\r\n" in raw
    assert "━" not in last
    if end == "piped result":
        assert (tmp_path / "out").read_text() == "between\nthe result\n"
    elif end == "result":
        assert last.strip() == "the result"
    else:
        assert last.split()[0] == "Traceback"
        assert last.split()[-1].startswith("KeyboardInterrupt")
