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
from hdsp.progress.displays import Lines, Live, Notebook, Silent, draw
from hdsp.progress.tasks import Task
from hdsp.progress.wording import printable, roughly
from tests.progress.terminals import run_on_terminal

# Marks that turn the direction of what follows.
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
WORDS = [f"{a}{b}{c}{d}" for a in "bcdfg" for b in "aeiou" for c in "klmnp" for d in "rstvw"]


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lines(clock, monkeypatch):
    """A display that writes lines, and is the current one."""
    stream = io.StringIO()
    display = Lines(stream, clock)
    monkeypatch.setattr(progress, "choose_display", lambda quiet: Silent() if quiet else display)
    with progress.shown():
        yield lambda: stream.getvalue().splitlines()


def test_without_a_display_nothing_is_shown(capfd):
    with progress.task("Reading", total=2) as task:
        task.update(done=1, documents=3)
        progress.update(done=2)
    assert type(task) is Task
    assert capfd.readouterr() == ("", "")


def test_short_work_writes_no_line(lines, clock):
    with progress.task("Reading") as task:
        clock.wait(9.9)
        task.update(documents=3)
    assert lines() == []


def test_lines_come_now_and_then_and_the_last_is_not_lost(lines, clock):
    with progress.task("Reading", total=100, unit="files") as task:
        for done in range(1, 101):
            clock.wait(0.5)
            task.update(done=done, words=1000 * done)
    found = lines()
    assert found[0] == "Reading: 20 of 100 files, words 20,000, 0:10, about 40 s left"
    assert found[1] == "Reading: 40 of 100 files, words 40,000, 0:20, about 30 s left"
    assert len(found) == 6
    assert found[-1] == "Reading: 100 of 100 files, words 100,000, took 0:50"


def test_the_longer_work_takes_the_fewer_its_lines(lines, clock):
    with progress.task("Reading") as task:
        for _ in range(36_000):
            clock.wait(1.0)
            task.update(documents=1)
    assert 100 < len(lines()) < 200


def test_tasks_inside_tasks_share_a_line(lines, clock):
    with progress.task("Comparing models", total=4) as outer:
        outer.update(done=1)
        with progress.shown(), progress.task("Fitting topics", unit=None) as inner:
            clock.wait(12.0)
            inner.update(done=12.0, total=24.0, start="3 of about 5", topics=64)
            progress.update(topics=None, bound=-1234.56)
        clock.wait(1.0)
    assert lines() == [
        "Comparing models: 1 of 4 done, 0:12, about 20 s left; "
        "Fitting topics: start 3 of about 5, topics 64, 0:12, about 10 s left",
        "Fitting topics: start 3 of about 5, bound -1,234.6, took 0:12",
        "Comparing models: 1 of 4 done, took 0:13",
    ]


def test_a_quiet_display_keeps_those_inside_it_quiet(capfd, monkeypatch):
    monkeypatch.setattr(Lines, "line_seconds", 0.0)
    with progress.shown(quiet=True), progress.shown(), progress.task("Reading") as task:
        task.update(done=1)
    assert capfd.readouterr() == ("", "")
    with progress.shown(), progress.task("Reading") as task:
        task.update(done=1)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "Reading: 1 done, 0:00\nReading: 1 done, took 0:00\n"


def test_an_error_leaves_no_line_and_ends_all_tasks(lines, clock):
    def fail():
        with progress.task("Comparing"), progress.task("Fitting"):
            clock.wait(19.0)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert lines() == []
    with progress.task("Reading") as task:
        clock.wait(19.0)
        task.update(done=1)
    assert lines()[0] == "Reading: 1 done, 0:19"


def test_work_goes_on_when_nobody_can_watch(clock):
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    display = Lines(Broken(), clock)
    with display.task("Reading") as task:
        clock.wait(19.0)
        task.update(done=1)


def test_what_could_steer_a_terminal_is_escaped(lines, clock):
    with progress.task("Reading a\x1b[2Jb\r\n\u202e.csv") as task:
        clock.wait(19.0)
        task.update(model="\x9b31m")
    line = "Reading a\\x1b[2Jb\\r\\n\\u202e.csv: model \\x9b31m, "
    assert lines() == [f"{line}0:19", f"{line}took 0:19"]


@given(st.text(st.characters(codec=None)))
def test_printable_text_is_left_alone_and_what_could_steer_a_terminal_is_written_out(text):
    found = printable(text)
    assert not {unicodedata.category(c) for c in found} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in found} & TURNING
    found.encode("utf-8")
    if text.isprintable():
        assert found == text


def test_words_keep_the_joiners_of_their_language():
    persian = "می\u200cخواهم"
    assert printable(persian) == persian


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (4.9, "a few seconds"),
        (5.0, "about 5 s"),
        (57.4, "about 55 s"),
        (57.6, "about 1 min"),
        (3569.0, "about 59 min"),
        (3600.0, "about 1 h"),
        (5000.0, "about 1 h 30 min"),
        (99_000.0, "about 27 h"),
    ],
)
def test_time_left_in_words(seconds, words):
    assert roughly(seconds) == words


def test_the_task_inside_counts_towards_the_one_around_it(clock):
    display = Lines(io.StringIO(), clock)
    with display.task("Refitting", total=4) as outer, display.task("Fitting", unit=None) as inner:
        clock.wait(10.0)
        inner.update(done=1.0, total=2.0)
        assert outer.share == 0.5 / 4
        # An eighth took ten seconds.
        assert outer.time == "0:10, about 1 min left"
        assert draw(display.tasks, 70) == [
            "Refitting  ━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄  0 of 4 done  0:10, about 1 min left",
            "  Fitting  ━━━━━━━━━━┄┄┄┄┄┄┄┄┄┄┄  0:10, about 10 s left",
        ]


def test_a_guess_that_has_turned_out_wrong_is_not_shown(clock):
    with Lines(io.StringIO(), clock).task("Reading", total=100) as task:
        clock.wait(0.9)
        task.update(done=50)
        assert task.time == "0:00"
        clock.wait(0.1)
        task.update(done=50)
        assert task.time == "0:01, a few seconds left"
        clock.wait(1.0)
        assert task.time == "0:02"
        clock.wait(18.0)
        task.update(done=60)
        assert task.time == "0:20, about 15 s left"


def test_items_that_are_passed_on_are_counted(lines, clock):
    assert list(progress.counted("abc", "documents")) == ["a", "b", "c"]
    with progress.task("Reading"):
        items = progress.counted(range(450), "documents")
        assert [number for number in items if not clock.wait(0.1)] == list(range(450))
    assert lines() == [
        "Reading: documents 200, 0:20",
        "Reading: documents 400, 0:40",
        "Reading: documents 450, took 0:45",
    ]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet"])
def test_reading_a_large_file_tells_the_share_that_is_read(suffix, tmp_path, monkeypatch, clock):
    path = tmp_path / f"large.{suffix}"
    texts = [" ".join(np.random.default_rng(k).choice(WORDS, 500)) for k in range(400)]
    if suffix == "parquet":
        pd.DataFrame({"text": texts}).to_parquet(path)
    elif suffix == "jsonl":
        pd.DataFrame({"text": texts}).to_json(path, orient="records", lines=True)
    else:
        pd.DataFrame({"text": texts}).to_csv(path, index=False)
    display = Lines(io.StringIO(), clock)
    monkeypatch.setattr(progress, "choose_display", lambda quiet: display)
    # As large as a file must be for its share to be told.
    monkeypatch.setattr("hdsp.corpus.readers.common._LARGE", 1000)
    shares = []
    monkeypatch.setattr(display, "changed", lambda task: shares.append(task.share))
    with progress.shown(), progress.task("Reading", unit=None) as task:
        hdsp.read_table(path)
    assert task.details == {"documents": "documents 400"}
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    if suffix != "parquet":
        assert task.total == path.stat().st_size
        assert any(0.0 < share < 0.9 for share in shares)


def test_lines_fit_the_terminal(clock):
    display = Lines(io.StringIO(), clock)
    with display.task("Reading " + "x" * 200, total=10) as task:
        clock.wait(60.0)
        task.update(done=5, documents=1000)
        for width in (20, 40, 80, 200):
            first, details = draw(display.tasks, width)
            assert details == "  documents 1,000"
            assert len(first) < max(width, 60)
            assert "5 of 10 done" in first
        assert "#####-" in draw(display.tasks, 80, ascii_only=True)[0]
        assert draw(display.tasks, 80, ascii_only=True)[0].isascii()


def test_where_standard_error_goes_chooses_the_display(monkeypatch):
    assert type(progress.choose_display()) is Lines
    assert type(progress.choose_display(quiet=True)) is Silent
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert type(progress.choose_display()) is Lines
    monkeypatch.setenv("TERM", "xterm")
    assert type(progress.choose_display()) is Live
    monkeypatch.setattr(sys, "stderr", None)
    assert type(progress.choose_display()) is Silent


def test_a_notebook_shows_tasks_in_its_cell(monkeypatch, clock):
    shown = []

    class Handle:
        def update(self, bundle, raw):
            assert raw
            shown.append(bundle["text/plain"])

    def display(bundle, raw, display_id):
        assert raw
        assert display_id
        shown.append(bundle["text/plain"])
        return Handle()

    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: types.SimpleNamespace(kernel=None)
    fake.display = types.ModuleType("IPython.display")
    fake.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    assert type(progress.choose_display()) is Notebook
    notebook = Notebook(clock)
    with notebook.task("Fitting topics", unit=None) as task:
        clock.wait(1.0)
        task.update(topics=64)
        clock.wait(1.0)
        task.update(topics=63)
    notebook.close()
    assert shown == [
        "Fitting topics  0:01\n  topics 64",
        "Fitting topics  0:02\n  topics 63",
        "Fitting topics: topics 63, took 0:02",
        "Fitting topics: topics 63, took 0:02",
    ]


# With a clock of its own, and waiting for the fourth of its updates to be seen.
PROGRAM = """
import signal, sys
from hdsp import progress
from hdsp.progress.displays import Lines, Live
now = [0.0]
Lines.__init__.__defaults__ = Live.__init__.__defaults__ = (lambda: now[0],)
progress.Display.line_seconds = 0.4
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
with progress.shown():
    with progress.task("Reading") as task:
        now[0] += 0.0625
    print("between")
    with progress.task("Comparing models", total=2) as outer:
        with progress.task("Fitting topics", unit=None) as inner:
            for number in range(1, 9):
                now[0] += 0.5
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
def test_a_live_display_changes_in_place_and_is_gone_at_the_end(piped, tmp_path):
    with (tmp_path / "out").open("w") as out:
        program = PROGRAM.replace("raise_here", "pass")
        stdout = out if piped else None
        status, screens, raw = run_on_terminal(program, send=[SEEN], stdout=stdout)
    assert status == 0
    assert "\x1b[?25l" not in raw
    during = next(screen for screen in screens if "bound -4,000.0" in screen)
    assert re.search(r"Comparing models  [━┄]+  0 of 2 done  0:02, about 5 s left\n", during)
    assert re.search(r"\n  Fitting topics  [━┄]+  0:02, a few seconds left\n", during)
    assert re.search(r"\n    bound -4,000.0$", during)
    left = ["a warning", "Fitting topics: bound -8,000.0, took 0:04"]
    left += ["Comparing models: 1 of 2 done, took 0:04"]
    printed = ["between", "the result"]
    if piped:
        assert (tmp_path / "out").read_text().splitlines() == printed
        assert screens[-1].splitlines() == left
    else:
        assert screens[-1].splitlines() == [printed[0], *left, printed[1]]
    assert "Reading" not in raw


@pytest.mark.parametrize("how", ["error", "interrupt"])
def test_the_terminal_is_as_before_after_an_error_or_an_interrupt(how):
    ending = "raise ValueError('no more')" if how == "error" else "signal.pause()"
    send = [SEEN, ("1 of 2 done", signal.SIGINT)][: 1 if how == "error" else 2]
    program = PROGRAM.replace("raise_here", ending)
    status, screens, raw = run_on_terminal(program, send=send)
    assert status == (1 if how == "error" else -signal.SIGINT)
    assert "\x1b[?" not in raw
    last = screens[-1].splitlines()
    assert last[:2] == ["between", "a warning"]
    assert last[2].startswith("Fitting topics: bound -8,000.0, took 0:04")
    # Python's own words follow, on lines of their own.
    assert last[3] == "Traceback (most recent call last):"
    assert last[-1].startswith("ValueError: no more" if how == "error" else "KeyboardInterrupt")
    assert "━" not in screens[-1]


def test_a_simple_terminal_gets_lines():
    program = PROGRAM.replace("raise_here", "pass")
    status, screens, raw = run_on_terminal(program, term="dumb", send=[SEEN])
    assert status == 0
    assert "\x1b" not in raw
    assert "Comparing models: 1 of 2 done, took 0:04" in screens[-1]
